/* A block-cyclic distribution, as dense linear algebra (ScaLAPACK) uses it.
 *
 *     mpiexec -n 4 ./block_cyclic block_cyclic.nc
 *
 * Blocks of 2 columns are assigned to the ranks round-robin:
 *
 *      column   0 1 | 2 3 | 4 5 | 6 7 | 8 9 | ...
 *      rank      0  |  1  |  2  |  3  |  0  | ...
 *
 * The blocks of a rank are not contiguous in the file: varn writes a list of blocks in one call. */
#include "check.h"

enum { NY = 5, BLOCK = 2, ROUNDS = 3 };

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "block_cyclic.nc";
    int rank, nprocs, ncid, dims[2], varid;
    MPI_Offset starts[ROUNDS][2], counts[ROUNDS][2], *start_of[ROUNDS], *count_of[ROUNDS];
    int local[ROUNDS][NY][BLOCK]; /* block after block, each as a C array */

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);

    for (int i = 0; i < ROUNDS; i++) {
        int column = (i * nprocs + rank) * BLOCK;

        starts[i][0] = 0, starts[i][1] = column;
        counts[i][0] = NY, counts[i][1] = BLOCK;
        start_of[i] = starts[i];
        count_of[i] = counts[i];
        for (int y = 0; y < NY; y++)
            for (int x = 0; x < BLOCK; x++)
                local[i][y][x] = 1000 * y + column + x;
    }

    NC_TRY(path, ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid));
    NC_TRY(path, ncmpi_def_dim(ncid, "y", NY, &dims[0]));
    NC_TRY(path, ncmpi_def_dim(ncid, "x", BLOCK * ROUNDS * nprocs, &dims[1]));
    NC_TRY(path, ncmpi_def_var(ncid, "matrix", NC_INT, 2, dims, &varid));
    NC_TRY(path, ncmpi_enddef(ncid));
    NC_TRY(path, ncmpi_put_varn_int_all(ncid, varid, ROUNDS, start_of, count_of, &local[0][0][0]));
    NC_TRY(path, ncmpi_close(ncid));
    return MPI_Finalize();
}
