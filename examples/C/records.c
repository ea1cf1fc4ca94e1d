/* A time series: records are appended, and a second run continues after the last record.
 *
 *     mpiexec -n 4 ./records records.nc      # records 0 to 2
 *     mpiexec -n 4 ./records records.nc      # records 3 to 5
 *
 * A variable whose first dimension is NC_UNLIMITED grows as it is written. ncmpi_sync makes the records written so far
 * visible to other programs, such as a plot of the running model. */
#include "check.h"

enum { N = 4, STEPS = 3 };

static int create_file(const char *path, int nprocs)
{
    int ncid, dims[2], varid;

    NC_TRY(path, ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid));
    NC_TRY(path, ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]));
    NC_TRY(path, ncmpi_def_dim(ncid, "x", N * nprocs, &dims[1]));
    NC_TRY(path, ncmpi_def_var(ncid, "time", NC_DOUBLE, 1, dims, &varid));
    NC_TRY(path, ncmpi_put_att_text(ncid, varid, "units", 22, "hours since 2000-01-01"));
    NC_TRY(path, ncmpi_def_var(ncid, "height", NC_FLOAT, 2, dims, &varid));
    NC_TRY(path, ncmpi_enddef(ncid));
    return ncid;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "records.nc";
    int rank, nprocs, ncid, status, record_dim, time, height;
    MPI_Offset done;
    float values[N];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);

    status = ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid);
    if (status == NC_ENOENT)
        ncid = create_file(path, nprocs);
    else
        NC_TRY(path, status);
    NC_TRY(path, ncmpi_inq_varid(ncid, "time", &time));
    NC_TRY(path, ncmpi_inq_varid(ncid, "height", &height));
    NC_TRY(path, ncmpi_inq_unlimdim(ncid, &record_dim));
    NC_TRY(path, ncmpi_inq_dimlen(ncid, record_dim, &done));

    for (MPI_Offset record = done; record < done + STEPS; record++) {
        MPI_Offset start[2] = {record, rank * N}, count[2] = {1, N}, one = rank == 0;
        double hours = 6.0 * (double)record;

        for (int i = 0; i < N; i++)
            values[i] = (float)(100 * record + rank * N + i);
        NC_TRY(path, ncmpi_put_vara_double_all(ncid, time, &record, &one, &hours)); /* rank 0 writes it */
        NC_TRY(path, ncmpi_put_vara_float_all(ncid, height, start, count, values));
        NC_TRY(path, ncmpi_sync(ncid));
    }
    NC_TRY(path, ncmpi_close(ncid));
    return MPI_Finalize();
}
