/* The bytes of a chunk, as this rank knows it: what waits to be written, the cache, or the container. */
#include "drivers/chunks/chunk_store.h"

#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "drivers/chunks/aggregator.h"
#include "host/pool.h"

/* One element, then twice as much in each step. */
void pnc_chunks_value_fill(const unsigned char *value, int size, char *to, int64_t n)
{
    int64_t done = pnc_min64(n, size);

    memcpy(to, value, (size_t)done);
    for (int64_t some; done < n; done += some) {
        some = pnc_min64(done, n - done);
        memcpy(to + done, to, (size_t)some);
    }
}

int pnc_chunks_memory_fail(const pnc_chunk_array *a, int64_t bytes, pnc_error *error)
{
    return pnc_error_set(error, NC_ENOMEM, "variable \"%s\": no memory for a chunk of %lld bytes", a->name,
                         (long long)bytes);
}

int pnc_chunks_name_add(const pnc_chunk_array *a, int err, bool is_first, pnc_error *error)
{
    if (is_first)
        pnc_error_add_context(error, "variable \"%s\"", a->name);
    return err;
}

pnc_chunk_item pnc_chunks_item_make(const pnc_chunk_store *s, int64_t array, int64_t chunk)
{
    const pnc_chunk_array *a = &s->source.arrays[array];
    int aggregator = 0;

    if (!pnc_chunks_array_is_part(a))
        aggregator = pnc_chunks_aggregator_find(pnc_chunks_grid_find_shard(&s->grids[array], chunk),
                                                s->grids[array].row, a->first, s->store.nprocs);
    return (pnc_chunk_item){array, chunk, aggregator, NULL};
}

/* --- from the container --- */

/* A chunk that the container has. */
typedef struct kept_chunk {
    pnc_chunk_item item;
    pnc_chunk_place place;
    bool is_partial; /* it extends beyond the extent */
} kept_chunk;

static int read_kept(pnc_chunk_store *s, const kept_chunk *k, void *to, pnc_error *error)
{
    pnc_container *c = s->source.container;

    return c->ops->read(c, &k->item, &k->place, to, error);
}

static int reserve_stored(pnc_chunk_store *s, const pnc_chunk_array *a, int64_t bytes, pnc_error *error)
{
    if (bytes <= s->capacity)
        return NC_NOERR;
    pnc_memory_free(s->stored);
    s->stored = pnc_memory_alloc(bytes, 1);
    s->capacity = s->stored != NULL ? bytes : 0;
    return s->stored != NULL ? NC_NOERR : pnc_chunks_memory_fail(a, bytes, error);
}

/* The container has the bytes of the chunk as they are. */
static bool is_plain(const pnc_filter_chain *chain, const pnc_chunk_place *place, int64_t bytes)
{
    return place->bytes == bytes && pnc_filter_chunk_is_plain(chain, (uint32_t)place->mask);
}

static int decode_chunk(pnc_chunk_store *s, const kept_chunk *k, const pnc_filter_chain *chain, unsigned char *chunk,
                        pnc_error *error)
{
    const pnc_chunk_array *a = &s->source.arrays[k->item.array];
    int64_t bytes = s->grids[k->item.array].chunk_bytes;
    bool is_first = error == NULL || error->code == NC_NOERR;
    pnc_counter before;
    int err;

    if (k->place.bytes > pnc_filter_chain_get_bound(chain, bytes))
        return pnc_error_set(error, NC_EHDFERR, "variable \"%s\": a chunk of %lld bytes is stored in %lld", a->name,
                             (long long)bytes, (long long)k->place.bytes);
    if (is_plain(chain, &k->place, bytes))
        return read_kept(s, k, chunk, error);
    PNC_TRY(reserve_stored(s, a, k->place.bytes, error));
    PNC_TRY(read_kept(s, k, s->stored, error));
    before = pnc_statistics_begin(s->store.statistics, PNC_COUNT_TIME_FILTERS);
    err = pnc_filter_chunk_decode(&s->workers[0], chain, s->stored, k->place.bytes, (uint32_t)k->place.mask, chunk,
                                  bytes, error);
    pnc_statistics_end(s->store.statistics, before);
    return err == NC_NOERR ? NC_NOERR : pnc_chunks_name_add(a, err, is_first, error);
}

