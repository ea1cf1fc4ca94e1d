/* How much of the time of puts nc_write_behind hides, and nc_prefetch of that of gets. A program of time steps puts or
 * gets fields, and computes and reduces between them. Its disk is simulated: accesses to the file take a latency, and
 * the time of their bytes at a rate that all ranks of the node share in equal parts. The logs of a burst buffer are
 * not simulated. Started by `make bench-hidden`; prints one row of a table for each pattern. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#undef _FILE_OFFSET_BITS /* on 32-bit processors it makes one name of pwrite and pwrite64 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <mpi.h>
#include <pnetcdf.h>

enum { STEPS = 8, READ_STEPS = 24, ROWS = 256, COLUMNS = 1024, LEAST_SLOW = 4096 };
#define LATENCY 1e-3 /* seconds of an access */
#define RATE 2e8     /* bytes a second of all ranks */

typedef enum pattern { RECORDS, MANY_FIELDS, CHECKPOINT, NETCDF4, COMPRESSED, BUFFERED, READING, PATTERNS } pattern;
static const char *const names[] = {"records",    "100 fields",   "checkpoints", "netCDF-4",
                                    "compressed", "burst buffer", "reading"};
static const int nfields[] = {4, 100, 8, 4, 4, 4, 4};

static int rank, nprocs;
static char folder[1024];      /* of the burst buffer; empty: that of the file */
static double seconds_of_puts; /* of the last run, without opening and closing the file */

/* --- the disk --- */

/* Sleeps: other threads and ranks have the processor. */
static void pass_time(double seconds)
{
    struct timespec rest = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};

    nanosleep(&rest, NULL);
}

/* clang-format off */
#define ACCESS(name, memory, position)                                            \
    ssize_t name(int fd, memory *bytes, size_t n, position offset)                \
    {                                                                             \
        static ssize_t (*real)(int, memory *, size_t, position);                  \
                                                                                  \
        if (real == NULL)                                                         \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                            \
        if (n >= LEAST_SLOW)                                                      \
            pass_time(LATENCY + (double)n / RATE * nprocs);                       \
        return real(fd, bytes, n, offset);                                        \
    }
ACCESS(pwrite, const void, off_t)
ACCESS(pwrite64, const void, off64_t)
ACCESS(pread, void, off_t)
ACCESS(pread64, void, off64_t)
/* clang-format on */

/* --- the program --- */

