/* What all readers do: chunks are found, read and decoded, and some are kept. */
#include "formats/reader.h"

#include <string.h>

#include "array/walk.h"
#include "base/memory.h"
#include "base/minmax.h"
#include "format/storage.h"

/* A guess: some chunks of 1 to 4 MiB. A larger one is kept in any case. */
#define KEPT_BYTES (INT64_C(64) << 20)

/* --- opening --- */

int pnc_formats_reader_open(const pnc_reader_ops *ops, int fd, const char *path, int64_t size, pnc_error *error,
                            pnc_reader **out)
{
    pnc_reader *r = pnc_memory_alloc_zeroed(1, ops->bytes);

    *out = r;
    if (r != NULL)
        r->path = pnc_string_copy(path);
    if (r == NULL || r->path == NULL) {
        pnc_memory_free(r);
        *out = NULL;
        return pnc_error_set(error, NC_ENOMEM, "%s: no memory to read metadata", path);
    }
    r->ops = ops;
    r->size = size;
    r->error = error;
    r->cache.most = KEPT_BYTES;
    r->codecs = ops->get_codecs();
    pnc_filter_worker_init(&r->worker, &r->codecs);
    return ops->open(r, fd);
}

void pnc_formats_reader_close(pnc_reader *r)
{
    if (r == NULL)
        return;
    r->ops->close(r);
    pnc_chunks_cache_clear(&r->cache);
    pnc_filter_worker_free(&r->worker);
    pnc_memory_free(r->bytes);
    pnc_memory_free(r->encoded);
    pnc_memory_free(r->path);
    pnc_memory_free(r);
}

int pnc_formats_reader_load(pnc_reader *r, char **bytes, int64_t *n)
{
    return r->ops->load(r, bytes, n);
}

int pnc_formats_reader_adopt(pnc_reader *r, const char *bytes, int64_t n, pnc_model *model)
{
    int err;

    r->bytes = pnc_memory_alloc(n, 1);
    if (r->bytes == NULL)
        return pnc_error_set(r->error, NC_ENOMEM, "%s: no memory to read metadata", r->path);
    memcpy(r->bytes, bytes, (size_t)n);
    err = r->ops->adopt(r, r->bytes, n, model);
    if (err != NC_NOERR)
        pnc_error_add_context(r->error, "%s", r->path);
    r->model = model;
    return err;
}

/* --- what is asked about a file --- */

const pnc_stored *pnc_formats_reader_get_stored(const pnc_reader *r, int varid)
{
    return &r->stored[varid];
}

int pnc_formats_reader_find_chunk(pnc_reader *r, int varid, const int64_t *index, pnc_chunk_place *out)
{
    return r->ops->find_chunk(r, varid, index, out);
}

int pnc_formats_reader_read_strings(pnc_reader *r, int varid, const int64_t *start, const int64_t *count,
                                    pnc_reader_strings *out)
{
    return r->ops->read_strings(r, varid, start, count, out);
}

int pnc_formats_reader_find_strays(pnc_reader *r, bool deletes, pnc_reader_stray *each, void *own)
{
    return r->ops->find_strays != NULL ? r->ops->find_strays(r, deletes, each, own) : NC_NOERR;
}

bool pnc_formats_reader_is_classic(pnc_reader *r)
{
    return r->ops->is_classic(r);
}

bool pnc_formats_reader_get_text(pnc_reader *r, const char *name, char *out, size_t capacity)
{
    return r->ops->get_text(r, name, out, capacity);
}

void pnc_formats_strings_free(pnc_reader_strings *strings)
{
    for (int64_t i = 0; strings->at != NULL && i < strings->n; i++)
        pnc_memory_free(strings->at[i]);
    pnc_memory_free(strings->at);
    *strings = (pnc_reader_strings){0};
}

/* --- chunks --- */

static int64_t count_chunk_bytes(const pnc_chunk_array *a)
{
    int64_t bytes = a->elem_size; /* of at most 4 GiB, as the description is checked */

    for (int d = 0; d < a->ndims; d++)
        bytes *= a->chunk[d];
    return bytes;
}

static bool is_beyond_extent(const pnc_chunk_array *a, const int64_t *index)
{
    for (int d = 0; d < a->ndims; d++)
        if (a->chunk[d] > a->extent[d] - index[d])
            return true;
    return false;
}