/* Chunks of which it is known whether they were read before: 64 MiB. */
#define MOST_LOADED (1 << 20)

static void count_loaded(pnc_chunk_store *s, const kept_chunk *k, int64_t bytes)
{
    pnc_statistics *t = s->store.statistics;
    bool again = t != NULL && pnc_chunks_map_find(&s->loaded, k->item.array, k->item.chunk) != NULL;
    pnc_chunk_item *item;

    if (t == NULL)
        return;
    pnc_statistics_chunk_add(t, s->source.arrays[k->item.array].varid, false, bytes, k->place.bytes, again);
    if (again)
        return;
    item = s->loaded.n < MOST_LOADED ? pnc_region_alloc(&s->loaded_region, (int64_t)sizeof *item) : NULL;
    if (item == NULL) /* also without memory: it counts as new again */
        return;
    *item = k->item;
    (void)pnc_chunks_map_add(&s->loaded, item);
}

/* Not through the cache: the system keeps such bytes, too. */
static int load_once(pnc_chunk_store *s, const kept_chunk *k, unsigned char **out, pnc_error *error)
{
    PNC_TRY(reserve_stored(s, &s->source.arrays[k->item.array], k->place.bytes, error));
    PNC_TRY(read_kept(s, k, s->stored, error));
    count_loaded(s, k, k->place.bytes);
    *out = (unsigned char *)s->stored;
    return NC_NOERR;
}

/* The filters are checked first: an unknown one says nothing about the length of what it stores. */
static int load_kept(pnc_chunk_store *s, const kept_chunk *k, bool once, unsigned char **out, pnc_error *error)
{
    const pnc_chunk_array *a = &s->source.arrays[k->item.array];
    const pnc_filter_chain none = {0, NULL}, *chain = a->skips_partial && k->is_partial ? &none : &a->filters;
    int64_t bytes = s->grids[k->item.array].chunk_bytes;
    bool is_first = error == NULL || error->code == NC_NOERR;
    const unsigned char *ready;
    int err = pnc_filter_chain_check(chain, (uint32_t)k->place.mask, s->source.codecs, error);

    if (err != NC_NOERR)
        return pnc_chunks_name_add(a, err, is_first, error);
    if (once && is_plain(chain, &k->place, bytes))
        return load_once(s, k, out, error);
    ready = pnc_chunks_foreseen_take(s, k->item.array, k->item.chunk, &k->place);
    *out = pnc_chunks_cache_add(&s->cache, k->item.array, k->item.chunk, bytes);
    if (*out == NULL)
        return pnc_chunks_memory_fail(a, bytes, error);
    if (ready != NULL)
        memcpy(*out, ready, (size_t)bytes);
    else
        err = decode_chunk(s, k, chain, *out, error);
    if (err != NC_NOERR)
        pnc_chunks_cache_undo(&s->cache);
    else
        count_loaded(s, k, bytes);
    return err;
}

/* place.offset is -1 if the container does not have the chunk. */
static int locate_chunk(pnc_chunk_store *s, int64_t array, int64_t chunk, kept_chunk *out, pnc_error *error)
{
    pnc_container *c = s->source.container;
    int64_t index[PNC_ARRAY_DIMS];

    *out = (kept_chunk){.item = {array, chunk, 0, NULL}};
    out->is_partial = pnc_chunks_grid_find_index(&s->grids[array], chunk, index);
    return c->ops->find(c, &out->item, index, &out->place, error);
}

