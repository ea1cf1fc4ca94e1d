/* A limit for the time that a collective call waits for ranks that do not make it. */
#include "file/time_limit.h"

#include <assert.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "drivers/driver.h"
#include "file/agree.h"
#include "file/file.h"

#define ANSWER_SECONDS 2.0  /* bound on the time of a message, also between ranks that share a processor */
#define STAGGER_SECONDS 0.2 /* between the limits of ranks: one rank warns all others, not all at once */
#define CALL_BYTES 200
#define TABLE_BYTES 2000

enum { NOTICE_TAG = 1, PROBES_AT_ARRIVAL = 8 };

/* A message to a rank that waits, or will arrive. */
typedef struct notice {
    enum { WARNING, ANSWER, RESULT } kind;
    int64_t number; /* of the agreement on this file */
    char call[CALL_BYTES];
    char table[TABLE_BYTES]; /* of RESULT */
} notice;

struct pnc_time_limit {
    double seconds;
    bool aborts, exceeded;
    int64_t number; /* of the agreements of this file so far; 0: the file is being opened */
    int *sent;      /* notices to each rank; NULL before the first one */
    int received;   /* notices */
    /* MPI uses these after a call that has failed */
    MPI_Comm comm;
    int64_t values[PNC_REDUCED_VALUES];
    char bytes[PNC_COMBINED_BYTES];
    notice warning, answer, result;
};

/* A reduction, in memory of the limit. */
typedef struct reduction {
    void *values;
    int n;
    MPI_Datatype type;
    MPI_Op op;
} reduction;

/* One agreement. */
typedef struct meeting {
    pnc_file *file;
    pnc_time_limit *limit;
    const char *call;
    double begin, end;         /* end: when this rank returns an error; 0 before a warning */
    int warner;                /* the rank that prints; -1: no rank has warned */
    char (*calls)[CALL_BYTES]; /* on that rank: of the ranks that answered; NULL without memory */
    char table[TABLE_BYTES];   /* who waits where, once it is known */
} meeting;

int pnc_file_time_limit_set(pnc_file *file, int64_t seconds, bool aborts)
{
    if (seconds <= 0 || file->nprocs == 1) {
        pnc_file_time_limit_free(file);
        return NC_NOERR;
    }
    if (file->limit == NULL)
        file->limit = pnc_memory_alloc_zeroed(1, sizeof *file->limit);
    if (file->limit == NULL)
        return pnc_error_set(file->error, NC_ENOMEM, "%s: no memory for a time limit", file->path);
    file->limit->seconds = (double)seconds;
    file->limit->aborts = aborts;
    return NC_NOERR;
}

void pnc_file_time_limit_free(pnc_file *file)
{
    if (file->limit != NULL && !file->limit->exceeded) { /* else MPI still uses it */
        pnc_memory_free(file->limit->sent);
        pnc_memory_free(file->limit);
    }
    file->limit = NULL;
}

bool pnc_file_time_limit_is_exceeded(const pnc_file *file)
{
    return file->limit != NULL && file->limit->exceeded;
}

/* --- the table --- */

static void append_text(char *text, size_t capacity, const char *format, ...) PNC_PRINTF(3, 4);

static void append_text(char *text, size_t capacity, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + used, capacity - used, format, arguments);
    va_end(arguments);
}

/* Append the ranks from `first` on that have the same text: "rank 3", "ranks 0-2,5". */
static void append_ranks(char *text, size_t capacity, char (*calls)[CALL_BYTES], int first, int nprocs)
{
    int count = 0;
    char list[160] = "";

    for (int i = first; i < nprocs; i++) {
        int end = i;

        if (strcmp(calls[i], calls[first]) != 0)
            continue;
        while (end + 1 < nprocs && strcmp(calls[end + 1], calls[first]) == 0)
            end++;
        if (strlen(list) < sizeof list - 30)
            append_text(list, sizeof list, end > i ? "%s%d-%d" : "%s%d", count > 0 ? "," : "", i, end);
        else if (list[strlen(list) - 1] != '.')
            append_text(list, sizeof list, ",...");
        count += end - i + 1;
        i = end;
    }
    append_text(text, capacity, "%s %s", count > 1 ? "ranks" : "rank", list);
}

