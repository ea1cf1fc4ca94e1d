/* A hyperslab over a grid of chunks: the box of each chunk that it touches, each chunk once, without expansion. An
 * array in one part is a grid of one chunk. Pure. */
#ifndef PNC_ARRAY_WALK_H
#define PNC_ARRAY_WALK_H

#include "array/box.h"

/* An array in chunks. Those at its end may extend beyond it. */
typedef struct pnc_array_grid {
    int ndims;
    const int64_t *chunk; /* its lengths, at least 1 */
    const int64_t *along; /* how many chunks there are along each dimension */
} pnc_array_grid;

/* The product of lengths that does not exceed 64 bits. */
int64_t pnc_array_elements_count(int ndims, const int64_t *count);
/* Set along[d] for all dimensions. Returns the number of chunks; INT64_MAX if it exceeds 64 bits. */
int64_t pnc_array_chunks_count(int ndims, const int64_t *shape, const int64_t *chunk, int64_t *along);
/* The index at which a chunk begins. */
void pnc_array_index_find(const pnc_array_grid *grid, int64_t chunk, int64_t *index);

/* Elements of an array. */
typedef struct pnc_array_slab {
    const int64_t *start, *count;
    const int64_t *stride; /* NULL: ones */
    const int64_t *values; /* lengths of the array of values, of which the hyperslab has the first ones along each
                            * dimension; NULL: it has all */
    int64_t first;         /* the number of the first value */
} pnc_array_slab;

typedef struct pnc_array_walk {
    pnc_array_grid grid;
    int64_t first;
    int64_t start[PNC_ARRAY_DIMS], count[PNC_ARRAY_DIMS], stride[PNC_ARRAY_DIMS];
    int64_t in_values[PNC_ARRAY_DIMS];             /* from one index to the next one */
    int64_t at[PNC_ARRAY_DIMS], n[PNC_ARRAY_DIMS]; /* indices of the hyperslab in the next chunk: the first, how many */
    bool has_next;
} pnc_array_walk;

/* The hyperslab lies within the grid. Its numbers are copied, the lengths of the grid are not. */
void pnc_array_walk_init(pnc_array_walk *walk, const pnc_array_grid *grid, const pnc_array_slab *slab);
/* false: there is none left. */
bool pnc_array_walk_next(pnc_array_walk *walk, pnc_box *box);

/* The largest hyperslab of at most n elements that begins at `first`, both counted in row-major order of the shape: the
 * beginning of a range of elements. Returns its number of elements. The first length is not used. */
int64_t pnc_array_range_take(int ndims, const int64_t *shape, int64_t first, int64_t n, int64_t *start, int64_t *count);

#endif
