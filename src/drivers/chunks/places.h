/* Where the chunks are that this rank has written, and which of them are not registered in the file. */
#ifndef PNC_CHUNKS_PLACES_H
#define PNC_CHUNKS_PLACES_H

#include "base/region.h"
#include "drivers/chunks/in_file.h"
#include "drivers/chunks/map.h"

typedef struct pnc_placed_chunk {
    pnc_chunk_item item;
    pnc_chunk_place place;
    int64_t record, generation; /* its record, if it is of the current generation */
} pnc_placed_chunk;

/* About 140 bytes for each chunk. When they are registered, no more than this are kept: a guess. */
#define PNC_CHUNKS_PLACES_MOST (INT64_C(1) << 17)

typedef struct pnc_places {
    pnc_chunk_map map;
    pnc_region region;
    pnc_chunk_record *records;
    int64_t nrecords, capacity, generation;
    bool is_taken; /* the next one begins a new list */
} pnc_places;

/* NULL: this rank has not written it. */
const pnc_chunk_place *pnc_chunks_places_find(const pnc_places *places, int64_t array, int64_t chunk);
/* Memory for the place of a chunk, of which set needs none then. false: there is none. */
bool pnc_chunks_places_reserve(pnc_places *places, const pnc_chunk_item *item);
void pnc_chunks_places_set(pnc_places *places, const pnc_chunk_item *item, const pnc_chunk_place *place);
/* The records since they were last taken: all that are not registered. */
void pnc_chunks_places_peek(const pnc_places *places, const pnc_chunk_record **records, int64_t *n);
void pnc_chunks_places_take(pnc_places *places, const pnc_chunk_record **records, int64_t *n);
void pnc_chunks_places_free(pnc_places *places);

#endif
