/* Writes a netCDF-4 file on several ranks whose variable "made" has a filter of a plugin, for test_plugins.py.
 *
 * plugin_write FILE ID PARAMETER: an error is printed as "error CODE MESSAGE" by rank 0, and the parameters of the
 *     filter after ncmpi_enddef as numbers. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "pnetcdf.h"

enum { ROWS = 24, COLUMNS = 50 };

static int rank, nprocs, ncid;

static void report(int err)
{
    char message[NC_MAX_MESSAGE] = "";

    if (err == NC_NOERR || rank != 0)
        return;
    ncmpi_inq_last_error(ncid, NULL, message);
    printf("error %s %s\n", ncmpi_strerrno(err), message);
}

int main(int argc, char **argv)
{
    unsigned parameter = argc > 3 ? (unsigned)atoi(argv[3]) : 0, found[8] = {0},
             id = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
    MPI_Offset chunk[] = {5, 20}, start[2] = {0, 0}, count[2] = {0, COLUMNS}, n = 0;
    int dims[2], varid;
    float values[ROWS][COLUMNS];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    report(ncmpi_create(MPI_COMM_WORLD, argv[1], NC_NETCDF4, MPI_INFO_NULL, &ncid));
    ncmpi_def_dim(ncid, "row", ROWS, &dims[0]);
    ncmpi_def_dim(ncid, "column", COLUMNS, &dims[1]);
    ncmpi_def_var(ncid, "made", NC_FLOAT, 2, dims, &varid);
    report(ncmpi_def_var_chunking(ncid, varid, NC_CHUNKED, chunk));
    report(ncmpi_def_var_filter(ncid, varid, id, 1, &parameter));
    report(ncmpi_enddef(ncid));
    report(ncmpi_inq_var_filter_info(ncid, varid, id, &n, found));
    if (rank == 0)
        printf("%lld %u %u\n", (long long)n, found[0], found[1]);
    start[0] = ROWS * rank / nprocs;
    count[0] = ROWS * (rank + 1) / nprocs - start[0];
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < COLUMNS; k++)
            values[i][k] = (float)(i * 100 + k);
    report(ncmpi_put_vara_float_all(ncid, varid, start, count, values[start[0]]));
    report(ncmpi_close(ncid));
    MPI_Finalize();
    return 0;
}
