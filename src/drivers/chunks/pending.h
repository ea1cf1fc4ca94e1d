/* Values of chunks as a log of packed boxes for each: what this rank has written to chunks of other aggregators, and
 * not delivered; what an aggregator has of chunks for which it has no memory.
 *
 * A log that takes too much memory is spilled: the boxes of each chunk become a segment of a file, which leads to the
 * segment before it. What stays in memory is of the order of the chunks. */
#ifndef PNC_CHUNKS_PENDING_H
#define PNC_CHUNKS_PENDING_H

#include "base/region.h"
#include "drivers/chunks/map.h"
#include "drivers/chunks/packing.h"
#include "drivers/chunks/spill.h"
#include "drivers/chunks/values.h"

typedef struct pnc_pending_box {
    struct pnc_pending_box *next; /* written later */
    int64_t end;                  /* of its only run: the element behind it; -1: it has several */
    int64_t length, capacity;     /* bytes: of the packed box; of memory for it */
    char packed[];
} pnc_pending_box;

typedef struct pnc_pending_chunk {
    pnc_chunk_item item;
    int size;                      /* of an element */
    pnc_pending_box *first, *last; /* in memory: written after those that are spilled */
    int64_t segment, nsegments;    /* where the last one is in the file; how many there are */
} pnc_pending_chunk;

typedef struct pnc_pending {
    pnc_chunk_map map;
    pnc_chunk_item *chunks; /* the list of all */
    pnc_region region;      /* of chunks */
    pnc_region boxes;
    int64_t bytes; /* of boxes, roughly */
    pnc_spill spill;
    int64_t nstores;             /* how often boxes were spilled: a chunk has at most as many segments */
    char *buffer;                /* of spilled boxes; NULL until there are any */
    int64_t *segments, capacity; /* to read those of a chunk */
} pnc_pending;

/* The values of a box, of at most PNC_BOX_BYTES; `size` is that of an element. false without memory: some of them may
 * have been added. */
bool pnc_chunks_pending_add(pnc_pending *pending, const pnc_chunk_item *item, int size, const pnc_box *box,
                            const pnc_chunk_values *values);
/* Move all boxes from memory to a file in `folder`. After an error they are in memory. */
int pnc_chunks_pending_store(pnc_pending *pending, const char *folder, pnc_error *error);
/* Pass the packed boxes of a chunk to `take`, in the order in which they were written, up to the first error: `head`
 * bytes of the head, and the values. With `lost`, what cannot be read back is no such error, but left out: *lost is the
 * first one. */
typedef int (*pnc_pending_visitor)(void *own, const char *packed, int64_t head, int64_t length, pnc_error *error);
int pnc_chunks_pending_scan(const pnc_pending *pending, const pnc_pending_chunk *p, pnc_pending_visitor take, void *own,
                            int *lost, pnc_error *error);
void pnc_chunks_pending_clear(pnc_pending *pending);

#endif
