/* Definitions and inquiry with optional arguments and arrays; wait and cancel with lists of requests. */
#include "binding/f90/f90.h"

#include <stdlib.h>
#include <string.h>

static MPI_Offset value_or_0(const MPI_Offset *optional)
{
    return optional != NULL ? *optional : 0;
}

int pncf90_enddef(const int *ncid, const MPI_Offset *h_minfree, const MPI_Offset *v_align, const MPI_Offset *v_minfree,
                  const MPI_Offset *r_align)
{
    pnc_caller caller;
    int err;

    if (h_minfree == NULL && v_align == NULL && v_minfree == NULL && r_align == NULL) {
        PNC_F90_BEGIN(&caller, enddef, enddef, *ncid);
        err = ncmpi_enddef(*ncid);
    } else {
        PNC_F90_BEGIN(&caller, enddef, _enddef, *ncid);
        err = ncmpi__enddef(*ncid, value_or_0(h_minfree), value_or_0(v_align), value_or_0(v_minfree),
                            value_or_0(r_align));
    }
    return pnc_dataset_caller_end(&caller, err);
}

int pncf90_def_dim(const int *ncid, const CFI_cdesc_t *name, const MPI_Offset *len, int *dimid)
{
    char c_name[PNC_BINDING_TEXT_MAX];
    pnc_caller caller;
    int err;

    PNC_F90_BEGIN(&caller, def_dim, def_dim, *ncid);
    err = ncmpi_def_dim(*ncid, pnc_f90_text_convert(name, c_name), *len, dimid);
    if (err == NC_NOERR)
        *dimid = pnc_binding_id_return(*dimid);
    return pnc_dataset_caller_end(&caller, err);
}

int pncf90_def_dim_int(const int *ncid, const CFI_cdesc_t *name, const int *len, int *dimid)
{
    return pncf90_def_dim(ncid, name, &(MPI_Offset){*len}, dimid);
}

/* --- codes --- */

int pncf90_strerror_length(const int *err)
{
    return (int)strlen(pnc_dataset_caller_explain(PNC_LANGUAGE_F90, *err));
}

void pncf90_strerror(const int *err, const CFI_cdesc_t *text)
{
    pnc_caller caller;

    PNC_F90_BEGIN(&caller, strerror, strerror, -1);
    pnc_f90_text_return(ncmpi_strerror(*err), text, NULL);
    pnc_dataset_caller_end(&caller, NC_NOERR);
}

/* --- variables --- */

static int def_var(int ncid, const CFI_cdesc_t *name, int xtype, const int *dimids, int ndims, int *varid)
{
    char c_name[PNC_BINDING_TEXT_MAX];
    pnc_caller caller;
    int *c_dimids, err;

    PNC_F90_BEGIN(&caller, def_var, def_var, ncid);
    c_dimids = pnc_binding_dimids_create(dimids, ndims, &caller.error);
    err = ncmpi_def_var(ncid, pnc_f90_text_convert(name, c_name), xtype, ndims, c_dimids, varid);
    if (err == NC_NOERR)
        *varid = pnc_binding_id_return(*varid);
    free(c_dimids);
    return pnc_dataset_caller_end(&caller, err);
}

/* Where C writes the ids of a variable's dimensions: NULL if they are not requested, or do not fit. */
static int *take_dimids(pnc_caller *caller, const CFI_cdesc_t *dimids, const pnc_var_facts *facts)
{
    if (dimids == NULL)
        return NULL;
    if (dimids->dim[0].extent >= facts->ndims)
        return dimids->base_addr;
    pnc_error_set(&caller->error, NC_EINVAL, "dimids has %lld elements, but variable \"%s\" has %d dimensions",
                  (long long)dimids->dim[0].extent, facts->name, facts->ndims);
    return NULL;
}

/* --- the storage of a variable --- */

