/* A part of a file becomes a smaller file: every second column of a range of rows, by all ranks together.
 *
 *     mpiexec -n 4 ./blocks blocks.nc
 *     mpiexec -n 4 ./subset blocks.nc subset.nc
 *
 * Each rank reads its rows of the part with a stride (get_vars) and writes them without one. No rank has the whole
 * array in memory. Type and units are copied, whatever they are. */
#include "check.h"

enum { FIRST_ROW = 2, STRIDE = 2 };

int main(int argc, char **argv)
{
    const char *from = argc > 1 ? argv[1] : "blocks.nc", *to = argc > 2 ? argv[2] : "subset.nc";
    int rank, nprocs, in, out, var_in, var_out, dims[2], new_dims[2], status;
    nc_type type;
    MPI_Offset ny, nx;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);

    NC_TRY(from, ncmpi_open(MPI_COMM_WORLD, from, NC_NOWRITE, MPI_INFO_NULL, &in));
    NC_TRY(from, ncmpi_inq_varid(in, "field", &var_in));
    NC_TRY(from, ncmpi_inq_vartype(in, var_in, &type));
    NC_TRY(from, ncmpi_inq_vardimid(in, var_in, dims));
    NC_TRY(from, ncmpi_inq_dimlen(in, dims[0], &ny));
    NC_TRY(from, ncmpi_inq_dimlen(in, dims[1], &nx));
    ny -= FIRST_ROW;
    nx = (nx + STRIDE - 1) / STRIDE;

    NC_TRY(to, ncmpi_create(MPI_COMM_WORLD, to, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &out));
    NC_TRY(to, ncmpi_def_dim(out, "y", ny, &new_dims[0]));
    NC_TRY(to, ncmpi_def_dim(out, "x", nx, &new_dims[1]));
    NC_TRY(to, ncmpi_def_var(out, "field", type, 2, new_dims, &var_out));
    status = ncmpi_copy_att(in, var_in, "units", out, var_out);
    if (status != NC_ENOTATT) /* it need not have units */
        NC_TRY(from, status);
    NC_TRY(to, ncmpi_enddef(out));

    MPI_Offset first = ny * rank / nprocs, rows = ny * (rank + 1) / nprocs - first;
    MPI_Offset start[2] = {FIRST_ROW + first, 0}, stride[2] = {1, STRIDE}, new_start[2] = {first, 0};
    MPI_Offset count[2] = {rows, nx};
    double *values = allocate((size_t)(rows * nx), sizeof *values);
    NC_TRY(from, ncmpi_get_vars_double_all(in, var_in, start, count, stride, values));
    NC_TRY(to, ncmpi_put_vara_double_all(out, var_out, new_start, count, values));
    NC_TRY(from, ncmpi_close(in));
    NC_TRY(to, ncmpi_close(out));
    free(values);
    return MPI_Finalize();
}
