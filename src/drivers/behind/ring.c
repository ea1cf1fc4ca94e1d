/* The bounded queue of blocks that are to be written. */
#include "drivers/behind/ring.h"

#include <assert.h>
#include <string.h>

#include "base/minmax.h"

#define ALIGNMENT ((int64_t)sizeof(int64_t))
#define JOINED_BYTES (INT64_C(8) << 20) /* the worker writes no more at once */
#define HEADER ((int64_t)sizeof(pnc_behind_block))
#define PART_OF_INDEX 4 /* it has at most this part of the memory beside it */

void pnc_behind_ring_init(pnc_behind_ring *ring, char *memory, int64_t capacity)
{
    assert(capacity >= PNC_BEHIND_RING_LEAST && capacity % ALIGNMENT == 0);
    *ring = (pnc_behind_ring){.memory = memory, .capacity = capacity};
    ring->index.most = pnc_behind_index_find_most(capacity / PART_OF_INDEX);
}

void pnc_behind_ring_free(pnc_behind_ring *ring)
{
    pnc_behind_index_free(&ring->index);
}

static char *memory_at(const pnc_behind_ring *ring, int64_t position)
{
    return ring->memory + position % ring->capacity;
}

/* Bytes up to the end of the memory. */
static int64_t contiguous_at(const pnc_behind_ring *ring, int64_t position)
{
    return ring->capacity - position % ring->capacity;
}

/* Where the next header is if bytes end at `position`: it and at least one byte are contiguous. */
static int64_t header_after(const pnc_behind_ring *ring, int64_t position)
{
    position = (position + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return contiguous_at(ring, position) > HEADER ? position : position + contiguous_at(ring, position);
}

/* Whether the bytes continue the last block, at the tail. Without a limit, a block could be that of its first call for
 * as long as a program puts. */
static bool joins_last(const pnc_behind_ring *ring, const pnc_behind_block *wanted)
{
    const pnc_behind_block *last = ring->last;

    return last != NULL && last->extent.length < JOINED_BYTES &&
           last->extent.offset + last->extent.length == wanted->extent.offset && ring->tail % ring->capacity != 0;
}

char *pnc_behind_ring_reserve(pnc_behind_ring *ring, const pnc_behind_block *wanted, int64_t *length)
{
    int64_t at, end;

    if (ring->last == NULL) /* the same memory is in the cache */
        ring->head = ring->next = ring->tail = 0;
    at = joins_last(ring, wanted) ? ring->tail : header_after(ring, ring->tail) + HEADER;
    end = ring->head + ring->capacity; /* the memory up to there is free */
    ring->reserved = at;
    *length = pnc_min64(wanted->extent.length, pnc_min64(contiguous_at(ring, at), end - at));
    *length = pnc_max64(*length, 0);
    return memory_at(ring, at);
}

static void extend_hull(pnc_behind_ring *ring, pnc_extent by)
{
    int64_t end = pnc_max64(ring->hull.offset + ring->hull.length, by.offset + by.length);

    if (ring->hull.length == 0) {
        ring->hull = by;
        return;
    }
    ring->hull.offset = pnc_min64(ring->hull.offset, by.offset);
    ring->hull.length = end - ring->hull.offset;
}

/* The reserved bytes are the front block of an empty queue, or have a header in memory. */
static void append_block(pnc_behind_ring *ring, const pnc_behind_block *wanted)
{
    if (ring->last == NULL) {
        ring->last = &ring->front;
        ring->head = ring->reserved;
    } else {
        ring->last = (pnc_behind_block *)(void *)memory_at(ring, ring->reserved - HEADER);
    }
    *ring->last = *wanted;
    ring->last->extent.length = ring->last->nplaces = 0;
    ring->tail = ring->reserved;
    ring->blocks++;
}

/* The last block may have been removed since the reservation, which then needs no header. */
void pnc_behind_ring_publish(pnc_behind_ring *ring, const pnc_behind_block *wanted, int64_t length)
{
    const pnc_extent extent = {wanted->extent.offset, length};
    bool continues = ring->last != NULL && ring->reserved == ring->tail;

    assert(length > 0 && length <= wanted->extent.length);
    if (!continues)
        append_block(ring, wanted);
    ring->last->extent.length += length;
    ring->tail += length;
    if (ring->last == &ring->front)
        ring->next = ring->tail;
    else
        ring->last->nplaces += pnc_behind_index_add(&ring->index, extent, continues);
    extend_hull(ring, extent);
    ring->most = pnc_max64(ring->most, ring->tail - ring->head);
    ring->reached = pnc_max64(ring->reached, pnc_min64(ring->tail, ring->capacity));
    assert(ring->tail - ring->head <= ring->capacity);
}

const char *pnc_behind_ring_get_front(const pnc_behind_ring *ring)
{
    return memory_at(ring, ring->head);
}

/* The block after the front becomes the front. */
static void load_front(pnc_behind_ring *ring)
{
    int64_t at = header_after(ring, ring->next);
    pnc_behind_block *header = (pnc_behind_block *)(void *)memory_at(ring, at);

    ring->front = *header;
    pnc_behind_index_remove(&ring->index, header->nplaces);
    if (ring->last == header)
        ring->last = &ring->front;
    ring->head = at + HEADER;
    ring->next = ring->head + ring->front.extent.length;
}

void pnc_behind_ring_clear(pnc_behind_ring *ring)
{
    ring->head = ring->next = ring->tail;
    ring->front.extent.length = ring->hull.length = 0;
    ring->last = NULL;
    pnc_behind_index_clear(&ring->index);
}

void pnc_behind_ring_remove(pnc_behind_ring *ring, int64_t length)
{
    assert(length <= ring->front.extent.length);
    ring->head += length;
    ring->front.extent.offset += length;
    ring->front.extent.length -= length;
    if (ring->front.extent.length > 0)
        return;
    if (ring->last == &ring->front)
        pnc_behind_ring_clear(ring);
    else
        load_front(ring);
}

/* All blocks but the front. */
static bool search_blocks(const pnc_behind_ring *ring, pnc_extent span)
{
    int64_t at = ring->next;

    while (at < ring->tail) {
        const pnc_behind_block *header;

        at = header_after(ring, at);
        header = (const pnc_behind_block *)(const void *)memory_at(ring, at);
        if (pnc_behind_extent_has_span(header->extent, span))
            return true;
        at += HEADER + header->extent.length;
    }
    return false;
}

bool pnc_behind_ring_has_span(const pnc_behind_ring *ring, pnc_extent span)
{
    if (ring->last == NULL || !pnc_behind_extent_has_span(ring->hull, span))
        return false;
    if (pnc_behind_extent_has_span(ring->front.extent, span))
        return true;
    return pnc_behind_index_is_shorter(&ring->index, span) ? pnc_behind_index_has_span(&ring->index, span)
                                                           : search_blocks(ring, span);
}
