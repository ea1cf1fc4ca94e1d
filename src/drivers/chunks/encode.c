/* Chunks to the bytes that the container keeps, by this thread, or by several. */
#include "drivers/chunks/chunk_store.h"

#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "host/pool.h"

/* A chunk that filters change is not written where it is: its length changes. */
int pnc_chunks_stored_init(pnc_chunk_store *s, pnc_stored_chunk *chunk, int64_t bytes, pnc_error *error)
{
    const pnc_chunk_array *a = &s->source.arrays[chunk->item.array];
    bool is_first = error == NULL || error->code == NC_NOERR;
    pnc_container *c = s->source.container;
    int64_t index[PNC_ARRAY_DIMS];
    int err;

    (void)pnc_chunks_grid_find_index(&s->grids[chunk->item.array], chunk->item.chunk, index);
    chunk->place = (pnc_chunk_place){.offset = -1, .bytes = a->filters.nfilters == 0 ? bytes : 0};
    err = c->ops->prepare(c, chunk, index, error);
    return err == NC_NOERR ? NC_NOERR : pnc_chunks_name_add(a, err, is_first, error);
}

/* --- one chunk --- */

static int reserve_encoded(pnc_chunk_store *s, const pnc_chunk_array *a, int64_t bytes, pnc_error *error)
{
    int64_t capacity = pnc_max64(bytes, pnc_min64(2 * s->encoded_capacity, PNC_CHUNKS_ROUND_BYTES));
    char *larger;

    if (bytes <= s->encoded_capacity)
        return NC_NOERR;
    larger = pnc_memory_resize(s->encoded, capacity, 1);
    if (larger == NULL)
        return pnc_chunks_memory_fail(a, bytes, error);
    s->encoded = larger;
    s->encoded_capacity = capacity;
    return NC_NOERR;
}

/* Beyond the array, in a dimension that does not grow, a chunk gets its last values again: a filter that keeps some
 * bits of a block of values (zfp) would spend them on fill values. */
static void repeat_last_values(const pnc_chunk_grid *g, const pnc_chunk_array *a, int64_t chunk, unsigned char *values)
{
    int64_t index[PNC_ARRAY_DIMS], blocks = 1, bytes = g->chunk_bytes;

    (void)pnc_chunks_grid_find_index(g, chunk, index);
    for (int d = 0; d < g->ndims; d++) {
        int64_t inside = (a->growing >> d & 1) != 0 ? g->chunk[d] : pnc_min64(g->chunk[d], g->shape[d] - index[d]);
        int64_t part = bytes / g->chunk[d]; /* of one index in this dimension */

        for (int64_t b = 0; b < blocks; b++)
            for (int64_t i = inside; i < g->chunk[d]; i++)
                memcpy(values + b * bytes + i * part, values + b * bytes + (inside - 1) * part, (size_t)part);
        blocks *= g->chunk[d];
        bytes = part;
    }
}

/* The bytes are the worker's, until its next chunk; also those of chunks that no filter changes, if they are few. */
static int encode_chunk(pnc_chunk_store *s, pnc_encoding *e, pnc_filter_worker *worker, pnc_error *error)
{
    const pnc_chunk_array *a = &s->source.arrays[e->d->stored.item.array];
    bool is_first = error == NULL || error->code == NC_NOERR;
    uint32_t mask;

    if (a->filters.nfilters > 0 && !pnc_chunks_array_is_parallel(a))
        repeat_last_values(&s->grids[e->d->stored.item.array], a, e->d->stored.item.chunk, e->d->values);
    e->err = pnc_filter_chunk_encode(worker, &a->filters, e->d->values, e->d->bytes, &e->stored,
                                     &e->d->stored.place.bytes, &mask, error);
    if (e->err != NC_NOERR)
        return pnc_chunks_name_add(a, e->err, is_first, error);
    e->d->stored.place.mask = (int64_t)mask;
    e->is_direct = e->stored == e->d->values && e->d->stored.place.bytes >= PNC_CHUNKS_DIRECT_BYTES;
    return NC_NOERR;
}

int pnc_chunks_encoded_append(pnc_chunk_store *s, pnc_dirty_chunk *d, const void *stored, int64_t *used,
                              pnc_error *error)
{
    int64_t bytes = d->stored.place.bytes;

    d->at = -1;
    if (stored == d->values && bytes >= PNC_CHUNKS_DIRECT_BYTES)
        return NC_NOERR;
    PNC_TRY(reserve_encoded(s, &s->source.arrays[d->stored.item.array], *used + bytes, error));
    memmove(s->encoded + *used, stored, (size_t)bytes);
    d->at = *used;
    *used += bytes;
    return NC_NOERR;
}

/* --- several --- */

/* HDF5's plugins may be called by one thread only. */
static bool has_parts(const pnc_chunk_store *s, const pnc_encoding *batch, int n)
{
    for (int i = 0; i < n; i++)
        if (!pnc_chunks_array_is_parallel(&s->source.arrays[batch[i].d->stored.item.array]))
            return false;
    return n > 1;
}

/* A batch of which each chunk has its part of s->encoded. */
typedef struct encoding_task {
    pnc_chunk_store *s;
    pnc_encoding *batch;
    pnc_error *errors;
} encoding_task;

static void encode_part(void *own, int64_t part, int thread)
{
    encoding_task *t = own;
    pnc_encoding *e = &t->batch[part];

    if (encode_chunk(t->s, e, &t->s->workers[thread], &t->errors[part]) != NC_NOERR || e->is_direct)
        return;
    memcpy(t->s->encoded + e->at, e->stored, (size_t)e->d->stored.place.bytes);
    e->stored = t->s->encoded + e->at;
}

