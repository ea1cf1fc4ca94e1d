/* Access to values: collective or independent as the variable is. */
#include "binding/netcdf/door.h"

/* What netCDF-C passes: NULL in place of an array where the function has none. */
typedef struct door_access {
    int ncid, varid;
    const char *name;
    const size_t *start, *count;
    const ptrdiff_t *stride, *imap;
    void *values;
    nc_type memory;
    bool is_put;
} door_access;

/* The same for ncmpi_ functions. */
typedef struct door_region {
    MPI_Offset start[NC_MAX_VAR_DIMS], count[NC_MAX_VAR_DIMS], stride[NC_MAX_VAR_DIMS], imap[NC_MAX_VAR_DIMS];
} door_region;

static int fill_region(const pnc_door_file *f, const door_access *a, int ndims, door_region *r)
{
    int dimids[NC_MAX_VAR_DIMS];

    if (a->count == NULL)
        PNC_DOOR_TRY(ncmpi_inq_vardimid(f->id, a->varid, dimids));
    for (int i = 0; i < ndims; i++) {
        r->start[i] = a->start != NULL ? (MPI_Offset)a->start[i] : 0;
        if (a->count != NULL)
            r->count[i] = (MPI_Offset)a->count[i];
        else
            PNC_DOOR_TRY(ncmpi_inq_dimlen(f->id, dimids[i], &r->count[i]));
        r->stride[i] = a->stride != NULL ? (MPI_Offset)a->stride[i] : 1;
        r->imap[i] = a->imap != NULL ? (MPI_Offset)a->imap[i] : 0;
    }
    return NC_NOERR;
}

#define PUT_OR_GET(kind, suffix, ...)                                                                  \
    (a->is_put ? PNC_DOOR_CALL(f, a->name, ncmpi_put_##kind##suffix, a->varid, __VA_ARGS__, a->values, \
                               NC_COUNT_IGNORE, type)                                                  \
               : PNC_DOOR_CALL(f, a->name, ncmpi_get_##kind##suffix, a->varid, __VA_ARGS__, a->values, \
                               NC_COUNT_IGNORE, type))

static int access_collectively(const pnc_door_file *f, const door_access *a, const door_region *r, MPI_Datatype type)
{
    if (a->imap != NULL)
        return PUT_OR_GET(varm, _all, r->start, r->count, r->stride, r->imap);
    if (a->stride != NULL)
        return PUT_OR_GET(vars, _all, r->start, r->count, r->stride);
    return PUT_OR_GET(vara, _all, r->start, r->count);
}

static int access_on_this_rank(const pnc_door_file *f, const door_access *a, const door_region *r, MPI_Datatype type)
{
    if (a->imap != NULL)
        return PUT_OR_GET(varm, , r->start, r->count, r->stride, r->imap);
    if (a->stride != NULL)
        return PUT_OR_GET(vars, , r->start, r->count, r->stride);
    return PUT_OR_GET(vara, , r->start, r->count);
}

/* --- records of classic files --- */

/* Whether a put writes values, all of them within the fixed dimensions. Otherwise no record comes into being. */
static bool writes_values(const pnc_door_file *f, const pnc_door_var *v, int varid, const door_region *r)
{
    int dimids[NC_MAX_VAR_DIMS];
    MPI_Offset length = 0;

    if (ncmpi_inq_vardimid(f->id, varid, dimids) != NC_NOERR)
        return false;
    for (int i = 0; i < v->ndims; i++) {
        if (i > 0 && ncmpi_inq_dimlen(f->id, dimids[i], &length) != NC_NOERR)
            return false;
        if (r->start[i] < 0 || r->count[i] <= 0 || r->stride[i] < 1 ||
            (i > 0 && (r->start[i] >= length || (r->count[i] - 1) > (length - 1 - r->start[i]) / r->stride[i])))
            return false;
    }
    return true;
}

/* On one rank, records that come into being have fill values in all variables, as netCDF-C writes them. */
static int fill_records(pnc_door_file *f, const pnc_door_var *v, const door_access *a, const door_region *r)
{
    MPI_Offset numrecs, end;
    int recdim, no_fill;

    if (!a->is_put || f->nprocs > 1 || f->fill_mode != NC_FILL || !v->is_record || !writes_values(f, v, a->varid, r))
        return NC_NOERR;
    PNC_DOOR_TRY(ncmpi_inq_unlimdim(f->id, &recdim));
    PNC_DOOR_TRY(ncmpi_inq_dimlen(f->id, recdim, &numrecs));
    end = r->start[0] + (r->count[0] - 1) * r->stride[0] + 1;
    for (; numrecs < end; numrecs++)
        for (int varid = 0; varid < f->nvars; varid++) {
            if (!f->vars[varid].is_record || ncmpi_inq_var_fill(f->id, varid, &no_fill, NULL) != NC_NOERR || no_fill)
                continue;
            PNC_DOOR_TRY(PNC_DOOR_CALL(f, a->name, ncmpi_fill_var_rec, varid, numrecs));
        }
    return NC_NOERR;
}

