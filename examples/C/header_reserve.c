/* Free space in the header, so that later definitions do not move data.
 *
 *     mpiexec -n 4 ./header_reserve header_reserve.nc
 *
 * The header is at the beginning of the file, and the data follow. If added definitions exceed the space of the header,
 * all data are moved: possibly terabytes. ncmpi__enddef reserves bytes; so does the hint nc_var_align_size. */
#include "check.h"

#include <string.h>

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "header_reserve.nc";
    const char *history = "2026-01-01 spun up\n2026-01-02 restarted\n2026-01-03 restarted";
    int rank, nprocs, ncid, dim, first, second;
    MPI_Offset begin, begin_later, size, extent;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);

    NC_TRY(path, ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid));
    NC_TRY(path, ncmpi_def_dim(ncid, "x", nprocs, &dim));
    NC_TRY(path, ncmpi_def_var(ncid, "first", NC_INT, 1, &dim, &first));
    NC_TRY(path, ncmpi__enddef(ncid, 8192, 0, 0, 0)); /* 8192 bytes free after the header; 0: default alignment */
    MPI_Offset start = rank, count = 1;
    NC_TRY(path, ncmpi_put_vara_int_all(ncid, first, &start, &count, &rank));
    NC_TRY(path, ncmpi_inq_varoffset(ncid, first, &begin));

    NC_TRY(path, ncmpi_redef(ncid));
    NC_TRY(path, ncmpi_put_att_text(ncid, NC_GLOBAL, "history", (MPI_Offset)strlen(history), history));
    NC_TRY(path, ncmpi_def_var(ncid, "second", NC_INT, 1, &dim, &second));
    NC_TRY(path, ncmpi_enddef(ncid));
    NC_TRY(path, ncmpi_put_vara_int_all(ncid, second, &start, &count, &nprocs));

    NC_TRY(path, ncmpi_inq_varoffset(ncid, first, &begin_later));
    NC_TRY(path, ncmpi_inq_header_size(ncid, &size));
    NC_TRY(path, ncmpi_inq_header_extent(ncid, &extent));
    if (begin_later != begin)
        die("the data moved from byte %lld to %lld", (long long)begin, (long long)begin_later);
    if (rank == 0)
        printf("the header takes %lld of %lld bytes\n", (long long)size, (long long)extent);
    NC_TRY(path, ncmpi_close(ncid));
    return MPI_Finalize();
}
