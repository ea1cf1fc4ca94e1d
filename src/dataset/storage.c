/* Chunks, filters, byte order and quantization of variables, where the format leaves a choice. The model checks the
 * rules; this file checks modes, and compares the arguments of ranks. */
#include "format/quantization.h"
#include "format/storage.h"

#include <assert.h>

#include "dataset/agree.h"
#include "dataset/dataset.h"
#include "dataset/modes.h"
#include "formats/format.h"

/* Limits of HDF5: the bytes of a compact variable are part of a message of at most 65535 bytes; H5Z_FILTER_MAX;
 * H5_SZIP_MAX_PIXELS_PER_BLOCK. */
enum { COMPACT_MOST = 65531, FILTER_ID_MOST = 65535, SZIP_PIXELS_MOST = 32 };

static int check_storage_choice(pnc_dataset *ds)
{
    if (!ds->format->ops->has_storage)
        return pnc_error_set(&ds->error, NC_ENOTNC4,
                             "%s is a classic file: only netCDF-4 files have chunks, filters, quantization, and a "
                             "choice of byte order",
                             ds->file.path);
    return NC_NOERR;
}

static int check_storage_change(pnc_dataset *ds, int varid)
{
    PNC_TRY(check_storage_choice(ds));
    PNC_TRY(pnc_dataset_mode_check_define_write(ds));
    PNC_TRY(pnc_format_var_check(&ds->model, varid, &ds->error));
    if (ds->format->before != NULL && varid < ds->format->before->nvars)
        return pnc_error_set(&ds->error, NC_ELATEDEF,
                             "variable \"%s\" existed before ncmpi_redef: its storage cannot change any more",
                             ds->model.vars[varid]->name);
    return NC_NOERR;
}

/* Of a variable, which need not exist. */
static int count_dims_of(const pnc_dataset *ds, int varid)
{
    return varid >= 0 && varid < ds->model.nvars ? ds->model.vars[varid]->ndims : 0;
}

/* Check, and compare the arguments after varid: an array of int, and another array. Sets *var. */
static int begin_change(pnc_dataset *ds, int varid, const int *args, int nargs, const void *list, int64_t list_bytes,
                        pnc_var **var)
{
    const pnc_argument all[] = {{NC_EMULTIDEFINE_FNC_ARGS, &varid, sizeof varid},
                                {NC_EMULTIDEFINE_FNC_ARGS, args, nargs * (int64_t)sizeof *args},
                                {NC_EMULTIDEFINE_FNC_ARGS, list, list == NULL ? 0 : list_bytes}};
    int err = check_storage_change(ds, varid);

    PNC_TRY(pnc_dataset_arguments_agree(ds, err, all, 3, PNC_STAYS_LOCAL));
    *var = ds->model.vars[varid];
    return NC_NOERR;
}

static int get_var(pnc_dataset *ds, int varid, const pnc_var **var)
{
    PNC_TRY(pnc_format_var_check(&ds->model, varid, &ds->error));
    *var = ds->model.vars[varid];
    return NC_NOERR;
}

/* --- chunks --- */

/* HDF5 keeps the values in one message of the metadata. */
static int check_compact(pnc_dataset *ds, const pnc_var *var)
{
    int64_t most = COMPACT_MOST / pnc_format_storage_get_elem_size(var);

    for (int d = 0; d < var->ndims; d++) {
        int64_t length = ds->model.dims[var->dimids[d]]->len;

        if (length > most)
            return pnc_error_set(&ds->error, NC_EVARSIZE,
                                 "variable \"%s\" cannot be compact: its values may have at most %d bytes", var->name,
                                 COMPACT_MOST);
        most /= length > 0 ? length : 1;
    }
    return NC_NOERR;
}

/* szip of HDF5 takes no block that is longer than a chunk. Lengths of chunks that the library will choose are at most
 * those of the dimensions; along unlimited ones they are long enough. */
static int check_szip_block(pnc_dataset *ds, const pnc_var *var, const int64_t *chunks, unsigned block)
{
    int64_t elements = 1;

    for (int d = 0; d < var->ndims; d++) {
        const pnc_dim *dim = ds->model.dims[var->dimids[d]];
        int64_t length = dim->unlimited ? INT64_MAX : dim->len;

        if (chunks != NULL && chunks[d] > 0)
            length = chunks[d];
        if (length <= 0 || pnc_size_multiply(elements, length, &elements) < 0)
            return NC_NOERR;
    }
    if (elements >= block)
        return NC_NOERR;
    return pnc_error_set(
        &ds->error, NC_EFILTER,
        "variable \"%s\": szip has %u pixels per block, but a chunk has %lld elements: must be at most "
        "as many",
        var->name, block, (long long)elements);
}

