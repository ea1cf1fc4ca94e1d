/* Groups: each has an ncid. In libpnetcdf what is in a group has a path as its name, and an id of the file. */
#include <stdlib.h>
#include <string.h>

#include "binding/netcdf/door.h"

/* The lower half of an ncid says which group it is. */
#define GROUPS_MOST 65536

static int make_ncid(int ncid, int group)
{
    return (int)((unsigned)ncid & ~(unsigned)(GROUPS_MOST - 1)) | group;
}

int pnc_door_place_find(int ncid, pnc_door_place *at)
{
    at->f = pnc_door_file_find(ncid);
    at->group = (int)((unsigned)ncid & (GROUPS_MOST - 1));
    return at->f == NULL ? NC_EBADID : NC_NOERR;
}

/* --- the groups of a file --- */

/* By its path of n bytes; -1: there is none. */
static int find_group_path(const pnc_door_file *f, const char *path, size_t n)
{
    for (int i = 0; i < f->ngroups; i++)
        if (strncmp(f->groups[i].path, path, n) == 0 && f->groups[i].path[n] == '\0')
            return i;
    return -1;
}

int pnc_door_group_find(const pnc_door_file *f, const char *name)
{
    const char *slash = f->ngroups > 1 ? strrchr(name, '/') : NULL;
    int found = slash != NULL ? find_group_path(f, name, (size_t)(slash - name)) : 0;

    return found < 0 ? 0 : found;
}

/* A group is added behind its parent. */
static int append_group(pnc_door_file *f, const char *path)
{
    pnc_door_group *more = realloc(f->groups, (size_t)(f->ngroups + 1) * sizeof *more);
    char *copy = strdup(path);

    if (more != NULL)
        f->groups = more;
    if (more == NULL || copy == NULL || f->ngroups == GROUPS_MOST) {
        free(copy);
        return NC_ENOMEM;
    }
    f->groups[f->ngroups] =
        (pnc_door_group){.parent = f->ngroups == 0 ? -1 : pnc_door_group_find(f, path), .path = copy};
    f->ngroups++;
    return NC_NOERR;
}

int pnc_door_groups_add(pnc_door_file *f)
{
    char path[NC_MAX_NAME + 1];
    int n = 0;

    f->att_group = -1;
    PNC_DOOR_TRY(append_group(f, ""));
    PNC_DOOR_TRY(ncmpi_inq_ngrps(f->id, &n));
    for (int i = 0; i < n; i++) {
        PNC_DOOR_TRY(ncmpi_inq_grpname(f->id, i, path));
        PNC_DOOR_TRY(append_group(f, path));
    }
    return NC_NOERR;
}

void pnc_door_groups_free(pnc_door_file *f)
{
    for (int i = 0; i < f->ngroups; i++) {
        free(f->groups[i].path);
        free(f->groups[i].varids);
    }
    free(f->groups);
    free(f->dim_groups);
    free(f->atts);
}

/* --- what is in a group --- */

int pnc_door_dims_add(pnc_door_file *f, int ndims)
{
    int *more = ndims > f->ndims ? realloc(f->dim_groups, (size_t)ndims * sizeof *more) : f->dim_groups;
    char name[NC_MAX_NAME + 1];

    if (more == NULL && ndims > f->ndims)
        return NC_ENOMEM;
    f->dim_groups = more;
    for (; f->ndims < ndims; f->ndims++) {
        PNC_DOOR_TRY(ncmpi_inq_dimname(f->id, f->ndims, name));
        f->dim_groups[f->ndims] = pnc_door_group_find(f, name);
    }
    return NC_NOERR;
}

int pnc_door_number_add(pnc_door_file *f, int varid)
{
    char name[NC_MAX_NAME + 1];
    pnc_door_group *group;
    int *more;

    PNC_DOOR_TRY(ncmpi_inq_varname(f->id, varid, name));
    f->vars[varid].group = pnc_door_group_find(f, name);
    group = &f->groups[f->vars[varid].group];
    more = realloc(group->varids, (size_t)(group->nvars + 1) * sizeof *more);
    if (more == NULL)
        return NC_ENOMEM;
    group->varids = more;
    f->vars[varid].number = group->nvars;
    group->varids[group->nvars++] = varid;
    return NC_NOERR;
}

int pnc_door_varid_get(const pnc_door_place *at, int varid)
{
    const pnc_door_group *group = &at->f->groups[at->group];

    if (varid >= 0 && varid < group->nvars)
        return group->varids[varid];
    return varid < 0 || at->f->ngroups == 1 ? varid : NC_MAX_INT;
}

