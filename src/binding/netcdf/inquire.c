/* Inquiries about variables. */
#include <string.h>

#include "binding/netcdf/door.h"

static int inquire_door_storage(const pnc_door_file *f, int varid, const pnc_door_var *v, int *storage, size_t *chunk)
{
    MPI_Offset lengths[NC_MAX_VAR_DIMS];
    int kind = NC_CONTIGUOUS;

    PNC_DOOR_TRY(PNC_DOOR_CALL(f, "nc_inq_var_chunking", ncmpi_inq_var_chunking, varid, &kind, lengths));
    if (storage != NULL)
        *storage = kind;
    for (int i = 0; chunk != NULL && kind == NC_CHUNKED && i < v->ndims; i++)
        chunk[i] = (size_t)lengths[i];
    return NC_NOERR;
}

/* netCDF-C has shuffle, deflate and fletcher32 off in a classic file, which has one byte order. */
static int inquire_classic(int *shuffle, int *deflate, int *fletcher32, int *endian)
{
    if (shuffle != NULL)
        *shuffle = 0;
    if (deflate != NULL)
        *deflate = 0;
    if (fletcher32 != NULL)
        *fletcher32 = 0;
    return endian != NULL ? NC_ENOTNC4 : NC_NOERR;
}

static int inquire_filters(const pnc_door_file *f, int varid, int *shuffle, int *deflate, int *level, int *fletcher32,
                           int *endian)
{
    if (!f->is_netcdf4)
        return inquire_classic(shuffle, deflate, fletcher32, endian);
    if (shuffle != NULL || deflate != NULL || level != NULL)
        PNC_DOOR_TRY(PNC_DOOR_CALL(f, "nc_inq_var_deflate", ncmpi_inq_var_deflate, varid, shuffle, deflate, level));
    if (fletcher32 != NULL)
        PNC_DOOR_TRY(PNC_DOOR_CALL(f, "nc_inq_var_fletcher32", ncmpi_inq_var_fletcher32, varid, fletcher32));
    if (endian != NULL)
        PNC_DOOR_TRY(PNC_DOOR_CALL(f, "nc_inq_var_endian", ncmpi_inq_var_endian, varid, endian));
    if (endian != NULL && f->vars[varid].is_native)
        *endian = NC_ENDIAN_NATIVE;
    return NC_NOERR;
}

/* The last three: of one filter, as netCDF-C had it before version 4.7.4. */
int pnc_door_inq_var_all(int ncid, int varid, char *name, nc_type *type, int *ndims, int *dimids, int *natts,
                         int *shuffle, int *deflate, int *level, int *fletcher32, int *storage, size_t *chunk,
                         int *no_fill, void *fill_value, int *endian, unsigned *id, size_t *nparameters,
                         unsigned *parameters)
{
    pnc_door_file *f;

    (void)parameters;
    PNC_DOOR_TRY(pnc_door_var_place_find(ncid, &varid, &f));
    PNC_DOOR_TRY(PNC_DOOR_CALL(f, "nc_inq_var", ncmpi_inq_var, varid, name, type, ndims, dimids, natts));
    if (varid == NC_GLOBAL)
        return natts != NULL ? pnc_door_inq(ncid, NULL, NULL, natts, NULL) : NC_NOERR;
    if (name != NULL)
        pnc_door_name_truncate(f, f->vars[varid].group, name);
    PNC_DOOR_TRY(inquire_filters(f, varid, shuffle, deflate, level, fletcher32, endian));
    if (storage != NULL || chunk != NULL)
        PNC_DOOR_TRY(inquire_door_storage(f, varid, pnc_door_var_find(f, varid), storage, chunk));
    if (fill_value != NULL && f->vars[varid].has_strings) {
        PNC_DOOR_TRY(pnc_door_strings_fill(f, varid, fill_value));
        fill_value = NULL;
    }
    if (no_fill != NULL || fill_value != NULL)
        PNC_DOOR_TRY(PNC_DOOR_CALL(f, "nc_inq_var_fill", ncmpi_inq_var_fill, varid, no_fill, fill_value));
    if (id != NULL)
        *id = 0;
    if (nparameters != NULL)
        *nparameters = 0;
    return NC_NOERR;
}