/* Whether any thread can decode it. What is wrong with others is said when they are used. */
static bool can_decode(const pnc_chunk_store *s, const kept_chunk *k)
{
    const pnc_chunk_array *a = &s->source.arrays[k->item.array];

    return pnc_chunks_array_is_parallel(a) && k->place.offset >= 0 && !(a->skips_partial && k->is_partial) &&
           k->place.bytes <= pnc_filter_chain_get_bound(&a->filters, s->grids[k->item.array].chunk_bytes) &&
           pnc_filter_chain_check(&a->filters, (uint32_t)k->place.mask, s->source.codecs, NULL) == NC_NOERR;
}

int pnc_chunks_place_find(pnc_chunk_store *s, int64_t array, int64_t chunk, pnc_chunk_place *out, bool *is_parallel,
                          pnc_error *error)
{
    kept_chunk k;

    PNC_TRY(locate_chunk(s, array, chunk, &k, error));
    *out = k.place;
    *is_parallel = can_decode(s, &k);
    return NC_NOERR;
}

static int copy_contents(pnc_chunk_store *s, int64_t array, int64_t chunk, unsigned char **out, pnc_error *error)
{
    const pnc_chunk_array *a = &s->source.arrays[array];

    *out = pnc_chunks_cache_add(&s->cache, array, chunk, s->grids[array].chunk_bytes);
    if (*out == NULL)
        return pnc_chunks_memory_fail(a, s->grids[array].chunk_bytes, error);
    memcpy(*out, a->contents, (size_t)s->grids[array].chunk_bytes);
    return NC_NOERR;
}

/* NULL: the container does not have it. Through the cache; once: as pnc_chunks_chunk_get. */
static int load_chunk(pnc_chunk_store *s, int64_t array, int64_t chunk, bool once, unsigned char **out,
                      pnc_error *error)
{
    kept_chunk k;

    *out = NULL;
    if (pnc_chunks_array_is_part(&s->source.arrays[array]))
        return copy_contents(s, array, chunk, out, error);
    PNC_TRY(locate_chunk(s, array, chunk, &k, error));
    return k.place.offset < 0 ? NC_NOERR : load_kept(s, &k, once, out, error);
}

/* --- several, by all threads, before they are used --- */

/* A chunk that is decoded into the cache. */
typedef struct decoding {
    kept_chunk kept;
    const pnc_filter_chain *chain;
    pnc_chunk_item *item; /* of the caller */
    int64_t at;           /* of its bytes in s->stored */
    unsigned char *chunk; /* NULL: they could not be read, or have no memory */
    int err;
    atomic_bool is_done;
} decoding;

typedef struct decoding_task {
    pnc_chunk_store *s;
    decoding *parts;
    int n, used; /* used: those before it */
    pnc_chunks_use use;
    void *own;
} decoding_task;

/* Those that are decoded, in order: what this thread copies, others need not wait for. */
static void use_decoded(decoding_task *t)
{
    for (; t->used < t->n && atomic_load_explicit(&t->parts[t->used].is_done, memory_order_acquire); t->used++)
        if (t->parts[t->used].err == NC_NOERR)
            t->use(t->own, t->parts[t->used].item);
}

static char *get_stored(const decoding_task *t, const decoding *d)
{
    return t->s->stored + d->at;
}

/* Only the thread of the program reads. */
static void feed_decoding(void *own, int64_t part, int thread)
{
    decoding_task *t = own;
    decoding *d = &t->parts[part];
    const pnc_chunk_item *item = &d->kept.item;

    (void)thread;
    d->chunk = NULL;
    if (read_kept(t->s, &d->kept, get_stored(t, d), NULL) == NC_NOERR)
        d->chunk = pnc_chunks_cache_add(&t->s->cache, item->array, item->chunk, t->s->grids[item->array].chunk_bytes);
}

