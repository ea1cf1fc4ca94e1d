/* The arrays of an open netCDF-4 file: variables whose values are not one part of the file. */
#include "formats/netcdf4/netcdf4.h"

#include <string.h>

#include "base/memory.h"
#include "formats/arrays.h"
#include "formats/netcdf4/array.h"
#include "formats/netcdf4/plugins.h"

/* --- libhdf5's file --- */

int pnc_netcdf4_handle_get(pnc_netcdf4 *n)
{
    const pnc_file *file = n->format.file;

    if (n->metadata != NULL)
        return pnc_netcdf4_metadata_restore(n->metadata);
    if (file->rank == 0 && !file->read_only)
        PNC_TRY(pnc_netcdf4_seen_check(n));
    if (file->read_only)
        n->opened = pnc_file_get_change(file);
    return pnc_netcdf4_metadata_open(n->format.file, n->end, file->rank == 0 && !file->read_only, &n->metadata);
}

void pnc_netcdf4_handle_release(pnc_netcdf4 *n)
{
    if (n->metadata != NULL)
        pnc_netcdf4_seen_extend(n, pnc_netcdf4_metadata_get_end(n->metadata));
    pnc_netcdf4_metadata_close(n->metadata);
    n->metadata = NULL;
}

/* Chunks beyond the extent that the file has are not in its index. */
static bool is_in_dataset(const pnc_netcdf4_storage *s, int ndims, const int64_t *index)
{
    for (int d = 0; d < ndims; d++)
        if (index[d] >= s->extent[d])
            return false;
    return true;
}

/* The places in the description are those of all chunks of the dataset, in row-major order. */
static pnc_chunk_place find_described(const pnc_netcdf4_storage *s, int ndims, const int64_t *index)
{
    int64_t along[PNC_ARRAY_DIMS], number = 0;

    (void)pnc_array_chunks_count(ndims, s->extent, s->chunk, along);
    for (int d = 0; d < ndims; d++)
        number = number * along[d] + index[d] / s->chunk[d];
    return s->places[number];
}

/* A chunk whose place was not in the description: this rank asks libhdf5. */
static int find_chunk_place(void *own, int64_t array, const int64_t *index, bool is_first, pnc_chunk_place *out,
                            pnc_error *error)
{
    pnc_netcdf4 *n = own;
    int varid = n->content.varids[array], ndims = n->format.model->vars[varid]->ndims;
    const pnc_netcdf4_storage *s = &n->content.storage[varid];
    bool had_error = n->format.file->error->code != NC_NOERR;
    int err;

    *out = (pnc_chunk_place){-1, 0, 0};
    if (!is_in_dataset(s, ndims, index))
        return NC_NOERR;
    if (is_first && s->places != NULL) {
        *out = find_described(s, ndims, index);
        return NC_NOERR;
    }
    err = pnc_netcdf4_handle_get(n);
    if (err == NC_NOERR)
        err = pnc_netcdf4_metadata_find_chunk(n->metadata, s->path, index, ndims, out);
    if (error == NULL && !had_error) /* else it is that of the file, which has it */
        pnc_error_clear(n->format.file->error);
    return err;
}

/* All ranks have the values after the next flush. */
static int write_compact_part(void *own, int64_t array, const void *values, int64_t bytes, pnc_error *error)
{
    pnc_netcdf4 *n = own;
    const pnc_netcdf4_storage *s = &n->content.storage[n->content.varids[array]];

    (void)error; /* that of the file */
    PNC_TRY(pnc_netcdf4_handle_get(n));
    PNC_TRY(pnc_netcdf4_metadata_write_compact(n->metadata, s->path, values, bytes));
    memcpy((unsigned char *)(uintptr_t)s->bytes, values, (size_t)bytes);
    n->index_dirty = n->parts_dirty = true;
    return NC_NOERR;
}

/* Before the store of the file is closed. */
static void close_metadata(void *own)
{
    pnc_netcdf4_handle_release(own);
}

/* --- arrays --- */

