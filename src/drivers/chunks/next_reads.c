/* Which bytes of the file a later read will need: those of its chunks that this rank will load. */
#include "base/minmax.h"
#include "drivers/chunks/aggregator.h"
#include "drivers/chunks/chunk_store.h"

/* Of all ranks, in a read: of one with more, nothing is read ahead. A guess: looking them up takes less time than the
 * read of one chunk. */
#define CHUNKS_MOST 4096

/* The smallest hyperslab around the elements from `low` to `high`: along the first dimension where both differ it has
 * what is between, along those behind it everything. Returns how many chunks it touches, CHUNKS_MOST + 1 if more. */
static int64_t find_read_slab(const pnc_chunk_grid *g, int64_t low, int64_t high, int64_t *start, int64_t *count)
{
    int64_t from[PNC_ARRAY_DIMS], to[PNC_ARRAY_DIMS], n = 1;
    bool differs = false;

    for (int i = g->ndims - 1; i >= 0; i--) {
        from[i] = low % g->shape[i];
        to[i] = high % g->shape[i];
        low /= g->shape[i];
        high /= g->shape[i];
    }
    for (int i = 0; i < g->ndims; i++) {
        int64_t end = differs ? g->extent[i] : pnc_min64(to[i] + 1, g->extent[i]);

        start[i] = differs ? 0 : from[i];
        count[i] = pnc_max64(0, end - start[i]);
        differs = differs || from[i] != to[i];
        if (count[i] == 0)
            return 0;
        n = pnc_min64(n * ((end - 1) / g->chunk[i] - start[i] / g->chunk[i] + 1), CHUNKS_MOST + 1);
    }
    return n;
}

/* Whether the rank has it in memory, or another one will load it. */
static bool is_unneeded(pnc_chunk_store *s, const pnc_chunk_item *item, bool collective)
{
    return (collective && item->aggregator != s->store.rank) ||
           pnc_chunks_dirty_find(&s->dirty, item->array, item->chunk) != NULL ||
           pnc_chunks_cache_find(&s->cache, item->array, item->chunk) != NULL;
}

/* The chunks of the hyperslab that this rank will load. */
static int find_needed(pnc_chunk_store *s, int64_t array, const pnc_array_slab *slab, bool collective, pnc_extent *out,
                       int most)
{
    pnc_array_walk walk;
    pnc_box box;
    int n = 0;

    pnc_chunks_walk_init(&s->store, array, slab, &walk);
    while (pnc_array_walk_next(&walk, &box)) {
        const pnc_chunk_item item = pnc_chunks_item_make(s, array, box.chunk);
        pnc_chunk_place place;

        if (is_unneeded(s, &item, collective))
            continue;
        if (pnc_chunks_place_find(s, array, box.chunk, &place, NULL) != NC_NOERR || n == most)
            return 0;
        if (place.offset >= 0 && place.bytes > 0 && place.bytes <= PNC_STORE_BYTES_MAX / 2)
            out[n++] = (pnc_extent){place.offset, place.bytes};
    }
    return n;
}

int pnc_chunks_reads_find(pnc_store *store, int varid, pnc_extent range, bool collective, pnc_extent *out, int most)
{
    pnc_chunk_store *s = pnc_chunks_store_of(store);
    int64_t array = pnc_chunks_array_find(store, varid), start[PNC_ARRAY_DIMS], count[PNC_ARRAY_DIMS], n;
    const pnc_array_slab slab = {.start = start, .count = count};
    const pnc_chunk_array *a;
    const pnc_chunk_grid *g;

    if (array < 0)
        return -1;
    a = &s->source.arrays[array];
    if (range.length <= 0 || a->refusal != NULL || a->chunk == NULL || pnc_chunks_array_is_part(a) ||
        !s->source.container->ops->is_in_file)
        return 0;
    g = &s->grids[array];
    n = find_read_slab(g, range.offset / g->elem_size, (range.offset + range.length - 1) / g->elem_size, start, count);
    return n > 0 && n <= CHUNKS_MOST ? find_needed(s, array, &slab, collective, out, most) : 0;
}
