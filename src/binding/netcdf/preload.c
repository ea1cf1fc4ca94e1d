/* Functions of netCDF-C that never ask the table, defined before libnetcdf's: what creates and opens, what a serial
 * libnetcdf refuses, and what looks into the structures of its own formats. For other files they call libnetcdf's. */
#include <stdlib.h>

#include "binding/netcdf/door.h"
#include "binding/netcdf/opening.h"

/* netcdf_par.h and netcdf_filter.h declare these, or no header does. */
int nc_create_par(const char *path, int mode, MPI_Comm comm, MPI_Info info, int *ncid);
int nc_open_par(const char *path, int mode, MPI_Comm comm, MPI_Info info, int *ncid);
int nc_create_par_fortran(const char *path, int mode, int comm, int info, int *ncid);
int nc_open_par_fortran(const char *path, int mode, int comm, int info, int *ncid);
int nc_var_par_access(int ncid, int varid, int access);
int nc_def_var_chunking_ints(int ncid, int varid, int storage, int *lengths);
int nc_inq_var_chunking_ints(int ncid, int varid, int *storage, int *lengths);
int nc_set_var_chunk_cache_ints(int ncid, int varid, int size, int nelems, int preemption);
int nc_get_var_chunk_cache_ints(int ncid, int varid, int *size, int *nelems, int *preemption);
int nc_def_var_zstandard(int ncid, int varid, int level);
int nc_inq_var_zstandard(int ncid, int varid, int *has, int *level);
int nc_def_var_bzip2(int ncid, int varid, int level);
int nc_inq_var_bzip2(int ncid, int varid, int *has, int *level);
int nc_def_var_blosc(int ncid, int varid, unsigned compressor, unsigned level, unsigned block, unsigned shuffle);
int nc_inq_var_blosc(int ncid, int varid, int *has, unsigned *compressor, unsigned *level, unsigned *block,
                     unsigned *shuffle);

/* --- creating and opening --- */

int nc_create_par(const char *path, int mode, MPI_Comm comm, MPI_Info info, int *ncid)
{
    PNC_DOOR_REAL_TYPE(nc_create_par) real = PNC_DOOR_REAL(nc_create_par);

    if (pnc_door_table_register() != 0)
        return pnc_door_opening_create(path, mode, comm, info, "nc_create_par", ncid);
    return real != NULL ? real(path, mode, comm, info, ncid) : NC_ENOPAR;
}

int nc_open_par(const char *path, int mode, MPI_Comm comm, MPI_Info info, int *ncid)
{
    PNC_DOOR_REAL_TYPE(nc_open_par) real = PNC_DOOR_REAL(nc_open_par);

    if (pnc_door_table_register() != 0)
        return pnc_door_opening_open(path, mode, comm, info, "nc_open_par", ncid);
    return real != NULL ? real(path, mode, comm, info, ncid) : NC_ENOPAR;
}

int nc_create_par_fortran(const char *path, int mode, int comm, int info, int *ncid)
{
    return nc_create_par(path, mode, MPI_Comm_f2c(comm), MPI_Info_f2c(info), ncid);
}

int nc_open_par_fortran(const char *path, int mode, int comm, int info, int *ncid)
{
    return nc_open_par(path, mode, MPI_Comm_f2c(comm), MPI_Info_f2c(info), ncid);
}

int nc_create(const char *path, int mode, int *ncid)
{
    PNC_DOOR_REAL_TYPE(nc_create) real = PNC_DOOR_REAL(nc_create);

    if (pnc_door_opening_is_chosen(path, mode))
        return pnc_door_opening_create(path, mode, MPI_COMM_SELF, MPI_INFO_NULL, "nc_create", ncid);
    return real != NULL ? real(path, mode, ncid) : NC_ENOTBUILT;
}

int nc_open(const char *path, int mode, int *ncid)
{
    PNC_DOOR_REAL_TYPE(nc_open) real = PNC_DOOR_REAL(nc_open);

    if (pnc_door_opening_is_chosen(path, mode))
        return pnc_door_opening_open(path, mode, MPI_COMM_SELF, MPI_INFO_NULL, "nc_open", ncid);
    return real != NULL ? real(path, mode, ncid) : NC_ENOTBUILT;
}

int nc__create(const char *path, int mode, size_t size, size_t *hint, int *ncid)
{
    PNC_DOOR_REAL_TYPE(nc__create) real = PNC_DOOR_REAL(nc__create);

    if (pnc_door_opening_is_chosen(path, mode))
        return pnc_door_opening_create(path, mode, MPI_COMM_SELF, MPI_INFO_NULL, "nc__create", ncid);
    return real != NULL ? real(path, mode, size, hint, ncid) : NC_ENOTBUILT;
}

