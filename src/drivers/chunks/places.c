/* Where the chunks are that this rank has written. */
#include "drivers/chunks/places.h"

#include <assert.h>

#include "base/memory.h"
#include "base/minmax.h"

static pnc_placed_chunk *find_placed(const pnc_places *places, int64_t array, int64_t chunk)
{
    return (pnc_placed_chunk *)pnc_chunks_map_find(&places->map, array, chunk);
}

const pnc_chunk_place *pnc_chunks_places_find(const pnc_places *places, int64_t array, int64_t chunk)
{
    const pnc_placed_chunk *p = find_placed(places, array, chunk);

    return p == NULL || p->place.offset < 0 ? NULL : &p->place;
}

bool pnc_chunks_places_reserve(pnc_places *places, const pnc_chunk_item *item)
{
    pnc_placed_chunk *p = find_placed(places, item->array, item->chunk);

    if (p == NULL) {
        p = pnc_region_alloc(&places->region, (int64_t)sizeof *p);
        if (p == NULL)
            return false;
        *p = (pnc_placed_chunk){.item = *item, .place = {.offset = -1}, .generation = -1};
        if (!pnc_chunks_map_add(&places->map, &p->item))
            return false;
    }
    /* at most one record for each chunk */
    return pnc_memory_grow(&places->records, &places->capacity, places->map.n, sizeof *places->records);
}

void pnc_chunks_places_set(pnc_places *places, const pnc_chunk_item *item, const pnc_chunk_place *place)
{
    pnc_placed_chunk *p = find_placed(places, item->array, item->chunk);

    assert(p != NULL);
    if (places->is_taken) {
        places->nrecords = 0;
        places->is_taken = false;
    }
    p->place = *place;
    if (p->generation != places->generation) {
        p->generation = places->generation;
        p->record = places->nrecords++;
        assert(places->nrecords <= places->capacity);
    }
    places->records[p->record] = (pnc_chunk_record){item->array, item->chunk, *place};
}

void pnc_chunks_places_peek(const pnc_places *places, const pnc_chunk_record **records, int64_t *n)
{
    *records = places->records;
    *n = places->is_taken ? 0 : places->nrecords;
}

void pnc_chunks_places_take(pnc_places *places, const pnc_chunk_record **records, int64_t *n)
{
    pnc_chunks_places_peek(places, records, n);
    places->generation++;
    places->is_taken = true;
}

void pnc_chunks_places_free(pnc_places *places)
{
    pnc_chunks_map_free(&places->map);
    pnc_region_free(&places->region);
    pnc_memory_free(places->records);
    *places = (pnc_places){0};
}