/* Lengths of chunks in the order of C, which the caller frees; NULL: `chunksizes` is absent, or an error. */
static MPI_Offset *create_chunk_lengths(pnc_caller *caller, const CFI_cdesc_t *chunksizes, const pnc_var_facts *facts)
{
    MPI_Offset *lengths;

    if (chunksizes == NULL)
        return NULL;
    if (chunksizes->dim[0].extent < facts->ndims) {
        pnc_error_set(&caller->error, NC_EINVAL, "chunksizes has %lld elements, but variable \"%s\" has %d dimensions",
                      (long long)chunksizes->dim[0].extent, facts->name, facts->ndims);
        return NULL;
    }
    lengths = malloc((size_t)(facts->ndims + 1) * sizeof *lengths);
    if (lengths == NULL)
        pnc_error_set(&caller->error, NC_ENOMEM, "no memory for %d chunk lengths", facts->ndims);
    return lengths;
}

static int set_chunks(int ncid, int varid, const int *contiguous, const CFI_cdesc_t *chunksizes)
{
    int storage = contiguous != NULL && *contiguous ? NC_CONTIGUOUS : NC_CHUNKED, err;
    pnc_var_facts facts = {0};
    MPI_Offset *lengths;
    pnc_caller caller;

    if (contiguous == NULL && chunksizes == NULL)
        return NC_NOERR;
    PNC_F90_BEGIN(&caller, def_var, def_var_chunking, ncid);
    pnc_dataset_caller_inquire_var(ncid, varid, &facts);
    lengths = create_chunk_lengths(&caller, chunksizes, &facts);
    for (int d = 0; lengths != NULL && d < facts.ndims; d++)
        lengths[d] = ((const int *)chunksizes->base_addr)[facts.ndims - 1 - d];
    err = ncmpi_def_var_chunking(ncid, varid, storage, lengths);
    free(lengths);
    return pnc_dataset_caller_end(&caller, err);
}

static int set_compression(int ncid, int varid, const int *level, const int *shuffle)
{
    pnc_caller caller;

    if (level == NULL && shuffle == NULL)
        return NC_NOERR;
    PNC_F90_BEGIN(&caller, def_var, def_var_deflate, ncid);
    return pnc_dataset_caller_end(&caller,
                                  ncmpi_def_var_deflate(ncid, varid, shuffle != NULL && *shuffle,
                                                        level != NULL && *level != 0, level != NULL ? *level : 0));
}

/* Optional arguments of nf90mpi_def_var. A logical one is false if it is 0. */
typedef struct storage_arguments {
    const int *contiguous;
    const CFI_cdesc_t *chunksizes;
    const int *deflate_level, *shuffle, *fletcher32, *endianness, *quantize_mode, *nsd;
} storage_arguments;

/* One call of ncmpi for each argument that is present. */
static int set_storage(int ncid, int varid, const storage_arguments *args)
{
    int id = pnc_binding_id_convert(varid), err = set_chunks(ncid, id, args->contiguous, args->chunksizes);
    pnc_caller caller;

    if (err == NC_NOERR)
        err = set_compression(ncid, id, args->deflate_level, args->shuffle);
    if (err == NC_NOERR && args->fletcher32 != NULL) {
        PNC_F90_BEGIN(&caller, def_var, def_var_fletcher32, ncid);
        err = pnc_dataset_caller_end(&caller, ncmpi_def_var_fletcher32(ncid, id, *args->fletcher32 != 0));
    }
    if (err == NC_NOERR && args->endianness != NULL) {
        PNC_F90_BEGIN(&caller, def_var, def_var_endian, ncid);
        err = pnc_dataset_caller_end(&caller, ncmpi_def_var_endian(ncid, id, *args->endianness));
    }
    if (err == NC_NOERR && args->quantize_mode != NULL) {
        PNC_F90_BEGIN(&caller, def_var, def_var_quantize, ncid);
        err = pnc_dataset_caller_end(
            &caller, ncmpi_def_var_quantize(ncid, id, *args->quantize_mode, args->nsd != NULL ? *args->nsd : 0));
    }
    return err;
}

