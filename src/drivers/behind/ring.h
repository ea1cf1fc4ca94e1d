/* A bounded queue of blocks that have been put and are to be written, in memory that is used over and over. Blocks are
 * taken in the order in which they came, so that of two that overlap the later one is written last. Bytes that follow
 * those of the block before in the file join it without a copy. Pure; callers hold a lock.
 *
 * Positions count bytes from the beginning, so that they only grow; those of memory are their remainders. Each block
 * has a header before its bytes, which are contiguous: a block that reaches the end of the memory ends there, and the
 * rest is another block.
 *
 *       head                 next                            tail
 *        | rest of the front  | header, bytes | header, bytes | free ..
 */
#ifndef PNC_DRIVERS_BEHIND_RING_H
#define PNC_DRIVERS_BEHIND_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "drivers/behind/index.h"
#include "select/selection.h"

typedef struct pnc_behind_block {
    pnc_extent extent; /* of the file */
    int64_t call;      /* the number of the call that put its first bytes */
    int64_t nplaces;   /* in the index; 0 before it is queued */
} pnc_behind_block;

typedef struct pnc_behind_ring {
    char *memory;
    int64_t capacity;       /* bytes of memory, a multiple of the alignment of a header */
    int64_t head;           /* position of the first byte of the front block, or tail */
    int64_t next;           /* position of the header after the front block, or where it will be */
    int64_t tail;           /* position behind the last byte */
    int64_t reserved;       /* position of the bytes that are to be published */
    pnc_behind_block front; /* what is left of it; length 0: the queue is empty */
    pnc_behind_block *last; /* `front`, or a header in memory; NULL: the queue is empty */
    pnc_behind_index index; /* of all blocks but the front */
    pnc_extent hull;        /* of all blocks since the queue was empty; length 0: none */
    int64_t blocks, most;   /* blocks that were made; the most bytes of memory in use so far */
    int64_t reached;        /* the memory up to there was used */
} pnc_behind_ring;

/* Bytes of memory below which a queue is of no use. */
#define PNC_BEHIND_RING_LEAST (INT64_C(1) << 16)

void pnc_behind_ring_init(pnc_behind_ring *ring, char *memory, int64_t capacity);
/* Its index; the memory is the caller's. */
void pnc_behind_ring_free(pnc_behind_ring *ring);
static inline bool pnc_behind_ring_is_empty(const pnc_behind_ring *ring)
{
    return ring->last == NULL;
}

/* Where the bytes of `wanted` go, and how many of them, from its beginning, fit in there now: 0: no memory is free. The
 * caller copies them, without the lock if it likes, and publishes them before it reserves again. */
char *pnc_behind_ring_reserve(pnc_behind_ring *ring, const pnc_behind_block *wanted, int64_t *length);
void pnc_behind_ring_publish(pnc_behind_ring *ring, const pnc_behind_block *wanted, int64_t length);

/* The bytes of the front block. They remain until they are removed. */
const char *pnc_behind_ring_get_front(const pnc_behind_ring *ring);
/* Remove bytes from the front block, which has so many. */
void pnc_behind_ring_remove(pnc_behind_ring *ring, int64_t length);
void pnc_behind_ring_clear(pnc_behind_ring *ring);

/* Whether a block has bytes of the span. */
bool pnc_behind_ring_has_span(const pnc_behind_ring *ring, pnc_extent span);

#endif
