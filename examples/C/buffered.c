/* Nonblocking writes whose buffer can be reused at once.
 *
 *     mpiexec -n 4 ./buffered buffered.nc
 *
 * bput copies the values into memory that ncmpi_buffer_attach reserves: one small array is enough for all levels. The
 * size of that memory counts bytes as in the file. */
#include "check.h"

enum { LEVELS = 6, N = 5 };

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "buffered.nc";
    int rank, nprocs, ncid, dims[2], varid;
    double level_values[N];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);

    NC_TRY(path, ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid));
    NC_TRY(path, ncmpi_def_dim(ncid, "level", LEVELS, &dims[0]));
    NC_TRY(path, ncmpi_def_dim(ncid, "x", N * nprocs, &dims[1]));
    NC_TRY(path, ncmpi_def_var(ncid, "temperature", NC_DOUBLE, 2, dims, &varid));
    NC_TRY(path, ncmpi_enddef(ncid));

    NC_TRY(path, ncmpi_buffer_attach(ncid, LEVELS * N * sizeof(double)));
    for (int level = 0; level < LEVELS; level++) {
        MPI_Offset start[2] = {level, rank * N}, count[2] = {1, N};

        for (int i = 0; i < N; i++)
            level_values[i] = 100 * level + rank * N + i;
        NC_TRY(path, ncmpi_bput_vara_double(ncid, varid, start, count, level_values, NULL));
    }
    NC_TRY(path, ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL));
    NC_TRY(path, ncmpi_buffer_detach(ncid));
    NC_TRY(path, ncmpi_close(ncid));
    return MPI_Finalize();
}
