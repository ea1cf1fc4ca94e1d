/* Which bytes of the file wait in a queue, by regions of the file: a get of one region does not search the blocks of
 * others. Blocks leave the queue in the order in which they came, and so do their places here. Pure; callers hold a
 * lock. With too many places it is lost until the queue is empty: callers then search all blocks. */
#ifndef PNC_DRIVERS_BEHIND_INDEX_H
#define PNC_DRIVERS_BEHIND_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "select/selection.h"

/* Whether an extent, which may be empty, and a span have bytes in common. */
static inline bool pnc_behind_extent_has_span(pnc_extent extent, pnc_extent span)
{
    return extent.length > 0 && extent.offset < span.offset + span.length &&
           span.offset < extent.offset + extent.length;
}

/* A part of a block in one region. Places have numbers from 0, in the order in which they came. */
typedef struct pnc_behind_place {
    pnc_extent extent;
    int64_t next; /* in the same chain; -1: none */
} pnc_behind_place;

/* A chain has the places of some regions, first come first. */
typedef struct pnc_behind_chain {
    int64_t first, last; /* first: -1: it is empty */
} pnc_behind_chain;

typedef struct pnc_behind_index {
    pnc_behind_place *places; /* a circle; NULL: none yet */
    pnc_behind_chain *chains;
    int64_t capacity;   /* of the circle, a power of 2 */
    int64_t first, end; /* numbers of the first place, and of the next one */
    int64_t most;       /* places */
    int64_t nblocks;    /* that have places */
    bool is_lost;       /* there are more, or there was no memory */
} pnc_behind_index;

/* How many places may be in so many bytes of memory. */
int64_t pnc_behind_index_find_most(int64_t bytes);
/* The extent is that of a block, or continues it. Returns how many places it has. */
int64_t pnc_behind_index_add(pnc_behind_index *index, pnc_extent extent, bool continues);
/* Remove the places of the first block. */
void pnc_behind_index_remove(pnc_behind_index *index, int64_t nplaces);
void pnc_behind_index_clear(pnc_behind_index *index);
/* Whether it finds a span in less steps than a search of all blocks. */
bool pnc_behind_index_is_shorter(const pnc_behind_index *index, pnc_extent span);
/* Not if it is lost. */
bool pnc_behind_index_has_span(const pnc_behind_index *index, pnc_extent span);
void pnc_behind_index_free(pnc_behind_index *index);

#endif
