/* Changes a netCDF-4 file again and again, and dies at a given write, for test_netcdf4_deaths.py. The functions of the
 * system that write are replaced here, for all libraries.
 *
 * netcdf4_die FILE GENERATIONS RANK WRITE [half]: rank RANK is killed at write number WRITE; with `half`, it has
 *     written about half of its bytes. WRITE 0: it is not killed, and each rank prints "writes N". WRITE -N: it is
 *     killed N microseconds after it has begun, wherever it is; RANK -1: all ranks are.
 * netcdf4_die FILE repair: open the file for writing, and close it.
 *
 * Each generation overwrites record 0, appends a record, overwrites a contiguous variable, changes an attribute,
 * defines a variable, and ends with ncmpi_sync, after which rank 0 writes the number of the generation to
 * FILE.synced. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#undef _FILE_OFFSET_BITS /* on 32-bit processors it makes one name of pwrite and pwrite64 */
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "pnetcdf.h"

enum { ROWS = 8, COLUMNS = 16 };

static int rank, nprocs, ncid, dies_at, writes, is_half;

/* Whether the process is to die in this call. */
static int is_last(void)
{
    return ++writes == dies_at;
}

/* About half of the bytes, up to the end of a page: the kernel writes those of a page all or not at all. */
static size_t cut(size_t n, long long offset)
{
    size_t end = (size_t)offset + n / 2;

    return end / 4096 * 4096 > (size_t)offset ? end / 4096 * 4096 - (size_t)offset : 0;
}

/* clang-format off */
#define WRITE(name, position)                                          \
    ssize_t name(int fd, const void *bytes, size_t n, position offset) \
    {                                                                  \
        static ssize_t (*real)(int, const void *, size_t, position);   \
                                                                       \
        if (real == NULL)                                              \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                 \
        if (is_last()) {                                               \
            if (is_half)                                               \
                (void)!real(fd, bytes, cut(n, offset), offset);        \
            raise(SIGKILL);                                            \
        }                                                              \
        return real(fd, bytes, n, offset);                             \
    }
WRITE(pwrite, off_t)
WRITE(pwrite64, off64_t)

#define TRUNCATE(name, position)                     \
    int name(int fd, position size)                  \
    {                                                \
        static int (*real)(int, position);           \
                                                     \
        if (real == NULL)                            \
            *(void **)&real = dlsym(RTLD_NEXT, #name); \
        if (is_last())                               \
            raise(SIGKILL);                          \
        return real(fd, size);                       \
    }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)
/* clang-format on */

static void check(int err, const char *what)
{
    char message[NC_MAX_MESSAGE] = "";

    if (err == NC_NOERR)
        return;
    ncmpi_inq_last_error(NC_GLOBAL, NULL, message);
    printf("wrong: %s: %s %s\n", what, ncmpi_strerrno(err), message);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void make_definitions(const char *path)
{
    MPI_Offset chunk[3] = {1, 3, 5};
    int dims[3], var;

    check(ncmpi_create(MPI_COMM_WORLD, path, NC_NETCDF4, MPI_INFO_NULL, &ncid), "create");
    check(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]), "def_dim");
    check(ncmpi_def_dim(ncid, "y", ROWS, &dims[1]), "def_dim");
    check(ncmpi_def_dim(ncid, "x", COLUMNS, &dims[2]), "def_dim");
    check(ncmpi_def_var(ncid, "compressed", NC_INT, 3, dims, &var), "def_var");
    check(ncmpi_def_var_chunking(ncid, var, NC_CHUNKED, chunk), "def_var_chunking");
    check(ncmpi_def_var_deflate(ncid, var, 1, 1, 1), "def_var_deflate");
    check(ncmpi_def_var(ncid, "contiguous", NC_INT, 2, dims + 1, &var), "def_var");
    check(ncmpi_def_var(ncid, "chunked", NC_INT, 3, dims, &var), "def_var");
}

static void put_values(int varid, int record, int value)
{
    MPI_Offset first = (MPI_Offset)ROWS * rank / nprocs, end = (MPI_Offset)ROWS * (rank + 1) / nprocs;
    MPI_Offset start[3] = {record, first, 0}, count[3] = {1, end - first, COLUMNS};
    int values[ROWS * COLUMNS], skip = record < 0;

    for (int i = 0; i < ROWS * COLUMNS; i++)
        values[i] = value;
    check(ncmpi_put_vara_int_all(ncid, varid, start + skip, count + skip, values), "put_vara");
}

static void keep_generation(const char *path, int generation)
{
    char name[4096];
    FILE *out;

    if (rank != 0)
        return;
    snprintf(name, sizeof name, "%s.synced", path);
    out = fopen(name, "w");
    if (out == NULL)
        exit(1);
    fprintf(out, "%d\n", generation);
    fclose(out);
}

static void define_more(int generation)
{
    char name[32];
    int dims[2] = {1, 2}, var;

    snprintf(name, sizeof name, "more_%d", generation);
    check(ncmpi_redef(ncid), "redef");
    check(ncmpi_put_att_int(ncid, NC_GLOBAL, "generation", NC_INT, 1, &generation), "put_att");
    check(ncmpi_def_var(ncid, name, NC_SHORT, 2, dims, &var), "def_var");
    check(ncmpi_enddef(ncid), "enddef");
}

static void end_by_alarm(int number)
{
    (void)number;
    raise(SIGKILL);
}

static void set_alarm(long microseconds)
{
    struct itimerval value = {.it_value = {microseconds / 1000000, microseconds % 1000000}};

    signal(SIGALRM, end_by_alarm);
    setitimer(ITIMER_REAL, &value, NULL);
}

static void run(const char *path, int generations)
{
    make_definitions(path);
    check(ncmpi_enddef(ncid), "enddef");
    for (int g = 0; g < generations; g++) {
        put_values(0, 0, g);
        put_values(0, g, g);
        put_values(1, -1, g);
        put_values(2, g, g);
        define_more(g);
        check(ncmpi_sync(ncid), "sync");
        MPI_Barrier(MPI_COMM_WORLD);
        keep_generation(path, g);
    }
    check(ncmpi_close(ncid), "close");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    if (argc == 3 && strcmp(argv[2], "repair") == 0) {
        check(ncmpi_open(MPI_COMM_WORLD, argv[1], NC_WRITE, MPI_INFO_NULL, &ncid), "open");
        check(ncmpi_close(ncid), "close");
    } else if (argc >= 5) {
        int is_victim = atoi(argv[3]) == rank || atoi(argv[3]) < 0, at = atoi(argv[4]);
        double began = MPI_Wtime();

        is_half = argc > 5;
        dies_at = is_victim && at > 0 ? at : 0;
        if (is_victim && at < 0)
            set_alarm(-(long)at);
        run(argv[1], atoi(argv[2]));
        printf("writes %d of rank %d in %.0f microseconds\n", writes, rank, (MPI_Wtime() - began) * 1e6);
    }
    MPI_Finalize();
    return 0;
}