static int check_chunks_of_szip(pnc_dataset *ds, const pnc_var *var, const int64_t *chunks)
{
    int at = pnc_format_storage_find_filter(var, PNC_FILTER_SZIP);

    return at < 0 ? NC_NOERR : check_szip_block(ds, var, chunks, var->storage->filters[at].parameters[1]);
}

int pnc_dataset_def_var_chunking(pnc_dataset *ds, int varid, int storage, const MPI_Offset *chunksizes)
{
    int64_t bytes = storage == NC_CHUNKED ? count_dims_of(ds, varid) * (int64_t)sizeof *chunksizes : 0;
    pnc_var *var;

    PNC_TRY(begin_change(ds, varid, &storage, 1, chunksizes, bytes, &var));
    if (storage == NC_COMPACT)
        PNC_TRY(check_compact(ds, var));
    if (storage == NC_CHUNKED && chunksizes != NULL)
        PNC_TRY(check_chunks_of_szip(ds, var, (const int64_t *)chunksizes));
    PNC_TRY(pnc_format_storage_set_layout(&ds->model, var, storage, (const int64_t *)chunksizes, &ds->error));
    var->storage->chosen_layout = true;
    return NC_NOERR;
}

int pnc_dataset_inq_var_chunking(pnc_dataset *ds, int varid, int *storagep, MPI_Offset *chunksizesp)
{
    const pnc_var *var;

    PNC_TRY(get_var(ds, varid, &var));
    PNC_SET_OUTPUT(storagep, var->storage == NULL ? NC_CONTIGUOUS : var->storage->layout);
    if (chunksizesp != NULL && var->storage != NULL && var->storage->layout == NC_CHUNKED)
        pnc_formats_chunk_find(&ds->model, var, (int64_t *)chunksizesp);
    return NC_NOERR;
}

static int check_shards_exist(pnc_dataset *ds)
{
    if (ds->format->ops->has_shards)
        return NC_NOERR;
    return pnc_error_set(&ds->error, NC_ENOTSUPPORT, "%s is no Zarr store: only these have shards", ds->file.path);
}

int pnc_dataset_def_var_sharding(pnc_dataset *ds, int varid, const MPI_Offset *shardsizes)
{
    int has_shards = shardsizes != NULL;
    pnc_var *var;

    PNC_TRY(begin_change(ds, varid, &has_shards, 1, shardsizes, count_dims_of(ds, varid) * (int64_t)sizeof *shardsizes,
                         &var));
    PNC_TRY(check_shards_exist(ds));
    PNC_TRY(pnc_format_storage_set_shards(&ds->model, var, (const int64_t *)shardsizes, &ds->error));
    var->storage->chosen_shards = true;
    var->storage->chosen_layout = var->storage->chosen_layout || has_shards; /* shards of these chunks */
    return NC_NOERR;
}

int pnc_dataset_inq_var_sharding(pnc_dataset *ds, int varid, MPI_Offset *shardsizesp)
{
    const pnc_var *var;

    PNC_TRY(get_var(ds, varid, &var));
    for (int d = 0; shardsizesp != NULL && d < var->ndims; d++)
        shardsizesp[d] = var->storage == NULL || var->storage->shards == NULL ? 0 : var->storage->shards[d];
    return NC_NOERR;
}

int pnc_dataset_var_set_chunk(pnc_dataset *ds, int varid, int *chunk_dim)
{
    const int storage = NC_CHUNKED;
    int ndims = count_dims_of(ds, varid);
    int64_t lengths[PNC_STORAGE_DIMS_MOST] = {0};
    pnc_var *var;

    PNC_TRY(begin_change(ds, varid, &storage, 1, chunk_dim, ndims * (int64_t)sizeof *chunk_dim, &var));
    assert(ndims <= PNC_STORAGE_DIMS_MOST); /* as the rules of the format require */
    for (int d = 0; chunk_dim != NULL && d < ndims; d++)
        lengths[d] = chunk_dim[d];
    PNC_TRY(check_chunks_of_szip(ds, var, lengths));
    return pnc_format_storage_set_layout(&ds->model, var, storage, lengths, &ds->error);
}

