/* From offsets in a variable to bytes of its chunks. */
#include "drivers/chunks/grid.h"

#include <string.h>

#include "base/minmax.h"

static int64_t count_chunks_along(int64_t length, int64_t chunk)
{
    return length / chunk + (length % chunk != 0);
}

/* The chunks in a row, which a call of a program covers: those of an index of the leading dimensions that grow or of
 * which a chunk has one index, as programs access such dimensions index by index. 0 if a dimension behind them grows,
 * whose length says nothing about how many chunks there will be. */
static int64_t count_row(const pnc_chunk_grid *g, uint32_t growing)
{
    int64_t n = 1;
    int first = 0;

    while (first < g->ndims && ((growing >> first & 1) != 0 || (g->chunk[first] == 1 && first < g->ndims - 1)))
        first++;
    if (first < 32 && growing >> first != 0)
        return 0;
    for (int i = first; i < g->ndims; i++)
        n *= g->along[i];
    return n;
}

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
        g->along[i] = count_chunks_along(a->shape[i], a->chunk[i]);
        g->placed[i] = count_chunks_along(a->extent[i], a->chunk[i]);
    }
    g->row = count_row(g, a->growing);
}

void pnc_chunks_grid_update(pnc_chunk_grid *g, const pnc_chunk_array *a)
{
    for (int i = 0; i < g->ndims; i++)
        g->extent[i] = a->extent[i];
}

static pnc_chunk_run find_run_within(const pnc_chunk_grid *g, const int64_t *limit, int64_t offset)
{
    int last = g->ndims - 1;
    int64_t element = offset / g->unit, left = offset % g->unit, column = element % g->shape[last];
    int64_t number = 0, chunks = 1, distance = g->unit, end = limit[last];
    pnc_chunk_run run = {.within = left};
    bool is_stored = true;

    for (int i = last; i >= 0; i--) {
        int64_t index = element % g->shape[i];

        element /= g->shape[i];
        is_stored = is_stored && index < limit[i];
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

pnc_chunk_run pnc_chunks_grid_find_run(const pnc_chunk_grid *g, int64_t offset)
{
    return find_run_within(g, g->extent, offset);
}

pnc_chunk_run pnc_chunks_grid_find_any_run(const pnc_chunk_grid *g, int64_t offset)
{
    return find_run_within(g, g->shape, offset);
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

int64_t pnc_chunks_grid_find_placed(const pnc_chunk_grid *g, const int64_t *index)
{
    int64_t number = 0;

    for (int i = 0; i < g->ndims; i++) {
        int64_t at = index[i] / g->chunk[i];

        if (at >= g->placed[i])
            return -1;
        number = number * g->placed[i] + at;
    }
    return number;
}

int64_t pnc_chunks_grid_count_inside(const pnc_chunk_grid *g, int64_t chunk)
{
    int64_t bytes = g->unit;

    for (int i = g->ndims - 1; i >= 0; i--) {
        bytes *= pnc_min64(g->chunk[i], g->shape[i] - chunk % g->along[i] * g->chunk[i]);
        chunk /= g->along[i];
    }
    return bytes;
}
