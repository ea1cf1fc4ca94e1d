/* Hints: advice for this file that changes its speed, never its contents.
 *
 *     mpiexec -n 4 ./hints hints.nc
 *     PNETCDF_HINTS_DISPLAY=1 mpiexec -n 4 ./hints hints.nc      # lists the effect of each hint
 *     PNETCDF_HINTS='*.nc:striping_factor=8' mpiexec -n 4 ./hints hints.nc
 *
 * Hints are passed in an MPI_Info; the library uses its own (nc_*) and passes the others to MPI-IO. The environment has
 * precedence over the program. ncmpi_inq_file_info returns the hints in effect. */
#include "check.h"

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "hints.nc";
    char value[MPI_MAX_INFO_VAL + 1];
    int rank, nprocs, ncid, dim, varid, found;
    MPI_Info info;
    MPI_Offset begin;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_var_align_size", "4096"); /* data begin at a multiple of 4096 bytes */
    MPI_Info_set(info, "striping_factor", "4"); /* servers over which a new file is striped, on Lustre and similar */
    NC_TRY(path, ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, info, &ncid));
    MPI_Info_free(&info);

    NC_TRY(path, ncmpi_def_dim(ncid, "x", nprocs, &dim));
    NC_TRY(path, ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &varid));
    NC_TRY(path, ncmpi_enddef(ncid));
    MPI_Offset start = rank, count = 1;
    NC_TRY(path, ncmpi_put_vara_int_all(ncid, varid, &start, &count, &rank));

    NC_TRY(path, ncmpi_inq_file_info(ncid, &info));
    MPI_Info_get(info, "nc_var_align_size", MPI_MAX_INFO_VAL, value, &found);
    NC_TRY(path, ncmpi_inq_varoffset(ncid, varid, &begin));
    if (rank == 0)
        printf("nc_var_align_size = %s, data begin at byte %lld\n", found ? value : "unknown", (long long)begin);
    MPI_Info_free(&info);
    NC_TRY(path, ncmpi_close(ncid));
    return MPI_Finalize();
}
