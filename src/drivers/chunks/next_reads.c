/* Which bytes of the file a later read will need: those of its chunks that this rank will load. */
#include "base/minmax.h"
#include "drivers/chunks/aggregator.h"
#include "drivers/chunks/chunk_store.h"

/* Of all ranks, in a read: of one with more, nothing is read ahead. A guess: looking them up takes less time than the
 * read of one chunk. */
#define CHUNKS_MOST 4096

/* A box of chunks: numbers along each dimension of the grid. */
typedef struct chunk_box {
    int64_t first[PNC_ARRAY_DIMS], last[PNC_ARRAY_DIMS];
    int64_t n;
} chunk_box;

/* The array that has all of the range; -1: none has. */
static int64_t find_only_array(const pnc_chunk_store *s, pnc_extent range)
{
    for (int64_t i = 0; i < s->source.narrays; i++) {
        int64_t array = (s->latest + i) % s->source.narrays; /* mostly the one that was read */
        const pnc_chunk_array *a = &s->source.arrays[array];

        if (range.offset >= a->begin && range.offset - a->begin < a->bytes)
            return range.length <= a->bytes - (range.offset - a->begin) ? array : -1;
    }
    return -1;
}

/* The smallest box around the elements from `low` to `high`: along the first dimension in which both differ it has what
 * is between, along those behind it everything. */
static chunk_box find_box(const pnc_chunk_grid *g, int64_t low, int64_t high)
{
    int64_t from[PNC_ARRAY_DIMS], to[PNC_ARRAY_DIMS];
    chunk_box box = {.n = 1};
    bool differs = false;

    for (int i = g->ndims - 1; i >= 0; i--) {
        from[i] = low % g->shape[i];
        to[i] = high % g->shape[i];
        low /= g->shape[i];
        high /= g->shape[i];
    }
    for (int i = 0; i < g->ndims; i++) {
        int64_t end = differs ? g->extent[i] - 1 : pnc_min64(to[i], g->extent[i] - 1);

        box.first[i] = differs ? 0 : from[i] / g->chunk[i];
        box.last[i] = end >= 0 ? end / g->chunk[i] : -1;
        differs = differs || from[i] != to[i];
        box.n = pnc_min64(box.n * pnc_max64(0, box.last[i] - box.first[i] + 1), CHUNKS_MOST + 1);
    }
    return box;
}

/* Whether the rank has it in memory, or another one will load it. */
static bool is_unneeded(pnc_chunk_store *s, const pnc_chunk_item *item, bool collective)
{
    return (collective && item->aggregator != s->store.rank) ||
           pnc_chunks_dirty_find(&s->dirty, item->array, item->chunk) != NULL ||
           pnc_chunks_cache_find(&s->cache, item->array, item->chunk) != NULL;
}

/* The chunks of the box that this rank will load. */
static int find_needed(pnc_chunk_store *s, int64_t array, const chunk_box *box, bool collective, pnc_extent *out,
                       int most)
{
    const pnc_chunk_grid *g = &s->grids[array];
    int n = 0;

    for (int64_t k = 0; k < box->n; k++) {
        int64_t rest = k, number = 0, size = 1;
        pnc_chunk_place place;
        pnc_chunk_item item;

        for (int i = g->ndims - 1; i >= 0; i--) {
            int64_t along = box->last[i] - box->first[i] + 1;

            number += (box->first[i] + rest % along) * size;
            rest /= along;
            size *= g->along[i];
        }
        item = pnc_chunks_item_make(s, array, number);
        if (is_unneeded(s, &item, collective))
            continue;
        if (pnc_chunks_place_find(s, array, number, &place, NULL) != NC_NOERR || n == most)
            return 0;
        if (place.offset >= 0 && place.bytes > 0 && place.bytes <= PNC_STORE_BYTES_MAX / 2)
            out[n++] = (pnc_extent){place.offset, place.bytes};
    }
    return n;
}

int pnc_chunks_reads_find(pnc_store *store, pnc_extent range, bool collective, pnc_extent *out, int most)
{
    pnc_chunk_store *s = pnc_chunks_store_of(store);
    const pnc_chunk_array *a;
    const pnc_chunk_grid *g;
    int64_t array;
    chunk_box box;

    if (s->source.narrays == 0 || range.offset + range.length <= s->source.arrays[0].begin)
        return -1;
    array = find_only_array(s, range);
    a = &s->source.arrays[pnc_max64(array, 0)];
    if (array < 0 || range.length <= 0 || a->refusal != NULL || a->chunk == NULL || pnc_chunks_array_is_part(a))
        return 0;
    g = &s->grids[array];
    box = find_box(g, (range.offset - a->begin) / g->elem_size,
                   (range.offset - a->begin + range.length - 1) / g->elem_size);
    return box.n <= CHUNKS_MOST ? find_needed(s, array, &box, collective, out, most) : 0;
}
