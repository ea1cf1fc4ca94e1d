/* An array with ghost cells, written without a copy of its interior.
 *
 *     mpiexec -n 4 ./ghost_cells ghost_cells.nc
 *
 *      memory of a rank        . ghost cell: not in the file
 *      . . . . . . . .
 *      . . o o o o . .         o interior: NY x NX elements of the field
 *      . . o o o o . .
 *      . . . . . . . .
 *
 * An MPI subarray type selects the interior; bufcount is the number of such arrays in memory. */
#include "check.h"

enum { NY = 2, NX = 4, GHOST = 2 };

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "ghost_cells.nc";
    int rank, nprocs, ncid, dims[2], varid;
    int sizes[2] = {NY + 2 * GHOST, NX + 2 * GHOST}, interior[2] = {NY, NX}, corner[2] = {GHOST, GHOST};
    double memory[NY + 2 * GHOST][NX + 2 * GHOST];
    MPI_Datatype type;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);

    for (int y = 0; y < NY + 2 * GHOST; y++)
        for (int x = 0; x < NX + 2 * GHOST; x++)
            memory[y][x] = -999;
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++)
            memory[GHOST + y][GHOST + x] = 100 * (rank * NY + y) + x;
    MPI_Type_create_subarray(2, sizes, interior, corner, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);

    NC_TRY(path, ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid));
    NC_TRY(path, ncmpi_def_dim(ncid, "y", NY * nprocs, &dims[0]));
    NC_TRY(path, ncmpi_def_dim(ncid, "x", NX, &dims[1]));
    NC_TRY(path, ncmpi_def_var(ncid, "field", NC_DOUBLE, 2, dims, &varid));
    NC_TRY(path, ncmpi_enddef(ncid));
    MPI_Offset start[2] = {rank * NY, 0}, count[2] = {NY, NX};
    NC_TRY(path, ncmpi_put_vara_all(ncid, varid, start, count, memory, 1, type));
    NC_TRY(path, ncmpi_close(ncid));
    MPI_Type_free(&type);
    return MPI_Finalize();
}
