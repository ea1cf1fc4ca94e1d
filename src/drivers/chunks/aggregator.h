/* Which rank has the values of a chunk that are not in the file yet. */
#ifndef PNC_CHUNKS_AGGREGATOR_H
#define PNC_CHUNKS_AGGREGATOR_H

#include <stdint.h>

/* Chunk `chunk` of an array with `row` chunks in a row; row 0: any ranks, evenly. A row is divided into blocks: the
 * rank that writes a part of an array often is its aggregator. `first` rotates rows with fewer chunks than ranks, so
 * that those of many arrays and records are not all the first rank's. */
int pnc_chunks_aggregator_find(int64_t chunk, int64_t row, int64_t first, int nprocs);

#endif
