/* From offsets in a variable to bytes of its chunks. */
#include "drivers/chunks/grid.h"

#include <string.h>

#include "base/minmax.h"

void pnc_chunks_grid_init(pnc_chunk_grid *g, const pnc_chunk_array *a)
{
    int n = a->ndims;

    *g = (pnc_chunk_grid){.unit = a->elem_size, .chunk_bytes = a->elem_size};
    for (int i = 0; i < n; i++)
        g->chunk_bytes *= a->chunk[i];
    for (; n > 1 && a->chunk[n - 1] == a->shape[n - 1] && a->extent[n - 1] == a->shape[n - 1]; n--)
        g->unit *= a->shape[n - 1];
    g->ndims = n;
    for (int i = 0; i < n; i++) {
        g->shape[i] = a->shape[i];
        g->extent[i] = a->extent[i];
        g->chunk[i] = a->chunk[i];
        g->along[i] = a->extent[i] / a->chunk[i] + (a->extent[i] % a->chunk[i] != 0);
    }
}

pnc_chunk_run pnc_chunks_grid_find_run(const pnc_chunk_grid *g, int64_t offset)
{
    int last = g->ndims - 1;
    int64_t element = offset / g->unit, left = offset % g->unit, column = element % g->shape[last];
    int64_t number = 0, chunks = 1, distance = g->unit, end = g->extent[last];
    pnc_chunk_run run = {.within = left};
    bool is_stored = true;

    for (int i = last; i >= 0; i--) {
        int64_t index = element % g->shape[i];

        element /= g->shape[i];
        is_stored = is_stored && index < g->extent[i];
        number += index / g->chunk[i] * chunks;
        run.within += index % g->chunk[i] * distance;
        chunks *= g->along[i];
        distance *= g->chunk[i];
    }
    run.chunk = is_stored ? number : -1;
    if (is_stored)
        end = pnc_min64(end, (column / g->chunk[last] + 1) * g->chunk[last]);
    else
        end = g->shape[last];
    run.length = (end - column) * g->unit - left;
    return run;
}

bool pnc_chunks_grid_find_index(const pnc_chunk_grid *g, int64_t chunk, int ndims, int64_t *index)
{
    bool is_partial = false;

    memset(index, 0, (size_t)ndims * sizeof *index);
    for (int i = g->ndims - 1; i >= 0; i--) {
        index[i] = chunk % g->along[i] * g->chunk[i];
        chunk /= g->along[i];
        is_partial = is_partial || g->extent[i] - index[i] < g->chunk[i];
    }
    return is_partial;
}
