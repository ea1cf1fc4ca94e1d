/* What a build --without-hdf5 has in place of libhdf5, linked before it: all that the library needs, or else the linker
 * finds functions twice. */
#include <stdio.h>

#include <pnetcdf.h>

#include "../harness.h"

static void test_netcdf4(const char *path)
{
    static const unsigned char signature[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    int ncid, err;

    err = ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid);
    t_check(err == NC_ENOTBUILT, "create: %s", ncmpi_strerrno(err));
    if (t_rank == 0) {
        FILE *f = fopen(path, "wb");

        if (f != NULL) {
            fwrite(signature, sizeof signature, 1, f);
            fclose(f);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    err = ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid);
    t_check(err == NC_ENOTBUILT, "open: %s", ncmpi_strerrno(err));
}

static void test_classic(const char *path)
{
    MPI_Offset start = t_rank, count = 1;
    int ncid, dimid, varid, value = 10 * t_rank, back = -1, err;

    err = ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid);
    t_check(err == NC_NOERR, "a classic file: %s", ncmpi_strerrno(err));
    ncmpi_def_dim(ncid, "x", t_nprocs, &dimid);
    ncmpi_def_var(ncid, "v", NC_INT, 1, &dimid, &varid);
    ncmpi_enddef(ncid);
    ncmpi_put_vara_int_all(ncid, varid, &start, &count, &value);
    err = ncmpi_get_vara_int_all(ncid, varid, &start, &count, &back);
    t_check(err == NC_NOERR && back == value && ncmpi_close(ncid) == NC_NOERR, "is written and read");
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    test_netcdf4(t_path("absent.nc"));
    test_classic(t_path("absent.nc"));
    return t_finish();
}