int pncf90_def_var_scalar(const int *ncid, const CFI_cdesc_t *name, const int *xtype, int *varid)
{
    return def_var(*ncid, name, *xtype, NULL, 0, varid);
}

int pncf90_def_var_one_stored(const int *ncid, const CFI_cdesc_t *name, const int *xtype, const int *dimid, int *varid,
                              const int *contiguous, const CFI_cdesc_t *chunksizes, const int *deflate_level,
                              const int *shuffle, const int *fletcher32, const int *endianness,
                              const int *quantize_mode, const int *nsd)
{
    const storage_arguments args = {contiguous, chunksizes, deflate_level, shuffle,
                                    fletcher32, endianness, quantize_mode, nsd};
    int err = def_var(*ncid, name, *xtype, dimid, 1, varid);

    return err != NC_NOERR ? err : set_storage(*ncid, *varid, &args);
}

int pncf90_def_var_many_stored(const int *ncid, const CFI_cdesc_t *name, const int *xtype, const CFI_cdesc_t *dimids,
                               int *varid, const int *contiguous, const CFI_cdesc_t *chunksizes,
                               const int *deflate_level, const int *shuffle, const int *fletcher32,
                               const int *endianness, const int *quantize_mode, const int *nsd)
{
    const storage_arguments args = {contiguous, chunksizes, deflate_level, shuffle,
                                    fletcher32, endianness, quantize_mode, nsd};
    int err = def_var(*ncid, name, *xtype, dimids->base_addr, (int)dimids->dim[0].extent, varid);

    return err != NC_NOERR ? err : set_storage(*ncid, *varid, &args);
}

/* A classic file has neither: NC_ENOTNC4. */
static int inquire_values(int ncid, int varid, int *endianness, int *quantize_mode, int *nsd)
{
    int err = endianness == NULL ? NC_NOERR : ncmpi_inq_var_endian(ncid, varid, endianness);

    if (err == NC_NOERR && (quantize_mode != NULL || nsd != NULL))
        err = ncmpi_inq_var_quantize(ncid, varid, quantize_mode, nsd);
    return err;
}

/* Of a variable that exists. */
static int inquire_storage(pnc_caller *caller, int varid, const pnc_var_facts *facts, int *contiguous,
                           const CFI_cdesc_t *chunksizes)
{
    MPI_Offset *lengths = create_chunk_lengths(caller, chunksizes, facts);
    int storage = NC_CONTIGUOUS, err = ncmpi_inq_var_chunking(caller->ncid, varid, &storage, lengths);

    for (int d = 0; err == NC_NOERR && lengths != NULL && d < facts->ndims; d++)
        ((int *)chunksizes->base_addr)[d] = storage == NC_CHUNKED ? (int)lengths[facts->ndims - 1 - d] : 0;
    free(lengths);
    if (contiguous != NULL)
        *contiguous = storage == NC_CONTIGUOUS;
    return err;
}

