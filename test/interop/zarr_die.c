/* Changes a Zarr store again and again, and dies at a given write, or has one that fails, for test_zarr_deaths.py. The
 * functions of the system that change files are replaced here, for all libraries.
 *
 * zarr_die PATH GENERATIONS RANK WRITE [half | EIO | ENOSPC]: rank RANK is killed at change number WRITE of files; with
 *     `half`, it has written about half of its bytes. With an error, the change, or the flush, fails with it once, and
 *     the program goes on. WRITE 0: nothing happens, and each rank prints "writes N".
 * zarr_die PATH repair: open the store for writing, and close it.
 * zarr_die PATH read: print what is in it.
 *
 * Each generation overwrites record 0 and a variable without records, and appends a record, then ncmpi_sync; then it
 * changes an attribute and defines a variable. Rank 0 writes the number of what is done to PATH.synced: 2 g + 1 after
 * the sync of generation g, 2 g + 2 after ncmpi_enddef. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#undef _FILE_OFFSET_BITS /* on 32-bit processors it makes one name of pwrite and pwrite64 */
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pnetcdf.h"

enum { ROWS = 8, COLUMNS = 16, TRIES = 5 };

static int rank, nprocs, ncid, stops_at, writes, is_half, fails_with, has_failed;

/* Whether this call fails; or the process dies in it. */
static int is_last(int is_flush)
{
    if (is_flush && fails_with == 0) /* a death there is one before the next change */
        return 0;
    if (++writes != stops_at)
        return 0;
    if (fails_with == 0 && !is_half)
        raise(SIGKILL);
    has_failed = 1;
    errno = fails_with;
    return 1;
}

/* About half of the bytes, up to the end of a page: the kernel writes those of a page all or not at all. */
static size_t cut(size_t n, long long offset)
{
    size_t end = (size_t)offset + n / 2;

    return end / 4096 * 4096 > (size_t)offset ? end / 4096 * 4096 - (size_t)offset : 0;
}

#define REAL(name) *(void **)&real = real == NULL ? dlsym(RTLD_NEXT, #name) : *(void **)&real

/* clang-format off */
#define WRITE(name, position)                                          \
    ssize_t name(int fd, const void *bytes, size_t n, position offset) \
    {                                                                  \
        static ssize_t (*real)(int, const void *, size_t, position);   \
                                                                       \
        REAL(name);                                                    \
        if (is_last(0)) {                                              \
            (void)!real(fd, bytes, cut(n, offset), offset);                     \
            if (fails_with == 0)                                       \
                raise(SIGKILL);                                        \
            errno = fails_with;                                        \
            return -1;                                                 \
        }                                                              \
        return real(fd, bytes, n, offset);                             \
    }
WRITE(pwrite, off_t)
WRITE(pwrite64, off64_t)

#define CHANGE(name, parameters, arguments, is_flush) \
    int name parameters                               \
    {                                                 \
        static int (*real) parameters;                \
                                                      \
        REAL(name);                                   \
        if (is_last(is_flush)) {                      \
            if (fails_with == 0)                      \
                raise(SIGKILL);                       \
            return -1;                                \
        }                                             \
        return real arguments;                        \
    }
CHANGE(renameat, (int from, const char *old, int to, const char *new), (from, old, to, new), 0)
CHANGE(unlinkat, (int folder, const char *name, int flags), (folder, name, flags), 0)
CHANGE(mkdirat, (int folder, const char *name, mode_t mode), (folder, name, mode), 0)
CHANGE(fsync, (int fd), (fd), 1)
CHANGE(fdatasync, (int fd), (fd), 1)
/* clang-format on */

/* The code of a call, which all ranks must have. */
static int check(int err, const char *what)
{
    char message[NC_MAX_MESSAGE] = "";
    int codes[2] = {err, -err};

    ncmpi_inq_last_error(NC_GLOBAL, NULL, message);
    MPI_Allreduce(MPI_IN_PLACE, codes, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if ((codes[0] == NC_NOERR) != (codes[1] == NC_NOERR))
        printf("wrong: %s: codes differ: %s on rank %d\n", what, ncmpi_strerrno(err), rank);
    if (err != NC_NOERR && rank == 0)
        printf("%s: %s: %s %s\n", fails_with != 0 || stops_at == 0 ? "error" : "wrong", what, ncmpi_strerrno(err),
               message);
    fflush(stdout);
    return codes[0] != NC_NOERR || codes[1] != NC_NOERR;
}

/* Again until it succeeds. */
#define DO(call)                                                  \
    for (int tries_ = 0; check(call, #call) && ++tries_ < TRIES;) \
    continue

static int make_store(const char *path)
{
    MPI_Offset chunk[3] = {2, 3, 5};
    int dims[3], var, failed;

    for (int i = 0; i < TRIES; i++) {
        failed = check(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid), "create");
        if (!failed)
            break;
    }
    if (failed)
        return 1;
    ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]);
    ncmpi_def_dim(ncid, "y", ROWS, &dims[1]);
    ncmpi_def_dim(ncid, "x", COLUMNS, &dims[2]);
    ncmpi_def_var(ncid, "records", NC_INT, 3, dims, &var);
    ncmpi_def_var_chunking(ncid, var, NC_CHUNKED, chunk);
    ncmpi_def_var(ncid, "fixed", NC_INT, 2, dims + 1, &var);
    ncmpi_def_var_chunking(ncid, var, NC_CHUNKED, chunk + 1);
    DO(ncmpi_enddef(ncid));
    return 0;
}

