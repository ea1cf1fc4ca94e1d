/* As many open files as the process may have, and one more: that one is an error on every rank, and the others remain
 * usable. The bound is the lowest of NC_MAX_NFILES, file descriptors, and communicators of the MPI library (MPICH 4:
 * 2048 on a process, two of them for a file; Open MPI 4: 65,532). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../expect.h"

enum {
    MOST_KEPT = 64, /* communicators of closed files: file/communicator.h */
    MOST_COMMS = 1 << 17,
    MOST_LEFT = 4,
    ROWS = 1000
};

static int ncids[NC_MAX_NFILES + 1];
static MPI_Comm held[MOST_COMMS];

/* Open a file until that fails, or `most` times. */
static int open_many(MPI_Comm comm, const char *path, int most, int *err)
{
    int n = 0;

    *err = NC_NOERR;
    while (n < most && (*err = ncmpi_open(comm, path, NC_NOWRITE, MPI_INFO_NULL, &ncids[n])) == NC_NOERR)
        n++;
    return n;
}

static void close_many(int n, const char *text)
{
    int failures = 0;

    while (n > 0)
        failures += ncmpi_close(ncids[--n]) != NC_NOERR;
    t_check(failures == 0, "%s: all are closed again", text);
}

static void test_too_many(MPI_Comm comm, const char *path, const char *text)
{
    int err, n = open_many(comm, path, NC_MAX_NFILES + 1, &err), size;
    char message[NC_MAX_MESSAGE] = "";

    MPI_Comm_size(comm, &size);
    ncmpi_inq_last_error(-1, NULL, message);
    t_check(n >= 64 && n <= NC_MAX_NFILES, "%s: many files are open at once (%d)", text, n);
    expect_code(err, NC_ENFILE, text);
    t_check(strstr(message, path) != NULL && strstr(message, "ncmpi_open") != NULL, "%s: the file is named: %s", text,
            message);
    close_many(n, text);
    n = open_many(comm, path, 3, &err);
    t_check(n == 3, "%s: then there is room again (%s)", text, ncmpi_strerrno(err));
    close_many(n, text);
}

static int open_and_close(MPI_Comm comm, const char *path)
{
    int ncid, err = ncmpi_open(comm, path, NC_NOWRITE, MPI_INFO_NULL, &ncid);

    return err == NC_NOERR ? ncmpi_close(ncid) : err;
}

