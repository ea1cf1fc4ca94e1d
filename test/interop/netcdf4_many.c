/* Writes a netCDF-4 file of many small chunks on several ranks, and reads it, for test_netcdf4_many.py.
 *
 * netcdf4_many FILE RECORDS COLUMNS PER_CALL: a chunk has 4 elements of a record; each call puts or gets PER_CALL
 *     records. Each rank prints "rank R: B bytes, M MiB, seconds W to write, S to read": the most memory of the
 *     library, and the resident memory beyond that of the program before. Element x of record t is 7 t + x. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/memory.h"
#include "pnetcdf.h"

enum { ELEMENTS = 4 };

static int rank, nprocs, ncid, *values;
static int64_t columns, first, n; /* those of this rank */

static void check(int err, const char *what)
{
    if (err == NC_NOERR)
        return;
    printf("wrong: %s: %s\n", what, ncmpi_strerrno(err));
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static long get_resident(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

static void create(const char *path)
{
    MPI_Offset chunk[] = {1, ELEMENTS};
    int dims[2], varid;

    check(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid), "create");
    check(ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]), "def_dim");
    check(ncmpi_def_dim(ncid, "x", columns, &dims[1]), "def_dim");
    check(ncmpi_def_var(ncid, "v", NC_INT, 2, dims, &varid), "def_var");
    check(ncmpi_def_var_chunking(ncid, varid, NC_CHUNKED, chunk), "def_var_chunking");
    check(ncmpi_def_var_deflate(ncid, varid, 0, 1, 1), "def_var_deflate");
    check(ncmpi_enddef(ncid), "enddef");
}

static void put_records(int64_t record, int64_t count)
{
    MPI_Offset start[] = {record, first}, length[] = {count, n};

    for (int64_t i = 0; i < count * n; i++)
        values[i] = (int)(7 * (record + i / n) + first + i % n);
    check(ncmpi_put_vara_int_all(ncid, 0, start, length, values), "put_vara");
}

static void get_records(int64_t record, int64_t count)
{
    MPI_Offset start[] = {record, first}, length[] = {count, n};

    check(ncmpi_get_vara_int_all(ncid, 0, start, length, values), "get_vara");
    for (int64_t i = 0; i < count * n; i++)
        if (values[i] != (int)(7 * (record + i / n) + first + i % n)) {
            printf("wrong: value of record %lld\n", (long long)(record + i / n));
            return;
        }
}

int main(int argc, char **argv)
{
    int64_t records, per_call, base;
    double began, written, read;
    long resident;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    if (argc != 5)
        return 2;
    records = atoll(argv[2]);
    columns = atoll(argv[3]);
    per_call = atoll(argv[4]);
    first = columns * rank / nprocs;
    n = columns * (rank + 1) / nprocs - first;
    values = calloc((size_t)(per_call * n + 1), sizeof *values);
    began = MPI_Wtime();
    create(argv[1]);
    base = pnc_memory_get_peak();
    resident = get_resident();
    for (int64_t t = 0; t < records; t += per_call)
        put_records(t, per_call);
    check(ncmpi_close(ncid), "close");
    written = MPI_Wtime();
    check(ncmpi_open(MPI_COMM_WORLD, argv[1], NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    for (int64_t t = 0; t < records; t += per_call)
        get_records(t, per_call);
    check(ncmpi_close(ncid), "close");
    read = MPI_Wtime();
    printf("rank %d: %lld bytes, %ld MiB, seconds %.1f to write, %.1f to read\n", rank,
           (long long)(pnc_memory_get_peak() - base), get_resident() - resident, written - began, read - written);
    free(values);
    MPI_Finalize();
    return 0;
}
