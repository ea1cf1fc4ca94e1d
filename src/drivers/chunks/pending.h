/* Values of chunks as a log of runs for each: what this rank has written to chunks of other aggregators, and not
 * delivered; what an aggregator has of chunks for which it has no memory. */
#ifndef PNC_CHUNKS_PENDING_H
#define PNC_CHUNKS_PENDING_H

#include "base/region.h"
#include "drivers/chunks/map.h"

typedef struct pnc_pending_run {
    struct pnc_pending_run *next; /* written later */
    int64_t within, length, capacity;
    unsigned char bytes[];
} pnc_pending_run;

typedef struct pnc_pending_chunk {
    pnc_chunk_item item;
    pnc_pending_run *first, *last;
} pnc_pending_chunk;

typedef struct pnc_pending {
    pnc_chunk_map map;
    pnc_chunk_item *chunks; /* the list of all */
    pnc_region region;      /* for all of it */
    int64_t bytes;          /* of the region, roughly */
} pnc_pending;

/* false without memory: a part of the bytes may have been added. */
bool pnc_chunks_pending_add(pnc_pending *pending, const pnc_chunk_item *item, int64_t within, const void *bytes,
                            int64_t length);
/* Apply what is pending for a chunk to its bytes. */
void pnc_chunks_pending_copy(const pnc_pending_chunk *p, unsigned char *chunk);
void pnc_chunks_pending_clear(pnc_pending *pending);

#endif
