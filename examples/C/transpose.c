/* A transposed array: x varies fastest in the file, and slowest in memory.
 *
 *     mpiexec -n 4 ./transpose transpose.nc
 *
 * varm has, for each dimension of the file, the distance in memory between neighbours along it, counted in elements.
 * Memory here is local[x][y], of NX x NY elements: one step in y is 1 element away, one step in x NY elements. */
#include "check.h"

enum { NY = 4, NX = 3 };

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "transpose.nc";
    int rank, nprocs, ncid, dims[2], varid;
    int local[NX][NY];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    for (int x = 0; x < NX; x++)
        for (int y = 0; y < NY; y++)
            local[x][y] = 100 * (rank * NY + y) + x;

    NC_TRY(path, ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid));
    NC_TRY(path, ncmpi_def_dim(ncid, "y", NY * nprocs, &dims[0]));
    NC_TRY(path, ncmpi_def_dim(ncid, "x", NX, &dims[1]));
    NC_TRY(path, ncmpi_def_var(ncid, "field", NC_INT, 2, dims, &varid));
    NC_TRY(path, ncmpi_enddef(ncid));
    MPI_Offset start[2] = {rank * NY, 0}, count[2] = {NY, NX}, imap[2] = {1, NY};
    NC_TRY(path, ncmpi_put_varm_int_all(ncid, varid, start, count, NULL, imap, &local[0][0])); /* NULL: no strides */
    NC_TRY(path, ncmpi_close(ncid));
    return MPI_Finalize();
}