int pnc_dataset_var_get_chunk(pnc_dataset *ds, int varid, int *chunk_dim)
{
    int64_t chunks[PNC_STORAGE_DIMS_MOST];
    const pnc_var *var;

    PNC_TRY(check_storage_choice(ds));
    PNC_TRY(get_var(ds, varid, &var));
    if (var->storage->layout != NC_CHUNKED)
        return pnc_error_set(&ds->error, NC_EINVAL, "variable \"%s\" is not chunked", var->name);
    pnc_formats_chunk_find(&ds->model, var, chunks);
    for (int d = 0; chunk_dim != NULL && d < var->ndims; d++)
        chunk_dim[d] = (int)chunks[d];
    return NC_NOERR;
}

/* --- filters --- */

static int set_filter(pnc_dataset *ds, pnc_var *var, int id, int nparameters, const unsigned *parameters)
{
    const pnc_filter filter = {.id = id, .nparameters = nparameters, .parameters = parameters};

    PNC_TRY(pnc_format_storage_set_filter(&ds->model, var, &filter, &ds->error));
    var->storage->chosen_filters = true;
    return NC_NOERR;
}

static int set_deflate(pnc_dataset *ds, pnc_var *var, bool shuffle, bool deflate, unsigned level)
{
    if (deflate)
        PNC_TRY(set_filter(ds, var, PNC_FILTER_DEFLATE, 1, &level));
    else
        pnc_format_storage_remove_filter(var, PNC_FILTER_DEFLATE);
    var->storage->chosen_filters = true;
    return pnc_format_storage_set_shuffle(&ds->model, var, shuffle, &ds->error);
}

static int check_deflate_level(pnc_dataset *ds, const char *name, int64_t level)
{
    if (level >= NC_MIN_DEFLATE_LEVEL && level <= NC_MAX_DEFLATE_LEVEL)
        return NC_NOERR;
    return pnc_error_set(&ds->error, NC_EINVAL, "%s is %lld: must be %d to %d", name, (long long)level,
                         NC_MIN_DEFLATE_LEVEL, NC_MAX_DEFLATE_LEVEL);
}

int pnc_dataset_def_var_deflate(pnc_dataset *ds, int varid, int shuffle, int deflate, int deflate_level)
{
    const int args[] = {shuffle, deflate, deflate_level};
    pnc_var *var;

    PNC_TRY(begin_change(ds, varid, args, 3, NULL, 0, &var));
    if (deflate)
        PNC_TRY(check_deflate_level(ds, "deflate_level", deflate_level));
    return set_deflate(ds, var, shuffle != 0, deflate != 0, (unsigned)deflate_level);
}

/* The filter of a variable that has it with at least one parameter: its first parameter; else `none`. */
static int get_parameter(const pnc_var *var, int id, int none)
{
    int at = pnc_format_storage_find_filter(var, id);

    return at < 0 || var->storage->filters[at].nparameters < 1 ? none : (int)var->storage->filters[at].parameters[0];
}

int pnc_dataset_inq_var_deflate(pnc_dataset *ds, int varid, int *shufflep, int *deflatep, int *deflate_levelp)
{
    const pnc_var *var;

    PNC_TRY(get_var(ds, varid, &var));
    PNC_SET_OUTPUT(shufflep, pnc_format_storage_find_filter(var, PNC_FILTER_SHUFFLE) >= 0);
    PNC_SET_OUTPUT(deflatep, pnc_format_storage_find_filter(var, PNC_FILTER_DEFLATE) >= 0);
    PNC_SET_OUTPUT(deflate_levelp, get_parameter(var, PNC_FILTER_DEFLATE, 0));
    return NC_NOERR;
}

int pnc_dataset_def_var_fletcher32(pnc_dataset *ds, int varid, int fletcher32)
{
    pnc_var *var;

    PNC_TRY(begin_change(ds, varid, &fletcher32, 1, NULL, 0, &var));
    if (fletcher32 != NC_NOCHECKSUM)
        return set_filter(ds, var, PNC_FILTER_FLETCHER32, 0, NULL);
    pnc_format_storage_remove_filter(var, PNC_FILTER_FLETCHER32);
    var->storage->chosen_filters = true;
    return NC_NOERR;
}

int pnc_dataset_inq_var_fletcher32(pnc_dataset *ds, int varid, int *fletcher32p)
{
    const pnc_var *var;

    PNC_TRY(get_var(ds, varid, &var));
    PNC_SET_OUTPUT(fletcher32p, pnc_format_storage_find_filter(var, PNC_FILTER_FLETCHER32) >= 0);
    return NC_NOERR;
}

static int check_zstd_level(pnc_dataset *ds, const char *name, int level)
{
    if (level >= PNC_FILTER_ZSTD_LEVEL_LEAST && level <= PNC_FILTER_ZSTD_LEVEL_MOST)
        return NC_NOERR;
    return pnc_error_set(&ds->error, NC_EINVAL, "%s is %d: must be %d to %d", name, level, PNC_FILTER_ZSTD_LEVEL_LEAST,
                         PNC_FILTER_ZSTD_LEVEL_MOST);
}