static void decode_part(void *own, int64_t part, int thread)
{
    decoding_task *t = own;
    decoding *d = &t->parts[part];

    d->err = NC_EREAD;
    if (d->chunk != NULL)
        d->err = pnc_filter_chunk_decode(&t->s->workers[thread], d->chain, get_stored(t, d), d->kept.place.bytes,
                                         (uint32_t)d->kept.place.mask, d->chunk,
                                         t->s->grids[d->kept.item.array].chunk_bytes, NULL);
    atomic_store_explicit(&d->is_done, true, memory_order_release);
    if (thread == 0 && t->use != NULL)
        use_decoded(t);
}

/* Whether the cache gets all bytes of the chunk from the container. */
static bool is_ahead(pnc_chunk_store *s, const pnc_chunk_item *item)
{
    const pnc_chunk_array *a = &s->source.arrays[item->array];

    return !pnc_chunks_array_is_part(a) && pnc_chunks_dirty_find(&s->dirty, item->array, item->chunk) == NULL &&
           pnc_chunks_map_find(&s->pending.map, item->array, item->chunk) == NULL &&
           pnc_chunks_map_find(&s->logged.map, item->array, item->chunk) == NULL &&
           pnc_chunks_cache_find(&s->cache, item->array, item->chunk) == NULL;
}

/* Chunks that this rank can decode, and that the worker has not decoded before. */
static int find_ahead(pnc_chunk_store *s, pnc_chunk_item *const *items, int n, decoding *out, int64_t *bytes)
{
    int count = 0;

    for (int i = 0; i < n; i++) {
        decoding *d = &out[count];

        if (!is_ahead(s, items[i]) || locate_chunk(s, items[i]->array, items[i]->chunk, &d->kept, NULL) != NC_NOERR ||
            !can_decode(s, &d->kept) || pnc_chunks_foreseen_has(s, items[i]->array, items[i]->chunk, &d->kept.place))
            continue;
        d->chain = &s->source.arrays[items[i]->array].filters;
        d->item = items[i];
        d->at = *bytes;
        atomic_init(&d->is_done, false);
        *bytes += d->kept.place.bytes;
        count++;
    }
    return count;
}

/* How many of the items fit in half of the cache. */
static int count_fitting(const pnc_chunk_store *s, pnc_chunk_item *const *items, int n)
{
    int64_t bytes = 0;
    int i = 0;

    for (; i < n && bytes <= s->cache.most / 2; i++)
        bytes += pnc_chunks_cache_count(s->grids[items[i]->array].chunk_bytes);
    return bytes <= s->cache.most / 2 ? i : i - 1;
}

/* What this thread copies meanwhile counts as time of filters. */
static void decode_ahead(decoding_task *t)
{
    pnc_chunk_store *s = t->s;
    pnc_counter before = pnc_statistics_begin(s->store.statistics, PNC_COUNT_TIME_FILTERS);
    decoding *parts = t->parts;

    pnc_host_pool_execute_fed(s->nthreads, t->n, feed_decoding, decode_part, t);
    pnc_statistics_end(s->store.statistics, before);
    if (t->use != NULL)
        use_decoded(t);
    for (int i = 0; i < t->n; i++) {
        const pnc_chunk_item *item = &parts[i].kept.item;

        if (parts[i].err == NC_NOERR)
            count_loaded(s, &parts[i].kept, s->grids[item->array].chunk_bytes);
        else if (pnc_chunks_cache_find(&s->cache, item->array, item->chunk) != NULL) /* it is the newest then */
            pnc_chunks_cache_undo(&s->cache);
    }
}

int pnc_chunks_ahead_load(pnc_chunk_store *s, pnc_chunk_item *const *items, int n, pnc_chunks_use use, void *own)
{
    decoding parts[PNC_CHUNKS_BATCH];
    decoding_task task = {.s = s, .parts = parts, .use = use, .own = own};
    int64_t bytes = 0;
    int count;

    n = count_fitting(s, items, (int)pnc_min64(n, PNC_CHUNKS_BATCH));
    count = find_ahead(s, items, n, parts, &bytes);
    if (count > 1 && reserve_stored(s, &s->source.arrays[0], bytes, NULL) == NC_NOERR) {
        task.n = count;
        decode_ahead(&task);
    }
    return n > 0 ? n : 1;
}

