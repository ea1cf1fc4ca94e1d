/* Many variables in one access: requests are posted one by one and carried out together.
 *
 *     mpiexec -n 4 ./nonblocking nonblocking.nc
 *
 * iput only posts a request. wait_all carries out the requests of all ranks, merged into few large accesses; until then
 * the buffers must not change. Each request has its own status. */
#include "check.h"

enum { N_VARIABLES = 8, N = 5 };

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "nonblocking.nc";
    int rank, nprocs, ncid, dim, varids[N_VARIABLES], requests[N_VARIABLES], statuses[N_VARIABLES];
    float values[N_VARIABLES][N];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);

    NC_TRY(path, ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid));
    NC_TRY(path, ncmpi_def_dim(ncid, "x", N * nprocs, &dim));
    for (int v = 0; v < N_VARIABLES; v++) {
        char name[24];

        snprintf(name, sizeof name, "tracer_%d", v);
        NC_TRY(path, ncmpi_def_var(ncid, name, NC_FLOAT, 1, &dim, &varids[v]));
    }
    NC_TRY(path, ncmpi_enddef(ncid));

    MPI_Offset start = rank * N, count = N;
    for (int v = 0; v < N_VARIABLES; v++) {
        for (int i = 0; i < N; i++)
            values[v][i] = (float)(1000 * v + rank * N + i);
        NC_TRY(path, ncmpi_iput_vara_float(ncid, varids[v], &start, &count, values[v], &requests[v]));
    }
    NC_TRY(path, ncmpi_wait_all(ncid, N_VARIABLES, requests, statuses));
    for (int v = 0; v < N_VARIABLES; v++)
        NC_TRY(path, statuses[v]);
    NC_TRY(path, ncmpi_close(ncid));
    return MPI_Finalize();
}
