/* Agreement between the ranks that share a file: on a status, and on bytes of rank 0. */
#include "file/agree.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/digest.h"
#include "drivers/behind/behind.h"

int pnc_file_late_take(pnc_file *file, int status)
{
    int late = file->late;

    file->late = NC_NOERR;
    return pnc_error_keep_first(status, late);
}

void pnc_file_step_check(pnc_file *file, int code, const char *call, const char *what)
{
    if (code != MPI_SUCCESS)
        file->late = pnc_error_set(file->error, NC_EMPI, "%s: %s of %s failed", file->path, call, what);
}

/* An agreement begins: its time is that of waiting for the slowest rank. */
static pnc_counter begin_waiting(pnc_file *file)
{
    pnc_statistics_add(file->statistics, PNC_COUNT_AGREEMENTS, 1);
    return pnc_statistics_begin(file->statistics, PNC_COUNT_TIME_WAIT);
}

int pnc_file_status_broadcast(pnc_file *file, int status)
{
    pnc_counter before;

    if (file->nprocs == 1)
        return status;
    if (file->rank == 0)
        status = pnc_file_late_take(file, status);
    before = begin_waiting(file);
    pnc_file_step_check(file, MPI_Bcast(&status, 1, MPI_INT, 0, file->comm), "MPI_Bcast", "the result of rank 0");
    pnc_statistics_end(file->statistics, before);
    if (status != NC_NOERR) { /* the error object of rank 0 has the cause */
        pnc_error cause = *file->error;

        MPI_Bcast(cause.text, sizeof cause.text, MPI_CHAR, 0, file->comm);
        if (file->rank != 0)
            pnc_error_set_remote(file->error, status, "%s", cause.text);
    }
    return status;
}

/* --- reductions --- */

static void keep_maxima(void *from, void *to, int *n, MPI_Datatype *type)
{
    const int64_t *a = from;
    int64_t *b = to;

    (void)type;
    for (int i = 0; i < *n * PNC_FIRST_VALUES; i++)
        b[i] = a[i] > b[i] ? a[i] : b[i];
}

/* MPI libraries may divide the values of a reduction among the ranks if there are at least as many, which takes twice
 * as many messages, one after the other: 0.9 us instead of 0.5 on 2 ranks, 5 instead of 2.6 on 4 (MPICH 4.0.2). They
 * do not divide one element. More ranks keep the operation of MPI, which networks can carry out. */
int pnc_file_maxima_init(pnc_file *file)
{
    pnc_maxima *m = &file->maxima;
    int failed;

    if (file->nprocs == 1 || file->nprocs > PNC_FIRST_VALUES)
        return NC_NOERR;
    *m = (pnc_maxima){.type = MPI_DATATYPE_NULL, .op = MPI_OP_NULL, .exists = true};
    failed = MPI_Op_create(keep_maxima, 1, &m->op);
    if (failed == MPI_SUCCESS)
        failed = MPI_Type_contiguous(PNC_FIRST_VALUES, MPI_INT64_T, &m->type);
    if (failed == MPI_SUCCESS)
        failed = MPI_Type_commit(&m->type);
    if (failed == MPI_SUCCESS)
        return NC_NOERR;
    return pnc_error_set(file->error, NC_EMPI, "%s: MPI cannot make an operation for reductions", file->path);
}

void pnc_file_maxima_free(pnc_file *file)
{
    if (!file->maxima.exists)
        return;
    if (file->maxima.type != MPI_DATATYPE_NULL)
        MPI_Type_free(&file->maxima.type);
    if (file->maxima.op != MPI_OP_NULL)
        MPI_Op_free(&file->maxima.op);
    file->maxima.exists = file->maxima.is_used = false;
}

static int reduce_as_one(pnc_file *file, int64_t *values, int n)
{
    int64_t all[PNC_FIRST_VALUES] = {0};
    int code;

    memcpy(all, values, (size_t)n * sizeof *values);
    code = MPI_Allreduce(MPI_IN_PLACE, all, 1, file->maxima.type, file->maxima.op, file->comm);
    memcpy(values, all, (size_t)n * sizeof *values);
    return code;
}

static void reduce_values(pnc_file *file, int64_t *values, int n, MPI_Op op, const char *what)
{
    pnc_counter before = begin_waiting(file);
    bool as_one = file->maxima.is_used && op == MPI_MAX && pnc_file_maxima_is_one(n, file->nprocs);
    int code =
        as_one ? reduce_as_one(file, values, n) : MPI_Allreduce(MPI_IN_PLACE, values, n, MPI_INT64_T, op, file->comm);

    pnc_file_step_check(file, code, "MPI_Allreduce", what);
    pnc_statistics_end(file->statistics, before);
}

void pnc_file_sums_agree(pnc_file *file, int64_t *values, int n, const char *what)
{
    if (file->nprocs > 1)
        reduce_values(file, values, n, MPI_SUM, what);
}

