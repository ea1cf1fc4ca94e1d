/* Which bytes of the file wait in a queue. */
#include "drivers/behind/index.h"

#include <assert.h>

#include "base/memory.h"
#include "base/minmax.h"

#define REGION 4096 /* bytes, so that a get of a small piece meets few others */
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

int64_t pnc_behind_index_find_most(int64_t bytes)
{
    int64_t n = (bytes - CHAINS * (int64_t)sizeof(pnc_behind_chain)) / (int64_t)sizeof(pnc_behind_place);

    return n >= LEAST_PLACES ? n : 0;
}

static bool make_chains(pnc_behind_index *index)
{
    if (index->chains != NULL)
        return true;
    index->chains = pnc_memory_alloc(CHAINS, sizeof *index->chains);
    for (int64_t i = 0; index->chains != NULL && i < CHAINS; i++)
        index->chains[i].first = -1;
    return index->chains != NULL;
}

/* Make the circle, which is full, twice as large. */
static bool grow_places(pnc_behind_index *index)
{
    const int64_t old = index->capacity, capacity = old > 0 ? 2 * old : LEAST_PLACES;
    pnc_behind_place *places =
        old == 0 || capacity <= index->most ? pnc_memory_resize(index->places, capacity, sizeof *places) : NULL;

    if (places == NULL)
        return false;
    index->places = places;
    index->capacity = capacity;
    for (int64_t i = index->first; i < index->end; i++)
        if ((i & old) != 0)
            *get_place(index, i) = places[i & (old - 1)];
    return true;
}

static bool append_place(pnc_behind_index *index, pnc_extent extent)
{
    const int64_t n = index->end - index->first;
    pnc_behind_chain *chain;

    if (n >= index->most || !make_chains(index) || (n == index->capacity && !grow_places(index)))
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

    index->nblocks += !continues;
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
    index->nblocks--;
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

    if (index->is_lost)
        pnc_behind_index_free(index);
    else
        pnc_behind_index_remove(index, index->end - index->first);
    index->nblocks = 0;
    index->most = most;
}

static bool has_in_chain(const pnc_behind_index *index, int64_t number, pnc_extent span)
{
    for (; number >= 0; number = get_place(index, number)->next)
        if (pnc_behind_extent_has_span(get_place(index, number)->extent, span))
            return true;
    return false;
}

/* Large blocks have many places: then the chains are longer than the list of blocks. */
bool pnc_behind_index_is_shorter(const pnc_behind_index *index, pnc_extent span)
{
    int64_t regions = (span.offset + span.length - 1) / REGION - span.offset / REGION + 1;

    return !index->is_lost && regions * (1 + (index->end - index->first) / CHAINS) <= index->nblocks;
}

bool pnc_behind_index_has_span(const pnc_behind_index *index, pnc_extent span)
{
    int64_t region = span.offset / REGION, last = (span.offset + span.length - 1) / REGION;
    bool has = false;

    for (; region <= last && !has && index->chains != NULL; region++)
        has = has_in_chain(index, find_chain(index, region)->first, span);
    return has;
}

void pnc_behind_index_free(pnc_behind_index *index)
{
    pnc_memory_free(index->places);
    pnc_memory_free(index->chains);
    *index = (pnc_behind_index){0};
}