int nc__open(const char *path, int mode, size_t *hint, int *ncid)
{
    PNC_DOOR_REAL_TYPE(nc__open) real = PNC_DOOR_REAL(nc__open);

    if (pnc_door_opening_is_chosen(path, mode))
        return pnc_door_opening_open(path, mode, MPI_COMM_SELF, MPI_INFO_NULL, "nc__open", ncid);
    return real != NULL ? real(path, mode, hint, ncid) : NC_ENOTBUILT;
}

/* --- texts --- */

const char *nc_strerror(int code)
{
    PNC_DOOR_REAL_TYPE(nc_strerror) real = PNC_DOOR_REAL(nc_strerror);

    if (code == NC_EINDEP)
        return "Values of a collective put may wait at other MPI processes: call nc_sync before independent access";
    return real != NULL && code > -200 ? real(code) : ncmpi_strerror(code);
}

/* --- access --- */

int nc_var_par_access(int ncid, int varid, int access)
{
    PNC_DOOR_REAL_TYPE(nc_var_par_access) real = PNC_DOOR_REAL(nc_var_par_access);

    if (pnc_door_file_find(ncid) != NULL)
        return pnc_door_var_par_access(ncid, varid, access);
    return real != NULL ? real(ncid, varid, access) : NC_ENOPAR;
}

/* --- chunks, for Fortran --- */

/* 0: there is no such variable. */
static int count_dims(int ncid, int varid)
{
    const pnc_door_var *v;
    pnc_door_file *f;

    if (pnc_door_var_place_find(ncid, &varid, &f) != NC_NOERR)
        return 0;
    v = pnc_door_var_find(f, varid);
    return v != NULL ? v->ndims : 0;
}

int nc_def_var_chunking_ints(int ncid, int varid, int storage, int *lengths)
{
    PNC_DOOR_REAL_TYPE(nc_def_var_chunking_ints) real = PNC_DOOR_REAL(nc_def_var_chunking_ints);
    int ndims = count_dims(ncid, varid);
    size_t sizes[NC_MAX_VAR_DIMS];

    if (pnc_door_file_find(ncid) == NULL)
        return real != NULL ? real(ncid, varid, storage, lengths) : NC_ENOTBUILT;
    for (int i = 0; lengths != NULL && i < ndims; i++)
        sizes[i] = (size_t)lengths[i];
    return pnc_door_def_var_chunking(ncid, varid, storage, lengths != NULL ? sizes : NULL);
}

int nc_inq_var_chunking_ints(int ncid, int varid, int *storage, int *lengths)
{
    PNC_DOOR_REAL_TYPE(nc_inq_var_chunking_ints) real = PNC_DOOR_REAL(nc_inq_var_chunking_ints);
    int ndims = count_dims(ncid, varid);
    size_t sizes[NC_MAX_VAR_DIMS] = {0};
    int kind = NC_CONTIGUOUS;

    if (pnc_door_file_find(ncid) == NULL)
        return real != NULL ? real(ncid, varid, storage, lengths) : NC_ENOTBUILT;
    PNC_DOOR_TRY(pnc_door_inq_var_all(ncid, varid, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &kind, sizes,
                                      NULL, NULL, NULL, NULL, NULL, NULL));
    if (storage != NULL)
        *storage = kind;
    for (int i = 0; kind == NC_CHUNKED && lengths != NULL && i < ndims; i++)
        lengths[i] = (int)sizes[i];
    return NC_NOERR;
}

/* In MiB and percent. */
int nc_set_var_chunk_cache_ints(int ncid, int varid, int size, int nelems, int preemption)
{
    PNC_DOOR_REAL_TYPE(nc_set_var_chunk_cache_ints) real = PNC_DOOR_REAL(nc_set_var_chunk_cache_ints);

    if (pnc_door_file_find(ncid) == NULL)
        return real != NULL ? real(ncid, varid, size, nelems, preemption) : NC_ENOTBUILT;
    return pnc_door_set_var_chunk_cache(ncid, varid, (size_t)(size < 0 ? 0 : size) << 20,
                                        (size_t)(nelems < 0 ? 0 : nelems),
                                        preemption < 0 ? 0.75F : (float)preemption / 100);
}

int nc_get_var_chunk_cache_ints(int ncid, int varid, int *size, int *nelems, int *preemption)
{
    PNC_DOOR_REAL_TYPE(nc_get_var_chunk_cache_ints) real = PNC_DOOR_REAL(nc_get_var_chunk_cache_ints);
    size_t bytes, slots;
    float p;

    if (pnc_door_file_find(ncid) == NULL)
        return real != NULL ? real(ncid, varid, size, nelems, preemption) : NC_ENOTBUILT;
    PNC_DOOR_TRY(pnc_door_get_var_chunk_cache(ncid, varid, &bytes, &slots, &p));
    if (size != NULL)
        *size = (int)(bytes >> 20);
    if (nelems != NULL)
        *nelems = (int)slots;
    if (preemption != NULL)
        *preemption = (int)(p * 100);
    return NC_NOERR;
}