int64_t pnc_file_kind_compute(const char *function, const void *argument, int64_t length)
{
    uint64_t hash = pnc_digest_add(PNC_DIGEST_START, function, (int64_t)strlen(function));

    return (int64_t)(pnc_digest_add(hash, argument, length) >> 1);
}

static int64_t kind_of_call(const pnc_file_call *call)
{
    if (call->kind != 0)
        return call->kind;
    return pnc_file_kind_compute(call->function, "", 0);
}

/* --- calls of the program --- */

typedef struct call_text {
    int64_t kind;
    char text[160];
} call_text;

/* The end of a path says more than its beginning. */
static call_text describe_other_call(const pnc_file_call *call)
{
    const char *object = call->object == NULL ? "" : call->object;
    size_t length = strlen(object), most = 80;
    call_text d;

    memset(&d, 0, sizeof d);
    d.kind = kind_of_call(call);
    snprintf(d.text, sizeof d.text, length > 0 ? "%s of \"%s\"" : "%s%s", call->name,
             object + (length > most ? length - most : 0));
    return d;
}

static void reduce_nonblocking(pnc_file *file, void *values, int n, MPI_Datatype type, MPI_Op op, const char *what)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_Iallreduce(MPI_IN_PLACE, values, n, type, op, file->comm, &request), waited = MPI_SUCCESS;

    if (request != MPI_REQUEST_NULL)
        waited = MPI_Wait(&request, MPI_STATUS_IGNORE);
    pnc_file_step_check(file, code != MPI_SUCCESS ? code : waited, "MPI_Iallreduce", what);
}

int pnc_file_bits_agree(pnc_file *file, void *bytes, int n, const char *what)
{
    if (file->nprocs == 1)
        return NC_NOERR;
    if (file->limit != NULL)
        return pnc_file_time_limit_bits_agree(file, bytes, n, describe_other_call(&file->call).text);
    reduce_nonblocking(file, bytes, n, MPI_BYTE, MPI_BOR, what);
    return NC_NOERR;
}

/* As in pnc_file_parting_begin: MPI does not match blocking and nonblocking operations. */
static void reduce_safely(pnc_file *file, int64_t *values, const char *what)
{
    pnc_counter before = begin_waiting(file);

    reduce_nonblocking(file, values, PNC_FIRST_VALUES, MPI_INT64_T, MPI_MAX, what);
    pnc_statistics_end(file->statistics, before);
}

static int reduce_first(pnc_file *file, int64_t *values, const char *what)
{
    pnc_counter before;
    int err;

    if (file->limit == NULL) {
        pnc_file_watch_begin(file->watch, file->call.name);
        if (file->is_safe)
            reduce_safely(file, values, what);
        else
            reduce_values(file, values, PNC_FIRST_VALUES, MPI_MAX, what);
        pnc_file_watch_end(file->watch);
        return NC_NOERR;
    }
    before = begin_waiting(file);
    err = pnc_file_time_limit_agree(file, values, PNC_FIRST_VALUES, describe_other_call(&file->call).text);
    pnc_statistics_end(file->statistics, before);
    return err;
}

static int fail_again(pnc_file *file)
{
    file->call.mismatch = true;
    return pnc_error_set_remote(file->error, NC_EMULTICALL,
                                "%s: earlier collective calls of the ranks did not match, and the file can only be "
                                "closed: %s",
                                file->path, file->mismatch);
}

/* The first agreement of a call: the maxima of the kind and of its negative are those of one kind, or the calls do not
 * match. */
static int agree_first(pnc_file *file, int64_t *values, int n, const char *what)
{
    int64_t kind = kind_of_call(&file->call), message[PNC_FIRST_VALUES] = {kind, -kind};

    assert(n <= PNC_AGREED_VALUES);
    if (file->mismatch[0] != '\0')
        return fail_again(file);
    memcpy(message + 2, values, (size_t)n * sizeof *values);
    file->call.begins = false;
    PNC_TRY(reduce_first(file, message, what));
    if (message[0] != -message[1])
        return pnc_file_mismatch_report(file);
    memcpy(values, message + 2, (size_t)n * sizeof *values);
    return NC_NOERR;
}

int pnc_file_maxima_agree(pnc_file *file, int64_t *values, int n, const char *what)
{
    if (file->nprocs == 1)
        return NC_NOERR;
    if (file->call.begins)
        return agree_first(file, values, n, what);
    reduce_values(file, values, n, MPI_MAX, what);
    return NC_NOERR;
}

/* --- failures --- */

/* A bit of ranks that have found their error, beyond those of the rank: they have a message about the cause. */
#define FOUND (INT64_C(1) << 31)

/* The code in the high half, so that the most negative one is the greatest number; in the low half the rank. */
int64_t pnc_file_failure_encode(const pnc_file *file, int status)
{
    if (status == NC_NOERR)
        return 0;
    return ((int64_t)-status << 32) + (file->error->remote ? 0 : FOUND) + file->rank;
}