/* --- with what was written --- */

int pnc_chunks_chunk_merge(pnc_chunk_store *s, pnc_dirty_chunk *d, pnc_error *error)
{
    unsigned char *base = NULL;

    if (d->is_merged || d->covered == d->bytes / d->elem_size)
        return NC_NOERR;
    if (d->covered < d->inside) {
        base = pnc_chunks_cache_find(&s->cache, d->stored.item.array, d->stored.item.chunk);
        if (base == NULL)
            PNC_TRY(load_chunk(s, d->stored.item.array, d->stored.item.chunk, false, &base, error));
        pnc_statistics_add(s->store.statistics, PNC_COUNT_CHUNKS_MERGED, base != NULL);
    }
    pnc_chunks_dirty_merge(d, base, s->source.arrays[d->stored.item.array].fill);
    return NC_NOERR;
}

/* Bytes of a chunk that get what is logged. */
typedef struct logged_bytes {
    unsigned char *chunk;
    int size;
} logged_bytes;

static int copy_logged_box(void *own, const char *packed, int64_t head, int64_t length, pnc_error *error)
{
    const logged_bytes *to = own;
    pnc_packed_values bytes = {packed + head, to->size};
    const pnc_chunk_values values = pnc_chunks_packed_get_values(&bytes);
    pnc_box box;

    (void)length, (void)error;
    (void)pnc_chunks_head_unpack(packed, 0, &box);
    pnc_chunks_values_scatter(&box, &values, to->size, to->chunk);
    return NC_NOERR;
}

/* *bytes: those of the chunk that the cache got last; NULL: it does not have it. */
static int apply_log(pnc_chunk_store *s, const pnc_pending *log, const pnc_pending_chunk *p, unsigned char **bytes,
                     pnc_error *error)
{
    const pnc_chunk_array *a = &s->source.arrays[p->item.array];
    int64_t length = s->grids[p->item.array].chunk_bytes;
    int err;

    if (*bytes == NULL) {
        *bytes = pnc_chunks_cache_add(&s->cache, p->item.array, p->item.chunk, length);
        if (*bytes == NULL)
            return pnc_chunks_memory_fail(a, length, error);
        pnc_chunks_value_fill(a->fill, a->elem_size, (char *)*bytes, length);
    }
    err = pnc_chunks_pending_scan(log, p, copy_logged_box, &(logged_bytes){*bytes, a->elem_size}, NULL, error);
    if (err != NC_NOERR)
        pnc_chunks_cache_undo(&s->cache);
    return err;
}

/* The cache has what the container has, and what is pending or logged; not what waits. */
int pnc_chunks_chunk_get(pnc_chunk_store *s, int64_t array, int64_t chunk, bool once, const unsigned char **out,
                         pnc_error *error)
{
    pnc_dirty_chunk *d = pnc_chunks_dirty_find(&s->dirty, array, chunk);
    const pnc_pending *log = &s->pending;
    const pnc_pending_chunk *p;
    unsigned char *bytes;

    if (d != NULL) {
        *out = d->values;
        return pnc_chunks_chunk_merge(s, d, error);
    }
    bytes = pnc_chunks_cache_find(&s->cache, array, chunk);
    if (bytes == NULL) {
        p = (const pnc_pending_chunk *)pnc_chunks_map_find(&log->map, array, chunk);
        if (p == NULL) {
            log = &s->logged;
            p = (const pnc_pending_chunk *)pnc_chunks_map_find(&log->map, array, chunk);
        }
        PNC_TRY(load_chunk(s, array, chunk, once && p == NULL, &bytes, error));
        if (p != NULL)
            PNC_TRY(apply_log(s, log, p, &bytes, error));
    }
    *out = bytes;
    return NC_NOERR;
}
