/* Fill values: elements that are never written read as "missing".
 *
 *     mpiexec -n 4 ./fill fill.nc
 *
 * Filling is off by default, because it writes every variable once more; ncmpi_def_var_fill enables it for a variable.
 * Each rank writes every other element of its part of "sea_ice". A record variable is filled record by record. */
#include "check.h"

enum { N = 6 };

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "fill.nc";
    const float missing = -999;
    int rank, nprocs, ncid, time, x, dims[2], ice, flux;
    float values[N / 2];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);

    NC_TRY(path, ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid));
    NC_TRY(path, ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &time));
    NC_TRY(path, ncmpi_def_dim(ncid, "x", N * nprocs, &x));
    dims[0] = time, dims[1] = x;
    NC_TRY(path, ncmpi_def_var(ncid, "sea_ice", NC_FLOAT, 1, &x, &ice));
    NC_TRY(path, ncmpi_def_var(ncid, "flux", NC_FLOAT, 2, dims, &flux));
    NC_TRY(path, ncmpi_def_var_fill(ncid, ice, 0, &missing)); /* also writes the attribute _FillValue */
    NC_TRY(path, ncmpi_def_var_fill(ncid, flux, 0, NULL));    /* the default fill value of float */
    NC_TRY(path, ncmpi_enddef(ncid));                         /* fills sea_ice */

    for (int i = 0; i < N / 2; i++)
        values[i] = (float)(rank * N + 2 * i);
    MPI_Offset start = rank * N, count = N / 2, stride = 2;
    NC_TRY(path, ncmpi_put_vars_float_all(ncid, ice, &start, &count, &stride, values));

    for (MPI_Offset record = 0; record < 2; record++) {
        MPI_Offset first[2] = {record, 0}, one[2] = {1, rank == 0};

        NC_TRY(path, ncmpi_fill_var_rec(ncid, flux, record));
        NC_TRY(path, ncmpi_put_vara_float_all(ncid, flux, first, one, values)); /* rank 0: one element, others: none */
    }
    NC_TRY(path, ncmpi_close(ncid));
    return MPI_Finalize();
}