/* Parameters that would fail only at the first put, in a file that other software cannot read. */
static int check_filter_arguments(pnc_dataset *ds, unsigned int id, MPI_Offset n, const unsigned int *params)
{
    if (id < 1 || id > FILTER_ID_MOST)
        return pnc_error_set(&ds->error, NC_EFILTER, "filterid is %u: filters of HDF5 have ids from 1 to %d", id,
                             FILTER_ID_MOST);
    if (pnc_filter_is_own((int)id) && !pnc_filter_is_encoded((int)id))
        return pnc_error_set(&ds->error, NC_EFILTER, "filterid is %u: this library decodes %s, but does not encode it",
                             id, pnc_filter_name_get((int)id));
    if (id == PNC_FILTER_DEFLATE && n != 1)
        return pnc_error_set(&ds->error, NC_EFILTER, "nparams is %lld: deflate has one parameter, the level",
                             (long long)n);
    if (id == PNC_FILTER_DEFLATE)
        return check_deflate_level(ds, "params[0]", params[0]);
    if (id == PNC_FILTER_ZSTD && n > 1)
        return pnc_error_set(&ds->error, NC_EFILTER, "nparams is %lld: zstd has one parameter, the level",
                             (long long)n);
    if (id == PNC_FILTER_ZSTD && n == 1)
        return check_zstd_level(ds, "params[0]", (int)params[0]);
    if (id == PNC_FILTER_SZIP && n < 2)
        return pnc_error_set(&ds->error, NC_EFILTER,
                             "nparams is %lld: szip has two parameters, options and pixels per block", (long long)n);
    if (id == PNC_FILTER_SZIP && (params[1] < 2 || params[1] > SZIP_PIXELS_MOST || params[1] % 2 != 0))
        return pnc_error_set(&ds->error, NC_EINVAL, "params[1] is %u: pixels per block must be even, 2 to %d",
                             params[1], SZIP_PIXELS_MOST);
    return NC_NOERR;
}

/* As netCDF-C. Without the plugin, a variable would lack parameters that it makes when the variable is created. */
static int check_plugin(pnc_dataset *ds, const pnc_filter *filter)
{
    int err = pnc_filter_is_own(filter->id) ? NC_NOERR : pnc_formats_filter_check(filter, &ds->error);

    if (err != NC_EFILTER)
        return err;
    ds->error.code = NC_ENOFILTER;
    return NC_ENOFILTER;
}

int pnc_dataset_def_var_filter(pnc_dataset *ds, int varid, unsigned int filterid, MPI_Offset nparams,
                               const unsigned int *params)
{
    const int args[] = {(int)filterid, (int)nparams};
    bool is_list = nparams > 0 && params != NULL && nparams <= PNC_STORAGE_PARAMETERS;
    pnc_var *var;

    PNC_TRY(begin_change(ds, varid, args, 2, params, is_list ? nparams * (int64_t)sizeof *params : 0, &var));
    if (nparams < 0 || (nparams > 0 && !is_list))
        return pnc_error_set(&ds->error, NC_EINVAL, "nparams is %lld: must be 0 to %d, and params not NULL",
                             (long long)nparams, PNC_STORAGE_PARAMETERS);
    PNC_TRY(check_filter_arguments(ds, filterid, nparams, params));
    PNC_TRY(check_plugin(ds, &(pnc_filter){.id = (int)filterid, .nparameters = (int)nparams, .parameters = params}));
    if (filterid == PNC_FILTER_SZIP && var->type == NC_CHAR)
        return pnc_error_set(&ds->error, NC_EFILTER, "variable \"%s\" is of NC_CHAR: szip compresses numbers",
                             var->name);
    if (filterid == PNC_FILTER_SZIP)
        PNC_TRY(check_szip_block(ds, var, var->storage->chunks, params[1]));
    return set_filter(ds, var, (int)filterid, (int)nparams, params);
}

int pnc_dataset_inq_var_filter_ids(pnc_dataset *ds, int varid, MPI_Offset *nfiltersp, unsigned int *filterids)
{
    const pnc_var *var;
    int n;

    PNC_TRY(get_var(ds, varid, &var));
    n = var->storage == NULL ? 0 : var->storage->nfilters;
    PNC_SET_OUTPUT(nfiltersp, n);
    for (int i = 0; filterids != NULL && i < n; i++)
        filterids[i] = (unsigned)var->storage->filters[i].id;
    return NC_NOERR;
}