/* --- filters, which a libnetcdf without their library accepts and forgets --- */

enum { BZIP2 = 307, BLOSC = 32001, ZSTANDARD = 32015, BLOSC_PARAMETERS = 7 };

int nc_def_var_zstandard(int ncid, int varid, int level)
{
    PNC_DOOR_REAL_TYPE(nc_def_var_zstandard) real = PNC_DOOR_REAL(nc_def_var_zstandard);

    if (pnc_door_file_find(ncid) != NULL)
        return pnc_door_def_var_filter(ncid, varid, ZSTANDARD, 1, &(unsigned){(unsigned)level});
    return real != NULL ? real(ncid, varid, level) : NC_ENOTBUILT;
}

int nc_def_var_bzip2(int ncid, int varid, int level)
{
    PNC_DOOR_REAL_TYPE(nc_def_var_bzip2) real = PNC_DOOR_REAL(nc_def_var_bzip2);

    if (pnc_door_file_find(ncid) == NULL)
        return real != NULL ? real(ncid, varid, level) : NC_ENOTBUILT;
    return level < 1 || level > 9 ? NC_EINVAL
                                  : pnc_door_def_var_filter(ncid, varid, BZIP2, 1, &(unsigned){(unsigned)level});
}

/* The level of a filter with one parameter. */
static int inquire_level(int ncid, int varid, unsigned id, int *has, int *level)
{
    unsigned parameters[32];
    size_t n = 0;
    int err = pnc_door_inq_var_filter_info(ncid, varid, id, &n, NULL);

    if (err != NC_NOERR && err != NC_ENOFILTER)
        return err;
    if (has != NULL)
        *has = err == NC_NOERR;
    if (err != NC_NOERR || level == NULL || n != 1)
        return NC_NOERR;
    PNC_DOOR_TRY(pnc_door_inq_var_filter_info(ncid, varid, id, &n, parameters));
    *level = (int)parameters[0];
    return NC_NOERR;
}

int nc_inq_var_zstandard(int ncid, int varid, int *has, int *level)
{
    PNC_DOOR_REAL_TYPE(nc_inq_var_zstandard) real = PNC_DOOR_REAL(nc_inq_var_zstandard);

    if (pnc_door_file_find(ncid) != NULL)
        return inquire_level(ncid, varid, ZSTANDARD, has, level);
    return real != NULL ? real(ncid, varid, has, level) : NC_ENOTBUILT;
}

int nc_inq_var_bzip2(int ncid, int varid, int *has, int *level)
{
    PNC_DOOR_REAL_TYPE(nc_inq_var_bzip2) real = PNC_DOOR_REAL(nc_inq_var_bzip2);

    if (pnc_door_file_find(ncid) != NULL)
        return inquire_level(ncid, varid, BZIP2, has, level);
    return real != NULL ? real(ncid, varid, has, level) : NC_ENOTBUILT;
}

int nc_def_var_blosc(int ncid, int varid, unsigned compressor, unsigned level, unsigned block, unsigned shuffle)
{
    PNC_DOOR_REAL_TYPE(nc_def_var_blosc) real = PNC_DOOR_REAL(nc_def_var_blosc);
    const unsigned parameters[BLOSC_PARAMETERS] = {0, 0, 0, block, level, shuffle, compressor};

    if (pnc_door_file_find(ncid) != NULL)
        return pnc_door_def_var_filter(ncid, varid, BLOSC, BLOSC_PARAMETERS, parameters);
    return real != NULL ? real(ncid, varid, compressor, level, block, shuffle) : NC_ENOTBUILT;
}

static void set_unsigned(unsigned *out, unsigned value)
{
    if (out != NULL)
        *out = value;
}

int nc_inq_var_blosc(int ncid, int varid, int *has, unsigned *compressor, unsigned *level, unsigned *block,
                     unsigned *shuffle)
{
    PNC_DOOR_REAL_TYPE(nc_inq_var_blosc) real = PNC_DOOR_REAL(nc_inq_var_blosc);
    unsigned p[32] = {0};
    size_t n = 0;
    int err;

    if (pnc_door_file_find(ncid) == NULL)
        return real != NULL ? real(ncid, varid, has, compressor, level, block, shuffle) : NC_ENOTBUILT;
    err = pnc_door_inq_var_filter_info(ncid, varid, BLOSC, &n, NULL);
    if (err == NC_NOERR && n == BLOSC_PARAMETERS)
        err = pnc_door_inq_var_filter_info(ncid, varid, BLOSC, &n, p);
    if (err != NC_NOERR && err != NC_ENOFILTER)
        return err;
    if (has != NULL)
        *has = err == NC_NOERR;
    if (err != NC_NOERR)
        return NC_NOERR;
    set_unsigned(block, p[3]);
    set_unsigned(level, p[4]);
    set_unsigned(shuffle, p[5]);
    set_unsigned(compressor, p[6]);
    return NC_NOERR;
}
