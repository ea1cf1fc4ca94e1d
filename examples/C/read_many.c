/* Many variables read in one access: the counterpart of nonblocking.c.
 *
 *     mpiexec -n 4 ./nonblocking nonblocking.nc
 *     mpiexec -n 3 ./read_many nonblocking.nc
 *
 * iget only posts a request: the buffer has its values after wait_all. A file is read without knowing its variables:
 * those with one dimension are found by inquiries. Prints the sum of each. */
#include "check.h"

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "nonblocking.nc";
    int rank, nprocs, ncid, nvars;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);

    NC_TRY(path, ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid));
    NC_TRY(path, ncmpi_inq_nvars(ncid, &nvars));
    double **values = allocate((size_t)nvars, sizeof *values), *sums = allocate((size_t)nvars, sizeof *sums);
    MPI_Offset *counts = allocate((size_t)nvars, sizeof *counts);

    for (int v = 0; v < nvars; v++) {
        int ndims, dim;
        MPI_Offset length, start;

        NC_TRY(path, ncmpi_inq_varndims(ncid, v, &ndims));
        if (ndims != 1)
            continue;
        NC_TRY(path, ncmpi_inq_vardimid(ncid, v, &dim));
        NC_TRY(path, ncmpi_inq_dimlen(ncid, dim, &length));
        start = length * rank / nprocs;
        counts[v] = length * (rank + 1) / nprocs - start;
        values[v] = allocate((size_t)counts[v], sizeof *values[v]);
        NC_TRY(path, ncmpi_iget_vara_double(ncid, v, &start, &counts[v], values[v], NULL)); /* NULL: no id is needed */
    }
    NC_TRY(path, ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL));

    for (int v = 0; v < nvars; v++) {
        for (MPI_Offset i = 0; i < counts[v]; i++)
            sums[v] += values[v][i];
        free(values[v]);
    }
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : sums, sums, nvars, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int v = 0; v < nvars && rank == 0; v++) {
        char name[NC_MAX_NAME + 1];

        NC_TRY(path, ncmpi_inq_varname(ncid, v, name));
        printf("%s: sum %.10g\n", name, sums[v]);
    }
    NC_TRY(path, ncmpi_close(ncid));
    free(values);
    free(sums);
    free(counts);
    return MPI_Finalize();
}
