/* A 2D field in blocks, one per rank.
 *
 *     mpiexec -n 4 ./blocks blocks.nc
 *
 *      +-------+-------+
 *      | rank 0| rank 1|      start: the block's first element in the whole field
 *      +-------+-------+      count: its size
 *      | rank 2| rank 3|
 *      +-------+-------+
 *
 * The sizes need not divide evenly: divide() gives some ranks one row or column more. */
#include "check.h"

enum { NY = 11, NX = 13 };

/* The elements of part number `at`, if n elements are divided into `parts` parts. */
static void divide(MPI_Offset n, int at, int parts, MPI_Offset *start, MPI_Offset *count)
{
    *start = n * at / parts;
    *count = n * (at + 1) / parts - *start;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "blocks.nc";
    int rank, nprocs, grid[2] = {0, 0}, ncid, dims[2], varid;
    MPI_Offset start[2], count[2];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    MPI_Dims_create(nprocs, 2, grid);
    divide(NY, rank / grid[1], grid[0], &start[0], &count[0]);
    divide(NX, rank % grid[1], grid[1], &start[1], &count[1]);

    float *block = allocate((size_t)(count[0] * count[1]), sizeof *block);
    for (MPI_Offset y = 0; y < count[0]; y++)
        for (MPI_Offset x = 0; x < count[1]; x++)
            block[y * count[1] + x] = (float)(100 * (start[0] + y) + start[1] + x);

    NC_TRY(path, ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid));
    NC_TRY(path, ncmpi_def_dim(ncid, "y", NY, &dims[0]));
    NC_TRY(path, ncmpi_def_dim(ncid, "x", NX, &dims[1]));
    NC_TRY(path, ncmpi_def_var(ncid, "field", NC_FLOAT, 2, dims, &varid));
    NC_TRY(path, ncmpi_enddef(ncid));
    NC_TRY(path, ncmpi_put_vara_float_all(ncid, varid, start, count, block));
    NC_TRY(path, ncmpi_close(ncid));
    free(block);
    return MPI_Finalize();
}
