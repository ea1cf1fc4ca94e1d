/* The grid of chunks of a variable. An array in one part is a grid of one. */
#ifndef PNC_CHUNKS_GRID_H
#define PNC_CHUNKS_GRID_H

#include "array/walk.h"
#include "drivers/chunks/chunks.h"

typedef struct pnc_chunk_grid {
    int ndims;
    int elem_size;
    int64_t shape[PNC_ARRAY_DIMS], extent[PNC_ARRAY_DIMS], chunk[PNC_ARRAY_DIMS];
    int64_t along[PNC_ARRAY_DIMS]; /* how many chunks the shape has */
    int64_t chunk_bytes;
    int64_t row; /* chunks, or shards, in a row, for pnc_chunks_aggregator_find */
    bool has_shards;
    int64_t shard[PNC_ARRAY_DIMS], shards_along[PNC_ARRAY_DIMS];
} pnc_chunk_grid;

void pnc_chunks_grid_init(pnc_chunk_grid *grid, const pnc_chunk_array *array);
/* The extent of the array has changed. */
void pnc_chunks_grid_update(pnc_chunk_grid *grid, const pnc_chunk_array *array);
/* The index at which a chunk begins. Whether it extends beyond the extent. */
bool pnc_chunks_grid_find_index(const pnc_chunk_grid *grid, int64_t chunk, int64_t *index);
static inline pnc_array_grid pnc_chunks_grid_get(const pnc_chunk_grid *grid)
{
    return (pnc_array_grid){grid->ndims, grid->chunk, grid->along};
}

/* The number of the shard that has a chunk, in row-major order; without shards, that of the chunk. */
int64_t pnc_chunks_grid_find_shard(const pnc_chunk_grid *grid, int64_t chunk);

/* The bytes of a chunk that are within the shape. */
int64_t pnc_chunks_grid_count_inside(const pnc_chunk_grid *grid, int64_t chunk);

#endif
