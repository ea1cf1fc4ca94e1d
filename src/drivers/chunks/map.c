/* A hash table of chunks, and lists of them. */
#include "drivers/chunks/map.h"

#include "base/memory.h"

#define FIRST_CAPACITY 64

uint64_t pnc_chunks_hash_get(int64_t array, int64_t chunk)
{
    return (((uint64_t)array * 0x9E3779B97F4A7C15u + (uint64_t)chunk) * 0xD6E8FEB86659FD93u) >> 32;
}

/* --- the table --- */

/* The slot of the chunk, or the empty one in which it would be. */
static int64_t find_map_slot(const pnc_chunk_map *map, int64_t array, int64_t chunk)
{
    int64_t slot = (int64_t)(pnc_chunks_hash_get(array, chunk) & (uint64_t)(map->capacity - 1));

    while (map->slots[slot] != NULL && (map->slots[slot]->array != array || map->slots[slot]->chunk != chunk))
        slot = (slot + 1) & (map->capacity - 1);
    return slot;
}

pnc_chunk_item *pnc_chunks_map_find(const pnc_chunk_map *map, int64_t array, int64_t chunk)
{
    return map->n == 0 ? NULL : map->slots[find_map_slot(map, array, chunk)];
}

static bool enlarge_map(pnc_chunk_map *map)
{
    pnc_chunk_map larger = {.n = map->n, .capacity = map->capacity == 0 ? FIRST_CAPACITY : 2 * map->capacity};

    larger.slots = pnc_memory_alloc_zeroed(larger.capacity, sizeof(pnc_chunk_item *));
    if (larger.slots == NULL)
        return false;
    for (int64_t i = 0; i < map->capacity; i++)
        if (map->slots[i] != NULL)
            larger.slots[find_map_slot(&larger, map->slots[i]->array, map->slots[i]->chunk)] = map->slots[i];
    pnc_memory_free(map->slots);
    *map = larger;
    return true;
}

bool pnc_chunks_map_add(pnc_chunk_map *map, pnc_chunk_item *item)
{
    if (2 * (map->n + 1) > map->capacity && !enlarge_map(map))
        return false;
    map->slots[find_map_slot(map, item->array, item->chunk)] = item;
    map->n++;
    return true;
}

/* Items behind the gap whose search would end in it move into it. */
void pnc_chunks_map_remove(pnc_chunk_map *map, const pnc_chunk_item *item)
{
    int64_t gap = find_map_slot(map, item->array, item->chunk), most = map->capacity - 1;

    for (int64_t i = (gap + 1) & most; map->slots[i] != NULL; i = (i + 1) & most) {
        int64_t home = (int64_t)(pnc_chunks_hash_get(map->slots[i]->array, map->slots[i]->chunk) & (uint64_t)most);

        if (((i - home) & most) >= ((i - gap) & most)) {
            map->slots[gap] = map->slots[i];
            gap = i;
        }
    }
    map->slots[gap] = NULL;
    map->n--;
}

void pnc_chunks_map_free(pnc_chunk_map *map)
{
    pnc_memory_free(map->slots);
    *map = (pnc_chunk_map){0};
}

/* --- lists --- */

static bool precedes(const pnc_chunk_item *a, const pnc_chunk_item *b)
{
    if (a->aggregator != b->aggregator)
        return a->aggregator < b->aggregator;
    return a->array != b->array ? a->array < b->array : a->chunk < b->chunk;
}

static pnc_chunk_item *merge_items(pnc_chunk_item *a, pnc_chunk_item *b)
{
    pnc_chunk_item *first = NULL, **link = &first;

    for (; a != NULL && b != NULL; link = &(*link)->next) {
        pnc_chunk_item **less = precedes(b, a) ? &b : &a;

        *link = *less;
        *less = (*less)->next;
    }
    *link = a != NULL ? a : b;
    return first;
}

/* Both parts are in order: the aggregators from `first` on, the others. */
static pnc_chunk_item *rotate_items(pnc_chunk_item *list, int first)
{
    pnc_chunk_item **split = &list, **end, *front;

    while (*split != NULL && (*split)->aggregator < first)
        split = &(*split)->next;
    front = *split;
    *split = NULL;
    for (end = &front; *end != NULL;)
        end = &(*end)->next;
    *end = list;
    return front;
}

/* sorted[i] is empty or has 2^i items, so 64 of them are enough. No memory is needed. */
pnc_chunk_item *pnc_chunks_items_sort(pnc_chunk_item *list, int first)
{
    pnc_chunk_item *sorted[64] = {NULL}, *one;
    int i;

    while (list != NULL) {
        one = list;
        list = list->next;
        one->next = NULL;
        for (i = 0; sorted[i] != NULL; i++) {
            one = merge_items(sorted[i], one);
            sorted[i] = NULL;
        }
        sorted[i] = one;
    }
    for (i = 0, one = NULL; i < 64; i++)
        one = merge_items(sorted[i], one);
    return rotate_items(one, first);
}