int pncf90_inquire_variable_stored(const int *ncid, const int *varid, const CFI_cdesc_t *name, int *xtype, int *ndims,
                                   const CFI_cdesc_t *dimids, int *natts, int *contiguous,
                                   const CFI_cdesc_t *chunksizes, int *deflate_level, int *shuffle, int *fletcher32,
                                   int *endianness, int *quantize_mode, int *nsd)
{
    int c_varid = pnc_binding_id_convert(*varid), *c_dimids, err;
    char c_name[NC_MAX_NAME + 1];
    pnc_var_facts facts = {0}; /* without such a variable, ncmpi_inq_var returns the error */
    pnc_caller caller;

    PNC_F90_BEGIN(&caller, inquire_variable, inq_var, *ncid);
    pnc_dataset_caller_inquire_var(*ncid, c_varid, &facts);
    c_dimids = take_dimids(&caller, dimids, &facts);
    err = ncmpi_inq_var(*ncid, c_varid, name != NULL ? c_name : NULL, xtype, ndims, c_dimids, natts);
    if (err == NC_NOERR && c_dimids != NULL)
        pnc_binding_dimids_return(c_dimids, facts.ndims);
    if (err == NC_NOERR && name != NULL)
        pnc_f90_text_return(c_name, name, &caller.error);
    if (err == NC_NOERR && (contiguous != NULL || chunksizes != NULL))
        err = inquire_storage(&caller, c_varid, &facts, contiguous, chunksizes);
    if (err == NC_NOERR && (deflate_level != NULL || shuffle != NULL))
        err = ncmpi_inq_var_deflate(*ncid, c_varid, shuffle, NULL, deflate_level);
    if (err == NC_NOERR && fletcher32 != NULL)
        err = ncmpi_inq_var_fletcher32(*ncid, c_varid, fletcher32);
    if (err == NC_NOERR)
        err = inquire_values(*ncid, c_varid, endianness, quantize_mode, nsd);
    return pnc_dataset_caller_end(&caller, err);
}

/* Programs that were compiled with a module without the arguments of storage call these. */

int pncf90_def_var_one(const int *ncid, const CFI_cdesc_t *name, const int *xtype, const int *dimid, int *varid)
{
    return def_var(*ncid, name, *xtype, dimid, 1, varid);
}

int pncf90_def_var_many(const int *ncid, const CFI_cdesc_t *name, const int *xtype, const CFI_cdesc_t *dimids,
                        int *varid)
{
    return def_var(*ncid, name, *xtype, dimids->base_addr, (int)dimids->dim[0].extent, varid);
}

int pncf90_inquire_variable(const int *ncid, const int *varid, const CFI_cdesc_t *name, int *xtype, int *ndims,
                            const CFI_cdesc_t *dimids, int *natts)
{
    return pncf90_inquire_variable_stored(ncid, varid, name, xtype, ndims, dimids, natts, NULL, NULL, NULL, NULL, NULL,
                                          NULL, NULL, NULL);
}

/* --- other contents of the header --- */

int pncf90_inquire(const int *ncid, int *ndimensions, int *nvariables, int *nattributes, int *unlimiteddimid,
                   int *formatnum)
{
    pnc_file_facts facts = {0};
    pnc_caller caller;
    int err;

    PNC_F90_BEGIN(&caller, inquire, inq, *ncid);
    err = ncmpi_inq(*ncid, ndimensions, nvariables, nattributes, unlimiteddimid);
    if (err == NC_NOERR && unlimiteddimid != NULL)
        *unlimiteddimid = pnc_binding_id_return(*unlimiteddimid);
    if (err == NC_NOERR && formatnum != NULL) {
        pnc_dataset_caller_inquire_file(*ncid, &facts);
        *formatnum = facts.format;
    }
    return pnc_dataset_caller_end(&caller, err);
}

int pncf90_inquire_dimension(const int *ncid, const int *dimid, const CFI_cdesc_t *name, MPI_Offset *len)
{
    char c_name[NC_MAX_NAME + 1];
    pnc_caller caller;
    int err;

    PNC_F90_BEGIN(&caller, inquire_dimension, inq_dim, *ncid);
    err = ncmpi_inq_dim(*ncid, pnc_binding_id_convert(*dimid), c_name, len);
    if (err == NC_NOERR && name != NULL)
        pnc_f90_text_return(c_name, name, &caller.error);
    return pnc_dataset_caller_end(&caller, err);
}