/* The ranks that did not answer come first: the message of an error may be cut. */
static void make_table(meeting *m)
{
    const int nprocs = m->file->nprocs;

    m->table[0] = '\0';
    if (m->calls == NULL) {
        append_text(m->table, sizeof m->table, "no memory to list the ranks");
        return;
    }
    for (int silent = 1; silent >= 0; silent--)
        for (int i = 0, j; i < nprocs; i++) {
            if ((m->calls[i][0] == '\0') != silent)
                continue;
            for (j = 0; strcmp(m->calls[j], m->calls[i]) != 0;)
                j++;
            if (j < i) /* listed with that rank */
                continue;
            append_text(m->table, sizeof m->table, "%s", m->table[0] != '\0' ? "\n" : "");
            append_ranks(m->table, sizeof m->table, m->calls, i, nprocs);
            append_text(m->table, sizeof m->table, ": %s", silent ? "no call, and no answer" : m->calls[i]);
        }
}

static void append_cause(char *text, size_t capacity, const meeting *m)
{
    char call[60] = "opened this file";

    if (m->limit->number > 0)
        snprintf(call, sizeof call, "made collective call %lld on this file", (long long)m->limit->number);
    append_text(text, capacity, "%s: not all ranks have %s within %.0f s", m->file->path, call, m->limit->seconds);
}

/* The lines in one call, so that other output does not come between. */
static void print_table(const meeting *m)
{
    char text[2 * TABLE_BYTES] = "PnetCDF: ";

    append_cause(text, sizeof text, m);
    append_text(text, sizeof text, ". Ranks of its communicator:\n    ");
    for (const char *c = m->table; *c != '\0'; c++)
        append_text(text, sizeof text, *c == '\n' ? "%c    " : "%c", *c);
    append_text(text, sizeof text, "\n");
    fputs(text, stderr);
}

/* --- messages --- */

/* MPI libraries send messages as small as these at once: nothing waits for a rank to receive them. Without memory to
 * count them, none is sent: another rank warns, or this one is listed without an answer. */
static void send_notice(const meeting *m, notice *n, int rank)
{
    pnc_time_limit *limit = m->limit;
    MPI_Request request = MPI_REQUEST_NULL;

    if (limit->sent == NULL)
        limit->sent = pnc_memory_alloc_zeroed(m->file->nprocs, sizeof *limit->sent);
    if (limit->sent == NULL)
        return;
    n->number = limit->number;
    if (MPI_Isend(n, (int)sizeof *n, MPI_BYTE, rank, NOTICE_TAG, m->file->comm, &request) != MPI_SUCCESS)
        return;
    limit->sent[rank]++;
    MPI_Request_free(&request);
}

static int receive_notice(pnc_file *file, int source, notice *n)
{
    int code = MPI_Recv(n, (int)sizeof *n, MPI_BYTE, source, NOTICE_TAG, file->comm, MPI_STATUS_IGNORE);

    if (code == MPI_SUCCESS && file->limit != NULL)
        file->limit->received++;
    return code;
}

static void answer(meeting *m, int rank, const char *text)
{
    notice *n = &m->limit->answer;

    n->kind = ANSWER;
    snprintf(n->call, sizeof n->call, "%s%s", text, m->call);
    send_notice(m, n, rank);
}

/* Become the rank that prints the table. */
static void warn_of_meeting(meeting *m, double now)
{
    pnc_file *file = m->file;
    notice *n = &m->limit->warning;

    m->warner = file->rank;
    m->end = now + ANSWER_SECONDS;
    m->calls = pnc_memory_alloc_zeroed(file->nprocs, sizeof *m->calls);
    if (m->calls != NULL)
        snprintf(m->calls[file->rank], sizeof *m->calls, "waiting in %s", m->call);
    n->kind = WARNING;
    for (int i = 0; i < file->nprocs; i++)
        if (i != file->rank)
            send_notice(m, n, i);
}

/* If several ranks warn at once, the lowest one prints. */
static void take_notice(meeting *m, const notice *n, int source, double now, bool waits)
{
    if (n->kind == WARNING && (m->warner < 0 || source < m->warner)) {
        m->warner = source;
        m->end = now + 2 * ANSWER_SECONDS; /* the result comes sooner */
    }
    if (n->kind == WARNING)
        answer(m, source, waits ? "waiting in " : "too late in ");
    else if (n->kind == ANSWER && m->calls != NULL)
        memcpy(m->calls[source], n->call, sizeof n->call);
    else if (n->kind == RESULT && source == m->warner) {
        memcpy(m->table, n->table, sizeof n->table);
        m->end = now;
    }
}