int pnc_door_inq_var_filter_ids(int ncid, int varid, size_t *n, unsigned *ids)
{
    pnc_door_file *f;
    MPI_Offset count = 0;

    PNC_DOOR_TRY(pnc_door_var_place_find(ncid, &varid, &f));
    if (f->is_netcdf4)
        PNC_DOOR_TRY(PNC_DOOR_CALL(f, "nc_inq_var_filter_ids", ncmpi_inq_var_filter_ids, varid, &count, ids));
    if (n != NULL)
        *n = (size_t)count;
    return NC_NOERR;
}

/* netCDF-C asks for filters that a variable may lack: no message then. */
static bool has_filter(const pnc_door_file *f, int varid, unsigned id)
{
    unsigned ids[NC_MAX_VAR_DIMS];
    MPI_Offset n = 0, i = 0;

    if (ncmpi_inq_var_filter_ids(f->id, varid, &n, NULL) != NC_NOERR || n > NC_MAX_VAR_DIMS ||
        ncmpi_inq_var_filter_ids(f->id, varid, &n, ids) != NC_NOERR)
        return true; /* the inquiry says what is wrong */
    while (i < n && ids[i] != id)
        i++;
    return i < n;
}

int pnc_door_inq_var_filter_info(int ncid, int varid, unsigned id, size_t *n, unsigned *parameters)
{
    pnc_door_file *f;
    MPI_Offset count = 0;

    PNC_DOOR_TRY(pnc_door_var_place_find(ncid, &varid, &f));
    if (!f->is_netcdf4)
        return NC_ENOFILTER;
    if (!has_filter(f, varid, id))
        return NC_ENOFILTER;
    PNC_DOOR_TRY(PNC_DOOR_CALL(f, "nc_inq_var_filter_info", ncmpi_inq_var_filter_info, varid, id, &count, parameters));
    if (n != NULL)
        *n = (size_t)count;
    return NC_NOERR;
}

int pnc_door_inq_var_quantize(int ncid, int varid, int *mode, int *digits)
{
    pnc_door_file *f;

    PNC_DOOR_TRY(pnc_door_var_place_find(ncid, &varid, &f));
    return PNC_DOOR_CALL(f, "nc_inq_var_quantize", ncmpi_inq_var_quantize, varid, mode, digits);
}

/* Also plugins of HDF5, with which the library reads and writes chunks. */
int pnc_door_inq_filter_avail(int ncid, unsigned id)
{
    const pnc_door_file *f = pnc_door_file_find(ncid);

    if (f == NULL)
        return NC_EBADID;
    if (!f->is_netcdf4)
        return NC_ENOFILTER;
    return pncnc_filter_exists(id) ? NC_NOERR : NC_ENOFILTER;
}

int pnc_door_get_var_chunk_cache(int ncid, int varid, size_t *bytes, size_t *slots, float *preemption)
{
    PNC_DOOR_REAL_TYPE(nc_get_chunk_cache) get_default = PNC_DOOR_REAL(nc_get_chunk_cache);
    pnc_door_var v = {0}, *own;
    pnc_door_file *f;

    PNC_DOOR_TRY(pnc_door_var_place_find(ncid, &varid, &f));
    if (!f->is_netcdf4)
        return NC_ENOTNC4;
    own = pnc_door_var_find(f, varid);
    if (own == NULL)
        return NC_ENOTVAR;
    v = *own;
    if (!v.has_cache && get_default != NULL)
        PNC_DOOR_TRY(get_default(&v.cache_bytes, &v.cache_slots, &v.cache_preemption));
    if (bytes != NULL)
        *bytes = v.cache_bytes;
    if (slots != NULL)
        *slots = v.cache_slots;
    if (preemption != NULL)
        *preemption = v.cache_preemption;
    return NC_NOERR;
}