int pncf90_inquire_attribute(const int *ncid, const int *varid, const CFI_cdesc_t *name, int *xtype, MPI_Offset *len,
                             int *attnum)
{
    int c_varid = pnc_binding_id_convert(*varid), err;
    char c_name[PNC_BINDING_TEXT_MAX];
    pnc_att_facts facts = {0};
    pnc_caller caller;

    PNC_F90_BEGIN(&caller, inquire_attribute, inq_att, *ncid);
    err = ncmpi_inq_att(*ncid, c_varid, pnc_f90_text_convert(name, c_name), xtype, len);
    if (err == NC_NOERR && attnum != NULL) {
        pnc_dataset_caller_inquire_att(*ncid, c_varid, c_name, &facts);
        *attnum = pnc_binding_id_return(facts.number);
    }
    return pnc_dataset_caller_end(&caller, err);
}

int pncf90_inq_path(const int *ncid, int *pathlen, const CFI_cdesc_t *path)
{
    pnc_caller caller;

    PNC_F90_BEGIN(&caller, inq_path, inq_path, *ncid);
    return pnc_dataset_caller_end(&caller, pnc_binding_path_inquire(&caller, pathlen, path->base_addr, path->elem_len));
}

int pncf90_inq_files_opened(int *nfiles, const CFI_cdesc_t *ncids)
{
    int list[NC_MAX_NFILES], err;
    pnc_caller caller;

    PNC_F90_BEGIN(&caller, inq_files_opened, inq_files_opened, -1);
    err = ncmpi_inq_files_opened(nfiles, list);
    if (err == NC_NOERR && ncids->dim[0].extent < *nfiles)
        pnc_error_set(&caller.error, NC_EINVAL, "ncids has %lld elements, but %d files are open",
                      (long long)ncids->dim[0].extent, *nfiles);
    else if (err == NC_NOERR)
        memcpy(ncids->base_addr, list, (size_t)*nfiles * sizeof *list);
    return pnc_dataset_caller_end(&caller, err);
}

/* --- requests --- */

/* The arrays of a call of wait or cancel. */
typedef struct requests {
    int num, *ids, *statuses;
} requests;

/* A call with arrays that are too short still takes part in a collective wait, without requests. A negative num, such
 * as NF90_REQ_ALL, does not use the arrays. */
static requests take_request_arrays(pnc_caller *caller, int num, const CFI_cdesc_t *req, const CFI_cdesc_t *st)
{
    if (num < 0)
        return (requests){num, NULL, NULL};
    if (num <= req->dim[0].extent && num <= st->dim[0].extent)
        return (requests){num, req->base_addr, st->base_addr};
    pnc_error_set(&caller->error, NC_EINVAL, "num is %d, but req has %lld elements and st has %lld", num,
                  (long long)req->dim[0].extent, (long long)st->dim[0].extent);
    return (requests){0, NULL, NULL};
}

int pncf90_wait(const int *ncid, const int *num, const CFI_cdesc_t *req, const CFI_cdesc_t *st)
{
    pnc_caller caller;
    requests r;
    int err;

    PNC_F90_BEGIN(&caller, wait, wait, *ncid);
    r = take_request_arrays(&caller, *num, req, st);
    err = ncmpi_wait(*ncid, r.num, r.ids, r.statuses);
    return pnc_dataset_caller_end(&caller, err);
}

int pncf90_wait_all(const int *ncid, const int *num, const CFI_cdesc_t *req, const CFI_cdesc_t *st)
{
    pnc_caller caller;
    requests r;
    int err;

    PNC_F90_BEGIN(&caller, wait_all, wait_all, *ncid);
    r = take_request_arrays(&caller, *num, req, st);
    err = ncmpi_wait_all(*ncid, r.num, r.ids, r.statuses);
    return pnc_dataset_caller_end(&caller, err);
}

int pncf90_cancel(const int *ncid, const int *num, const CFI_cdesc_t *req, const CFI_cdesc_t *st)
{
    pnc_caller caller;
    requests r;
    int err;

    PNC_F90_BEGIN(&caller, cancel, cancel, *ncid);
    r = take_request_arrays(&caller, *num, req, st);
    err = ncmpi_cancel(*ncid, r.num, r.ids, r.statuses);
    return pnc_dataset_caller_end(&caller, err);
}
