/* Definitions and inquiry with optional arguments and arrays; wait and cancel with lists of requests. */
#include "binding/f90/f90.h"

#include <stdlib.h>

int pncf90_enddef(const int *ncid, const MPI_Offset *h_minfree, const MPI_Offset *v_align, const MPI_Offset *v_minfree,
                  const MPI_Offset *r_align)
{
    if (h_minfree == NULL && v_align == NULL && v_minfree == NULL && r_align == NULL)
        return ncmpi_enddef(*ncid);
    return ncmpi__enddef(*ncid, h_minfree != NULL ? *h_minfree : 0, v_align != NULL ? *v_align : 0,
                         v_minfree != NULL ? *v_minfree : 0, r_align != NULL ? *r_align : 0);
}

int pncf90_def_dim(const int *ncid, const CFI_cdesc_t *name, const MPI_Offset *len, int *dimid)
{
    char c_name[PNCF90_TEXT_MAX];
    int err = ncmpi_def_dim(*ncid, pnc_f90_text_copy_in(name, c_name), *len, dimid);

    if (err == NC_NOERR)
        ++*dimid;
    return err;
}

int pncf90_def_dim_int(const int *ncid, const CFI_cdesc_t *name, const int *len, int *dimid)
{
    return pncf90_def_dim(ncid, name, &(MPI_Offset){*len}, dimid);
}

/* --- variables --- */

/* Convert dimids between Fortran (from 1, fastest first) and C (from 0, slowest first), in either direction. */
static void turn_dimids(const int *from, int n, int shift, int *to)
{
    for (int i = 0; i < n; i++)
        to[i] = from[n - 1 - i] + shift;
}

static int def_var(int ncid, const CFI_cdesc_t *name, int xtype, const int *dimids, int ndims, int *varid)
{
    char c_name[PNCF90_TEXT_MAX];
    int *c_dimids = malloc((size_t)(ndims + 1) * sizeof *c_dimids), err = NC_ENOMEM;

    if (c_dimids != NULL) {
        turn_dimids(dimids, ndims, -1, c_dimids);
        err = ncmpi_def_var(ncid, pnc_f90_text_copy_in(name, c_name), xtype, ndims, c_dimids, varid);
    }
    if (err == NC_NOERR)
        ++*varid;
    free(c_dimids);
    return err;
}

int pncf90_def_var_scalar(const int *ncid, const CFI_cdesc_t *name, const int *xtype, int *varid)
{
    return def_var(*ncid, name, *xtype, NULL, 0, varid);
}

int pncf90_def_var_one(const int *ncid, const CFI_cdesc_t *name, const int *xtype, const int *dimid, int *varid)
{
    return def_var(*ncid, name, *xtype, dimid, 1, varid);
}

int pncf90_def_var_many(const int *ncid, const CFI_cdesc_t *name, const int *xtype, const CFI_cdesc_t *dimids,
                        int *varid)
{
    return def_var(*ncid, name, *xtype, dimids->base_addr, (int)dimids->dim[0].extent, varid);
}

static int inq_dimids(int ncid, int varid, const CFI_cdesc_t *dimids)
{
    int ndims, *c_dimids, err = ncmpi_inq_varndims(ncid, varid, &ndims);

    if (err != NC_NOERR)
        return err;
    if (dimids->dim[0].extent < ndims)
        return NC_EINVAL;
    c_dimids = malloc((size_t)(ndims + 1) * sizeof *c_dimids);
    if (c_dimids == NULL)
        return NC_ENOMEM;
    err = ncmpi_inq_vardimid(ncid, varid, c_dimids);
    if (err == NC_NOERR)
        turn_dimids(c_dimids, ndims, 1, dimids->base_addr);
    free(c_dimids);
    return err;
}

int pncf90_inquire_variable(const int *ncid, const int *varid, const CFI_cdesc_t *name, int *xtype, int *ndims,
                            const CFI_cdesc_t *dimids, int *natts)
{
    char c_name[NC_MAX_NAME + 1];
    int err = ncmpi_inq_var(*ncid, *varid - 1, name != NULL ? c_name : NULL, xtype, ndims, NULL, natts);

    if (err == NC_NOERR && dimids != NULL)
        err = inq_dimids(*ncid, *varid - 1, dimids);
    if (err == NC_NOERR && name != NULL)
        err = pnc_f90_text_copy_out(c_name, name);
    return err;
}

