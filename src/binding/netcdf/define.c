/* Dimensions, and lists of what a group has. */
#include <string.h>

#include "binding/netcdf/door.h"

int pnc_door_def_dim(int ncid, const char *name, size_t length, int *dimid)
{
    pnc_door_name path;
    pnc_door_place at;
    int id;

    PNC_DOOR_TRY(pnc_door_place_find(ncid, &at));
    PNC_DOOR_TRY(pnc_door_name_make(&at, name, NC_EBADNAME, &path));
    PNC_DOOR_TRY(pnc_door_define_begin(at.f));
    PNC_DOOR_TRY(PNC_DOOR_CALL(at.f, "nc_def_dim", ncmpi_def_dim, path.text, (MPI_Offset)length, &id));
    if (dimid != NULL)
        *dimid = id;
    return pnc_door_dims_add(at.f, id + 1);
}

/* In the group or, by its nearest one, in those above it. */
int pnc_door_inq_dimid(int ncid, const char *name, int *dimid)
{
    pnc_door_name path;
    pnc_door_place at, above;

    PNC_DOOR_TRY(pnc_door_place_find(ncid, &at));
    PNC_DOOR_TRY(pnc_door_name_make(&at, name, NC_EINVAL, &path));
    for (above = at; above.group > 0; above.group = at.f->groups[above.group].parent) {
        PNC_DOOR_TRY(pnc_door_name_make(&above, name, NC_EINVAL, &path));
        if (pncnc_dim_exists(at.f->id, path.text))
            break;
    }
    PNC_DOOR_TRY(pnc_door_name_make(&above, name, NC_EINVAL, &path));
    return PNC_DOOR_CALL(at.f, "nc_inq_dimid", ncmpi_inq_dimid, path.text, dimid);
}

int pnc_door_inq_dim(int ncid, int dimid, char *name, size_t *length)
{
    pnc_door_file *f = pnc_door_file_find(ncid);
    MPI_Offset n = 0;

    if (f == NULL)
        return NC_EBADID;
    PNC_DOOR_TRY(PNC_DOOR_CALL(f, "nc_inq_dim", ncmpi_inq_dim, dimid, name, &n));
    if (name != NULL)
        pnc_door_name_truncate(f, f->dim_groups[dimid], name);
    if (length != NULL)
        *length = (size_t)n;
    return NC_NOERR;
}

int pnc_door_inq_unlimdim(int ncid, int *dimid)
{
    int ids[NC_MAX_DIMS], n = 0;

    PNC_DOOR_TRY(pnc_door_inq_unlimdims(ncid, &n, ids));
    if (dimid != NULL)
        *dimid = n > 0 ? ids[0] : -1;
    return NC_NOERR;
}

/* Those of the group itself. */
int pnc_door_inq_unlimdims(int ncid, int *n, int *dimids)
{
    int all[NC_MAX_DIMS], nall = 0, count = 0;
    pnc_door_place at;

    PNC_DOOR_TRY(pnc_door_place_find(ncid, &at));
    PNC_DOOR_TRY(PNC_DOOR_CALL(at.f, "nc_inq_unlimdims", ncmpi_inq_unlimdims, &nall, NULL));
    if (nall > NC_MAX_DIMS)
        return NC_EMAXDIMS;
    PNC_DOOR_TRY(PNC_DOOR_CALL(at.f, "nc_inq_unlimdims", ncmpi_inq_unlimdims, &nall, all));
    for (int i = 0; i < nall; i++) {
        if (at.f->dim_groups[all[i]] != at.group)
            continue;
        if (dimids != NULL)
            dimids[count] = all[i];
        count++;
    }
    if (n != NULL)
        *n = count;
    return NC_NOERR;
}

int pnc_door_rename_dim(int ncid, int dimid, const char *name)
{
    pnc_door_file *f = pnc_door_file_find(ncid);

    if (f == NULL)
        return NC_EBADID;
    if (!f->is_strict && dimid >= 0 && dimid < f->ndims)
        PNC_DOOR_TRY(pnc_door_define_begin(f));
    return PNC_DOOR_CALL(f, "nc_rename_dim", ncmpi_rename_dim, dimid, name);
}

/* --- lists --- */

/* Whether a group is another one, or above it. */
static bool is_above(const pnc_door_file *f, int upper, int group)
{
    while (group > upper)
        group = f->groups[group].parent;
    return group == upper;
}

int pnc_door_inq_dimids(int ncid, int *n, int *dimids, int with_parents)
{
    pnc_door_place at;
    int count = 0;

    PNC_DOOR_TRY(pnc_door_place_find(ncid, &at));
    for (int i = 0; i < at.f->ndims; i++) {
        int group = at.f->dim_groups[i];

        if (group != at.group && !(with_parents && is_above(at.f, group, at.group)))
            continue;
        if (dimids != NULL)
            dimids[count] = i;
        count++;
    }
    if (n != NULL)
        *n = count;
    return NC_NOERR;
}

int pnc_door_inq_varids(int ncid, int *n, int *varids)
{
    pnc_door_place at;

    PNC_DOOR_TRY(pnc_door_place_find(ncid, &at));
    if (n != NULL)
        *n = at.f->groups[at.group].nvars;
    for (int i = 0; varids != NULL && i < at.f->groups[at.group].nvars; i++)
        varids[i] = i;
    return NC_NOERR;
}
