/* A dataset with all that a header in CDL defines, through the public interface alone. */
#ifndef TEST_CREATE_FROM_CDL_H
#define TEST_CREATE_FROM_CDL_H

#include <pnetcdf.h>

static inline int copy_attributes(int hid, int ncid, int varid)
{
    int n, err = cdl_hdr_inq_nattrs(hid, varid, &n);

    for (int i = 0; err == NC_NOERR && i < n; i++) {
        char *name;
        nc_type type;
        MPI_Offset len;
        void *value;
        err = cdl_hdr_inq_attr(hid, varid, i, &name, &type, &len, &value);
        if (err == NC_NOERR)
            err = ncmpi_put_att(ncid, varid, name, type, len, value);
    }
    return err;
}

static inline int copy_definitions(int hid, int ncid)
{
    int ndims, nvars, err = cdl_hdr_inq_ndims(hid, &ndims);

    for (int i = 0; err == NC_NOERR && i < ndims; i++) {
        char *name;
        MPI_Offset len;
        err = cdl_hdr_inq_dim(hid, i, &name, &len);
        if (err == NC_NOERR)
            err = ncmpi_def_dim(ncid, name, len, NULL);
    }
    if (err == NC_NOERR)
        err = cdl_hdr_inq_nvars(hid, &nvars);
    for (int i = 0; err == NC_NOERR && i < nvars; i++) {
        char *name;
        nc_type type;
        int rank, *dimids;
        err = cdl_hdr_inq_var(hid, i, &name, &type, &rank, &dimids);
        if (err == NC_NOERR)
            err = ncmpi_def_var(ncid, name, type, rank, dimids, NULL);
        if (err == NC_NOERR)
            err = copy_attributes(hid, ncid, i);
    }
    return err == NC_NOERR ? copy_attributes(hid, ncid, NC_GLOBAL) : err;
}

/* Collective over comm. The first error. */
static inline int create_from_cdl(MPI_Comm comm, const char *cdl, const char *path)
{
    int cmode = NC_CLOBBER;
    int hid, ncid, format, err2, err = cdl_hdr_open(cdl, &hid);

    if (err != NC_NOERR)
        return err;
    err = cdl_hdr_inq_format(hid, &format);
    if (format != NC_FORMAT_CLASSIC)
        cmode |= format == NC_FORMAT_CDF5 ? NC_64BIT_DATA : NC_64BIT_OFFSET;
    if (err == NC_NOERR)
        err = ncmpi_create(comm, path, cmode, MPI_INFO_NULL, &ncid);
    if (err == NC_NOERR) {
        err = copy_definitions(hid, ncid);
        err2 = ncmpi_close(ncid);
        err = err != NC_NOERR ? err : err2;
    }
    err2 = cdl_hdr_close(hid);
    return err != NC_NOERR ? err : err2;
}

#endif