int pnc_door_var_place_find(int ncid, int *varid, pnc_door_file **f)
{
    pnc_door_place at;

    PNC_DOOR_TRY(pnc_door_place_find(ncid, &at));
    *varid = pnc_door_varid_get(&at, *varid);
    *f = at.f;
    return NC_NOERR;
}

/* --- names --- */

void pnc_door_name_truncate(const pnc_door_file *f, int group, char *name)
{
    size_t n = strlen(f->groups[group].path);

    if (n > 0)
        memmove(name, name + n + 1, strlen(name + n + 1) + 1);
}

int pnc_door_name_make(const pnc_door_place *at, const char *name, int code, pnc_door_name *out)
{
    const char *path = at->f->groups[at->group].path;
    size_t n = strlen(path);

    out->text = name;
    if (name == NULL || at->f->is_strict)
        return NC_NOERR;
    if (strchr(name, '/') != NULL)
        return code;
    if (n == 0 || name[0] == '\0') /* an empty name is wrong in any group */
        return NC_NOERR;
    if (strlen(name) > NC_MAX_NAME)
        return NC_EMAXNAME;
    memcpy(out->bytes, path, n);
    out->bytes[n] = '/';
    strcpy(out->bytes + n + 1, name);
    out->text = out->bytes;
    return NC_NOERR;
}

int pnc_door_att_name_make(const pnc_door_place *at, int varid, const char *name, int code, pnc_door_name *out)
{
    const pnc_door_place root = {at->f, 0};

    out->text = name;
    if (code == NC_ENOTATT && (varid != NC_GLOBAL || at->f->ngroups == 1))
        return NC_NOERR; /* other programs may have made such names */
    return pnc_door_name_make(varid == NC_GLOBAL ? at : &root, name, code, out);
}

/* --- attributes of groups --- */

int pnc_door_atts_list(pnc_door_place *at)
{
    pnc_door_file *f = at->f;
    char name[NC_MAX_NAME + 1];
    int all = 0;
    int *more;

    if (f->att_group == at->group)
        return NC_NOERR;
    f->att_group = -1;
    PNC_DOOR_TRY(ncmpi_inq_natts(f->id, &all));
    more = realloc(f->atts, (size_t)(all + 1) * sizeof *more);
    if (more == NULL)
        return NC_ENOMEM;
    f->atts = more;
    f->natts = 0;
    for (int i = 0; i < all; i++) {
        PNC_DOOR_TRY(ncmpi_inq_attname(f->id, NC_GLOBAL, i, name));
        if (pnc_door_group_find(f, name) == at->group)
            f->atts[f->natts++] = i;
    }
    f->att_group = at->group;
    return NC_NOERR;
}

/* --- calls --- */

/* A child of a group by its name of n bytes; -1: there is none. */
static int find_child(const pnc_door_file *f, int parent, const char *name, size_t n)
{
    size_t above = strlen(f->groups[parent].path);

    for (int i = 0; i < f->ngroups; i++) {
        const char *own = f->groups[i].path + above + (above > 0);

        if (f->groups[i].parent == parent && strncmp(own, name, n) == 0 && own[n] == '\0')
            return i;
    }
    return -1;
}

static int give_group(int ncid, int group, int *out)
{
    if (group < 0)
        return NC_ENOGRP;
    if (out != NULL)
        *out = make_ncid(ncid, group);
    return NC_NOERR;
}

/* Without a name, netCDF-C returns the file. */
int pnc_door_inq_ncid(int ncid, const char *name, int *group)
{
    pnc_door_place at;

    PNC_DOOR_TRY(pnc_door_place_find(ncid, &at));
    if (name == NULL)
        return give_group(ncid, 0, group);
    if (name[0] == '\0' || strchr(name, '/') != NULL)
        return NC_EBADNAME;
    return give_group(ncid, find_child(at.f, at.group, name, strlen(name)), group);
}

/* The path leads down from the group of ncid, also with a slash in front. */
int pnc_door_inq_grp_full_ncid(int ncid, const char *name, int *group)
{
    pnc_door_place at;
    int found;

    PNC_DOOR_TRY(pnc_door_place_find(ncid, &at));
    if (name == NULL)
        return NC_EINVAL;
    name += strspn(name, "/");
    found = *name == '\0' && at.group > 0 ? -1 : at.group;
    while (*name != '\0' && found >= 0) {
        size_t n = strcspn(name, "/");

        found = find_child(at.f, found, name, n);
        name += n + strspn(name + n, "/");
    }
    return give_group(ncid, found, group);
}

