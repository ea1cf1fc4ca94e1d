/* Cells of an unstructured mesh, scattered over the file.
 *
 *     mpiexec -n 4 ./varn varn.nc
 *
 * Each rank has every nprocs-th cell, in any order, as a partitioner assigns them, and writes all of them in one call:
 * varn takes a list of start indices. counts NULL means one element at each. */
#include "check.h"

enum { CELLS_PER_RANK = 7 };

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "varn.nc";
    int rank, nprocs, ncid, dim, varid;
    MPI_Offset cells[CELLS_PER_RANK], *starts[CELLS_PER_RANK];
    double values[CELLS_PER_RANK];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    for (int i = 0; i < CELLS_PER_RANK; i++) {
        cells[i] = (CELLS_PER_RANK - 1 - i) * nprocs + rank; /* from the last to the first */
        starts[i] = &cells[i];
        values[i] = 0.25 * (double)cells[i];
    }

    NC_TRY(path, ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid));
    NC_TRY(path, ncmpi_def_dim(ncid, "cell", CELLS_PER_RANK * nprocs, &dim));
    NC_TRY(path, ncmpi_def_var(ncid, "pressure", NC_DOUBLE, 1, &dim, &varid));
    NC_TRY(path, ncmpi_enddef(ncid));
    NC_TRY(path, ncmpi_put_varn_double_all(ncid, varid, CELLS_PER_RANK, starts, NULL, values));
    NC_TRY(path, ncmpi_close(ncid));
    return MPI_Finalize();
}
