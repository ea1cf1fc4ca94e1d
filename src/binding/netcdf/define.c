/* Dimensions, and the one group that a file of the table has. */
#include <string.h>

#include "binding/netcdf/door.h"

int pnc_door_def_dim(int ncid, const char *name, size_t length, int *dimid)
{
    pnc_door_file *f = pnc_door_file_find(ncid);

    if (f == NULL)
        return NC_EBADID;
    PNC_DOOR_TRY(pnc_door_define_begin(f));
    return PNC_DOOR_CALL(f, "nc_def_dim", ncmpi_def_dim, name, (MPI_Offset)length, dimid);
}

int pnc_door_inq_dimid(int ncid, const char *name, int *dimid)
{
    pnc_door_file *f = pnc_door_file_find(ncid);

    return f == NULL ? NC_EBADID : PNC_DOOR_CALL(f, "nc_inq_dimid", ncmpi_inq_dimid, name, dimid);
}

int pnc_door_inq_dim(int ncid, int dimid, char *name, size_t *length)
{
    pnc_door_file *f = pnc_door_file_find(ncid);
    MPI_Offset n = 0;

    if (f == NULL)
        return NC_EBADID;
    PNC_DOOR_TRY(PNC_DOOR_CALL(f, "nc_inq_dim", ncmpi_inq_dim, dimid, name, &n));
    if (length != NULL)
        *length = (size_t)n;
    return NC_NOERR;
}

int pnc_door_inq_unlimdim(int ncid, int *dimid)
{
    pnc_door_file *f = pnc_door_file_find(ncid);

    return f == NULL ? NC_EBADID : PNC_DOOR_CALL(f, "nc_inq_unlimdim", ncmpi_inq_unlimdim, dimid);
}

int pnc_door_inq_unlimdims(int ncid, int *n, int *dimids)
{
    pnc_door_file *f = pnc_door_file_find(ncid);

    return f == NULL ? NC_EBADID : PNC_DOOR_CALL(f, "nc_inq_unlimdims", ncmpi_inq_unlimdims, n, dimids);
}

int pnc_door_rename_dim(int ncid, int dimid, const char *name)
{
    pnc_door_file *f = pnc_door_file_find(ncid);

    if (f == NULL)
        return NC_EBADID;
    if (!f->is_strict)
        PNC_DOOR_TRY(pnc_door_define_begin(f));
    return PNC_DOOR_CALL(f, "nc_rename_dim", ncmpi_rename_dim, dimid, name);
}

/* --- lists --- */

static int list_ids(int n, int *count, int *ids)
{
    if (count != NULL)
        *count = n;
    for (int i = 0; ids != NULL && i < n; i++)
        ids[i] = i;
    return NC_NOERR;
}

int pnc_door_inq_dimids(int ncid, int *n, int *dimids, int with_parents)
{
    pnc_door_file *f = pnc_door_file_find(ncid);
    int ndims;

    (void)with_parents;
    if (f == NULL)
        return NC_EBADID;
    PNC_DOOR_TRY(ncmpi_inq_ndims(f->id, &ndims));
    return list_ids(ndims, n, dimids);
}

int pnc_door_inq_varids(int ncid, int *n, int *varids)
{
    pnc_door_file *f = pnc_door_file_find(ncid);

    return f == NULL ? NC_EBADID : list_ids(f->nvars, n, varids);
}

/* --- groups --- */

int pnc_door_inq_ncid(int ncid, const char *name, int *group)
{
    if (pnc_door_file_find(ncid) == NULL)
        return NC_EBADID;
    if (name != NULL && strcmp(name, "/") != 0)
        return NC_ENOGRP;
    if (group != NULL)
        *group = ncid;
    return NC_NOERR;
}

int pnc_door_inq_grps(int ncid, int *n, int *groups)
{
    return pnc_door_file_find(ncid) == NULL ? NC_EBADID : list_ids(0, n, groups);
}

int pnc_door_inq_grpname(int ncid, char *name)
{
    return pnc_door_inq_grpname_full(ncid, NULL, name);
}

int pnc_door_inq_grpname_full(int ncid, size_t *length, char *name)
{
    if (pnc_door_file_find(ncid) == NULL)
        return NC_EBADID;
    if (length != NULL)
        *length = 1;
    if (name != NULL)
        strcpy(name, "/");
    return NC_NOERR;
}

int pnc_door_inq_grp_parent(int ncid, int *parent)
{
    (void)parent;
    return pnc_door_file_find(ncid) == NULL ? NC_EBADID : NC_ENOGRP;
}

int pnc_door_inq_grp_full_ncid(int ncid, const char *name, int *group)
{
    return pnc_door_inq_ncid(ncid, name, group);
}

int pnc_door_def_grp(int ncid, const char *name, int *group)
{
    pnc_door_file *f = pnc_door_file_find(ncid);

    (void)group;
    if (f == NULL)
        return NC_EBADID;
    if (f->is_strict)
        return f->is_netcdf4 ? NC_ESTRICTNC3 : NC_ENOTNC4;
    return pnc_door_failure_report(NC_ENOTSUPPORT, "nc_def_grp",
                                   "group \"%s\": libpnetcdf writes no groups yet: write this file without "
                                   "libpnetcdf-netcdf",
                                   name != NULL ? name : "");
}

int pnc_door_rename_grp(int ncid, const char *name)
{
    pnc_door_file *f = pnc_door_file_find(ncid);

    (void)name;
    if (f == NULL)
        return NC_EBADID;
    return f->is_netcdf4 ? NC_EBADGRPID : NC_ENOTNC4; /* the root has no other name */
}