/* Make as many communicators as MPI has left. Returns their number. */
static int hold_all(void)
{
    MPI_Errhandler handler;
    int n = 0;

    MPI_Comm_get_errhandler(MPI_COMM_SELF, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    while (n < MOST_COMMS && MPI_Comm_dup(MPI_COMM_SELF, &held[n]) == MPI_SUCCESS)
        n++;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Errhandler_free(&handler);
    t_local(n > MOST_LEFT && n < MOST_COMMS, "MPI has no communicator left after %d", n);
    return n;
}

static void free_held(int n)
{
    while (n > 0)
        MPI_Comm_free(&held[--n]);
}

static int count_left(void)
{
    int n = hold_all();

    free_held(n);
    return n;
}

/* The program itself has left fewer communicators than a file needs, or none. */
static void test_last_communicators(MPI_Comm comm, int needs, const char *path)
{
    int n = hold_all(), err;

    for (int left = 0; left <= 3; left++) {
        err = open_and_close(comm, path);
        t_check(err == (left < needs ? NC_ENFILE : NC_NOERR), "a file that needs %d communicators, of %d: %s", needs,
                left, ncmpi_strerrno(err));
        MPI_Comm_free(&held[--n]);
    }
    free_held(n);
    expect_code(open_and_close(comm, path), NC_NOERR, "a file after that");
}

static bool is_open_mpi(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;

    MPI_Get_library_version(text, &length);
    return strstr(text, "Open MPI") != NULL;
}

/* The first file of a communicator finds the nodes, which takes two communicators of MPICH for a moment. The second one
 * leaves its duplicate for the next, which then takes one only, for MPI-IO. */
static void test_new_communicator(const char *path)
{
    MPI_Comm unused, comm;

    MPI_Comm_split(MPI_COMM_WORLD, 0, t_rank, &unused);
    test_last_communicators(unused, 3, path);
    MPI_Comm_free(&unused);

    MPI_Comm_split(MPI_COMM_WORLD, 0, t_rank, &comm);
    expect_code(open_and_close(comm, path), NC_NOERR, "the first file");
    test_last_communicators(comm, 2, path);
    test_last_communicators(comm, 1, path);
    MPI_Comm_free(&comm);
}

/* Only rank 0 has used its communicators. The first file needs three: opening it is an error on all ranks. With none at
 * all, the duplication of Open MPI would block the other ranks. */
static void test_lack_of_one_rank(const char *path)
{
    MPI_Comm comm;
    int n, err;

    MPI_Comm_split(MPI_COMM_WORLD, 0, t_rank, &comm);
    n = t_rank == 0 ? hold_all() : 0;
    for (int left = 1; left <= 3; left++) {
        if (t_rank == 0)
            MPI_Comm_free(&held[--n]);
        err = open_and_close(comm, path);
        t_check(err == (left < 3 ? NC_ENFILE : NC_NOERR), "a first file, %d communicators on rank 0: %s", left,
                ncmpi_strerrno(err));
    }
    free_held(n);
    MPI_Comm_free(&comm);
}

/* What a file leaves to the next one of its communicator ends with this communicator, though a duplicate remains. */
static void test_duplicate(const char *path)
{
    MPI_Comm comm, copy;
    int before = count_left(), left;

    MPI_Comm_split(MPI_COMM_WORLD, 0, t_rank, &comm);
    expect_code(open_and_close(comm, path), NC_NOERR, "the first file before the duplicate");
    expect_code(open_and_close(comm, path), NC_NOERR, "the second file before the duplicate");
    MPI_Comm_dup(comm, &copy);
    left = count_left();
    t_check(left == before - 3, "two communicators of the program, and one that is kept: %d of %d are left", left,
            before);
    MPI_Comm_free(&comm);
    left = count_left();
    t_check(left == before - 1, "one communicator of the program: %d of %d are left", left, before);
    expect_code(open_and_close(copy, path), NC_NOERR, "a file of the duplicate");
    MPI_Comm_free(&copy);
    left = count_left();
    t_check(left == before, "none: %d of %d are left", left, before);
}

/* Files that are open count towards the number of communicators that are left to other files. */
static void test_bound(const char *path, const char *own)
{
    MPI_Comm comm;
    int err, n = open_many(MPI_COMM_SELF, own, MOST_KEPT, &err);

    t_check(n == MOST_KEPT, "%d files are open", n);
    MPI_Comm_split(MPI_COMM_WORLD, 0, t_rank, &comm);
    expect_code(open_and_close(comm, path), NC_NOERR, "the first file beside them");
    expect_code(open_and_close(comm, path), NC_NOERR, "the second file beside them");
    test_last_communicators(comm, 2, path);
    MPI_Comm_free(&comm);
    close_many(n, "files beside them");
}

static int create_table(const char *path, const char *strategy)
{
    int ncid, dims[2], varid;
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_strategy", strategy);
    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, 0, info, &ncid), "create a table");
    MPI_Info_free(&info);
    expect_ok(ncmpi_def_dim(ncid, "row", ROWS, &dims[0]), "def_dim row");
    expect_ok(ncmpi_def_dim(ncid, "rank", t_nprocs, &dims[1]), "def_dim rank");
    expect_ok(ncmpi_def_var(ncid, "table", NC_INT, 2, dims, &varid), "def_var");
    expect_ok(ncmpi_enddef(ncid), "enddef");
    return ncid;
}

