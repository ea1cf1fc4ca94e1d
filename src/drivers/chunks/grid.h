/* From offsets in a variable to bytes of its chunks. Trailing dimensions of which every chunk has all are one element
 * here. */
#ifndef PNC_CHUNKS_GRID_H
#define PNC_CHUNKS_GRID_H

#include "drivers/chunks/chunks.h"

#define PNC_GRID_DIMS 32 /* most that HDF5 has */

typedef struct pnc_chunk_grid {
    int ndims;
    int64_t unit; /* bytes of an element */
    int64_t shape[PNC_GRID_DIMS], extent[PNC_GRID_DIMS], chunk[PNC_GRID_DIMS];
    int64_t along[PNC_GRID_DIMS];  /* how many chunks the shape has */
    int64_t placed[PNC_GRID_DIMS]; /* how many the extent had at first: of the places in the array */
    int64_t chunk_bytes;
    int64_t row; /* chunks in a row, for pnc_chunks_aggregator_find */
} pnc_chunk_grid;

/* Bytes that are adjacent in the variable and in a chunk, or in none. */
typedef struct pnc_chunk_run {
    int64_t length;
    int64_t chunk;  /* its number, in row-major order of the grid of the shape; -1: beyond the extent */
    int64_t within; /* offset in it */
} pnc_chunk_run;

void pnc_chunks_grid_init(pnc_chunk_grid *grid, const pnc_chunk_array *array);
/* The extent of the array has changed. */
void pnc_chunks_grid_update(pnc_chunk_grid *grid, const pnc_chunk_array *array);
/* The run that begins at an offset of the variable, to be read: it ends where the extent does. */
pnc_chunk_run pnc_chunks_grid_find_run(const pnc_chunk_grid *grid, int64_t offset);
/* The same, to be written: the whole shape has chunks. */
pnc_chunk_run pnc_chunks_grid_find_any_run(const pnc_chunk_grid *grid, int64_t offset);
/* The index at which a chunk begins, in all `ndims` dimensions of the variable. Whether it extends beyond the
 * extent. */
bool pnc_chunks_grid_find_index(const pnc_chunk_grid *grid, int64_t chunk, int ndims, int64_t *index);
/* The number of a chunk in row-major order of the extent at first; -1: it was beyond it. */
int64_t pnc_chunks_grid_find_placed(const pnc_chunk_grid *grid, const int64_t *index);
/* The bytes of a chunk that are within the shape. */
int64_t pnc_chunks_grid_count_inside(const pnc_chunk_grid *grid, int64_t chunk);

#endif