int pnc_dataset_inq_var_filter_info(pnc_dataset *ds, int varid, unsigned int filterid, MPI_Offset *nparamsp,
                                    unsigned int *params)
{
    const pnc_var *var;
    const pnc_filter *filter;
    int at;

    PNC_TRY(get_var(ds, varid, &var));
    at = pnc_format_storage_find_filter(var, (int)filterid);
    if (at < 0)
        return pnc_error_set(&ds->error, NC_ENOFILTER, "variable \"%s\" has no filter %u", var->name, filterid);
    filter = &var->storage->filters[at];
    PNC_SET_OUTPUT(nparamsp, filter->nparameters);
    for (int i = 0; params != NULL && i < filter->nparameters; i++)
        params[i] = filter->parameters[i];
    return NC_NOERR;
}

int pnc_dataset_def_var_zstandard(pnc_dataset *ds, int varid, int level)
{
    const unsigned param = (unsigned)level;
    pnc_var *var;

    PNC_TRY(begin_change(ds, varid, &level, 1, NULL, 0, &var));
    PNC_TRY(check_zstd_level(ds, "level", level));
    return set_filter(ds, var, PNC_FILTER_ZSTD, 1, &param);
}

int pnc_dataset_inq_var_zstandard(pnc_dataset *ds, int varid, int *hasfilterp, int *levelp)
{
    const pnc_var *var;

    PNC_TRY(get_var(ds, varid, &var));
    PNC_SET_OUTPUT(hasfilterp, pnc_format_storage_find_filter(var, PNC_FILTER_ZSTD) >= 0);
    if (pnc_format_storage_find_filter(var, PNC_FILTER_ZSTD) >= 0)
        PNC_SET_OUTPUT(levelp, get_parameter(var, PNC_FILTER_ZSTD, 0));
    return NC_NOERR;
}

int pnc_dataset_var_set_filter(pnc_dataset *ds, int varid, int filter)
{
    pnc_var *var;

    PNC_TRY(begin_change(ds, varid, &filter, 1, NULL, 0, &var));
    if (filter != NC_FILTER_NONE && filter != NC_FILTER_DEFLATE)
        return pnc_error_set(&ds->error, NC_ENOFILTER,
                             "filter is %d: must be NC_FILTER_NONE or NC_FILTER_DEFLATE; ncmpi_def_var_filter has "
                             "others",
                             filter);
    return set_deflate(ds, var, filter == NC_FILTER_DEFLATE, filter == NC_FILTER_DEFLATE, 1);
}

int pnc_dataset_var_get_filter(pnc_dataset *ds, int varid, int *filterp)
{
    const pnc_var *var;
    bool has_deflate;

    PNC_TRY(get_var(ds, varid, &var));
    has_deflate = pnc_format_storage_find_filter(var, PNC_FILTER_DEFLATE) >= 0;
    PNC_SET_OUTPUT(filterp, has_deflate ? NC_FILTER_DEFLATE : NC_FILTER_NONE);
    return NC_NOERR;
}

/* --- values --- */

int pnc_dataset_def_var_endian(pnc_dataset *ds, int varid, int endian)
{
    pnc_var *var;

    PNC_TRY(begin_change(ds, varid, &endian, 1, NULL, 0, &var));
    return pnc_format_storage_set_endian(var, endian, &ds->error);
}

int pnc_dataset_inq_var_endian(pnc_dataset *ds, int varid, int *endianp)
{
    const pnc_var *var;

    PNC_TRY(check_storage_choice(ds));
    PNC_TRY(get_var(ds, varid, &var));
    PNC_SET_OUTPUT(endianp, var->storage->endian);
    return NC_NOERR;
}

int pnc_dataset_def_var_quantize(pnc_dataset *ds, int varid, int quantize_mode, int nsd)
{
    const int args[] = {quantize_mode, nsd};
    pnc_var *var;

    PNC_TRY(begin_change(ds, varid, args, 2, NULL, 0, &var));
    PNC_TRY(pnc_format_quantization_set(var, quantize_mode, nsd, &ds->error));
    var->storage->chosen_quantization = true;
    return NC_NOERR;
}

int pnc_dataset_inq_var_quantize(pnc_dataset *ds, int varid, int *quantize_modep, int *nsdp)
{
    const pnc_var *var;

    PNC_TRY(check_storage_choice(ds));
    PNC_TRY(get_var(ds, varid, &var));
    PNC_SET_OUTPUT(quantize_modep, var->quantize_mode);
    PNC_SET_OUTPUT(nsdp, var->nsd);
    return NC_NOERR;
}
