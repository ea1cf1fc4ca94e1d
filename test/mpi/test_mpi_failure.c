/* One MPI call fails on one rank, in a collective put or get with every strategy, in wait_all, and where files are
 * opened and definitions end. No rank hangs; the ranks have an error, or the values are right; and the next call
 * succeeds with the right values.
 *
 * A call fails before it does anything, if it is local or posts a message, or after its work, with an error code as
 * the only trace: what the other ranks of a collective call receive, and whether they return, is then known. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pnetcdf.h>

#include "../harness.h"

enum { ROWS = 240, WIDTH = 8, LIMIT = 60 };

/* --- the failure --- */

/* name, whether it also fails before its work, parameters, arguments */
/* clang-format off */
#define CALLS(X) \
    X(Allreduce, false, (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (a, b, n, t, o, c)) \
    X(Bcast, false, (void *a, int n, MPI_Datatype t, int root, MPI_Comm c), (a, n, t, root, c)) \
    X(Reduce, false, (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c), \
      (a, b, n, t, o, root, c)) \
    X(Exscan, false, (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (a, b, n, t, o, c)) \
    X(Gather, false, (const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u, int root, MPI_Comm c), \
      (a, n, t, b, m, u, root, c)) \
    X(Barrier, false, (MPI_Comm c), (c)) \
    X(Ibarrier, false, (MPI_Comm c, MPI_Request *r), (c, r)) \
    X(Iallreduce, false, (const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request *r), \
      (a, b, n, t, o, c, r)) \
    X(Send, true, (const void *a, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (a, n, t, to, tag, c)) \
    X(Isend, true, (const void *a, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r), \
      (a, n, t, to, tag, c, r)) \
    X(Issend, true, (const void *a, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r), \
      (a, n, t, to, tag, c, r)) \
    X(Irecv, true, (void *a, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r), \
      (a, n, t, from, tag, c, r)) \
    X(Improbe, true, (int from, int tag, MPI_Comm c, int *flag, MPI_Message *m, MPI_Status *s), \
      (from, tag, c, flag, m, s)) \
    X(Mrecv, true, (void *a, int n, MPI_Datatype t, MPI_Message *m, MPI_Status *s), (a, n, t, m, s)) \
    X(Test, true, (MPI_Request *r, int *flag, MPI_Status *s), (tested = r, flag, s)) \
    X(Wait, false, (MPI_Request *r, MPI_Status *s), (r, s)) \
    X(Comm_dup, false, (MPI_Comm c, MPI_Comm *out), (c, out)) \
    X(Comm_idup, false, (MPI_Comm c, MPI_Comm *out, MPI_Request *r), (c, out, duplication = r)) \
    X(Comm_split, false, (MPI_Comm c, int color, int key, MPI_Comm *out), (c, color, key, out)) \
    X(Comm_split_type, false, (MPI_Comm c, int type, int key, MPI_Info i, MPI_Comm *out), (c, type, key, i, out)) \
    X(Comm_create_group, false, (MPI_Comm c, MPI_Group g, int tag, MPI_Comm *out), (c, g, tag, out)) \
    X(Comm_get_errhandler, true, (MPI_Comm c, MPI_Errhandler *h), (c, h)) \
    X(Comm_group, true, (MPI_Comm c, MPI_Group *g), (c, g)) \
    X(Group_incl, true, (MPI_Group g, int n, const int *ranks, MPI_Group *out), (g, n, ranks, out)) \
    X(Comm_free, false, (MPI_Comm *c), (c)) \
    X(Win_allocate_shared, false, (MPI_Aint n, int unit, MPI_Info i, MPI_Comm c, void *base, MPI_Win *w), \
      (n, unit, i, c, base, w)) \
    X(Win_shared_query, true, (MPI_Win w, int rank, MPI_Aint *n, int *unit, void *base), (w, rank, n, unit, base)) \
    X(Win_lock_all, true, (int assertion, MPI_Win w), (assertion, w)) \
    X(Win_sync, true, (MPI_Win w), (w)) \
    X(Win_unlock_all, false, (MPI_Win w), (w)) \
    X(Win_free, false, (MPI_Win *w), (w)) \
    X(Type_create_hindexed, true, (int n, const int *l, const MPI_Aint *d, MPI_Datatype t, MPI_Datatype *out), \
      (n, l, d, t, out)) \
    X(Type_create_hvector, true, (int n, int l, MPI_Aint s, MPI_Datatype t, MPI_Datatype *out), (n, l, s, t, out)) \
    X(Op_create, true, (MPI_User_function *f, int commutes, MPI_Op *o), (f, commutes, o)) \
    X(Type_contiguous, true, (int n, MPI_Datatype t, MPI_Datatype *out), (n, t, out)) \
    X(Type_commit, true, (MPI_Datatype *t), (t)) \
    X(Type_free, false, (MPI_Datatype *t), (t)) \
    X(Info_create, true, (MPI_Info *i), (i)) \
    X(Info_set, true, (MPI_Info i, const char *key, const char *value), (i, key, value)) \
    X(File_open, false, (MPI_Comm c, const char *path, int mode, MPI_Info i, MPI_File *f), (c, path, mode, i, f)) \
    X(File_set_view, false, \
      (MPI_File f, MPI_Offset at, MPI_Datatype e, MPI_Datatype t, const char *as, MPI_Info i), (f, at, e, t, as, i)) \
    X(File_get_size, true, (MPI_File f, MPI_Offset *n), (f, n)) \
    X(File_get_info, true, (MPI_File f, MPI_Info *i), (f, i)) \
    X(File_set_size, false, (MPI_File f, MPI_Offset n), (f, n)) \
    X(File_sync, false, (MPI_File f), (f)) \
    X(File_close, false, (MPI_File *f), (f))

#define CONSTANT(name, before, parameters, arguments) CALL_##name,
#define NAME(name, before, parameters, arguments) "MPI_" #name,
#define BEFORE(name, before, parameters, arguments) before,
#define FUNCTION(name, before, parameters, arguments) \
    int MPI_##name parameters                         \
    {                                                 \
        int code;                                     \
                                                      \
        if (before && fails(CALL_##name, false))      \
            return MPI_ERR_OTHER;                     \
        code = PMPI_##name arguments;                 \
        return fails(CALL_##name, true) ? MPI_ERR_OTHER : code; \
    }
/* clang-format on */

enum { CALLS(CONSTANT) N_CALLS };
static const char *const names[] = {CALLS(NAME)};
static const bool can_fail_before[] = {CALLS(BEFORE)};

static struct {
    bool armed, after;
    int call, index; /* the index-th one fails */
    int made[N_CALLS];
    bool failed;
} plan;

/* Requests of the last MPI_Test and MPI_Comm_idup: for lack of communicators, the only failure that the library expects
 * at the end of a duplication, it fails on all ranks. */
static MPI_Request *tested, *duplication;

static bool fails(int call, bool after)
{
    if (!plan.armed || plan.after != after || (call == CALL_Test && after && tested == duplication))
        return false;
    if (plan.made[call]++ != plan.index || call != plan.call)
        return false;
    plan.failed = true;
    return true;
}

CALLS(FUNCTION)

/* Begin to count the calls; on rank `where` one of them fails. */
static void arm(int call, int index, bool after, int where)
{
    memset(&plan, 0, sizeof plan);
    plan.call = t_rank == where ? call : -1;
    plan.index = index;
    plan.after = after;
    plan.armed = true;
}

/* --- hangs --- */

static char under_way[200];

static void report_hang(int signal)
{
    (void)signal;
    (void)!write(2, under_way, strlen(under_way));
    _exit(3);
}

/* --- calls --- */

/* GET_SAME: all ranks get what all have put. BEGIN: of netCDF-4 files, whose ranks then share the places of chunks */
typedef enum operation {
    PUT,
    GET,
    WAIT,
    GET_SAME,
    CREATE,
    OPEN,
    ENDDEF,
    REDEF,
    PUT_ATT,
    SYNC,
    CLOSE,
    BEGIN,
    OPERATIONS
} operation;
static const char *const operation_names[] = {"put",    "get",   "wait_all", "get the same", "create", "open",
                                              "enddef", "redef", "put_att",  "sync",         "close",  "begin_indep"};
static const char *strategy, *timeout; /* of the files; NULL: no time limit */
static int values[ROWS * WIDTH];

static int value_of(int i)
{
    return t_rank * 100000 + i;
}

static bool are_right(void)
{
    for (int i = 0; i < ROWS * WIDTH; i++)
        if (values[i] != value_of(i))
            return false;
    return true;
}

/* GET_SAME: rows of all ranks. */
static int *rows;

static bool are_rows_right(void)
{
    for (int i = 0; i < ROWS * WIDTH * t_nprocs; i++) {
        int row = i / (WIDTH * t_nprocs), rank = i / WIDTH % t_nprocs;

        if (rows[i] != rank * 100000 + row * WIDTH + i % WIDTH)
            return false;
    }
    return true;
}

static int get_rows(int ncid)
{
    MPI_Offset start[2] = {0, 0}, count[2] = {ROWS, WIDTH * t_nprocs};

    memset(rows, 0, (size_t)(ROWS * WIDTH * t_nprocs) * sizeof *rows);
    return ncmpi_get_vara_int_all(ncid, 0, start, count, rows);
}

static int access_columns(int ncid, operation what)
{
    MPI_Offset start[2] = {0, t_rank * WIDTH}, count[2] = {ROWS, WIDTH};
    int req, status;

    memset(values, 0, sizeof values);
    if (what == GET)
        return ncmpi_get_vara_int_all(ncid, 0, start, count, values);
    for (int i = 0; i < ROWS * WIDTH; i++)
        values[i] = value_of(i);
    if (what == PUT)
        return ncmpi_put_vara_int_all(ncid, 0, start, count, values);
    t_local(ncmpi_iput_vara_int(ncid, 0, start, count, values, &req) == NC_NOERR, "iput");
    return ncmpi_wait_all(ncid, 1, &req, &status);
}

/* Independently. */
static int get_columns(int ncid)
{
    MPI_Offset start[2] = {0, t_rank * WIDTH}, count[2] = {ROWS, WIDTH};

    return ncmpi_get_vara_int(ncid, 0, start, count, values);
}

static int create_or_open(bool creates, int *ncid)
{
    MPI_Info info = MPI_INFO_NULL;
    int err;

    PMPI_Info_create(&info);
    PMPI_Info_set(info, "nc_strategy", strategy);
    PMPI_Info_set(info, "cb_buffer_size", "8192"); /* several rounds */
    if (strcmp(strategy, "shared") == 0) {         /* several steps, and readers */
        PMPI_Info_set(info, "nc_ibuf_size", "8192");
        PMPI_Info_set(info, "striping_unit", "4096");
    }
    if (timeout != NULL)
        PMPI_Info_set(info, "nc_timeout", timeout);
    *ncid = -1;
    if (creates)
        err = ncmpi_create(MPI_COMM_WORLD, t_path("failure.nc"), NC_CLOBBER, info, ncid);
    else
        err = ncmpi_open(MPI_COMM_WORLD, t_path("failure.nc"), NC_WRITE, info, ncid);
    PMPI_Info_free(&info);
    return err;
}

static void define(int ncid)
{
    int dims[2], varid;

    t_local(ncmpi_def_dim(ncid, "row", NC_UNLIMITED, &dims[0]) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_dim(ncid, "column", WIDTH * t_nprocs, &dims[1]) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_var(ncid, "v", NC_INT, 2, dims, &varid) == NC_NOERR, "def_var");
    t_local(ncmpi_put_att_text(ncid, 0, "units", 1, "m") == NC_NOERR, "put_att");
}

/* The header grows, and the data move. */
static void define_more(int ncid)
{
    static char text[3000];

    memset(text, 'a', sizeof text);
    t_local(ncmpi_redef(ncid) == NC_NOERR, "redef");
    t_local(ncmpi_put_att_text(ncid, NC_GLOBAL, "history", sizeof text, text) == NC_NOERR, "put_att in define mode");
}

/* Make a file for the operation, up to the call that fails. Returns its ncid; -1: it is not open. */
static int prepare(operation what)
{
    int ncid;

    if (what == CREATE)
        return -1;
    t_local(create_or_open(true, &ncid) == NC_NOERR, "create");
    define(ncid);
    if (what == ENDDEF)
        return ncid;
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    if (what == PUT || what == WAIT)
        return ncid;
    t_local(access_columns(ncid, PUT) == NC_NOERR, "put");
    if (what == REDEF)
        define_more(ncid);
    if (what != OPEN)
        return ncid;
    t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    return -1;
}

static int execute(operation what, int *ncid)
{
    int err;

    switch (what) {
    case CREATE:
    case OPEN: return create_or_open(what == CREATE, ncid);
    case ENDDEF:
    case REDEF: return ncmpi_enddef(*ncid);
    case PUT_ATT: return ncmpi_put_att_text(*ncid, 0, "units", 1, "s");
    case SYNC: return ncmpi_sync(*ncid);
    case GET_SAME: return get_rows(*ncid);
    case BEGIN: return ncmpi_begin_indep_data(*ncid);
    case CLOSE:
        err = ncmpi_close(*ncid);
        *ncid = -1;
        return err;
    default: return access_columns(*ncid, what);
    }
}

/* --- one failure --- */

/* What the ranks have. */
typedef struct outcome {
    int failures, errors, silent; /* silent: failures without an error */
    int open;
} outcome;

static outcome find_outcome(int err, int ncid)
{
    int all[4] = {plan.failed, err != NC_NOERR, plan.failed && err == NC_NOERR, ncid >= 0};

    PMPI_Allreduce(MPI_IN_PLACE, all, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return (outcome){all[0], all[1], all[2], all[3]};
}

/* All ranks have an error or, of the last collective step, the one on which it failed. Without an error, all is as
 * without the failure. */
static void check_outcome(const outcome *o, operation what, int err)
{
    t_local(o->failures > 0 || o->errors == 0, "%s: error %d without a cause", under_way, err);
    t_local(o->errors == 0 || o->silent == 0, "%s: other ranks have an error, this one none", under_way);
    t_local(o->errors <= 1 || o->errors == t_nprocs, "%s: %d ranks have an error", under_way, o->errors);
    t_local(o->open == 0 || o->open == t_nprocs, "%s: the file is open on %d ranks", under_way, o->open);
    if ((what == GET || what == GET_SAME) && err == NC_NOERR)
        t_local(what == GET ? are_right() : are_rows_right(), "%s: wrong values", under_way);
}

/* After the operation, which made an error on all ranks if `failed`: what is next succeeds, with the right values. */
static void check_next(operation what, int ncid, bool failed)
{
    if (failed && (what == ENDDEF || what == REDEF))
        t_local(ncmpi_enddef(ncid) == NC_NOERR, "%s: the next enddef", under_way);
    if (what == CREATE) {
        define(ncid);
        t_local(ncmpi_enddef(ncid) == NC_NOERR, "%s: enddef", under_way);
    }
    if (what == BEGIN) {
        memset(values, 0, sizeof values);
        t_local(failed || (get_columns(ncid) == NC_NOERR && are_right()), "%s: wrong values before", under_way);
        t_local(ncmpi_end_indep_data(ncid) == NC_NOERR, "%s: end_indep_data", under_way);
    }
    if (failed || what == CREATE || what == ENDDEF)
        t_local(access_columns(ncid, PUT) == NC_NOERR, "%s: the next put", under_way);
    t_local(access_columns(ncid, GET) == NC_NOERR && are_right(), "%s: wrong values later", under_way);
    t_local(ncmpi_close(ncid) == NC_NOERR, "%s: close", under_way);
}

static const char *describe_limit(void)
{
    return timeout != NULL ? " with a time limit" : "";
}

static void try_failure(operation what, int which, int index, bool after, int where)
{
    int ncid = prepare(what), err;
    outcome o;

    snprintf(under_way, sizeof under_way, "%s, %s%s: %s %d fails %s its work on rank %d\n", strategy,
             operation_names[what], describe_limit(), names[which], index, after ? "after" : "before", where);
    alarm(LIMIT);
    arm(which, index, after, where);
    err = execute(what, &ncid);
    plan.armed = false;
    o = find_outcome(err, ncid);
    check_outcome(&o, what, err);
    if (o.open == 0 && what != CREATE)
        t_local(create_or_open(false, &ncid) == NC_NOERR || o.errors > 0, "%s: the next open", under_way);
    if (ncid >= 0)
        check_next(what, ncid, o.errors == t_nprocs);
    alarm(0);
}

/* The number of calls of each function on a rank. */
static void count_calls(operation what, int where, int *made)
{
    int ncid = prepare(what);

    arm(-1, -1, true, where);
    t_local(execute(what, &ncid) == NC_NOERR, "%s without a failure", operation_names[what]);
    plan.armed = false;
    memcpy(made, plan.made, sizeof plan.made);
    PMPI_Bcast(made, N_CALLS, MPI_INT, where, MPI_COMM_WORLD);
    if (ncid >= 0)
        t_local(ncmpi_close(ncid) == NC_NOERR, "close");
}

static void test_on_rank(operation what, int where)
{
    int made[N_CALLS], tried = 0;

    count_calls(what, where, made);
    for (int which = 0; which < N_CALLS; which++)
        for (int after = !can_fail_before[which]; after < 2; after++)
            for (int index = 0; index < made[which]; index = t_choose(30, 10, 1) * index + 1, tried++)
                try_failure(what, which, index, after, where);
    t_check(tried > 0 || t_nprocs == 1, "%s, %s%s: rank %d fails in each of %d MPI calls", strategy,
            operation_names[what], describe_limit(), where, tried);
}

/* On rank 0, and on another rank that depends on the operation; quick: on one of both. */
static void test_operation(operation what)
{
    bool one = t_quick() && t_nprocs > 1;
    if (!one || (int)what % 2 == 0)
        test_on_rank(what, 0);
    if (t_nprocs > 1 && (!one || (int)what % 2 == 1))
        test_on_rank(what, 1 + (int)what % (t_nprocs - 1));
}

int main(int argc, char **argv)
{
    static const char *const strategies[] = {"direct", "separate", "within_nodes", "two_phase", "mpi_io"};

    t_start_threaded(&argc, &argv, MPI_THREAD_MULTIPLE); /* then ROMIO is entered in turns: more calls */
    signal(SIGALRM, report_hang);
    for (int i = 0; i < 5; i++) {
        strategy = strategies[i];
        for (operation what = PUT; what <= WAIT; what++)
            test_operation(what);
    }
    strategy = "shared";
    rows = malloc((size_t)(ROWS * WIDTH * t_nprocs) * sizeof *rows);
    test_operation(GET_SAME);
    free(rows);
    strategy = "two_phase";
    for (operation what = CREATE; what < (t_classic() ? BEGIN : OPERATIONS); what++)
        test_operation(what);
    timeout = "30"; /* then MPI_Comm_idup, as without MPI_THREAD_MULTIPLE */
    test_operation(CREATE);
    test_operation(OPEN);
    return t_finish();
}
