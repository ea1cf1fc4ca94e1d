/* Boxes: runs of elements, and axes around them. */
#include "array/box.h"

#include <stddef.h>

void pnc_array_axis_add(pnc_box *box, int64_t count, int64_t in_chunk, int64_t in_values)
{
    pnc_box_axis *outer = box->naxes > 0 ? &box->axes[box->naxes - 1] : NULL;

    box->n *= count;
    if (count == 1)
        return;
    if (outer == NULL && in_chunk == box->run && in_values == box->run)
        box->run *= count;
    else if (outer != NULL && in_chunk == outer->count * outer->in_chunk &&
             in_values == outer->count * outer->in_values)
        outer->count *= count;
    else
        box->axes[box->naxes++] = (pnc_box_axis){count, in_chunk, in_values};
}

/* A part of the outermost axis, or of the only run. */
static void take_part(const pnc_box *box, int64_t first, int64_t count, pnc_box *part)
{
    pnc_box_axis *outer;

    *part = *box;
    if (box->naxes == 0) {
        part->at += first;
        part->value += first;
        part->run = part->n = count;
        return;
    }
    outer = &part->axes[part->naxes - 1];
    part->at += first * outer->in_chunk;
    part->value += first * outer->in_values;
    part->n = part->n / outer->count * count;
    outer->count = count;
    part->naxes -= count == 1;
}

int pnc_array_box_divide(const pnc_box *box, int64_t most, int (*visit)(void *own, const pnc_box *part), void *own)
{
    int64_t all = box->naxes == 0 ? box->run : box->axes[box->naxes - 1].count, each = box->n / all;
    int64_t count = each < most ? most / each : 1;
    int err = 0;

    if (box->n <= most)
        return visit(own, box);
    for (int64_t first = 0; first < all && err == 0; first += count) {
        pnc_box part;

        take_part(box, first, count < all - first ? count : all - first, &part);
        err = each <= most ? visit(own, &part) : pnc_array_box_divide(&part, most, visit, own);
    }
    return err;
}
