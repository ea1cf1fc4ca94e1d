/* A program that uses libhdf5 itself, also H5close, writes netCDF-4 files through this library in between. Such a
 * program has copies of the variables of libhdf5, which are those that count. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>

#include "pnetcdf.h"

static int put(const char *path, int mode)
{
    int ncid, dimid = 0, varid = 0, rank, err;
    MPI_Offset start, count = 1;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    start = rank;
    err = mode == 0 ? ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid)
                    : ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid);
    if (err != NC_NOERR)
        return err;
    if (mode == 0) {
        ncmpi_def_dim(ncid, "x", 8, &dimid);
        ncmpi_def_var(ncid, "v", NC_INT, 1, &dimid, &varid);
        ncmpi_def_var_deflate(ncid, varid, 1, 1, 1);
        ncmpi_put_att_text(ncid, varid, "units", 1, "m");
        ncmpi_enddef(ncid);
    }
    err = ncmpi_put_vara_int_all(ncid, varid, &start, &count, &(int){rank + 10 * (mode + 1)});
    return err != NC_NOERR ? err : ncmpi_close(ncid);
}

/* Its own file. */
static int use_hdf5(const char *path)
{
    hsize_t length = 3;
    const int values[3] = {1, 2, 3};
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), space = H5Screate_simple(1, &length, NULL);
    hid_t set = H5Dcreate2(file, "own", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    int good = H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;

    H5Dclose(set);
    H5Sclose(space);
    return H5Fclose(file) >= 0 && good;
}

int main(int argc, char **argv)
{
    char own[1000];
    int err, rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 2)
        return 2;
    snprintf(own, sizeof own, "%s.%d", argv[1], rank);
    for (int i = 0; i < 3; i++) {
        if (!use_hdf5(own))
            printf("HDF5 fails\n");
        if (i == 1)
            H5close();
        err = put(argv[1], i);
        if (err != NC_NOERR)
            printf("%d: %s\n", i, ncmpi_strerror(err));
    }
    MPI_Finalize();
    return 0;
}