static int failure_code(int64_t agreed)
{
    return -(int)(agreed >> 32);
}

static int failure_rank(int64_t agreed)
{
    return (int)(agreed & (FOUND - 1));
}

int64_t pnc_file_finders_count(pnc_file *file, int status, int64_t agreed)
{
    bool has_found = status == failure_code(agreed) && !file->error->remote;
    int64_t number = has_found;

    if ((agreed & FOUND) == 0)
        return 0;
    pnc_file_sums_agree(file, &number, 1, "the number of ranks that failed");
    if (!has_found)
        return 0;
    return file->rank == failure_rank(agreed) ? number - 1 : -1;
}

void pnc_file_failure_count(pnc_file *file, int status, int64_t agreed)
{
    int64_t others = pnc_file_finders_count(file, status, agreed);

    pnc_error_share(file->error, others);
}

int pnc_file_failure_share(pnc_file *file, int status, int64_t agreed, const char *what)
{
    int code = failure_code(agreed);

    pnc_file_failure_count(file, status, agreed);
    if (agreed == 0 || status != NC_NOERR)
        return status;
    return pnc_error_set_remote(file->error, code, "%s: %s failed on rank %d: %s", file->path, what,
                                failure_rank(agreed), pnc_error_get_text(code));
}

int pnc_file_status_agree(pnc_file *file, int status)
{
    int64_t failure;
    int err;

    status = pnc_file_late_take(file, status);
    failure = pnc_file_failure_encode(file, status);
    err = pnc_file_maxima_agree(file, &failure, 1, "the results of the ranks");
    if (err != NC_NOERR)
        return pnc_error_keep_first(status, err);
    return pnc_file_failure_share(file, status, failure, "the call");
}

/* --- calls that do not match --- */

#define MISMATCH "the collective calls of the ranks do not match: %s"

int pnc_file_mismatch_report(pnc_file *file)
{
    call_text own = describe_other_call(&file->call), root = own, other;
    int64_t differs, number, most[2];
    int first;

    if (file->behind != NULL) /* rank 0 may write the number of records when it closes the file, without the others */
        (void)pnc_behind_store_finish(file->behind, NULL);
    pnc_file_bytes_broadcast(file, &root, sizeof root, "the call of rank 0");
    differs = own.kind != root.kind;
    most[0] = differs ? -file->rank : -file->nprocs;
    most[1] = file->numrecs;
    number = differs;
    reduce_values(file, most, 2, MPI_MAX, "the first rank with another call");
    reduce_values(file, &number, 1, MPI_SUM, "the number of ranks with another call");
    first = (int)-most[0];
    file->numrecs = most[1];
    other = own;
    if (number > 0)
        pnc_file_step_check(file, MPI_Bcast(&other, sizeof other, MPI_BYTE, first, file->comm), "MPI_Bcast",
                            "the call of another rank");
    snprintf(file->mismatch, sizeof file->mismatch,
             "rank 0 called %s, rank %d called %s; %d of %d ranks differ from rank 0", root.text, first, other.text,
             (int)number, file->nprocs);
    file->call.mismatch = true;
    if (file->rank == first) /* the rank that prints it */
        return pnc_error_set(file->error, NC_EMULTICALL, MISMATCH, file->mismatch);
    return pnc_error_set_remote(file->error, NC_EMULTICALL, MISMATCH, file->mismatch);
}

/* --- MPI_Finalize before close --- */

void pnc_file_parting_begin(pnc_file *file, int64_t *values, MPI_Request *request)
{
    int code;

    pnc_file_call_begin(file, "MPI_Finalize", "MPI_Finalize");
    memset(values, 0, PNC_FIRST_VALUES * sizeof *values);
    values[0] = kind_of_call(&file->call);
    values[1] = -values[0];
    code = MPI_Iallreduce(MPI_IN_PLACE, values, PNC_FIRST_VALUES, MPI_INT64_T, MPI_MAX, file->comm, request);
    pnc_file_step_check(file, code, "MPI_Iallreduce", "the first agreement of a call");
}

int pnc_file_parting_end(pnc_file *file, const int64_t *values)
{
    return values[0] != -values[1] ? pnc_file_mismatch_report(file) : NC_NOERR;
}

/* --- bytes --- */

void pnc_file_bytes_broadcast(pnc_file *file, void *bytes, int64_t size, const char *what)
{
    const int64_t most = INT64_C(1) << 30; /* the count of MPI_Bcast is an int */
    pnc_counter before;

    if (file->nprocs == 1)
        return;
    before = begin_waiting(file);
    for (int64_t at = 0; at < size; at += most) {
        int portion = (int)(size - at < most ? size - at : most);

        pnc_file_step_check(file, MPI_Bcast((char *)bytes + at, portion, MPI_BYTE, 0, file->comm), "MPI_Bcast", what);
    }
    pnc_statistics_end(file->statistics, before);
}