int pnc_door_inq_grps(int ncid, int *n, int *groups)
{
    pnc_door_place at;
    int count = 0;

    PNC_DOOR_TRY(pnc_door_place_find(ncid, &at));
    for (int i = 0; i < at.f->ngroups; i++) {
        if (at.f->groups[i].parent != at.group)
            continue;
        if (groups != NULL)
            groups[count] = make_ncid(ncid, i);
        count++;
    }
    if (n != NULL)
        *n = count;
    return NC_NOERR;
}

int pnc_door_inq_grpname(int ncid, char *name)
{
    pnc_door_place at;
    const char *path, *slash;

    PNC_DOOR_TRY(pnc_door_place_find(ncid, &at));
    path = at.group == 0 ? "/" : at.f->groups[at.group].path;
    slash = at.group == 0 ? NULL : strrchr(path, '/');
    if (name != NULL)
        strcpy(name, slash != NULL ? slash + 1 : path);
    return NC_NOERR;
}

int pnc_door_inq_grpname_full(int ncid, size_t *length, char *name)
{
    pnc_door_place at;
    const char *path;

    PNC_DOOR_TRY(pnc_door_place_find(ncid, &at));
    path = at.f->groups[at.group].path;
    if (length != NULL)
        *length = strlen(path) + 1;
    if (name != NULL) {
        name[0] = '/';
        strcpy(name + 1, path);
    }
    return NC_NOERR;
}

int pnc_door_inq_grp_parent(int ncid, int *parent)
{
    pnc_door_place at;

    PNC_DOOR_TRY(pnc_door_place_find(ncid, &at));
    return give_group(ncid, at.f->groups[at.group].parent, parent);
}

int pnc_door_def_grp(int ncid, const char *name, int *group)
{
    pnc_door_name path;
    pnc_door_place at;
    int n;

    PNC_DOOR_TRY(pnc_door_place_find(ncid, &at));
    if (at.f->is_strict)
        return at.f->is_netcdf4 ? NC_ESTRICTNC3 : NC_ENOTNC4;
    if (name == NULL)
        return NC_EINVAL;
    PNC_DOOR_TRY(pnc_door_name_make(&at, name, NC_EBADNAME, &path));
    PNC_DOOR_TRY(pnc_door_define_begin(at.f));
    PNC_DOOR_TRY(PNC_DOOR_CALL(at.f, "nc_def_grp", ncmpi_def_grp, path.text));
    PNC_DOOR_TRY(ncmpi_inq_ngrps(at.f->id, &n));
    PNC_DOOR_TRY(ncmpi_inq_grpname(at.f->id, n - 1, path.bytes)); /* normalised */
    PNC_DOOR_TRY(append_group(at.f, path.bytes));
    return give_group(ncid, at.f->ngroups - 1, group);
}

/* Groups have the order of libpnetcdf, behind the root group. */
static int renew_paths(pnc_door_file *f)
{
    char path[NC_MAX_NAME + 1], *copy;

    for (int i = 1; i < f->ngroups; i++) {
        PNC_DOOR_TRY(ncmpi_inq_grpname(f->id, i - 1, path));
        copy = strdup(path);
        if (copy == NULL)
            return NC_ENOMEM;
        free(f->groups[i].path);
        f->groups[i].path = copy;
    }
    return NC_NOERR;
}

int pnc_door_rename_grp(int ncid, const char *name)
{
    pnc_door_place at;

    PNC_DOOR_TRY(pnc_door_place_find(ncid, &at));
    if (!at.f->is_netcdf4)
        return NC_ENOTNC4;
    if (at.group == 0)
        return NC_EBADGRPID; /* the root has no other name */
    if (at.f->is_read_only)
        return NC_EPERM;
    if (at.f->is_strict)
        return NC_ESTRICTNC3;
    if (name == NULL)
        return NC_EINVAL;
    if (strchr(name, '/') != NULL)
        return NC_EBADNAME;
    PNC_DOOR_TRY(pnc_door_define_begin(at.f));
    PNC_DOOR_TRY(PNC_DOOR_CALL(at.f, "nc_rename_grp", ncmpi_rename_grp, at.group - 1, name));
    at.f->att_group = -1;
    return renew_paths(at.f);
}