/* Receive what has arrived; notices of earlier agreements are out of date. */
static void receive_notices(meeting *m, double now, bool waits)
{
    int arrived = 1;

    for (int i = 0; arrived || (!waits && i < PROBES_AT_ARRIVAL); i++) {
        MPI_Status status;
        notice n;

        arrived = 0;
        if (MPI_Iprobe(MPI_ANY_SOURCE, NOTICE_TAG, m->file->comm, &arrived, &status) != MPI_SUCCESS)
            return;
        if (arrived && receive_notice(m->file, status.MPI_SOURCE, &n) != MPI_SUCCESS)
            return;
        if (arrived && n.number == m->limit->number)
            take_notice(m, &n, status.MPI_SOURCE, now, waits);
    }
}

/* --- one agreement --- */

/* Rank 0 warns first, then 1, then 2 and 3, and so on. */
static double limit_of(const meeting *m)
{
    int steps = 0;

    for (int rank = m->file->rank; rank > 0; rank /= 2)
        steps++;
    return m->limit->seconds + steps * STAGGER_SECONDS;
}

/* A call is delayed by at most a sixteenth of the time that it waits. */
static void pause_while_waiting(double waited)
{
    double seconds = waited / 16 < 0.01 ? waited / 16 : 0.01;

    if (seconds > 1e-4)
        nanosleep(&(struct timespec){0, (long)(seconds * 1e9)}, NULL);
}

static int fail_meeting(const meeting *m)
{
    pnc_file *file = m->file;
    char text[200] = "";

    file->call.mismatch = true;
    append_cause(text, sizeof text, m);
    if (m->table[0] == '\0')
        return pnc_error_set_remote(file->error, NC_ETIMEOUT, "%s; rank %d reports which", text, m->warner);
    return pnc_error_set_remote(file->error, NC_ETIMEOUT, "%s: %s", text, m->table);
}

/* MPICH ends only the ranks that call MPI_Abort, unless the communicator is MPI_COMM_WORLD, which a program that only
 * uses MPI sessions does not have. */
static void end_program(MPI_Comm comm)
{
    const struct timespec forwarding = {0, 200000000}; /* the launcher loses text that it receives after an abort */
    int has_world = 0;

    nanosleep(&forwarding, NULL);
    MPI_Initialized(&has_world);
    MPI_Abort(has_world ? MPI_COMM_WORLD : comm, 1);
}

/* The rank that warned has the table; it ends the program, or sends the table to the ranks that answered. */
static int end_meeting(meeting *m)
{
    pnc_time_limit *limit = m->limit;
    notice *n = &limit->result;

    limit->exceeded = true;
    if (m->warner == m->file->rank) {
        make_table(m);
        print_table(m);
    }
    if (limit->aborts)
        end_program(m->file->comm);
    n->kind = RESULT;
    memcpy(n->table, m->table, sizeof n->table);
    for (int i = 0; m->calls != NULL && m->warner == m->file->rank && i < m->file->nprocs; i++)
        if (i != m->file->rank && m->calls[i][0] != '\0')
            send_notice(m, n, i);
    return fail_meeting(m);
}

static int wait_for_ranks(meeting *m, MPI_Request *request)
{
    for (;;) {
        int done = 0, code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        double now = MPI_Wtime();

        pnc_file_step_check(m->file, code, "MPI_Test", "the first agreement of a call");
        if (done || *request == MPI_REQUEST_NULL)
            return NC_NOERR;
        receive_notices(m, now, true);
        if (m->warner < 0 && now - m->begin > limit_of(m))
            warn_of_meeting(m, now);
        if (m->warner >= 0 && now >= m->end)
            return end_meeting(m);
        pause_while_waiting(now - m->begin);
    }
}

