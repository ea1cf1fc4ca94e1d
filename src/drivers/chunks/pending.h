/* Values of chunks as a log of runs for each: what this rank has written to chunks of other aggregators, and not
 * delivered; what an aggregator has of chunks for which it has no memory.
 *
 * A log that takes too much memory is spilled: the runs of each chunk become a segment of a file, which leads to the
 * segment before it. What stays in memory is of the order of the chunks. */
#ifndef PNC_CHUNKS_PENDING_H
#define PNC_CHUNKS_PENDING_H

#include "base/region.h"
#include "drivers/chunks/map.h"
#include "drivers/chunks/spill.h"

typedef struct pnc_pending_run {
    struct pnc_pending_run *next; /* written later */
    int64_t within, length, capacity;
    unsigned char bytes[];
} pnc_pending_run;

typedef struct pnc_pending_chunk {
    pnc_chunk_item item;
    pnc_pending_run *first, *last; /* in memory: written after those that are spilled */
    int64_t segment, nsegments;    /* where the last one is in the file; how many there are */
} pnc_pending_chunk;

typedef struct pnc_pending {
    pnc_chunk_map map;
    pnc_chunk_item *chunks; /* the list of all */
    pnc_region region;      /* of chunks */
    pnc_region runs;
    int64_t bytes; /* of runs, roughly */
    pnc_spill spill;
    int64_t nstores;             /* how often runs were spilled: a chunk has at most as many segments */
    char *buffer;                /* of spilled runs; NULL until there are any */
    int64_t *segments, capacity; /* to read those of a chunk */
} pnc_pending;

/* false without memory: a part of the bytes may have been added. */
bool pnc_chunks_pending_add(pnc_pending *pending, const pnc_chunk_item *item, int64_t within, const void *bytes,
                            int64_t length);
/* Move all runs from memory to a file in `folder`. After an error they are in memory. */
int pnc_chunks_pending_store(pnc_pending *pending, const char *folder, pnc_error *error);
/* Pass the runs of a chunk to `take`, in the order in which they were written, up to the first error. Those that were
 * spilled may come in several parts, which begin and end at multiples of 8 or where the run does. With `lost`, what
 * cannot be read back is no such error, but left out: *lost is the first one. */
int pnc_chunks_pending_scan(const pnc_pending *pending, const pnc_pending_chunk *p,
                            int (*take)(void *own, int64_t within, const char *bytes, int64_t length, pnc_error *error),
                            void *own, int *lost, pnc_error *error);
void pnc_chunks_pending_clear(pnc_pending *pending);

#endif
