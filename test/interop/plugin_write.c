/* Writes a netCDF-4 file on several ranks whose variable "made" has a filter of a plugin, for test_plugins.py and
 * test_hdf5plugin.py.
 *
 * plugin_write FILE [ID [PARAMETER...]]: without an id, hints choose the filter. An error is printed as "rank RANK:
 *     CODE MESSAGE" by each rank that has it, and by rank 0 the parameters of the filter after ncmpi_enddef. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "pnetcdf.h"

enum { ROWS = 24, COLUMNS = 50, PARAMETERS_MOST = 32 };

static int rank, nprocs, ncid;

static void report(int err)
{
    char message[NC_MAX_MESSAGE] = "";

    if (err == NC_NOERR)
        return;
    ncmpi_inq_last_error(ncid, NULL, message);
    printf("rank %d: %s %s\n", rank, ncmpi_strerrno(err), message);
}

static void print_filters(int varid)
{
    MPI_Offset nfilters = 0, n;
    unsigned ids[32], found[PARAMETERS_MOST];

    report(ncmpi_inq_var_filter_ids(ncid, varid, &nfilters, ids));
    for (MPI_Offset i = 0; rank == 0 && i < nfilters; i++) {
        ncmpi_inq_var_filter_info(ncid, varid, ids[i], &n, found);
        printf("%u:", ids[i]);
        for (MPI_Offset k = 0; k < n; k++)
            printf(" %u", found[k]);
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    unsigned parameters[PARAMETERS_MOST];
    MPI_Offset chunk[] = {5, 40}, start[2] = {0, 0}, count[2] = {0, COLUMNS}, nparameters = 0;
    int dims[2], varid;
    float values[ROWS][COLUMNS];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    for (int i = 3; i < argc && nparameters < PARAMETERS_MOST; i++)
        parameters[nparameters++] = (unsigned)strtoul(argv[i], NULL, 10);
    report(ncmpi_create(MPI_COMM_WORLD, argv[1], NC_NETCDF4, MPI_INFO_NULL, &ncid));
    ncmpi_def_dim(ncid, "row", ROWS, &dims[0]);
    ncmpi_def_dim(ncid, "column", COLUMNS, &dims[1]);
    ncmpi_def_var(ncid, "made", NC_FLOAT, 2, dims, &varid);
    report(ncmpi_def_var_chunking(ncid, varid, NC_CHUNKED, chunk));
    if (argc > 2)
        report(ncmpi_def_var_filter(ncid, varid, (unsigned)atoi(argv[2]), nparameters, parameters));
    report(ncmpi_enddef(ncid));
    print_filters(varid);
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