/* The rank that warned prints the table, and ends the program. */
static void wait_for_end(const meeting *m)
{
    while (MPI_Wtime() < m->end)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

static int meet(meeting *m, const reduction *r)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int code;

    receive_notices(m, m->begin, false);
    if (m->warner >= 0 && m->limit->aborts)
        wait_for_end(m);
    if (m->warner >= 0)
        return end_meeting(m);
    code = MPI_Iallreduce(MPI_IN_PLACE, r->values, r->n, r->type, r->op, m->file->comm, &request);
    pnc_file_step_check(m->file, code, "MPI_Iallreduce", "the first agreement of a call");
    return wait_for_ranks(m, &request);
}

int pnc_file_time_limit_agree(pnc_file *file, int64_t *values, int n, const char *call)
{
    pnc_time_limit *limit = file->limit;
    meeting m = {.file = file, .limit = limit, .call = call, .begin = MPI_Wtime(), .warner = -1};
    reduction r = {limit->values, n, MPI_INT64_T, MPI_MAX};
    int err;

    assert(n <= PNC_REDUCED_VALUES);
    if (limit->exceeded) {
        file->call.mismatch = true;
        return pnc_error_set_remote(file->error, NC_ETIMEOUT,
                                    "%s: not all ranks have made collective call %lld on this file within the time "
                                    "limit: it can only be closed",
                                    file->path, (long long)limit->number);
    }
    limit->number++;
    memcpy(limit->values, values, (size_t)n * sizeof *values);
    err = meet(&m, &r);
    if (err == NC_NOERR)
        memcpy(values, limit->values, (size_t)n * sizeof *values);
    pnc_memory_free(m.calls);
    return err;
}

/* --- opening --- */

int pnc_file_time_limit_bits_agree(pnc_file *file, void *bytes, int n, const char *call)
{
    pnc_time_limit *limit = file->limit;
    meeting m = {.file = file, .limit = limit, .call = call, .begin = MPI_Wtime(), .warner = -1};
    reduction r = {limit->bytes, n, MPI_BYTE, MPI_BOR};
    int err;

    assert(n <= PNC_COMBINED_BYTES);
    memcpy(limit->bytes, bytes, (size_t)n);
    err = meet(&m, &r);
    if (err == NC_NOERR)
        memcpy(bytes, limit->bytes, (size_t)n);
    pnc_memory_free(m.calls);
    return err;
}

/* There is no communicator yet in which ranks could answer. Rank 0 prints, and rank 1, as rank 0 may be missing. */
static int end_opening(pnc_file *file, MPI_Comm comm)
{
    meeting m = {.file = file, .limit = file->limit};
    char text[200] = "";

    file->limit->exceeded = true;
    append_cause(text, sizeof text, &m);
    if (file->rank < 2)
        fprintf(stderr, "PnetCDF: %s. Rank %d of %d waits in %s\n", text, file->rank, file->nprocs, file->call.name);
    if (file->limit->aborts)
        end_program(comm);
    return pnc_error_set_remote(file->error, NC_ETIMEOUT, "%s", text);
}

/* The collective steps on the program's communicator. */
enum { LIMITS, DUPLICATION, STEPS };

typedef struct step {
    const char *what; /* it makes */
    MPI_Request request;
    int code; /* of its end */
} step;

/* As long as there is a request, MPI uses memory of the step. */
static bool is_complete(pnc_file *file, step *s)
{
    int done = 0;

    s->code = MPI_Test(&s->request, &done, MPI_STATUS_IGNORE);
    if (done || s->request == MPI_REQUEST_NULL)
        return true;
    pnc_file_step_check(file, s->code, "MPI_Test", s->what);
    return false;
}

/* Wait for steps, with the limit if this rank has one. */
static int wait_for_steps(pnc_file *file, MPI_Comm comm, step *steps, int n)
{
    const double begin = MPI_Wtime();

    for (int i = 0; i < n && file->limit == NULL; i++)
        if (steps[i].request != MPI_REQUEST_NULL) /* else the code of an earlier wait would be lost */
            steps[i].code = MPI_Wait(&steps[i].request, MPI_STATUS_IGNORE);
    for (int i = 0; i < n && file->limit != NULL;) {
        double waited = MPI_Wtime() - begin;

        if (is_complete(file, &steps[i]))
            i++;
        else if (waited > file->limit->seconds)
            return end_opening(file, comm);
        else
            pause_while_waiting(waited);
    }
    return NC_NOERR;
}

/* Find whether any rank has a limit. A rank that has one does not wait for the result: the caller completes the step.
 * If MPI fails on some ranks only, their results may differ. */
