/* All ranks write one compressed netCDF-4 file with netCDF-C, and read it back. Nothing in it is of PnetCDF:
 *   mpicc parallel_c.c -o parallel_c $(nc-config --cflags --libs)
 *   mpiexec -n 4 ./parallel_c                  # netCDF needs a parallel build of HDF5 and netCDF
 *   mpiexec -n 4 pnetcdf-run ./parallel_c      # any build of netCDF */
#include <mpi.h>
#include <netcdf.h>
#include <stdio.h>

#ifndef NC_COLLECTIVE /* netcdf_par.h, which a serial netCDF does not install */
#define NC_COLLECTIVE 1
int nc_create_par(const char *path, int mode, MPI_Comm comm, MPI_Info info, int *ncid);
int nc_open_par(const char *path, int mode, MPI_Comm comm, MPI_Info info, int *ncid);
int nc_var_par_access(int ncid, int varid, int access);
#endif

#define TRY(call)                                               \
    do {                                                        \
        int e = (call);                                         \
        if (e != NC_NOERR) {                                    \
            fprintf(stderr, "%s: %s\n", #call, nc_strerror(e)); \
            MPI_Abort(MPI_COMM_WORLD, 1);                       \
        }                                                       \
    } while (0)

enum { COLUMNS = 50, STEPS = 3 };

int main(int argc, char **argv)
{
    int rank, nprocs, ncid, dims[3], wind, mean;
    float row[COLUMNS], again[COLUMNS];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);

    TRY(nc_create_par("parallel_c.nc", NC_NETCDF4 | NC_CLOBBER, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
    TRY(nc_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]));
    TRY(nc_def_dim(ncid, "y", (size_t)nprocs, &dims[1]));
    TRY(nc_def_dim(ncid, "x", COLUMNS, &dims[2]));
    TRY(nc_def_var(ncid, "wind", NC_FLOAT, 3, dims, &wind));
    TRY(nc_def_var_deflate(ncid, wind, 1, 1, 4));
    TRY(nc_def_var(ncid, "mean", NC_FLOAT, 1, dims, &mean));
    TRY(nc_var_par_access(ncid, mean, NC_COLLECTIVE)); /* over time, which grows */
    TRY(nc_enddef(ncid));

    for (size_t t = 0; t < STEPS; t++) {
        size_t start[] = {t, (size_t)rank, 0}, count[] = {1, 1, COLUMNS}, n = rank == 0;
        float value = 5 + (float)t;

        for (int x = 0; x < COLUMNS; x++)
            row[x] = (float)rank + 0.5f * (float)x + (float)t;
        TRY(nc_put_vara_float(ncid, wind, start, count, row));
        TRY(nc_put_vara_float(ncid, mean, &t, &n, &value)); /* ranks without values take part */
    }
    TRY(nc_close(ncid));

    TRY(nc_open_par("parallel_c.nc", NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
    TRY(nc_inq_varid(ncid, "wind", &wind));
    {
        size_t start[] = {STEPS - 1, (size_t)rank, 0}, count[] = {1, 1, COLUMNS};

        TRY(nc_get_vara_float(ncid, wind, start, count, again));
    }
    TRY(nc_close(ncid));
    for (int x = 0; x < COLUMNS; x++)
        if (again[x] != row[x]) {
            fprintf(stderr, "rank %d got other values than it has put\n", rank);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    if (rank == 0)
        printf("parallel_c.nc: %d steps written and read\n", STEPS);
    MPI_Finalize();
    return 0;
}