/* --- calls --- */

static MPI_Datatype find_memory_type(const pnc_door_file *f, const door_access *a)
{
    nc_type type = a->memory;

    if (type == NC_NAT)
        ncmpi_inq_vartype(f->id, a->varid, &type);
    return pnc_door_type_get_mpi(type);
}

/* Of a variable of strings, or for values of strings. */
static int access_strings(const pnc_door_file *f, const door_access *a, const door_region *r)
{
    nc_type type = NC_NAT;

    PNC_DOOR_TRY(ncmpi_inq_vartype(f->id, a->varid, &type));
    if (type == NC_CHAR || a->memory == NC_CHAR)
        return NC_ECHAR;
    if (type != NC_STRING || (a->memory != NC_STRING && a->memory != NC_NAT))
        return NC_EBADTYPE;
    return pnc_door_strings_transfer(f, a->varid, a->is_put, r->start, r->count, a->stride != NULL ? r->stride : NULL,
                                     a->imap != NULL ? r->imap : NULL, a->values);
}

/* Text and numbers do not mix: for netCDF-C that comes before wrong indices. Where other ranks wait, the call finds
 * it. */
static int check_text(const pnc_door_file *f, const pnc_door_var *v, const door_access *a)
{
    bool is_found_here = f->nprocs == 1 || !v->is_collective;

    return is_found_here && a->memory != NC_NAT && v->is_text != (a->memory == NC_CHAR) ? NC_ECHAR : NC_NOERR;
}

static int access_values(door_access *a)
{
    pnc_door_file *f;
    const pnc_door_var *v;
    MPI_Datatype type;
    door_region r;

    PNC_DOOR_TRY(pnc_door_var_place_find(a->ncid, &a->varid, &f));
    v = pnc_door_var_find(f, a->varid);
    if (v == NULL)
        return NC_ENOTVAR;
    if (a->is_put && f->is_read_only)
        return NC_EPERM;
    PNC_DOOR_TRY(pnc_door_define_end(f));
    PNC_DOOR_TRY(check_text(f, v, a));
    PNC_DOOR_TRY(fill_region(f, a, v->ndims, &r));
    if (v->has_strings || a->memory == NC_STRING)
        return access_strings(f, a, &r);
    type = find_memory_type(f, a);
    if (type == MPI_DATATYPE_NULL)
        return NC_EBADTYPE;
    PNC_DOOR_TRY(fill_records(f, v, a, &r));
    if (f->nprocs == 1 || v->is_collective)
        return access_collectively(f, a, &r, type);
    return access_on_this_rank(f, a, &r, type);
}

int pnc_door_get_vara(int ncid, int varid, const size_t *start, const size_t *count, void *values, nc_type memory)
{
    return access_values(&(door_access){ncid, varid, "nc_get_vara", start, count, NULL, NULL, values, memory, false});
}

int pnc_door_put_vara(int ncid, int varid, const size_t *start, const size_t *count, const void *values, nc_type memory)
{
    return access_values(
        &(door_access){ncid, varid, "nc_put_vara", start, count, NULL, NULL, (void *)values, memory, true});
}

int pnc_door_get_vars(int ncid, int varid, const size_t *start, const size_t *count, const ptrdiff_t *stride,
                      void *values, nc_type memory)
{
    return access_values(&(door_access){ncid, varid, "nc_get_vars", start, count, stride, NULL, values, memory, false});
}

int pnc_door_put_vars(int ncid, int varid, const size_t *start, const size_t *count, const ptrdiff_t *stride,
                      const void *values, nc_type memory)
{
    return access_values(
        &(door_access){ncid, varid, "nc_put_vars", start, count, stride, NULL, (void *)values, memory, true});
}

int pnc_door_get_varm(int ncid, int varid, const size_t *start, const size_t *count, const ptrdiff_t *stride,
                      const ptrdiff_t *imap, void *values, nc_type memory)
{
    return access_values(&(door_access){ncid, varid, "nc_get_varm", start, count, stride, imap, values, memory, false});
}

int pnc_door_put_varm(int ncid, int varid, const size_t *start, const size_t *count, const ptrdiff_t *stride,
                      const ptrdiff_t *imap, const void *values, nc_type memory)
{
    return access_values(
        &(door_access){ncid, varid, "nc_put_varm", start, count, stride, imap, (void *)values, memory, true});
}