/* All of a batch, at its places in s->encoded. */
static void encode_by_threads(pnc_chunk_store *s, pnc_encoding *batch, int n, pnc_language language, pnc_error *errors)
{
    pnc_counter before = pnc_statistics_begin(s->store.statistics, PNC_COUNT_TIME_FILTERS);
    encoding_task task = {s, batch, errors};

    for (int i = 0; i < n; i++)
        errors[i] = (pnc_error){.language = language};
    pnc_host_pool_execute(s->nthreads, n, encode_part, &task);
    pnc_statistics_end(s->store.statistics, before);
}

static void encode_by_one(pnc_chunk_store *s, pnc_encoding *e, pnc_error *error)
{
    pnc_counter before = pnc_statistics_begin(s->store.statistics, PNC_COUNT_TIME_FILTERS);

    (void)encode_chunk(s, e, &s->workers[0], error);
    pnc_statistics_end(s->store.statistics, before);
}

/* Places for the most that each chunk may become. */
static bool reserve_batch(pnc_chunk_store *s, pnc_encoding *batch, int n, int64_t used)
{
    for (int i = 0; i < n; i++) {
        const pnc_chunk_array *a = &s->source.arrays[batch[i].d->stored.item.array];

        batch[i].at = used;
        used += pnc_filter_chain_get_bound(&a->filters, batch[i].d->bytes);
    }
    return reserve_encoded(s, &s->source.arrays[0], used, NULL) == NC_NOERR;
}

int pnc_chunks_batch_get_most(const pnc_chunk_store *s)
{
    return s->nthreads > 0 ? PNC_CHUNKS_BATCH : 1;
}

int pnc_chunks_batch_encode(pnc_chunk_store *s, pnc_encoding *batch, int n, int64_t *used, pnc_error *error)
{
    pnc_error errors[PNC_CHUNKS_BATCH];
    bool in_parts = has_parts(s, batch, n) && reserve_batch(s, batch, n, *used);
    int err = NC_NOERR;

    if (in_parts)
        encode_by_threads(s, batch, n, pnc_error_get_language(error), errors);
    for (int i = 0; i < n; i++) {
        if (!in_parts)
            encode_by_one(s, &batch[i], error);
        else if (batch[i].err != NC_NOERR)
            (void)pnc_error_copy(error, &errors[i], false);
        if (batch[i].err == NC_NOERR)
            batch[i].err = pnc_chunks_encoded_append(s, batch[i].d, batch[i].stored, used, error);
        err = pnc_error_keep_first(err, batch[i].err);
    }
    return err;
}

/* --- before values are put --- */

static bool is_tried(const pnc_filter_chain *chain)
{
    for (int i = 0; i < chain->nfilters; i++)
        if (chain->filters[i].id == PNC_FILTER_SZIP || !pnc_filter_is_own(chain->filters[i].id))
            return true;
    return false;
}

/* Optional filters of plugins are left out of chunks that they do not make smaller, and so they are where parameters
 * are wrong: values that are all the same can be compressed. Some leave short chunks as they are (Blosc those of less
 * than 128 bytes). */
static int check_omissions(const pnc_filter_chain *chain, uint32_t mask, int64_t bytes, pnc_error *error)
{
    enum { SHORT_CHUNK = 512 };

    for (int i = 0; i < chain->nfilters && bytes >= SHORT_CHUNK; i++) {
        const pnc_filter *f = &chain->filters[i];

        if ((mask >> i & 1) != 0 && !pnc_filter_is_own(f->id))
            return pnc_error_set(
                error, NC_EFILTER,
                "the plugin of %s (id %d) does not encode a chunk of fill values: its %d parameters may "
                "be wrong, or not for variables such as this one",
                pnc_filter_name_get(f->id), f->id, f->nparameters);
    }
    return NC_NOERR;
}

/* Some filters say only when they are applied that they cannot encode such chunks. */
static int try_filters(pnc_chunk_store *s, int64_t array, pnc_error *error)
{
    const pnc_chunk_array *a = &s->source.arrays[array];
    int64_t bytes = s->grids[array].chunk_bytes, stored_bytes;
    char *chunk = pnc_memory_alloc(bytes, 1);
    const void *stored;
    uint32_t mask;
    int err;

    if (chunk == NULL)
        return pnc_chunks_memory_fail(a, bytes, error);
    pnc_chunks_value_fill(a->fill, a->elem_size, chunk, bytes);
    err = pnc_filter_chunk_encode(&s->workers[0], &a->filters, chunk, bytes, &stored, &stored_bytes, &mask, error);
    pnc_memory_free(chunk);
    return err == NC_NOERR ? check_omissions(&a->filters, mask, bytes, error) : err;
}

int pnc_chunks_filters_check(pnc_chunk_store *s, int64_t array, pnc_error *error)
{
    const pnc_chunk_array *a = &s->source.arrays[array];
    bool is_first = error == NULL || error->code == NC_NOERR;
    int err = NC_NOERR;

    if (s->encodes[array] || a->filters.nfilters == 0)
        return NC_NOERR;
    err = pnc_filter_chain_check(&a->filters, 0, s->source.codecs, error);
    if (err == NC_NOERR && is_tried(&a->filters))
        err = try_filters(s, array, error);
    s->encodes[array] = err == NC_NOERR;
    return err == NC_NOERR ? NC_NOERR : pnc_chunks_name_add(a, err, is_first, error);
}
