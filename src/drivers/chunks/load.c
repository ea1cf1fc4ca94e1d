/* The bytes of a chunk, as this rank knows it: what waits to be written, the cache, or the file. */
#include "drivers/chunks/chunk_store.h"

#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "drivers/chunks/aggregator.h"

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
        aggregator = pnc_chunks_aggregator_find(chunk, s->grids[array].row, a->first, s->store.nprocs);
    return (pnc_chunk_item){array, chunk, aggregator, NULL};
}

/* --- from the file --- */

static int read_inner(pnc_chunk_store *s, int64_t offset, int64_t bytes, void *to, pnc_error *error)
{
    char *at = to;

    for (int64_t n; bytes > 0; offset += n, at += n, bytes -= n) {
        n = pnc_min64(bytes, PNC_STORE_BYTES_MAX / 2);
        PNC_TRY(s->store.inner->ops->read(s->store.inner, &(pnc_extent){offset, n}, 1, at, NULL, error));
    }
    return NC_NOERR;
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

/* The file has the bytes of the chunk as they are. */
static bool is_plain(const pnc_filter_chain *chain, const pnc_chunk_place *place, int64_t bytes)
{
    return place->bytes == bytes && pnc_filter_chunk_is_plain(chain, (uint32_t)place->mask);
}

static int decode_chunk(pnc_chunk_store *s, const pnc_chunk_array *a, const pnc_chunk_place *place,
                        const pnc_filter_chain *chain, unsigned char *chunk, int64_t bytes, pnc_error *error)
{
    bool is_first = error == NULL || error->code == NC_NOERR;
    pnc_counter before;
    int err;

    if (place->bytes > pnc_filter_chain_get_bound(chain, bytes))
        return pnc_error_set(error, NC_EHDFERR, "variable \"%s\": a chunk of %lld bytes is stored in %lld", a->name,
                             (long long)bytes, (long long)place->bytes);
    if (is_plain(chain, place, bytes))
        return read_inner(s, place->offset, bytes, chunk, error);
    PNC_TRY(reserve_stored(s, a, place->bytes, error));
    PNC_TRY(read_inner(s, place->offset, place->bytes, s->stored, error));
    before = pnc_statistics_begin(s->store.statistics, PNC_COUNT_TIME_FILTERS);
    err =
        pnc_filter_chunk_decode(&s->worker, chain, s->stored, place->bytes, (uint32_t)place->mask, chunk, bytes, error);
    pnc_statistics_end(s->store.statistics, before);
    return err == NC_NOERR ? NC_NOERR : pnc_chunks_name_add(a, err, is_first, error);
}

/* Chunks of which it is known whether they were read before: 64 MiB. */
#define MOST_LOADED (1 << 20)

static void count_loaded(pnc_chunk_store *s, int64_t array, int64_t chunk, int64_t bytes, int64_t stored)
{
    pnc_statistics *t = s->store.statistics;
    bool again = t != NULL && pnc_chunks_map_find(&s->loaded, array, chunk) != NULL;
    pnc_chunk_item *item;

    if (t == NULL)
        return;
    pnc_statistics_chunk_add(t, s->source.arrays[array].varid, false, bytes, stored, again);
    if (again)
        return;
    item = s->loaded.n < MOST_LOADED ? pnc_region_alloc(&s->loaded_region, (int64_t)sizeof *item) : NULL;
    if (item == NULL) /* also without memory: it counts as new again */
        return;
    *item = (pnc_chunk_item){array, chunk, 0, NULL};
    (void)pnc_chunks_map_add(&s->loaded, item);
}

/* Not through the cache: the system keeps such bytes, too. */
static int load_once(pnc_chunk_store *s, int64_t array, int64_t chunk, const pnc_chunk_place *place,
                     unsigned char **out, pnc_error *error)
{
    PNC_TRY(reserve_stored(s, &s->source.arrays[array], place->bytes, error));
    PNC_TRY(read_inner(s, place->offset, place->bytes, s->stored, error));
    count_loaded(s, array, chunk, place->bytes, place->bytes);
    *out = (unsigned char *)s->stored;
    return NC_NOERR;
}

/* The filters are checked first: an unknown one says nothing about the length of what it stores. */
static int load_chunk(pnc_chunk_store *s, int64_t array, int64_t chunk, const pnc_chunk_place *place, bool is_partial,
                      bool once, unsigned char **out, pnc_error *error)
{
    const pnc_chunk_array *a = &s->source.arrays[array];
    const pnc_filter_chain none = {0, NULL}, *chain = a->skips_partial && is_partial ? &none : &a->filters;
    int64_t bytes = s->grids[array].chunk_bytes;
    bool is_first = error == NULL || error->code == NC_NOERR;
    int err = pnc_filter_chain_check(chain, (uint32_t)place->mask, s->source.codecs, error);

    if (err != NC_NOERR)
        return pnc_chunks_name_add(a, err, is_first, error);
    if (once && is_plain(chain, place, bytes))
        return load_once(s, array, chunk, place, out, error);
    *out = pnc_chunks_cache_add(&s->cache, array, chunk, bytes);
    if (*out == NULL)
        return pnc_chunks_memory_fail(a, bytes, error);
    err = decode_chunk(s, a, place, chain, *out, bytes, error);
    if (err != NC_NOERR)
        pnc_chunks_cache_undo(&s->cache);
    else
        count_loaded(s, array, chunk, bytes, place->bytes);
    return err;
}

static int find_place_at(pnc_chunk_store *s, int64_t array, int64_t chunk, const int64_t *index, pnc_chunk_place *out,
                         pnc_error *error)
{
    const pnc_chunk_array *a = &s->source.arrays[array];
    const pnc_chunk_place *own = pnc_chunks_places_find(&s->places, array, chunk);
    int64_t placed;

    if (own == NULL)
        own = pnc_chunks_places_find(&s->shared, array, chunk);
    if (own != NULL) {
        *out = *own;
        return NC_NOERR;
    }
    if (a->places == NULL || s->is_renewed)
        return s->source.find(s->source.own, array, index, out, error);
    placed = pnc_chunks_grid_find_placed(&s->grids[array], index);
    *out = placed >= 0 ? a->places[placed] : (pnc_chunk_place){.offset = -1};
    return NC_NOERR;
}

int pnc_chunks_place_find(pnc_chunk_store *s, int64_t array, int64_t chunk, pnc_chunk_place *out, pnc_error *error)
{
    int64_t index[PNC_ARRAY_DIMS];

    pnc_chunks_grid_find_index(&s->grids[array], chunk, index);
    return find_place_at(s, array, chunk, index, out, error);
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

/* NULL: the file does not have it. Through the cache; once: as pnc_chunks_chunk_get. */
static int load_from_file(pnc_chunk_store *s, int64_t array, int64_t chunk, bool once, unsigned char **out,
                          pnc_error *error)
{
    int64_t index[PNC_ARRAY_DIMS];
    pnc_chunk_place place;
    bool is_partial = pnc_chunks_grid_find_index(&s->grids[array], chunk, index);

    *out = NULL;
    if (pnc_chunks_array_is_part(&s->source.arrays[array]))
        return copy_contents(s, array, chunk, out, error);
    PNC_TRY(find_place_at(s, array, chunk, index, &place, error));
    return place.offset < 0 ? NC_NOERR : load_chunk(s, array, chunk, &place, is_partial, once, out, error);
}

/* --- with what was written --- */

int pnc_chunks_chunk_merge(pnc_chunk_store *s, pnc_dirty_chunk *d, pnc_error *error)
{
    unsigned char *base = NULL;

    if (d->is_merged || d->covered == d->bytes / d->elem_size)
        return NC_NOERR;
    if (d->covered < d->inside) {
        base = pnc_chunks_cache_find(&s->cache, d->item.array, d->item.chunk);
        if (base == NULL)
            PNC_TRY(load_from_file(s, d->item.array, d->item.chunk, false, &base, error));
        pnc_statistics_add(s->store.statistics, PNC_COUNT_CHUNKS_MERGED, base != NULL);
    }
    pnc_chunks_dirty_merge(d, base, s->source.arrays[d->item.array].fill);
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

/* The cache has what the file has, and what is pending or logged; not what waits. */
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
        PNC_TRY(load_from_file(s, array, chunk, once && p == NULL, &bytes, error));
        if (p != NULL)
            PNC_TRY(apply_log(s, log, p, &bytes, error));
    }
    *out = bytes;
    return NC_NOERR;
}