static int fail_of_variable(const pnc_reader *r, const pnc_chunk_array *a, int err)
{
    pnc_error_add_context(r->error, "%s: variable \"%s\"", r->path, a->name);
    return err;
}

static int reserve_chunk_bytes(pnc_reader *r, int64_t bytes)
{
    if (bytes <= r->capacity)
        return NC_NOERR;
    pnc_memory_free(r->encoded);
    r->encoded = pnc_memory_alloc(bytes, 1);
    r->capacity = r->encoded != NULL ? bytes : 0;
    return r->encoded != NULL
               ? NC_NOERR
               : pnc_error_set(r->error, NC_ENOMEM, "no memory for a chunk of %lld bytes", (long long)bytes);
}

/* The filters are checked first: an unknown one says nothing about the length of what it stores. */
static int decode_place(pnc_reader *r, int varid, const int64_t *index, const pnc_chunk_place *place,
                        unsigned char *chunk, int64_t bytes)
{
    const pnc_chunk_array *a = &r->stored[varid].array;
    const pnc_filter_chain none = {0, NULL};
    const pnc_filter_chain *chain = a->skips_partial && is_beyond_extent(a, index) ? &none : &a->filters;

    PNC_TRY(pnc_filter_chain_check(chain, (uint32_t)place->mask, r->worker.codecs, r->error));
    if (place->bytes > pnc_filter_chain_get_bound(chain, bytes))
        return pnc_error_set(r->error, NC_EHDFERR, "a chunk of %lld bytes is stored in %lld", (long long)bytes,
                             (long long)place->bytes);
    PNC_TRY(reserve_chunk_bytes(r, place->bytes));
    PNC_TRY(r->ops->read(r, varid, index, place, r->encoded));
    return pnc_filter_chunk_decode(&r->worker, chain, r->encoded, place->bytes, (uint32_t)place->mask, chunk, bytes,
                                   r->error);
}

/* Through the cache. *out NULL: it was never written. */
static int load_kept_chunk(pnc_reader *r, int varid, const int64_t *index, int64_t number, const unsigned char **out)
{
    const pnc_chunk_array *a = &r->stored[varid].array;
    int64_t bytes = count_chunk_bytes(a);
    pnc_chunk_place place;
    unsigned char *chunk;
    int err;

    *out = pnc_chunks_cache_find(&r->cache, varid, number);
    if (*out != NULL)
        return NC_NOERR;
    PNC_TRY(pnc_formats_reader_find_chunk(r, varid, index, &place));
    if (place.offset < 0)
        return NC_NOERR;
    chunk = pnc_chunks_cache_add(&r->cache, varid, number, bytes);
    if (chunk == NULL)
        return pnc_error_set(r->error, NC_ENOMEM, "%s: no memory for a chunk of %lld bytes", r->path, (long long)bytes);
    err = decode_place(r, varid, index, &place, chunk, bytes);
    if (err != NC_NOERR) {
        pnc_chunks_cache_undo(&r->cache);
        return fail_of_variable(r, a, err);
    }
    *out = chunk;
    return NC_NOERR;
}

int pnc_formats_reader_read_chunk(pnc_reader *r, int varid, const int64_t *index, const pnc_chunk_place *place,
                                  void *chunk)
{
    const pnc_chunk_array *a = &r->stored[varid].array;
    int err = decode_place(r, varid, index, place, chunk, count_chunk_bytes(a));

    return err == NC_NOERR ? NC_NOERR : fail_of_variable(r, a, err);
}

/* --- reading values --- */

/* The values of a box, from the bytes of its chunk; NULL: fill values. */
static void copy_box(const pnc_chunk_array *a, const pnc_box *box, const unsigned char *chunk, unsigned char *values)
{
    pnc_box_run run = pnc_array_run_begin(box);
    int64_t size = a->elem_size;

    do {
        if (chunk != NULL)
            memcpy(values + run.value * size, chunk + run.at * size, (size_t)(box->run * size));
        for (int64_t i = 0; chunk == NULL && i < box->run; i++)
            memcpy(values + (run.value + i) * size, a->fill, (size_t)size);
    } while (pnc_array_run_next(box, &run));
}

