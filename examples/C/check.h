/* Error handling shared by the examples: every failure names the call, the file and the reason, and stops all ranks.
 */
#ifndef EXAMPLES_CHECK_H
#define EXAMPLES_CHECK_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>
#include <pnetcdf.h>

/* Wrap every PnetCDF call: NC_TRY("ocean.nc", ncmpi_enddef(ncid)); */
#define NC_TRY(path, call) nc_check((call), #call, (path), __FILE__, __LINE__)

/* Print a message to standard error, then end the program on all ranks. */
#ifdef __GNUC__
__attribute__((format(printf, 1, 2)))
#endif
static inline _Noreturn void
die(const char *format, ...)
{
    char text[2048];
    int rank;
    va_list args;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "rank %d: %s\n", rank, text);
    /* mpiexec forwards the text; if it receives the abort first, the text is lost. */
    for (double end = MPI_Wtime() + 0.2; MPI_Wtime() < end;)
        continue;
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    exit(EXIT_FAILURE); /* MPI_Abort does not return, but its prototype does not declare that */
}

static inline void nc_check(int status, const char *call, const char *path, const char *source, int line)
{
    if (status != NC_NOERR)
        die("file %s: %s\n    in %s at %s:%d", path, ncmpi_strerror(status), call, source, line);
}

/* Allocate n zeroed elements; n may be 0 (a rank without a share still takes part in collective calls). */
static inline void *allocate(size_t n, size_t size)
{
    void *memory = calloc(n > 0 ? n : 1, size);

    if (memory == NULL)
        die("out of memory: %zu elements of %zu bytes", n, size);
    return memory;
}

#endif
