/* What benchmarks of the public API share. A program and its headers are compiled with any library of this API. */
#ifndef BENCH_CALLS_H
#define BENCH_CALLS_H

#include <mpi.h>
#include <pnetcdf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* End the program if a call has failed. */
static inline void check(int code, const char *what)
{
    if (code == NC_NOERR)
        return;
    fprintf(stderr, "%s: %s\n", what, ncmpi_strerror(code));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

#define DO(call) check(call, #call)

/* User and system time of this rank in seconds. */
static inline double cpu_now(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

/* The line of a case, from seconds of each rank: the longest wall time and the sum of the CPU times, in ms. */
static inline void print_times(const char *name, double wall, double cpu)
{
    double slowest = 0, sum = 0;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Reduce(&wall, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&cpu, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%s\t%.5f\t%.5f\n", name, 1e3 * slowest, 1e3 * sum);
        fflush(stdout);
    }
}

/* Define n variables of `length` floats, with two attributes each if `described`. */
static inline void define_variables(int ncid, int n, MPI_Offset length, bool described)
{
    int dim, var;
    char name[32];
    DO(ncmpi_def_dim(ncid, "x", length, &dim));
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "variable_%06d", i);
        DO(ncmpi_def_var(ncid, name, NC_FLOAT, 1, &dim, &var));
        if (!described)
            continue;
        DO(ncmpi_put_att_text(ncid, var, "units", 5, "m s-1"));
        DO(ncmpi_put_att_text(ncid, var, "long_name", (MPI_Offset)strlen(name), name));
    }
}

/* A random order, the same in each run. */
static inline void shuffle(long *order, long n)
{
    unsigned long long state = 1;
    for (long i = n - 1; i > 0; i--) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        long other = (long)((state >> 33) % (unsigned long long)(i + 1)), keep = order[i];
        order[i] = order[other];
        order[other] = keep;
    }
}

#endif
