/* Definitions of variables: how they are stored, and whether their access is collective. */
#include <string.h>

#include "binding/netcdf/door.h"

int pnc_door_def_var(int ncid, const char *name, nc_type type, int ndims, const int *dimids, int *varid)
{
    pnc_door_place at;
    pnc_door_file *f;
    pnc_door_name path;
    int id;

    PNC_DOOR_TRY(pnc_door_place_find(ncid, &at));
    f = at.f;
    PNC_DOOR_TRY(pnc_door_name_make(&at, name, NC_EBADNAME, &path));
    PNC_DOOR_TRY(pnc_door_define_begin(f));
    if (ndims > NC_MAX_VAR_DIMS)
        return NC_EMAXDIMS;
    if (f->is_netcdf4 && f->is_strict && type > NC_DOUBLE)
        return NC_ESTRICTNC3;
    PNC_DOOR_TRY(PNC_DOOR_CALL(f, "nc_def_var", ncmpi_def_var, path.text, type, ndims, dimids, &id));
    PNC_DOOR_TRY(pnc_door_var_add(f, id));
    if (varid != NULL)
        *varid = f->vars[id].number;
    if (type != NC_STRING) /* strings are always filled */
        PNC_DOOR_TRY(PNC_DOOR_CALL(f, "nc_def_var", ncmpi_def_var_fill, id, f->fill_mode == NC_NOFILL, NULL));
    f->vars[id].is_native = true;
    return NC_NOERR;
}

int pnc_door_inq_varid(int ncid, const char *name, int *varid)
{
    pnc_door_name path;
    pnc_door_place at;
    int id;

    PNC_DOOR_TRY(pnc_door_place_find(ncid, &at));
    PNC_DOOR_TRY(pnc_door_name_make(&at, name, NC_ENOTVAR, &path));
    PNC_DOOR_TRY(PNC_DOOR_CALL(at.f, "nc_inq_varid", ncmpi_inq_varid, path.text, &id));
    if (varid != NULL)
        *varid = at.f->vars[id].number;
    return NC_NOERR;
}

int pnc_door_rename_var(int ncid, int varid, const char *name)
{
    pnc_door_file *f;

    PNC_DOOR_TRY(pnc_door_var_place_find(ncid, &varid, &f));
    if (!f->is_strict && pnc_door_var_find(f, varid) != NULL)
        PNC_DOOR_TRY(pnc_door_define_begin(f));
    return PNC_DOOR_CALL(f, "nc_rename_var", ncmpi_rename_var, varid, name);
}

/* --- access --- */

static void choose_access(pnc_door_var *v, int access)
{
    v->is_chosen = true;
    v->is_collective = access == PNC_DOOR_COLLECTIVE;
}

/* Local: of a variable, or of all of the group. A variable with filters may be independent, which netCDF-C refuses. */
int pnc_door_var_par_access(int ncid, int varid, int access)
{
    const pnc_door_group *group;
    pnc_door_place at;

    PNC_DOOR_TRY(pnc_door_place_find(ncid, &at));
    if (access != PNC_DOOR_INDEPENDENT && access != PNC_DOOR_COLLECTIVE)
        return NC_EINVAL;
    group = &at.f->groups[at.group];
    if (varid != NC_GLOBAL && (varid < 0 || varid >= group->nvars))
        return NC_ENOTVAR;
    for (int i = 0; i < group->nvars; i++)
        if (varid == NC_GLOBAL || i == varid)
            choose_access(&at.f->vars[group->varids[i]], access);
    return NC_NOERR;
}

/* --- storage --- */

/* Filters make a variable collective, unless the program has chosen. */
static int finish_filter(pnc_door_file *f, int varid, int err)
{
    pnc_door_var *v = pnc_door_var_find(f, varid);

    if (err == NC_NOERR && v != NULL && !v->is_chosen)
        v->is_collective = true;
    return err;
}

/* netCDF-4 defines storage of a new variable in data mode, too: the file is in define mode again, unless the id is
 * wrong. */
static int begin_storage(int ncid, int *varid, pnc_door_file **f)
{
    PNC_DOOR_TRY(pnc_door_var_place_find(ncid, varid, f));
    if (!(*f)->is_netcdf4)
        return NC_ENOTNC4;
    return pnc_door_var_find(*f, *varid) != NULL ? pnc_door_define_begin(*f) : NC_ENOTVAR;
}