/* Each rank puts its column, and gets that of the next rank. */
static bool exchanges_columns(int ncid)
{
    MPI_Offset start[2] = {0, t_rank}, count[2] = {ROWS, 1};
    int values[ROWS], got[ROWS] = {0}, next = (t_rank + 1) % t_nprocs, wrong = 0;

    for (int i = 0; i < ROWS; i++)
        values[i] = i * 10 + t_rank;
    if (ncmpi_put_vara_int_all(ncid, 0, start, count, values) != NC_NOERR)
        return false;
    start[1] = next;
    if (ncmpi_get_vara_int_all(ncid, 0, start, count, got) != NC_NOERR)
        return false;
    for (int i = 0; i < ROWS; i++)
        wrong += got[i] != i * 10 + next;
    return wrong == 0;
}

/* Aggregators take communicators: without them each rank accesses the file on its own, on all ranks alike, though only
 * rank 0 has used its communicators. */
static void test_aggregators(const char *path, const char *strategy)
{
    int tables[MOST_LEFT + 1], n;
    char name[4200];

    for (int i = 0; i <= MOST_LEFT; i++) {
        snprintf(name, sizeof name, "%s.table%d", path, i);
        tables[i] = create_table(name, strategy);
    }
    n = t_rank == 0 ? hold_all() : 0;
    for (int left = 0; left <= MOST_LEFT; left++) {
        t_check(exchanges_columns(tables[left]), "%s: columns are exchanged with %d more communicators", strategy,
                left);
        if (t_rank == 0)
            MPI_Comm_free(&held[--n]);
    }
    free_held(n);
    for (int i = 0; i <= MOST_LEFT; i++)
        expect_ok(ncmpi_close(tables[i]), "close a table");
    for (int i = 0; i <= MOST_LEFT && t_rank == 0; i++) {
        snprintf(name, sizeof name, "%s.table%d", path, i);
        unlink(name);
    }
}

/* The error handlers of the program remain in effect. */
static void test_handlers(void)
{
    MPI_Errhandler own, all;

    MPI_Comm_get_errhandler(MPI_COMM_SELF, &own);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &all);
    t_check(own == MPI_ERRORS_ARE_FATAL && all == MPI_ERRORS_ARE_FATAL, "communicators have their error handlers back");
}

static void test_descriptors(MPI_Comm comm, const char *path)
{
    struct rlimit usual, few;

    getrlimit(RLIMIT_NOFILE, &usual);
    few = usual;
    few.rlim_cur = 200;
    t_check(setrlimit(RLIMIT_NOFILE, &few) == 0, "no more than 200 file descriptors");
    test_too_many(comm, path, "out of file descriptors");
    setrlimit(RLIMIT_NOFILE, &usual);
}

int main(int argc, char **argv)
{
    char path[4096], own[4200];
    int ncid;
    struct rlimit all;

    t_start(&argc, &argv);
    snprintf(path, sizeof path, "%s", t_path("many_files.nc"));
    snprintf(own, sizeof own, "%s.%d", path, t_rank);
    getrlimit(RLIMIT_NOFILE, &all);
    all.rlim_cur = all.rlim_max;
    setrlimit(RLIMIT_NOFILE, &all);
    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, 0, MPI_INFO_NULL, &ncid), "create");
    expect_ok(ncmpi_close(ncid), "close");
    expect_ok(ncmpi_create(MPI_COMM_SELF, own, 0, MPI_INFO_NULL, &ncid), "create, alone");
    expect_ok(ncmpi_close(ncid), "close, alone");
    if (all.rlim_cur < 2 * NC_MAX_NFILES) {
        t_skip("the limit of file descriptors is too low to meet any other");
    } else {
        test_too_many(MPI_COMM_SELF, own, "alone");
        if (t_nprocs == 2) /* with more ranks than cores a thousand collective opens take minutes */
            test_too_many(MPI_COMM_WORLD, path, "together");
    }
    test_descriptors(MPI_COMM_SELF, own);
    if (t_nprocs <= 2) {
        test_new_communicator(path);
        test_lack_of_one_rank(path);
        if (!is_open_mpi()) /* it would take seconds to count its communicators so often */
            test_duplicate(path);
        test_bound(path, own);
    }
    test_aggregators(path, "automatic");
    test_aggregators(path, "mpi_io");
    test_handlers();
    unlink(own);
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}
