/* A compressed file: netCDF-4, in chunks, which all ranks compress and write together.
 *
 *     mpiexec -n 4 ./compressed compressed.nc
 *     ncoffsets compressed.nc                # chunks and their ratios
 *     ncdump -s -h compressed.nc             # or ncmpidump: how each variable is stored
 *
 * Each chunk has one rank that compresses it, also if several ranks put parts of it. A program that cannot be changed
 * gets the same by PNETCDF_HINTS='*.nc:nc_format=netcdf4:nc_compression=deflate:nc_quantize@wind=granular:3'. */
#include "check.h"

enum { STEPS = 3, ROWS = 30, COLUMNS = 120 };

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "compressed.nc";
    int rank, nprocs, ncid, dims[3], wind, level;
    float values[ROWS * COLUMNS];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);

    NC_TRY(path, ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid));
    NC_TRY(path, ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]));
    NC_TRY(path, ncmpi_def_dim(ncid, "y", (MPI_Offset)ROWS * nprocs, &dims[1]));
    NC_TRY(path, ncmpi_def_dim(ncid, "x", COLUMNS, &dims[2]));
    NC_TRY(path, ncmpi_def_var(ncid, "wind", NC_FLOAT, 3, dims, &wind));

    /* A chunk for each put of a rank. Without this call the library chooses the chunks. */
    MPI_Offset chunk[3] = {1, ROWS, COLUMNS};
    NC_TRY(path, ncmpi_def_var_chunking(ncid, wind, NC_CHUNKED, chunk));
    /* Shuffle on, deflate on, level 1: higher levels are slower and rarely much smaller. */
    NC_TRY(path, ncmpi_def_var_deflate(ncid, wind, 1, 1, 1));
    /* Three decimal digits are kept: the other bits become zeros, which compress well. */
    NC_TRY(path, ncmpi_def_var_quantize(ncid, wind, NC_QUANTIZE_GRANULARBR, 3));
    NC_TRY(path, ncmpi_enddef(ncid));

    for (int step = 0; step < STEPS; step++) {
        MPI_Offset start[3] = {step, (MPI_Offset)ROWS * rank, 0}, count[3] = {1, ROWS, COLUMNS};

        for (int y = 0; y < ROWS; y++)
            for (int x = 0; x < COLUMNS; x++)
                values[y * COLUMNS + x] = (float)(10 + step) + 0.1f * (float)(ROWS * rank + y) + 0.001f * (float)x;
        NC_TRY(path, ncmpi_put_vara_float_all(ncid, wind, start, count, values));
    }
    NC_TRY(path, ncmpi_close(ncid));

    /* Reading needs no other calls than a classic file; inquiries show how a variable is stored. */
    NC_TRY(path, ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid));
    NC_TRY(path, ncmpi_inq_varid(ncid, "wind", &wind));
    NC_TRY(path, ncmpi_inq_var_deflate(ncid, wind, NULL, NULL, &level));
    NC_TRY(path, ncmpi_inq_var_chunking(ncid, wind, NULL, chunk));
    if (rank == 0)
        printf("deflate level %d, chunks of %lld x %lld x %lld\n", level, (long long)chunk[0], (long long)chunk[1],
               (long long)chunk[2]);
    NC_TRY(path, ncmpi_close(ncid));
    return MPI_Finalize();
}