int pnc_door_def_var_fill(int ncid, int varid, int no_fill, const void *value)
{
    pnc_door_file *f;
    int err;

    PNC_DOOR_TRY(pnc_door_var_place_find(ncid, &varid, &f));
    if (pnc_door_var_find(f, varid) != NULL)
        PNC_DOOR_TRY(pnc_door_define_begin(f));
    err = PNC_DOOR_CALL(f, "nc_def_var_fill", ncmpi_def_var_fill, varid, no_fill, value);
    return err == NC_ELATEFILL ? NC_ELATEDEF : err;
}

int pnc_door_def_var_deflate(int ncid, int varid, int shuffle, int deflate, int level)
{
    pnc_door_file *f;
    int err;

    PNC_DOOR_TRY(begin_storage(ncid, &varid, &f));
    err = PNC_DOOR_CALL(f, "nc_def_var_deflate", ncmpi_def_var_deflate, varid, shuffle, deflate, level);
    return shuffle || deflate ? finish_filter(f, varid, err) : err;
}

int pnc_door_def_var_fletcher32(int ncid, int varid, int fletcher32)
{
    pnc_door_file *f;
    int err;

    PNC_DOOR_TRY(begin_storage(ncid, &varid, &f));
    err = PNC_DOOR_CALL(f, "nc_def_var_fletcher32", ncmpi_def_var_fletcher32, varid, fletcher32);
    return fletcher32 ? finish_filter(f, varid, err) : err;
}

int pnc_door_def_var_chunking(int ncid, int varid, int storage, const size_t *lengths)
{
    MPI_Offset chunk[NC_MAX_VAR_DIMS];
    const pnc_door_var *v;
    pnc_door_file *f;

    PNC_DOOR_TRY(begin_storage(ncid, &varid, &f));
    v = pnc_door_var_find(f, varid);
    for (int i = 0; v != NULL && lengths != NULL && i < v->ndims; i++)
        chunk[i] = (MPI_Offset)lengths[i];
    return PNC_DOOR_CALL(f, "nc_def_var_chunking", ncmpi_def_var_chunking, varid, storage,
                         lengths != NULL ? chunk : NULL);
}

int pnc_door_def_var_endian(int ncid, int varid, int endian)
{
    pnc_door_file *f;
    pnc_door_var *v;

    PNC_DOOR_TRY(begin_storage(ncid, &varid, &f));
    PNC_DOOR_TRY(PNC_DOOR_CALL(f, "nc_def_var_endian", ncmpi_def_var_endian, varid, endian));
    v = pnc_door_var_find(f, varid);
    if (v != NULL)
        v->is_native = endian == NC_ENDIAN_NATIVE;
    return NC_NOERR;
}

int pnc_door_def_var_filter(int ncid, int varid, unsigned id, size_t n, const unsigned *parameters)
{
    pnc_door_file *f;

    PNC_DOOR_TRY(begin_storage(ncid, &varid, &f));
    return finish_filter(
        f, varid, PNC_DOOR_CALL(f, "nc_def_var_filter", ncmpi_def_var_filter, varid, id, (MPI_Offset)n, parameters));
}

int pnc_door_def_var_quantize(int ncid, int varid, int mode, int digits)
{
    pnc_door_file *f;

    PNC_DOOR_TRY(begin_storage(ncid, &varid, &f));
    return PNC_DOOR_CALL(f, "nc_def_var_quantize", ncmpi_def_var_quantize, varid, mode, digits);
}

/* Each chunk is in memory once, at its aggregator: the cache of netCDF-C has no counterpart. */
int pnc_door_set_var_chunk_cache(int ncid, int varid, size_t bytes, size_t slots, float preemption)
{
    pnc_door_file *f;
    pnc_door_var *v;

    PNC_DOOR_TRY(pnc_door_var_place_find(ncid, &varid, &f));
    if (!f->is_netcdf4)
        return NC_ENOTNC4;
    if (preemption < 0 || preemption > 1)
        return NC_EINVAL;
    v = pnc_door_var_find(f, varid);
    if (v == NULL)
        return NC_ENOTVAR;
    v->has_cache = true;
    v->cache_bytes = bytes;
    v->cache_slots = slots;
    v->cache_preemption = preemption;
    return NC_NOERR;
}
