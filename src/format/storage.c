/* Rules of netCDF-4 for the storage of a variable. */
#include "format/storage.h"

#include <string.h>

static bool has_unlimited(const pnc_model *model, const pnc_var *var)
{
    for (int d = 0; d < var->ndims; d++)
        if (model->dims[var->dimids[d]]->unlimited)
            return true;
    return false;
}

int64_t pnc_format_storage_get_elem_size(const pnc_var *var)
{
    return var->type == NC_STRING ? 16 : (int64_t)pnc_type_get_size(var->type);
}

int pnc_format_storage_add(pnc_model *model, pnc_var *var, pnc_error *error)
{
    pnc_storage *storage = pnc_region_alloc(&model->region, (int64_t)sizeof *storage);

    if (storage == NULL)
        return pnc_error_set(error, NC_ENOMEM, "no memory for the storage of variable \"%s\"", var->name);
    memset(storage, 0, sizeof *storage);
    storage->layout = has_unlimited(model, var) ? NC_CHUNKED : NC_CONTIGUOUS;
    var->storage = storage;
    return NC_NOERR;
}

/* NULL without memory, and for no bytes. */
static const void *copy_array(pnc_model *model, const void *from, size_t bytes)
{
    void *copy = bytes > 0 ? pnc_region_alloc(&model->region, (int64_t)bytes) : NULL;

    return copy == NULL ? NULL : memcpy(copy, from, bytes);
}

/* Replace the parameters, which are the caller's, by a copy. */
static int own_parameters(pnc_model *model, pnc_filter *filter)
{
    if (filter->nparameters == 0)
        return NC_NOERR;
    filter->parameters =
        copy_array(model, filter->parameters, (size_t)filter->nparameters * sizeof *filter->parameters);
    return filter->parameters == NULL ? NC_ENOMEM : NC_NOERR;
}

/* Of a variable that has dimensions, if it has such lengths. */
static int own_lengths(pnc_model *model, const pnc_var *var, const int64_t **lengths)
{
    if (*lengths == NULL || var->ndims == 0)
        return NC_NOERR;
    *lengths = copy_array(model, *lengths, (size_t)var->ndims * sizeof **lengths);
    return *lengths == NULL ? NC_ENOMEM : NC_NOERR;
}

int pnc_format_storage_copy(pnc_model *model, pnc_var *var, const pnc_var *from)
{
    pnc_storage *copy;

    if (from->storage == NULL)
        return NC_NOERR;
    copy = pnc_region_alloc(&model->region, (int64_t)sizeof *copy);
    if (copy == NULL)
        return NC_ENOMEM;
    *copy = *from->storage;
    PNC_TRY(own_lengths(model, from, &copy->chunks));
    PNC_TRY(own_lengths(model, from, &copy->shards));
    for (int i = 0; i < copy->nfilters; i++) {
        pnc_filter *filter = &copy->filters[i];

        PNC_TRY(own_parameters(model, filter));
    }
    var->storage = copy;
    return NC_NOERR;
}

/* --- layout --- */

static int check_layout(const pnc_model *model, const pnc_var *var, int layout, pnc_error *error)
{
    if (layout != NC_CONTIGUOUS && layout != NC_CHUNKED && layout != NC_COMPACT)
        return pnc_error_set(error, NC_EINVAL, "storage is %d: must be NC_CHUNKED, NC_CONTIGUOUS or NC_COMPACT",
                             layout);
    if (layout == NC_CHUNKED && var->ndims == 0)
        return pnc_error_set(error, NC_EINVAL, "variable \"%s\" has no dimensions: it cannot be chunked", var->name);
    if (layout != NC_CHUNKED && has_unlimited(model, var))
        return pnc_error_set(error, NC_EINVAL, "variable \"%s\" has an unlimited dimension: it must be chunked",
                             var->name);
    if (layout != NC_CHUNKED && var->storage->nfilters > 0)
        return pnc_error_set(error, NC_EINVAL, "variable \"%s\" has filters, such as compression: it must be chunked",
                             var->name);
    return NC_NOERR;
}

