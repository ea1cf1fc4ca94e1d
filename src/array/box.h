/* A box: what a hyperslab has of one chunk. It is a nest of axes around runs of elements that are adjacent in the chunk
 * and among the values of the hyperslab, which are numbered in their order. Pure. */
#ifndef PNC_ARRAY_BOX_H
#define PNC_ARRAY_BOX_H

#include <stdbool.h>
#include <stdint.h>

#define PNC_ARRAY_DIMS 32 /* most that HDF5 has */

/* How often, and how many elements apart. */
typedef struct pnc_box_axis {
    int64_t count, in_chunk, in_values;
} pnc_box_axis;

typedef struct pnc_box {
    int64_t chunk;     /* its number, in row-major order of the grid */
    int64_t at, value; /* the first element: in the chunk, among the values */
    int64_t run;       /* elements of each run; 0: nothing */
    int64_t n;         /* of all runs */
    int naxes;
    pnc_box_axis axes[PNC_ARRAY_DIMS]; /* innermost first */
} pnc_box;

/* A run of a box. */
typedef struct pnc_box_run {
    int64_t at, value;
    int64_t index[PNC_ARRAY_DIMS]; /* along each axis */
} pnc_box_run;

static inline pnc_box_run pnc_array_run_begin(const pnc_box *box)
{
    pnc_box_run run;

    run.at = box->at;
    run.value = box->value;
    for (int i = 0; i < box->naxes; i++)
        run.index[i] = 0;
    return run;
}

/* The next run in the order of the values; false after the last one. */
static inline bool pnc_array_run_next(const pnc_box *box, pnc_box_run *run)
{
    for (int i = 0; i < box->naxes; i++) {
        const pnc_box_axis *axis = &box->axes[i];

        run->at += axis->in_chunk;
        run->value += axis->in_values;
        if (++run->index[i] < axis->count)
            return true;
        run->index[i] = 0;
        run->at -= axis->count * axis->in_chunk;
        run->value -= axis->count * axis->in_values;
    }
    return false;
}

/* Add an axis around those that there are. */
void pnc_array_axis_add(pnc_box *box, int64_t count, int64_t in_chunk, int64_t in_values);
/* Pass the box on in parts of at most `most` elements, in the order of its values, up to the first error. */
int pnc_array_box_divide(const pnc_box *box, int64_t most, int (*visit)(void *own, const pnc_box *part), void *own);

#endif
