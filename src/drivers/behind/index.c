/* Which bytes of the file wait in a queue. */
#include "drivers/behind/index.h"

#include <assert.h>

#include "base/memory.h"
#include "base/minmax.h"

#define REGION 4096 /* bytes: a chain has at most the small pieces of a few pages */
#define CHAIN_BITS 12
#define CHAINS (INT64_C(1) << CHAIN_BITS)
#define LEAST_PLACES 256

static pnc_behind_chain *find_chain(const pnc_behind_index *index, int64_t region)
{
    return &index->chains[(uint64_t)region * UINT64_C(0x9E3779B97F4A7C15) >> (64 - CHAIN_BITS)];
}

static pnc_behind_place *get_place(const pnc_behind_index *index, int64_t number)
{
    return &index->places[number & (index->capacity - 1)];
}

/* Make space for another place. */
static bool grow_places(pnc_behind_index *index)
{
    int64_t capacity = index->capacity > 0 ? 2 * index->capacity : LEAST_PLACES;
    pnc_behind_place *places;

    if (index->chains == NULL) {
        index->chains = pnc_memory_alloc(CHAINS, sizeof *index->chains);
        for (int64_t i = 0; index->chains != NULL && i < CHAINS; i++)
            index->chains[i].first = -1;
    }
    if (index->end - index->first < index->capacity)
        return index->chains != NULL;
    places = index->chains != NULL ? pnc_memory_alloc(capacity, sizeof *places) : NULL;
    if (places == NULL)
        return false;
    for (int64_t i = index->first; i < index->end; i++)
        places[i & (capacity - 1)] = *get_place(index, i);
    pnc_memory_free(index->places);
    index->places = places;
    index->capacity = capacity;
    return true;
}

static bool append_place(pnc_behind_index *index, pnc_extent extent)
{
    pnc_behind_chain *chain;

    if (index->end - index->first >= index->most || !grow_places(index))
        return false;
    chain = find_chain(index, extent.offset / REGION);
    *get_place(index, index->end) = (pnc_behind_place){extent, -1};
    if (chain->first < 0)
        chain->first = index->end;
    else
        get_place(index, chain->last)->next = index->end;
    chain->last = index->end++;
    return true;
}

/* The extent continues the last place in its region. Returns by how many bytes. */
static int64_t extend_last(pnc_behind_index *index, pnc_extent extent)
{
    pnc_extent *last = index->end > index->first ? &get_place(index, index->end - 1)->extent : NULL;
    int64_t length = pnc_min64(extent.length, REGION - extent.offset % REGION);

    if (last == NULL || last->offset + last->length != extent.offset || extent.offset % REGION == 0)
        return 0;
    last->length += length;
    return length;
}

int64_t pnc_behind_index_add(pnc_behind_index *index, pnc_extent extent, bool continues)
{
    int64_t done = continues && !index->is_lost ? extend_last(index, extent) : 0, nplaces = 0;

    while (done < extent.length && !index->is_lost) {
        int64_t offset = extent.offset + done, length = pnc_min64(extent.length - done, REGION - offset % REGION);

        index->is_lost = !append_place(index, (pnc_extent){offset, length});
        nplaces++;
        done += length;
    }
    return nplaces;
}

void pnc_behind_index_remove(pnc_behind_index *index, int64_t nplaces)
{
    for (; nplaces > 0 && !index->is_lost; nplaces--) {
        const pnc_behind_place *place = get_place(index, index->first);
        pnc_behind_chain *chain = find_chain(index, place->extent.offset / REGION);

        assert(index->first < index->end && chain->first == index->first);
        chain->first = place->next;
        index->first++;
    }
}

void pnc_behind_index_clear(pnc_behind_index *index)
{
    const int64_t most = index->most;

    if (!index->is_lost) {
        pnc_behind_index_remove(index, index->end - index->first);
        return;
    }
    pnc_behind_index_free(index);
    index->most = most;
}

static bool has_in_chain(const pnc_behind_index *index, int64_t number, pnc_extent span)
{
    for (; number >= 0; number = get_place(index, number)->next)
        if (pnc_behind_extent_has_span(get_place(index, number)->extent, span))
            return true;
    return false;
}

/* Of more regions than places, all places are searched. */
bool pnc_behind_index_has_span(const pnc_behind_index *index, pnc_extent span)
{
    int64_t region = span.offset / REGION, last = (span.offset + span.length - 1) / REGION;
    bool has = false;

    if (last - region >= index->end - index->first)
        for (int64_t i = index->first; i < index->end && !has; i++)
            has = pnc_behind_extent_has_span(get_place(index, i)->extent, span);
    else
        for (; region <= last && !has; region++)
            has = has_in_chain(index, find_chain(index, region)->first, span);
    return has;
}

void pnc_behind_index_free(pnc_behind_index *index)
{
    pnc_memory_free(index->places);
    pnc_memory_free(index->chains);
    *index = (pnc_behind_index){0};
}