static int check_chunks(const pnc_model *model, const pnc_var *var, const int64_t *chunks, pnc_error *error)
{
    int64_t bytes = pnc_format_storage_get_elem_size(var);

    for (int d = 0; d < var->ndims; d++) {
        int64_t length = model->dims[var->dimids[d]]->len, n = chunks[d] > 0 ? chunks[d] : 1;

        if (chunks[d] < 0)
            return pnc_error_set(error, NC_EBADCHUNK, "chunk length %lld of dimension %d: must not be negative",
                                 (long long)chunks[d], pnc_error_get_id(error, d));
        if (length > 0 && chunks[d] > length)
            return pnc_error_set(error, NC_EBADCHUNK, "chunk length %lld of dimension \"%s\": that has %lld elements",
                                 (long long)chunks[d], model->dims[var->dimids[d]]->name, (long long)length);
        if (n > PNC_FILTER_CHUNK_MOST / bytes)
            return pnc_error_set(error, NC_EBADCHUNK,
                                 "a chunk of variable \"%s\" has 4 GiB or more: choose smaller lengths", var->name);
        bytes *= n;
    }
    return NC_NOERR;
}

int pnc_format_storage_set_layout(pnc_model *model, pnc_var *var, int layout, const int64_t *chunks, pnc_error *error)
{
    const int64_t *copy = NULL;

    PNC_TRY(check_layout(model, var, layout, error));
    if (layout == NC_CHUNKED && chunks != NULL) {
        PNC_TRY(check_chunks(model, var, chunks, error));
        copy = copy_array(model, chunks, (size_t)var->ndims * sizeof *chunks);
        if (copy == NULL)
            return pnc_error_set(error, NC_ENOMEM, "no memory for the chunk lengths of variable \"%s\"", var->name);
    }
    var->storage->layout = layout;
    var->storage->chunks = copy;
    if (var->storage->shards != NULL) /* of other chunks */
        var->storage->chosen_shards = false;
    var->storage->shards = NULL;
    return NC_NOERR;
}

static int check_shards(const pnc_var *var, const int64_t *shards, pnc_error *error)
{
    const int64_t *chunks = var->storage->chunks;
    int64_t most = PNC_STORAGE_SHARD_CHUNKS_MOST;

    for (int d = 0; d < var->ndims; d++) {
        if (chunks == NULL || chunks[d] == 0)
            return pnc_error_set(error, NC_EINVAL,
                                 "variable \"%s\" has no lengths of chunks: choose them before those of its shards",
                                 var->name);
        if (shards[d] <= 0 || shards[d] % chunks[d] != 0)
            return pnc_error_set(error, NC_EBADCHUNK,
                                 "shard length %lld of dimension %d: must be a multiple of the chunk length %lld",
                                 (long long)shards[d], pnc_error_get_id(error, d), (long long)chunks[d]);
        if (shards[d] / chunks[d] > most)
            return pnc_error_set(error, NC_EBADCHUNK, "a shard of variable \"%s\" has more than %lld chunks", var->name,
                                 (long long)PNC_STORAGE_SHARD_CHUNKS_MOST);
        most /= shards[d] / chunks[d];
    }
    return NC_NOERR;
}

int pnc_format_storage_set_shards(pnc_model *model, pnc_var *var, const int64_t *shards, pnc_error *error)
{
    if (var->ndims == 0)
        return pnc_error_set(error, NC_EINVAL, "variable \"%s\" has no dimensions: it cannot have shards", var->name);
    if (shards != NULL)
        PNC_TRY(check_shards(var, shards, error));
    if (own_lengths(model, var, &shards) != NC_NOERR)
        return pnc_error_set(error, NC_ENOMEM, "no memory for the shard lengths of variable \"%s\"", var->name);
    var->storage->shards = shards;
    return NC_NOERR;
}