static bool find_limits(pnc_file *file, MPI_Comm comm, step *s)
{
    int64_t own = file->limit != NULL, *any = file->limit != NULL ? file->limit->values : &own;
    int code;

    *any = own;
    code = MPI_Iallreduce(MPI_IN_PLACE, any, 1, MPI_INT64_T, MPI_MAX, comm, &s->request);
    pnc_file_step_check(file, code, "MPI_Iallreduce", s->what);
    if (file->limit == NULL)
        wait_for_steps(file, comm, s, 1);
    return own != 0;
}

/* If MPI has no communicator left, the wait fails on all ranks, and *out is undefined. A rank with a limit begins both
 * steps before it waits: ranks that make the call later complete both. */
static int duplicate_nonblocking(pnc_file *file, MPI_Comm comm, step *steps, int *code)
{
    MPI_Comm own = MPI_COMM_NULL, *out = file->limit != NULL ? &file->limit->comm : &own;
    int err;

    *out = MPI_COMM_NULL;
    *code = MPI_Comm_idup(comm, out, &steps[DUPLICATION].request);
    err = wait_for_steps(file, comm, steps, STEPS);
    if (err == NC_NOERR && steps[DUPLICATION].code == MPI_SUCCESS)
        file->comm = *out;
    return err;
}

/* MPICH makes a blocking collective call when a nonblocking duplication ends, in the thread whose call completes it.
 * Threads that duplicate different communicators at the same time can thus block each other (seen with MPICH 4.0.2 on
 * several nodes). With threads the duplication therefore blocks, unless a rank has a limit. */
int pnc_file_time_limit_comm_create(pnc_file *file, MPI_Comm comm, int *code)
{
    step steps[STEPS] = {{"the time limits", MPI_REQUEST_NULL, MPI_SUCCESS},
                         {"the communicator", MPI_REQUEST_NULL, MPI_SUCCESS}};
    int err = NC_NOERR;

    if (!pnc_driver_has_threads() || find_limits(file, comm, &steps[LIMITS]))
        err = duplicate_nonblocking(file, comm, steps, code);
    else
        *code = MPI_Comm_dup(comm, &file->comm);
    pnc_file_step_check(file, steps[LIMITS].code, "MPI_Iallreduce", steps[LIMITS].what);
    return err;
}

/* --- the end --- */

/* The notices that this rank has still to receive. From now on only later ones count, as a rank without a limit, which
 * does not count those that it receives, may get one. Collective: a rank continues by the results of a step that fails.
 */
static int count_missing(pnc_file *file)
{
    pnc_time_limit *limit = file->limit;
    int expected = 0, *sent = pnc_memory_alloc_zeroed(file->nprocs, sizeof *sent), has_memory = sent != NULL,
        all_have = 0;
    int code = MPI_Allreduce(&has_memory, &all_have, 1, MPI_INT, MPI_MIN, file->comm);

    pnc_file_step_check(file, code, "MPI_Allreduce", "the memory to count notices");
    if (all_have) {
        if (limit != NULL && limit->sent != NULL)
            memcpy(sent, limit->sent, (size_t)file->nprocs * sizeof *sent);
        code = MPI_Reduce_scatter_block(sent, &expected, 1, MPI_INT, MPI_SUM, file->comm);
        pnc_file_step_check(file, code, "MPI_Reduce_scatter_block", "the numbers of notices");
        if (limit != NULL) {
            limit->received -= expected;
            pnc_memory_free(limit->sent);
            limit->sent = NULL;
        }
    }
    pnc_memory_free(sent);
    return limit != NULL ? -limit->received : expected;
}

void pnc_file_time_limit_end(pnc_file *file)
{
    int any = file->limit != NULL && file->limit->sent != NULL, some = 0, code;

    if (file->limit != NULL && file->limit->exceeded)
        return;
    code = MPI_Allreduce(&any, &some, 1, MPI_INT, MPI_MAX, file->comm);
    pnc_file_step_check(file, code, "MPI_Allreduce", "whether there are notices");
    for (int missing = some ? count_missing(file) : 0; missing > 0; missing--) {
        notice n;

        if (receive_notice(file, MPI_ANY_SOURCE, &n) != MPI_SUCCESS)
            return;
    }
}
