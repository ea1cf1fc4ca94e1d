/* Collective and independent writing.
 *
 *     mpiexec -n 4 ./collective collective.nc
 *
 * Every rank writes one row of "field" in a collective call: the rows of all ranks become few large accesses. Then only
 * rank 0 writes the scalar "steps", in an independent call. */
#include "check.h"

enum { NX = 10 };

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "collective.nc";
    int rank, nprocs, ncid, dims[2], field, steps;
    double row[NX];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);

    NC_TRY(path, ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid));
    NC_TRY(path, ncmpi_def_dim(ncid, "y", nprocs, &dims[0]));
    NC_TRY(path, ncmpi_def_dim(ncid, "x", NX, &dims[1]));
    NC_TRY(path, ncmpi_def_var(ncid, "field", NC_DOUBLE, 2, dims, &field));
    NC_TRY(path, ncmpi_def_var(ncid, "steps", NC_INT, 0, NULL, &steps));
    NC_TRY(path, ncmpi_enddef(ncid));

    for (int x = 0; x < NX; x++)
        row[x] = 100 * rank + x;
    MPI_Offset start[2] = {rank, 0}, count[2] = {1, NX};
    NC_TRY(path, ncmpi_put_vara_double_all(ncid, field, start, count, row)); /* _all: every rank calls it */

    /* Beginning and ending independent mode is collective; calls in between are not. */
    NC_TRY(path, ncmpi_begin_indep_data(ncid));
    if (rank == 0)
        NC_TRY(path, ncmpi_put_var_int(ncid, steps, &nprocs));
    NC_TRY(path, ncmpi_end_indep_data(ncid));

    NC_TRY(path, ncmpi_close(ncid));
    return MPI_Finalize();
}
