/* The cases that bench_netcdf4 and its peers time, in the same order and with the same names. */
#ifndef BENCH_NETCDF4_CASES_H
#define BENCH_NETCDF4_CASES_H

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* An array of TIMES records of ROWS x COLUMNS floats, in chunks of one record and CHUNK_ROWS x CHUNK_COLUMNS. */
enum { TIMES = 6, ROWS = 1024, COLUMNS = 1024, CHUNK_ROWS = 512, CHUNK_COLUMNS = 512 };
enum { VARIABLES = 100, RECORDS = 20, POINTS = 64 * 64 }; /* of a model with many variables */
enum { DEFINED = 1000 };                                  /* variables of a file that is only defined */

typedef struct layout {
    const char *name;
    bool chunked, compressed;
    bool by_columns; /* the ranks share chunks */
} layout;

static const layout layouts[] = {{"deflate 1, aligned", true, true, false},
                                 {"deflate 1, shared", true, true, true},
                                 {"chunked, aligned", true, false, false},
                                 {"chunked, shared", true, false, true},
                                 {"contiguous", false, false, false}};
#define LAYOUTS ((int)(sizeof layouts / sizeof *layouts))

typedef struct block {
    size_t row, rows, column, columns;
} block;

static inline block block_of(const layout *l, int rank, int nprocs)
{
    size_t r = (size_t)rank, n = (size_t)nprocs;

    if (l->by_columns)
        return (block){0, ROWS, COLUMNS * r / n, COLUMNS * (r + 1) / n - COLUMNS * r / n};
    return (block){ROWS * r / n, ROWS * (r + 1) / n - ROWS * r / n, 0, COLUMNS};
}

/* A smooth field with noise in the low digits, as models write it. */
static inline void make_field(float *values, size_t n, unsigned seed)
{
    unsigned state = seed * 2654435761u + 1;

    for (size_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        values[i] = 280.0f + 20.0f * (float)(i % 1024) / 1024.0f + 1e-3f * (float)(state >> 16) / 65536.0f;
    }
}

static inline double cpu_time(void)
{
    struct rusage use;

    getrusage(RUSAGE_SELF, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

typedef struct stopwatch {
    double wall, cpu;
} stopwatch;

static inline stopwatch start_watch(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    return (stopwatch){MPI_Wtime(), cpu_time()};
}

/* The slowest rank, and the CPU time of all, in ms. */
static inline void stop_watch(stopwatch w, const char *what, const char *layout_name)
{
    double wall = MPI_Wtime() - w.wall, cpu = cpu_time() - w.cpu, slowest = 0, sum = 0;
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Reduce(&wall, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&cpu, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s%s%s\t%.3f\t%.3f\n", what, layout_name[0] != '\0' ? ", " : "", layout_name, 1e3 * slowest, 1e3 * sum);
    fflush(stdout);
}

static inline const char *file_name(int argc, char **argv)
{
    return argc > 1 ? argv[1] : "/dev/shm/bench_netcdf4.nc";
}

#endif