/* --- other contents of the header --- */

int pncf90_inquire(const int *ncid, int *ndimensions, int *nvariables, int *nattributes, int *unlimiteddimid,
                   int *formatnum)
{
    int err = ncmpi_inq(*ncid, ndimensions, nvariables, nattributes, unlimiteddimid);

    if (err == NC_NOERR && unlimiteddimid != NULL && *unlimiteddimid >= 0)
        ++*unlimiteddimid;
    if (err == NC_NOERR && formatnum != NULL)
        err = ncmpi_inq_format(*ncid, formatnum);
    return err;
}

int pncf90_inquire_dimension(const int *ncid, const int *dimid, const CFI_cdesc_t *name, MPI_Offset *len)
{
    char c_name[NC_MAX_NAME + 1];
    int err = ncmpi_inq_dim(*ncid, *dimid - 1, c_name, len);

    return err == NC_NOERR && name != NULL ? pnc_f90_text_copy_out(c_name, name) : err;
}

int pncf90_inquire_attribute(const int *ncid, const int *varid, const CFI_cdesc_t *name, int *xtype, MPI_Offset *len,
                             int *attnum)
{
    char c_name[PNCF90_TEXT_MAX];
    int err = ncmpi_inq_att(*ncid, *varid - 1, pnc_f90_text_copy_in(name, c_name), xtype, len);

    if (err == NC_NOERR && attnum != NULL) {
        err = ncmpi_inq_attid(*ncid, *varid - 1, c_name, attnum);
        if (err == NC_NOERR)
            ++*attnum;
    }
    return err;
}

int pncf90_inq_path(const int *ncid, int *pathlen, const CFI_cdesc_t *path)
{
    int err = ncmpi_inq_path(*ncid, pathlen, NULL);
    char *c_path = malloc(err == NC_NOERR ? (size_t)*pathlen + 1 : 1);

    if (err == NC_NOERR)
        err = c_path == NULL ? NC_ENOMEM : ncmpi_inq_path(*ncid, NULL, c_path);
    if (err == NC_NOERR)
        err = pnc_f90_text_copy_out(c_path, path);
    free(c_path);
    return err;
}

int pncf90_inq_files_opened(int *nfiles, const CFI_cdesc_t *ncids)
{
    int err = ncmpi_inq_files_opened(nfiles, NULL);

    if (err == NC_NOERR && ncids->dim[0].extent < *nfiles)
        err = NC_EINVAL;
    return err == NC_NOERR ? ncmpi_inq_files_opened(nfiles, ncids->base_addr) : err;
}

/* --- requests --- */

/* A call with wrong lengths still takes part in a collective wait, without requests. */
static int on_requests(int function(int, int, int *, int *), int ncid, int num, const CFI_cdesc_t *req,
                       const CFI_cdesc_t *st)
{
    int status;

    if (num < 0)
        return function(ncid, num, NULL, NULL);
    if (num <= req->dim[0].extent && num <= st->dim[0].extent)
        return function(ncid, num, req->base_addr, st->base_addr);
    status = function(ncid, 0, NULL, NULL);
    return status != NC_NOERR ? status : NC_EINVAL;
}

int pncf90_wait(const int *ncid, const int *num, const CFI_cdesc_t *req, const CFI_cdesc_t *st)
{
    return on_requests(ncmpi_wait, *ncid, *num, req, st);
}

int pncf90_wait_all(const int *ncid, const int *num, const CFI_cdesc_t *req, const CFI_cdesc_t *st)
{
    return on_requests(ncmpi_wait_all, *ncid, *num, req, st);
}

int pncf90_cancel(const int *ncid, const int *num, const CFI_cdesc_t *req, const CFI_cdesc_t *st)
{
    return on_requests(ncmpi_cancel, *ncid, *num, req, st);
}
