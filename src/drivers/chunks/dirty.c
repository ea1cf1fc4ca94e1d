/* Chunks with values that are not in the file: bytes, and which elements have a value. */
#include "drivers/chunks/dirty.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"

enum { WORD_BITS = 64 };

/* --- coverage --- */

/* Returns how many of the bits were not set. */
static int64_t set_coverage(uint64_t *words, int64_t first, int64_t n)
{
    int64_t added = 0;

    for (int64_t some; n > 0; first += some, n -= some) {
        int shift = (int)(first % WORD_BITS);
        uint64_t mask = ~UINT64_C(0);

        some = pnc_min64(WORD_BITS - shift, n);
        mask = mask >> (WORD_BITS - some) << shift;
        added += __builtin_popcountll(mask & ~words[first / WORD_BITS]);
        words[first / WORD_BITS] |= mask;
    }
    return added;
}

/* --- those that wait --- */

static void leave_waiting(pnc_dirty *dirty, pnc_dirty_chunk *d)
{
    if (d->newer != NULL)
        d->newer->older = d->older;
    else
        dirty->newest = d->older;
    if (d->older != NULL)
        d->older->newer = d->newer;
    else
        dirty->oldest = d->newer;
}

static void wait_as_newest(pnc_dirty *dirty, pnc_dirty_chunk *d)
{
    d->newer = NULL;
    d->older = dirty->newest;
    if (dirty->newest != NULL)
        dirty->newest->newer = d;
    else
        dirty->oldest = d;
    dirty->newest = d;
}

/* --- interface --- */

pnc_dirty_chunk *pnc_chunks_dirty_find(const pnc_dirty *dirty, int64_t array, int64_t chunk)
{
    return (pnc_dirty_chunk *)pnc_chunks_map_find(&dirty->map, array, chunk);
}

static int64_t count_coverage(int64_t bytes, int elem_size)
{
    return bytes / elem_size / WORD_BITS + 1;
}

/* Memory of a chunk: that of one that was removed, if it has the same length. */
static pnc_dirty_chunk *take_memory(pnc_dirty *dirty, int64_t bytes, int elem_size)
{
    pnc_dirty_chunk *d = dirty->spare;

    if (d != NULL && d->bytes == bytes && d->elem_size == elem_size) {
        dirty->spare = d->older;
        dirty->spare_bytes -= bytes;
        return d;
    }
    pnc_chunks_dirty_strip(dirty);
    return pnc_memory_alloc(
        (int64_t)sizeof *d + count_coverage(bytes, elem_size) * (int64_t)sizeof *d->coverage + bytes, 1);
}

/* A chunk that is in no table and no list. */
static void leave_memory(pnc_dirty *dirty, pnc_dirty_chunk *d)
{
    bool is_alike =
        dirty->spare == NULL || (dirty->spare->bytes == d->bytes && dirty->spare->elem_size == d->elem_size);

    if (!is_alike || d->bytes > dirty->most_spare - dirty->spare_bytes) {
        pnc_memory_free(d);
        return;
    }
    d->older = dirty->spare;
    dirty->spare = d;
    dirty->spare_bytes += d->bytes;
}

void pnc_chunks_dirty_strip(pnc_dirty *dirty)
{
    for (pnc_dirty_chunk *d = dirty->spare, *next; d != NULL; d = next) {
        next = d->older;
        pnc_memory_free(d);
    }
    dirty->spare = NULL;
    dirty->spare_bytes = 0;
}

pnc_dirty_chunk *pnc_chunks_dirty_add(pnc_dirty *dirty, const pnc_chunk_item *item, int64_t bytes, int elem_size,
                                      int64_t inside)
{
    int64_t words = count_coverage(bytes, elem_size), cover = words * (int64_t)sizeof(uint64_t);
    pnc_dirty_chunk *d = take_memory(dirty, bytes, elem_size);

    if (d == NULL)
        return NULL;
    *d = (pnc_dirty_chunk){.stored = {.item = *item}, .bytes = bytes, .elem_size = elem_size, .inside = inside};
    d->coverage = (uint64_t *)(void *)(d + 1);
    d->values = (unsigned char *)(d->coverage + words);
    memset(d->coverage, 0, (size_t)cover);
    if (!pnc_chunks_map_add(&dirty->map, &d->stored.item)) {
        pnc_memory_free(d);
        return NULL;
    }
    wait_as_newest(dirty, d);
    dirty->waiting_bytes += bytes;
    return d;
}

void pnc_chunks_dirty_put(pnc_dirty *dirty, pnc_dirty_chunk *d, const pnc_box *box, const pnc_chunk_values *values)
{
    pnc_box_run run = pnc_array_run_begin(box);

    assert(box->at >= 0 && box->run > 0);
    do {
        assert((run.at + box->run) * d->elem_size <= d->bytes);
        values->pack(values->own, run.value, box->run, d->values + run.at * d->elem_size);
        d->covered += set_coverage(d->coverage, run.at, box->run);
    } while (pnc_array_run_next(box, &run));
    if (d->is_ready || dirty->newest == d)
        return;
    leave_waiting(dirty, d);
    wait_as_newest(dirty, d);
}

void pnc_chunks_dirty_merge(pnc_dirty_chunk *d, const unsigned char *base, const unsigned char *fill)
{
    int64_t n = d->bytes / d->elem_size;
    size_t size = (size_t)d->elem_size;

    for (int64_t i = 0; i < n && !d->is_merged; i++) {
        uint64_t word = d->coverage[i / WORD_BITS];

        if (i % WORD_BITS == 0 && word == ~UINT64_C(0))
            i += WORD_BITS - 1;
        else if ((word >> i % WORD_BITS & 1) == 0)
            memcpy(d->values + i * d->elem_size, base != NULL ? base + i * d->elem_size : fill, size);
    }
    d->is_merged = true;
}

void pnc_chunks_dirty_make_ready(pnc_dirty *dirty, pnc_dirty_chunk *d)
{
    assert(!d->is_ready);
    leave_waiting(dirty, d);
    dirty->waiting_bytes -= d->bytes;
    pnc_chunks_dirty_put_back(dirty, d);
}

pnc_chunk_item *pnc_chunks_dirty_take_ready(pnc_dirty *dirty)
{
    pnc_chunk_item *list = dirty->ready;

    dirty->ready = NULL;
    dirty->ready_bytes = 0;
    return list;
}

pnc_chunk_item *pnc_chunks_dirty_take_last(pnc_dirty *dirty)
{
    pnc_chunk_item *last = dirty->ready;

    dirty->ready = last->next;
    dirty->ready_bytes -= ((const pnc_dirty_chunk *)(const void *)last)->bytes;
    last->next = NULL;
    return last;
}

void pnc_chunks_dirty_put_back(pnc_dirty *dirty, pnc_dirty_chunk *d)
{
    d->is_ready = true;
    d->stored.item.next = dirty->ready;
    dirty->ready = &d->stored.item;
    dirty->ready_bytes += d->bytes;
}

void pnc_chunks_dirty_remove(pnc_dirty *dirty, pnc_dirty_chunk *d)
{
    pnc_chunks_map_remove(&dirty->map, &d->stored.item);
    leave_memory(dirty, d);
}

void pnc_chunks_dirty_free(pnc_dirty *dirty)
{
    pnc_chunks_dirty_strip(dirty);
    for (int64_t i = 0; i < dirty->map.capacity; i++)
        pnc_memory_free(dirty->map.slots[i]);
    pnc_chunks_map_free(&dirty->map);
    *dirty = (pnc_dirty){0};
}
