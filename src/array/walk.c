/* Grids, and hyperslabs over them. */
#include "array/walk.h"

#include <stddef.h>

#include "base/memory.h"
#include "base/minmax.h"

int64_t pnc_array_elements_count(int ndims, const int64_t *count)
{
    int64_t n = 1;

    for (int d = 0; d < ndims; d++)
        n *= count[d];
    return n;
}

int64_t pnc_array_chunks_count(int ndims, const int64_t *shape, const int64_t *chunk, int64_t *along)
{
    int64_t n = 1;
    bool exceeds = false;

    for (int d = 0; d < ndims; d++) {
        along[d] = shape[d] / chunk[d] + (shape[d] % chunk[d] != 0);
        exceeds = exceeds || pnc_size_multiply(n, along[d], &n) < 0;
    }
    return exceeds ? INT64_MAX : n;
}

void pnc_array_index_find(const pnc_array_grid *grid, int64_t chunk, int64_t *index)
{
    for (int d = grid->ndims - 1; d >= 0; d--) {
        index[d] = chunk % grid->along[d] * grid->chunk[d];
        chunk /= grid->along[d];
    }
}

/* How many indices from w->at[d] on are in the same chunk. */
static void find_end_in_chunk(pnc_array_walk *w, int d)
{
    int64_t index = w->start[d] + w->at[d] * w->stride[d], length = w->grid.chunk[d];
    int64_t left = length - index % length;

    w->n[d] = pnc_min64(w->count[d] - w->at[d], left / w->stride[d] + (left % w->stride[d] != 0));
}

void pnc_array_walk_init(pnc_array_walk *w, const pnc_array_grid *grid, const pnc_array_slab *slab)
{
    int64_t step = 1;

    w->grid = *grid;
    w->first = slab->first;
    w->has_next = true;
    for (int d = grid->ndims - 1; d >= 0; d--) {
        w->start[d] = slab->start[d];
        w->count[d] = slab->count[d];
        w->stride[d] = slab->stride != NULL ? slab->stride[d] : 1;
        w->in_values[d] = step;
        step *= slab->values != NULL ? slab->values[d] : slab->count[d];
        w->at[d] = 0;
        w->has_next = w->has_next && w->count[d] > 0;
        if (w->has_next)
            find_end_in_chunk(w, d);
    }
}

static void make_box(const pnc_array_walk *w, pnc_box *box)
{
    int64_t chunks = 1, step = 1;

    box->chunk = box->at = 0;
    box->value = w->first;
    box->run = box->n = 1;
    box->naxes = 0;
    for (int d = w->grid.ndims - 1; d >= 0; d--) {
        int64_t index = w->start[d] + w->at[d] * w->stride[d], length = w->grid.chunk[d];

        box->chunk += index / length * chunks;
        box->at += index % length * step;
        box->value += w->at[d] * w->in_values[d];
        pnc_array_axis_add(box, w->n[d], w->n[d] > 1 ? w->stride[d] * step : 0, w->in_values[d]);
        chunks *= w->grid.along[d];
        step *= length;
    }
}

bool pnc_array_walk_next(pnc_array_walk *w, pnc_box *box)
{
    if (!w->has_next)
        return false;
    make_box(w, box);
    w->has_next = false;
    for (int d = w->grid.ndims - 1; d >= 0 && !w->has_next; d--) {
        w->at[d] += w->n[d];
        w->has_next = w->at[d] < w->count[d];
        if (!w->has_next)
            w->at[d] = 0;
        find_end_in_chunk(w, d);
    }
    return true;
}

int64_t pnc_array_range_take(int ndims, const int64_t *shape, int64_t first, int64_t n, int64_t *start, int64_t *count)
{
    int64_t step = 1, taken = 1;
    bool is_whole = true; /* the dimensions behind are taken from their beginning to their end */

    for (int d = ndims - 1; d >= 0; d--) {
        start[d] = d > 0 ? first % shape[d] : first;
        first = d > 0 ? first / shape[d] : 0;
        count[d] = 1;
        if (is_whole) {
            int64_t left = d > 0 ? pnc_min64(n / step, shape[d] - start[d]) : n / step;

            count[d] = pnc_max64(left, 1);
            taken = step * count[d];
            is_whole = d > 0 && start[d] == 0 && count[d] == shape[d];
            step *= d > 0 ? shape[d] : 1;
        }
    }
    return taken;
}
