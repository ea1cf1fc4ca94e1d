/* Several blocks of one variable, from several buffers, in one collective call.
 *
 *     mpiexec -n 4 ./mput mput.nc
 *
 * The patches of an adaptive mesh: each rank has some, of different sizes, and each has a buffer of its own. The number
 * of patches may differ between ranks. mput_vara_all writes those of all ranks together.
 *
 *     rank 0: ##..        patch 0: 1 row of 2 cells
 *             ###.        patch 1: 1 row of 3 cells, and so on: rank r has r % 2 + 1 patches */
#include "check.h"

enum { MOST_PATCHES = 2, WIDTH = 4 };

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "mput.nc";
    int rank, nprocs, ncid, dims[2], varid, varids[MOST_PATCHES], old_fill;
    double patches[MOST_PATCHES][WIDTH], *buffers[MOST_PATCHES];
    MPI_Offset start[MOST_PATCHES][2], count[MOST_PATCHES][2], *starts[MOST_PATCHES], *counts[MOST_PATCHES];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);

    NC_TRY(path, ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid));
    NC_TRY(path, ncmpi_set_fill(ncid, NC_FILL, &old_fill)); /* cells without a patch */
    NC_TRY(path, ncmpi_def_dim(ncid, "y", MOST_PATCHES * nprocs, &dims[0]));
    NC_TRY(path, ncmpi_def_dim(ncid, "x", WIDTH, &dims[1]));
    NC_TRY(path, ncmpi_def_var(ncid, "density", NC_DOUBLE, 2, dims, &varid));
    NC_TRY(path, ncmpi_enddef(ncid));

    int n_patches = rank % 2 + 1;
    for (int p = 0; p < n_patches; p++) {
        MPI_Offset row = MOST_PATCHES * rank + p, cells = p + 2;

        varids[p] = varid;
        start[p][0] = row, start[p][1] = 0;
        count[p][0] = 1, count[p][1] = cells;
        for (MPI_Offset x = 0; x < cells; x++)
            patches[p][x] = (double)(100 * row + x);
        starts[p] = start[p], counts[p] = count[p], buffers[p] = patches[p];
    }
    NC_TRY(path, ncmpi_mput_vara_double_all(ncid, n_patches, varids, starts, counts, buffers));
    NC_TRY(path, ncmpi_close(ncid));
    return MPI_Finalize();
}
