/* A hash table of chunks, and lists of them. */
#ifndef PNC_CHUNKS_MAP_H
#define PNC_CHUNKS_MAP_H

#include <stdbool.h>
#include <stdint.h>

/* The first member of what the tables and lists have. */
typedef struct pnc_chunk_item {
    int64_t array, chunk;
    int aggregator;
    struct pnc_chunk_item *next; /* in a list */
} pnc_chunk_item;

typedef struct pnc_chunk_map {
    pnc_chunk_item **slots; /* open addressing */
    int64_t n, capacity;    /* a power of 2, or 0 */
} pnc_chunk_map;

uint64_t pnc_chunks_hash_get(int64_t array, int64_t chunk);

/* NULL: it is not there. */
pnc_chunk_item *pnc_chunks_map_find(const pnc_chunk_map *map, int64_t array, int64_t chunk);
/* An item whose chunk the map does not have. false without memory. */
bool pnc_chunks_map_add(pnc_chunk_map *map, pnc_chunk_item *item);
void pnc_chunks_map_remove(pnc_chunk_map *map, const pnc_chunk_item *item);
void pnc_chunks_map_free(pnc_chunk_map *map);

/* The list in order of aggregators, arrays, chunks; it begins with aggregators from `first` on, and those before it
 * follow: ranks that each begin behind themselves do not all send to one. Returns its first item. */
pnc_chunk_item *pnc_chunks_items_sort(pnc_chunk_item *list, int first);

#endif