static void check(int err)
{
    if (err == NC_NOERR)
        return;
    fprintf(stderr, "%s\n", ncmpi_strerror(err));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* As a model does: work in short parts, and a reduction after each. */
static void compute(double seconds)
{
    double end = MPI_Wtime() + seconds, sum = rank;
    int done = 0;

    while (!done) {
        double part = MPI_Wtime() + 2e-3;

        while (MPI_Wtime() < part)
            sum = sum * 0.999 + 1;
        done = MPI_Wtime() >= end;
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Bcast(&done, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
}

static bool is_netcdf4(pattern p)
{
    return p == NETCDF4 || p == COMPRESSED;
}

static int create_file(const char *path, pattern p, const char *hint, int *varids)
{
    int ncid, dims[3], rows = p == MANY_FIELDS ? ROWS / 25 : ROWS;
    MPI_Info info;
    char name[20];

    MPI_Info_create(&info);
    MPI_Info_set(info, p == BUFFERED ? "nc_burst_buf" : "nc_write_behind", hint);
    MPI_Info_set(info, "nc_filter_threads", "auto");
    if (folder[0] != '\0')
        MPI_Info_set(info, "nc_burst_buf_dirname", folder);
    check(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | (is_netcdf4(p) ? NC_NETCDF4 : NC_64BIT_DATA), info, &ncid));
    MPI_Info_free(&info);
    check(ncmpi_def_dim(ncid, "time", p == CHECKPOINT ? 1 : NC_UNLIMITED, &dims[0]));
    check(ncmpi_def_dim(ncid, "y", (MPI_Offset)rows * nprocs, &dims[1]));
    check(ncmpi_def_dim(ncid, "x", COLUMNS, &dims[2]));
    for (int i = 0; i < nfields[p]; i++) {
        snprintf(name, sizeof name, "field%d", i);
        check(ncmpi_def_var(ncid, name, NC_FLOAT, 3, dims, &varids[i]));
        if (p == COMPRESSED)
            check(ncmpi_def_var_deflate(ncid, varids[i], 1, 1, 6));
    }
    check(ncmpi_enddef(ncid));
    return ncid;
}

static void put_step(int ncid, pattern p, const int *varids, int step, const float *values)
{
    MPI_Offset rows = p == MANY_FIELDS ? ROWS / 25 : ROWS;
    MPI_Offset start[3] = {p == CHECKPOINT ? 0 : step, rank * rows, 0}, count[3] = {1, rows, COLUMNS};

    for (int i = 0; i < nfields[p]; i++)
        check(ncmpi_put_vara_float_all(ncid, varids[i], start, count, values));
}

/* Seconds in calls of the library, of a program that gets step after step. */
static double run_reading(const char *path, const char *hint, double computing, float *values)
{
    MPI_Offset start[3] = {0, (MPI_Offset)rank * ROWS, 0}, count[3] = {1, ROWS, COLUMNS};
    double inside = 0, begin = MPI_Wtime();
    MPI_Info info;
    int ncid;

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_prefetch", hint);
    check(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, info, &ncid));
    MPI_Info_free(&info);
    for (; start[0] < READ_STEPS; start[0]++) {
        for (int varid = 0; varid < nfields[READING]; varid++)
            check(ncmpi_get_vara_float_all(ncid, varid, start, count, values));
        inside += MPI_Wtime() - begin;
        if (computing > 0)
            compute(computing);
        begin = MPI_Wtime();
    }
    check(ncmpi_close(ncid));
    inside += MPI_Wtime() - begin;
    MPI_Allreduce(MPI_IN_PLACE, &inside, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return inside;
}

static void write_steps(const char *path, const float *values)
{
    int varids[100], ncid = create_file(path, READING, "disable", varids);

    for (int step = 0; step < READ_STEPS; step++)
        put_step(ncid, READING, varids, step, values);
    check(ncmpi_close(ncid));
}

/* Seconds in calls of the library. A checkpoint is a file of its own. */
static double run(pattern p, const char *path, const char *hint, double computing, float *values)
{
    int varids[100], ncid = -1;
    double inside = 0, puts = 0, begin;

    if (p == READING)
        return run_reading(path, hint, computing, values);

    for (int step = 0; step < STEPS; step++) {
        begin = MPI_Wtime();
        if (step == 0 || p == CHECKPOINT)
            ncid = create_file(path, p, hint, varids);
        puts -= MPI_Wtime();
        put_step(ncid, p, varids, step, values);
        puts += MPI_Wtime();
        inside += MPI_Wtime() - begin;
        if (computing > 0)
            compute(computing);
        begin = MPI_Wtime();
        if (step == STEPS - 1 || p == CHECKPOINT)
            check(ncmpi_close(ncid));
        inside += MPI_Wtime() - begin;
    }
    MPI_Allreduce(MPI_IN_PLACE, &inside, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&puts, &seconds_of_puts, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return inside;
}

/* Beside the time of the puts that of the same bytes, written by the system into the folder of the logs. */
static void compare_with_folder(const float *values)
{
    char name[1100];
    double begin, direct;
    FILE *file;

    snprintf(name, sizeof name, "%s/bench_hidden.%d", folder[0] != '\0' ? folder : ".", rank);
    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    file = fopen(name, "w");
    if (file != NULL)
        setvbuf(file, NULL, _IONBF, 0);
    for (int i = 0; file != NULL && i < STEPS * nfields[BUFFERED]; i++)
        fwrite(values, sizeof *values, ROWS * COLUMNS, file);
    if (file != NULL)
        fclose(file);
    direct = MPI_Wtime() - begin;
    unlink(name);
    MPI_Allreduce(MPI_IN_PLACE, &direct, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("  its puts: %.2f s; the same bytes written into the folder: %.2f s\n", seconds_of_puts, direct);
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "hidden.nc"; /* and the folder of the burst buffer */
    float *values = malloc(sizeof *values * ROWS * COLUMNS);

    snprintf(folder, sizeof folder, "%s", argc > 2 ? argv[2] : "");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        values[i] = (float)(i % 1000) * 0.25f + (float)(i * 2654435761U >> 22) * 1e-4f + (float)rank;
    for (pattern p = 0; p < PATTERNS; p++) {
        double plain, behind, computing, shown;

        if (p == READING)
            write_steps(path, values);
        plain = run(p, path, "disable", 0, values);
        behind = run(p, path, "enable", 0, values);
        computing = 1.2 * plain / (p == READING ? READ_STEPS : STEPS);
        shown = run(p, path, "enable", computing, values);

        if (rank == 0)
            printf("%-12s %5d %10.2f s %10.2f s %8.0f%% %10.2f s %8.0f%%\n", names[p], nprocs, plain, behind,
                   100 * (behind - plain) / plain, shown, 100 * (1 - shown / plain));
        if (p == BUFFERED)
            compare_with_folder(values);
    }
    if (rank == 0)
        unlink(path);
    free(values);
    MPI_Finalize();
    return 0;
}