/* --- filters --- */

int pnc_format_storage_find_filter(const pnc_var *var, int id)
{
    for (int i = 0; var->storage != NULL && i < var->storage->nfilters; i++)
        if (var->storage->filters[i].id == id)
            return i;
    return -1;
}

int pnc_format_storage_set_filter(pnc_model *model, pnc_var *var, const pnc_filter *filter, pnc_error *error)
{
    int at = pnc_format_storage_find_filter(var, filter->id);
    pnc_filter own = *filter;

    own.is_optional = own.is_optional || !pnc_filter_is_own(own.id);
    if (var->type == NC_STRING)
        return pnc_error_set(error, NC_EFILTER,
                             "variable \"%s\" has strings, which are stored outside of its chunks: no filter changes "
                             "them",
                             var->name);
    if (var->ndims == 0)
        return pnc_error_set(error, NC_EINVAL, "variable \"%s\" has no dimensions: it cannot have filters", var->name);
    if (at < 0 && var->storage->nfilters == PNC_FILTER_MOST)
        return pnc_error_set(error, NC_EFILTER, "variable \"%s\" has %d filters already, the maximum", var->name,
                             PNC_FILTER_MOST);
    if (own_parameters(model, &own) != NC_NOERR)
        return pnc_error_set(error, NC_ENOMEM, "no memory for the parameters of a filter of variable \"%s\"",
                             var->name);
    var->storage->filters[at >= 0 ? at : var->storage->nfilters++] = own;
    var->storage->layout = NC_CHUNKED;
    return NC_NOERR;
}

void pnc_format_storage_remove_filter(pnc_var *var, int id)
{
    int at = pnc_format_storage_find_filter(var, id);
    pnc_storage *storage = var->storage;

    if (at < 0)
        return;
    storage->nfilters--;
    memmove(&storage->filters[at], &storage->filters[at + 1],
            (size_t)(storage->nfilters - at) * sizeof *storage->filters);
}

int pnc_format_storage_set_shuffle(pnc_model *model, pnc_var *var, bool on, pnc_error *error)
{
    pnc_storage *storage = var->storage;
    int deflate = pnc_format_storage_find_filter(var, PNC_FILTER_DEFLATE);

    if (!on) {
        pnc_format_storage_remove_filter(var, PNC_FILTER_SHUFFLE);
        return NC_NOERR;
    }
    if (pnc_format_storage_find_filter(var, PNC_FILTER_SHUFFLE) >= 0)
        return NC_NOERR;
    PNC_TRY(pnc_format_storage_set_filter(model, var, &(pnc_filter){.id = PNC_FILTER_SHUFFLE}, error));
    if (deflate >= 0) {
        const pnc_filter shuffle = storage->filters[storage->nfilters - 1];

        memmove(&storage->filters[deflate + 1], &storage->filters[deflate],
                (size_t)(storage->nfilters - 1 - deflate) * sizeof *storage->filters);
        storage->filters[deflate] = shuffle;
    }
    return NC_NOERR;
}

/* --- values --- */

int pnc_format_storage_set_endian(pnc_var *var, int endian, pnc_error *error)
{
    if (endian != NC_ENDIAN_NATIVE && endian != NC_ENDIAN_LITTLE && endian != NC_ENDIAN_BIG)
        return pnc_error_set(error, NC_EINVAL,
                             "endian is %d: must be NC_ENDIAN_NATIVE, NC_ENDIAN_LITTLE or NC_ENDIAN_BIG", endian);
    if (var->type == NC_CHAR || var->type == NC_STRING)
        return pnc_error_set(error, NC_EINVAL, "variable \"%s\" has characters, which have no byte order", var->name);
    var->storage->endian = endian;
    var->little = endian == NC_ENDIAN_LITTLE || (endian == NC_ENDIAN_NATIVE && PNC_HOST_IS_LITTLE);
    return NC_NOERR;
}