/* Values that are adjacent in the file are accessed there. */
static bool is_adjacent(const pnc_netcdf4 *n, int varid)
{
    const pnc_netcdf4_storage *s = &n->content.storage[varid];

    return s->layout == PNC_NETCDF4_CONTIGUOUS && s->address >= 0 &&
           pnc_netcdf4_extent_is_whole(n->format.model->vars[varid], s);
}

static int fail_size(const pnc_netcdf4 *n, const pnc_var *var)
{
    return pnc_error_set(n->format.file->error, NC_EVARSIZE, "%s: variable \"%s\" has more than 2^62 bytes",
                         n->format.file->path, var->name);
}

/* Of a file that is only read. */
static int init_fixed(const pnc_netcdf4 *n, pnc_var *var, const pnc_netcdf4_storage *s, pnc_chunk_array *a)
{
    pnc_netcdf4_array_init(var, s, a);
    return var->size <= PNC_FORMATS_ARRAY_BYTES_MOST ? NC_NOERR : fail_size(n, var);
}

/* --- arrays of a file that may change --- */

/* No filter is left out of a chunk that is written, as the file allows for deflate: HDF5 1.10.8 forgets which filters
 * a chunk lacks when the chunk is rewritten with the same length, and netCDF-C would decode it wrongly. Plugins do not
 * encode every chunk: theirs are left out as by HDF5. */
static bool require_filters(pnc_netcdf4 *n, pnc_filter_chain *chain)
{
    pnc_filter *all = pnc_region_alloc(&n->content.region, (chain->nfilters + 1) * (int64_t)sizeof *all);

    for (int i = 0; all != NULL && i < chain->nfilters; i++) {
        all[i] = chain->filters[i];
        all[i].is_optional = all[i].is_optional && !pnc_filter_is_own(all[i].id);
    }
    chain->filters = all;
    return all != NULL;
}

static int init_growing(pnc_netcdf4 *n, pnc_var *var, const pnc_netcdf4_storage *s, pnc_chunk_array *a)
{
    int64_t *shape = pnc_region_alloc(&n->content.region, (var->ndims + 1) * (int64_t)sizeof *shape);
    int64_t *extent = pnc_region_alloc(&n->content.region, (var->ndims + 1) * (int64_t)sizeof *extent);

    if (shape == NULL || extent == NULL)
        return pnc_formats_memory_fail(&n->format, (var->ndims + 1) * (int64_t)sizeof *shape);
    if (!pnc_formats_array_shape_choose(n->format.model, var, shape))
        return fail_size(n, var);
    pnc_netcdf4_array_init(var, s, a);
    for (int d = 0; d < var->ndims; d++)
        extent[d] =
            s->layout == PNC_NETCDF4_CHUNKED ? pnc_format_var_get_length(n->format.model, var, d) : s->extent[d];
    a->shape = shape;
    a->extent = extent;
    a->growing = pnc_formats_array_growing_find(n->format.model, var);
    if (!require_filters(n, &a->filters))
        return pnc_formats_memory_fail(&n->format, a->filters.nfilters * (int64_t)sizeof(pnc_filter));
    var->netcdf4.shape = shape;
    return NC_NOERR;
}

/* Values in the metadata are one chunk. */
static void init_compact(const pnc_var *var, const pnc_netcdf4_storage *s, pnc_chunk_array *a)
{
    static const int64_t scalar = 1;

    pnc_netcdf4_array_init(var, s, a);
    a->extent = a->shape;
    a->chunk = var->ndims > 0 ? a->shape : &scalar;
}

static bool is_writable_part(const pnc_var *var, const pnc_netcdf4_storage *s)
{
    return s->layout == PNC_NETCDF4_COMPACT && s->obstacle == PNC_NETCDF4_NO_OBSTACLE && s->bytes != NULL &&
           s->nbytes > 0 && pnc_netcdf4_extent_is_whole(var, s);
}

/* --- both --- */

/* A fixed dimension has a length of 0. What grows has records without values. */
static bool has_no_values(const pnc_var *var)
{
    return var->size == 0 && !var->inner_unlimited;
}

