/* Reading with a number of ranks that differs from that of the writing program.
 *
 *     mpiexec -n 4 ./blocks blocks.nc
 *     mpiexec -n 3 ./reread blocks.nc
 *
 * A netCDF file does not depend on the number of ranks that wrote it. The readers inquire the size and divide it again,
 * here by rows; a rank without rows still calls the collective function, with a count of 0. Prints the mean of "field".
 */
#include "check.h"

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "blocks.nc";
    int rank, nprocs, ncid, varid, dims[2];
    MPI_Offset ny, nx;
    double sum = 0, total;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);

    NC_TRY(path, ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid));
    NC_TRY(path, ncmpi_inq_varid(ncid, "field", &varid));
    NC_TRY(path, ncmpi_inq_vardimid(ncid, varid, dims));
    NC_TRY(path, ncmpi_inq_dimlen(ncid, dims[0], &ny));
    NC_TRY(path, ncmpi_inq_dimlen(ncid, dims[1], &nx));

    MPI_Offset first = ny * rank / nprocs, rows = ny * (rank + 1) / nprocs - first;
    MPI_Offset start[2] = {first, 0}, count[2] = {rows, nx};
    double *values = allocate((size_t)(rows * nx), sizeof *values);
    NC_TRY(path, ncmpi_get_vara_double_all(ncid, varid, start, count, values)); /* float in the file: converted */
    NC_TRY(path, ncmpi_close(ncid));

    for (MPI_Offset i = 0; i < rows * nx; i++)
        sum += values[i];
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("mean of %lld x %lld values: %.10g\n", (long long)ny, (long long)nx, total / (double)(ny * nx));
    free(values);
    return MPI_Finalize();
}
