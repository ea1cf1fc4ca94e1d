/* Values for chunks of other aggregators: logs of runs, of which adjacent ones become one. */
#include "drivers/chunks/pending.h"

#include <stddef.h>
#include <string.h>

#include "base/minmax.h"

/* The second of two adjacent runs has space for others: up to as much as is used already, or this. */
#define SPARE_BYTES (INT64_C(64) << 10)

static pnc_pending_chunk *find_pending(pnc_pending *pending, const pnc_chunk_item *item)
{
    pnc_pending_chunk *p = (pnc_pending_chunk *)pnc_chunks_map_find(&pending->map, item->array, item->chunk);

    if (p != NULL)
        return p;
    p = pnc_region_alloc(&pending->region, (int64_t)sizeof *p);
    if (p == NULL)
        return NULL;
    *p = (pnc_pending_chunk){.item = *item};
    pending->bytes += (int64_t)sizeof *p;
    if (!pnc_chunks_map_add(&pending->map, &p->item))
        return NULL;
    p->item.next = pending->chunks;
    pending->chunks = &p->item;
    return p;
}

static pnc_pending_run *add_run(pnc_pending *pending, pnc_pending_chunk *p, int64_t within, int64_t capacity)
{
    pnc_pending_run *run = pnc_region_alloc(&pending->region, (int64_t)offsetof(pnc_pending_run, bytes) + capacity);

    if (run == NULL)
        return NULL;
    *run = (pnc_pending_run){.within = within, .capacity = capacity};
    pending->bytes += (int64_t)sizeof *run + capacity;
    if (p->last == NULL)
        p->first = run;
    else
        p->last->next = run;
    p->last = run;
    return run;
}

static void append_bytes(pnc_pending_run *run, const char *bytes, int64_t length)
{
    memcpy(run->bytes + run->length, bytes, (size_t)length);
    run->length += length;
}

bool pnc_chunks_pending_add(pnc_pending *pending, const pnc_chunk_item *item, int64_t within, const void *bytes,
                            int64_t length)
{
    pnc_pending_chunk *p = find_pending(pending, item);
    const char *from = bytes;
    int64_t capacity = length, some;

    if (p == NULL)
        return false;
    if (p->last != NULL && p->last->within + p->last->length == within) {
        some = pnc_min64(length, p->last->capacity - p->last->length);
        append_bytes(p->last, from, some);
        if (some == length)
            return true;
        from += some;
        within += some;
        length -= some;
        capacity = pnc_max64(length, pnc_min64(2 * p->last->capacity, SPARE_BYTES));
    }
    if (add_run(pending, p, within, capacity) == NULL)
        return false;
    append_bytes(p->last, from, length);
    return true;
}

void pnc_chunks_pending_copy(const pnc_pending_chunk *p, unsigned char *chunk)
{
    for (const pnc_pending_run *run = p->first; run != NULL; run = run->next)
        memcpy(chunk + run->within, run->bytes, (size_t)run->length);
}

void pnc_chunks_pending_clear(pnc_pending *pending)
{
    pnc_chunks_map_free(&pending->map);
    pnc_region_free(&pending->region);
    pending->chunks = NULL;
    pending->bytes = 0;
}