static void put_values(int varid, int record, int value)
{
    MPI_Offset first = (MPI_Offset)COLUMNS * rank / nprocs, end = (MPI_Offset)COLUMNS * (rank + 1) / nprocs;
    MPI_Offset start[3] = {record, 0, first}, count[3] = {1, ROWS, end - first};
    int values[ROWS * COLUMNS], skip = record < 0;

    for (int i = 0; i < ROWS * COLUMNS; i++)
        values[i] = value;
    DO(ncmpi_put_vara_int_all(ncid, varid, start + skip, count + skip, values));
}

static void keep_state(const char *path, int state)
{
    char name[4096];
    FILE *out;

    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0)
        return;
    snprintf(name, sizeof name, "%s.synced", path);
    out = fopen(name, "w");
    if (out == NULL)
        exit(1);
    fprintf(out, "%d\n", state);
    fclose(out);
}

static void define_more(int generation)
{
    char name[32];
    int dims[2] = {1, 2}, var;

    snprintf(name, sizeof name, "more_%d", generation);
    DO(ncmpi_redef(ncid));
    ncmpi_put_att_int(ncid, NC_GLOBAL, "generation", NC_INT, 1, &generation);
    ncmpi_def_var(ncid, name, NC_SHORT, 2, dims, &var);
    DO(ncmpi_enddef(ncid));
}

static void run(const char *path, int generations)
{
    if (make_store(path))
        return;
    keep_state(path, 0);
    for (int g = 0; g < generations; g++) {
        put_values(0, 0, g);
        put_values(1, -1, g);
        if (g % 2 == 1) { /* what other ranks have put is read before the sync */
            DO(ncmpi_begin_indep_data(ncid));
            DO(ncmpi_end_indep_data(ncid));
        }
        put_values(0, g, g);
        DO(ncmpi_sync(ncid));
        keep_state(path, 2 * g + 1);
        define_more(g);
        keep_state(path, 2 * g + 2);
    }
    check(ncmpi_close(ncid), "close");
}

/* --- reading --- */

static void print_range(const char *what, const int *values, int n)
{
    int least = values[0], most = values[0];

    for (int i = 0; i < n; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    printf("%s %d %d\n", what, least, most);
}

static int read_store(const char *path)
{
    MPI_Offset nrecords = 0, start[3] = {0, 0, 0}, count[3] = {1, ROWS, COLUMNS};
    int values[ROWS * COLUMNS], generation = -1, nvars = 0, failed;

    if (check(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open"))
        return 1;
    ncmpi_inq_dimlen(ncid, 0, &nrecords);
    ncmpi_inq_nvars(ncid, &nvars);
    (void)ncmpi_get_att_int(ncid, NC_GLOBAL, "generation", &generation);
    printf("length %d\nattribute %d\nvariables %d\n", (int)nrecords, generation, nvars);
    failed = check(ncmpi_get_var_int_all(ncid, 1, values), "get fixed");
    print_range("fixed", values, ROWS * COLUMNS);
    for (; start[0] < nrecords; start[0]++) {
        failed = check(ncmpi_get_vara_int_all(ncid, 0, start, count, values), "get record") || failed;
        print_range("record", values, ROWS * COLUMNS);
    }
    return check(ncmpi_close(ncid), "close") || failed;
}

int main(int argc, char **argv)
{
    int status = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    if (argc == 3 && strcmp(argv[2], "repair") == 0) {
        status = check(ncmpi_open(MPI_COMM_WORLD, argv[1], NC_WRITE, MPI_INFO_NULL, &ncid), "open");
        if (status == 0)
            status = check(ncmpi_close(ncid), "close");
    } else if (argc == 3 && strcmp(argv[2], "read") == 0) {
        status = read_store(argv[1]);
    } else if (argc >= 5) {
        is_half = argc > 5 && strcmp(argv[5], "half") == 0;
        if (argc > 5 && !is_half)
            fails_with = strcmp(argv[5], "EIO") == 0 ? EIO : ENOSPC;
        stops_at = atoi(argv[3]) == rank ? atoi(argv[4]) : 0;
        run(argv[1], atoi(argv[2]));
        stops_at = 0;
        printf("writes %d of rank %d%s\n", writes, rank, has_failed ? ", of which one has failed" : "");
    }
    MPI_Finalize();
    return status;
}