static int make_arrays(pnc_netcdf4 *n)
{
    const bool grows = !n->format.file->read_only;

    n->format.lacks_space = false;
    for (int i = 0; i < n->format.model->nvars; i++) {
        pnc_var *var = n->format.model->vars[i];
        const pnc_netcdf4_storage *s = &n->content.storage[i];
        pnc_chunk_array *a = &n->content.arrays[n->content.narrays];

        var->netcdf4.shape = var->shape;
        var->netcdf4.address = is_adjacent(n, i) ? s->address : 0;
        var->netcdf4.lacks_space = grows && s->layout == PNC_NETCDF4_CONTIGUOUS && s->address < 0 &&
                                   s->obstacle == PNC_NETCDF4_NO_OBSTACLE && !has_no_values(var) &&
                                   pnc_netcdf4_extent_is_whole(var, s);
        n->format.lacks_space = n->format.lacks_space || var->netcdf4.lacks_space;
        if (is_adjacent(n, i) || (has_no_values(var) && !(grows && var->is_record)))
            continue;
        if (pnc_type_get_size(var->type) == 0) /* strings, and types of users: no values pass through the store */
            continue;
        if (grows && is_writable_part(var, s))
            init_compact(var, s, a);
        else if (grows)
            PNC_TRY(init_growing(n, var, s, a));
        else
            PNC_TRY(init_fixed(n, var, s, a));
        a->first = n->content.narrays;
        a->varid = i;
        n->content.varids[n->content.narrays++] = i;
    }
    return NC_NOERR;
}

/* --- the store --- */

int pnc_netcdf4_store_attach(pnc_netcdf4 *n)
{
    pnc_file *file = n->format.file;
    int nidle = file->nodes->nidle;
    pnc_chunk_source source = {.cache_bytes = n->format.hints->chunk_cache,
                               .codecs = &n->codecs,
                               .nthreads = pnc_formats_threads_count(n->format.hints, nidle),
                               .nbehind = pnc_formats_threads_behind_count(n->format.hints, nidle),
                               .nahead = pnc_formats_threads_ahead_count(n->format.hints, nidle),
                               .is_writable = !file->read_only,
                               .own = n,
                               .write_part = write_compact_part,
                               .release = close_metadata};
    const pnc_file_index index = {.own = n, .find = find_chunk_place, .check = pnc_netcdf4_seen_check_chunks};
    int nvars = n->format.model->nvars;
    pnc_store *store = NULL;

    n->codecs = pnc_netcdf4_codecs_get();
    n->content.arrays = pnc_memory_alloc(nvars, sizeof *n->content.arrays);
    n->content.varids = pnc_memory_alloc(nvars, sizeof *n->content.varids);
    n->content.narrays = 0;
    if (source.is_writable && file->nprocs > 1)
        source.spill_folder = pnc_formats_spill_folder_find(file, &n->content.region);
    if (n->content.arrays != NULL && n->content.varids != NULL &&
        (source.spill_folder != NULL || !source.is_writable || file->nprocs == 1)) {
        PNC_TRY(make_arrays(n));
        source.narrays = n->content.narrays;
        source.arrays = n->content.arrays;
        source.container = pnc_chunks_file_create(file->store, &index, n->end);
        if (source.container != NULL)
            store = pnc_chunks_store_create(file->store, &source);
        if (store == NULL && source.container != NULL)
            source.container->ops->free(source.container);
    }
    if (store == NULL)
        return pnc_error_set(file->error, NC_ENOMEM, "%s: no memory for the storage of %d variables", file->path,
                             nvars);
    file->store = store;
    n->has_chunks = true;
    return NC_NOERR;
}

void pnc_netcdf4_store_detach(pnc_netcdf4 *n)
{
    if (!n->has_chunks)
        return;
    n->format.file->store = pnc_chunks_store_detach(n->format.file->store);
    n->has_chunks = false;
}

pnc_container *pnc_netcdf4_container_get(const pnc_netcdf4 *n)
{
    return pnc_chunks_store_get_container(n->format.file->store);
}

void pnc_netcdf4_index_adopt(pnc_netcdf4 *n)
{
    pnc_chunks_index_adopt(pnc_netcdf4_container_get(n), n->end);
    pnc_chunks_store_discard(n->format.file->store);
}