static int read_slab_chunks(pnc_reader *r, int varid, const pnc_array_slab *slab, unsigned char *values)
{
    const pnc_chunk_array *a = &r->stored[varid].array;
    int64_t along[PNC_ARRAY_DIMS], index[PNC_ARRAY_DIMS];
    const pnc_array_grid grid = {a->ndims, a->chunk, along};
    const unsigned char *chunk;
    pnc_array_walk walk;
    pnc_box box;

    if (pnc_array_chunks_count(a->ndims, a->extent, a->chunk, along) == INT64_MAX)
        return pnc_error_set(r->error, NC_EVARSIZE, "%s: variable \"%s\" has more than 2^63 chunks", r->path, a->name);
    pnc_array_walk_init(&walk, &grid, slab);
    while (pnc_array_walk_next(&walk, &box)) {
        pnc_array_index_find(&grid, box.chunk, index);
        PNC_TRY(load_kept_chunk(r, varid, index, box.chunk, &chunk));
        copy_box(a, &box, chunk, values);
    }
    return NC_NOERR;
}

void pnc_formats_box_find(int ndims, const int64_t *shape, const pnc_array_slab *slab, pnc_box *box)
{
    int64_t ones[PNC_ARRAY_DIMS];
    const pnc_array_grid grid = {ndims, shape, ones};
    pnc_array_walk walk;

    for (int d = 0; d < ndims; d++)
        ones[d] = 1;
    pnc_array_walk_init(&walk, &grid, slab);
    (void)pnc_array_walk_next(&walk, box);
}

/* Contiguous and compact values. */
static int read_one_part(pnc_reader *r, int varid, const pnc_array_slab *slab, char *values)
{
    const pnc_stored *s = &r->stored[varid];
    const pnc_chunk_array *a = &s->array;
    int64_t size = a->elem_size;
    pnc_box_run run;
    pnc_chunk_place place;
    pnc_box box;

    pnc_formats_box_find(a->ndims, a->shape, slab, &box);
    if (s->layout == NC_COMPACT || s->address < 0) {
        copy_box(a, &box, s->nbytes > 0 ? a->contents : NULL, (unsigned char *)values);
        return NC_NOERR;
    }
    run = pnc_array_run_begin(&box);
    do {
        place = (pnc_chunk_place){.offset = s->address + run.at * size, .bytes = box.run * size};
        PNC_TRY(r->ops->read(r, varid, NULL, &place, values + run.value * size));
    } while (pnc_array_run_next(&box, &run));
    return NC_NOERR;
}

int64_t pnc_formats_count_clip(const pnc_chunk_array *a, const int64_t *start, const int64_t *count, int64_t *inside)
{
    for (int d = 0; d < a->ndims; d++)
        inside[d] = pnc_min64(count[d], pnc_max64(a->extent[d] - start[d], 0));
    return pnc_array_elements_count(a->ndims, inside);
}

int pnc_formats_reader_read(pnc_reader *r, int varid, const int64_t *start, const int64_t *count, void *values)
{
    const pnc_chunk_array *a = &r->stored[varid].array;
    int64_t n = pnc_array_elements_count(a->ndims, count), ninside, inside[PNC_ARRAY_DIMS];
    const pnc_array_slab slab = {.start = start, .count = inside, .values = count};
    unsigned char *to = values;

    if (a->elem_size == 0 || a->ndims > PNC_STORAGE_DIMS_MOST)
        return pnc_error_set(r->error, NC_EBADTYPE,
                             "%s: variable \"%s\" has a type whose values this library does not read", r->path,
                             a->name);
    if (a->refusal != NULL)
        return pnc_error_set(r->error, NC_ENOTSUPPORT, "%s: variable \"%s\": %s", r->path, a->name, a->refusal);
    if (n == 0)
        return NC_NOERR;
    ninside = pnc_formats_count_clip(a, start, count, inside);
    if (a->chunk == NULL)
        return read_one_part(r, varid, &slab, values);
    for (int64_t i = 0; ninside < n && i < n; i++)
        memcpy(to + i * a->elem_size, a->beyond, (size_t)a->elem_size);
    return ninside > 0 ? read_slab_chunks(r, varid, &slab, values) : NC_NOERR;
}
