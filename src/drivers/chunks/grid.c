/* Grids of chunks. */
#include "drivers/chunks/grid.h"

#include "base/memory.h"
#include "base/minmax.h"

/* The chunks in a row, which a call of a program covers: those of an index of the leading dimensions that grow or of
 * which a chunk has one index, as programs access such dimensions index by index. 0 if a dimension behind them grows,
 * whose length says nothing about how many chunks there will be. */
static int64_t count_row(const pnc_chunk_grid *g, uint32_t growing)
{
    int64_t n = 1;
    int first = 0;

    while (first < g->ndims &&
           ((growing >> first & 1) != 0 || (g->chunk[first] * g->shard[first] == 1 && first < g->ndims - 1)))
        first++;
    if (first < 32 && growing >> first != 0)
        return 0;
    for (int i = first; i < g->ndims; i++)
        if (pnc_size_multiply(n, g->shards_along[i], &n) < 0)
            return 0;
    return n;
}

void pnc_chunks_grid_init(pnc_chunk_grid *g, const pnc_chunk_array *a)
{
    *g = (pnc_chunk_grid){.ndims = a->ndims, .elem_size = a->elem_size, .chunk_bytes = a->elem_size};
    for (int i = 0; i < a->ndims; i++) {
        g->shape[i] = a->shape[i];
        g->extent[i] = a->extent[i];
        g->chunk[i] = a->chunk != NULL ? a->chunk[i] : pnc_max64(1, a->extent[i]);
    }
    (void)pnc_array_chunks_count(g->ndims, g->shape, g->chunk, g->along);
    for (int i = 0; a->chunk != NULL && i < a->ndims; i++)
        g->chunk_bytes *= a->chunk[i];
    g->has_shards = a->shard != NULL;
    for (int i = 0; i < a->ndims; i++) {
        g->shard[i] = a->shard != NULL ? a->shard[i] : 1;
        g->shards_along[i] = (g->along[i] - 1) / g->shard[i] + 1;
    }
    g->row = count_row(g, a->growing);
}

void pnc_chunks_grid_update(pnc_chunk_grid *g, const pnc_chunk_array *a)
{
    for (int i = 0; i < g->ndims; i++)
        g->extent[i] = a->extent[i];
}

bool pnc_chunks_grid_find_index(const pnc_chunk_grid *g, int64_t chunk, int64_t *index)
{
    const pnc_array_grid grid = pnc_chunks_grid_get(g);
    bool is_partial = false;

    pnc_array_index_find(&grid, chunk, index);
    for (int i = 0; i < g->ndims; i++)
        is_partial = is_partial || g->extent[i] - index[i] < g->chunk[i];
    return is_partial;
}

int64_t pnc_chunks_grid_find_shard(const pnc_chunk_grid *g, int64_t chunk)
{
    int64_t number = 0, stride = 1;

    if (!g->has_shards)
        return chunk;
    for (int i = g->ndims - 1; i >= 0; i--) {
        number += chunk % g->along[i] / g->shard[i] * stride;
        stride *= g->shards_along[i];
        chunk /= g->along[i];
    }
    return number;
}

int64_t pnc_chunks_grid_count_inside(const pnc_chunk_grid *g, int64_t chunk)
{
    int64_t bytes = g->elem_size;

    for (int i = g->ndims - 1; i >= 0; i--) {
        bytes *= pnc_min64(g->chunk[i], g->shape[i] - chunk % g->along[i] * g->chunk[i]);
        chunk /= g->along[i];
    }
    return bytes;
}
