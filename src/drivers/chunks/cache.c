/* A cache of chunks: a hash table and a list by use. */
#include "drivers/chunks/cache.h"

#include "base/memory.h"
#include "drivers/chunks/map.h"

static pnc_kept_chunk **find_kept(pnc_chunk_cache *cache, int64_t array, int64_t chunk)
{
    return &cache->buckets[pnc_chunks_hash_get(array, chunk) % PNC_CACHE_BUCKETS];
}

static void leave_order(pnc_chunk_cache *cache, pnc_kept_chunk *k)
{
    if (k->newer != NULL)
        k->newer->older = k->older;
    else
        cache->newest = k->older;
    if (k->older != NULL)
        k->older->newer = k->newer;
    else
        cache->oldest = k->newer;
}

static void become_newest(pnc_chunk_cache *cache, pnc_kept_chunk *k)
{
    k->newer = NULL;
    k->older = cache->newest;
    if (cache->newest != NULL)
        cache->newest->newer = k;
    else
        cache->oldest = k;
    cache->newest = k;
}

static void drop_chunk(pnc_chunk_cache *cache, pnc_kept_chunk *k)
{
    pnc_kept_chunk **link = find_kept(cache, k->array, k->chunk);

    while (*link != k)
        link = &(*link)->next;
    *link = k->next;
    leave_order(cache, k);
    cache->bytes -= k->bytes;
    pnc_memory_free(k);
}

unsigned char *pnc_chunks_cache_find(pnc_chunk_cache *cache, int64_t array, int64_t chunk)
{
    pnc_kept_chunk *k = *find_kept(cache, array, chunk);

    while (k != NULL && (k->array != array || k->chunk != chunk))
        k = k->next;
    if (k == NULL)
        return NULL;
    leave_order(cache, k);
    become_newest(cache, k);
    return (unsigned char *)(k + 1);
}

unsigned char *pnc_chunks_cache_add(pnc_chunk_cache *cache, int64_t array, int64_t chunk, int64_t bytes)
{
    pnc_kept_chunk **bucket = find_kept(cache, array, chunk), *k;

    while (cache->oldest != NULL && cache->bytes + bytes > cache->most)
        drop_chunk(cache, cache->oldest);
    k = pnc_memory_alloc((int64_t)sizeof *k + bytes, 1);
    if (k == NULL)
        return NULL;
    *k = (pnc_kept_chunk){.array = array, .chunk = chunk, .bytes = bytes, .next = *bucket};
    *bucket = k;
    become_newest(cache, k);
    cache->bytes += bytes;
    return (unsigned char *)(k + 1);
}

void pnc_chunks_cache_undo(pnc_chunk_cache *cache)
{
    drop_chunk(cache, cache->newest);
}

void pnc_chunks_cache_clear(pnc_chunk_cache *cache)
{
    while (cache->newest != NULL)
        drop_chunk(cache, cache->newest);
}

void pnc_chunks_cache_remove(pnc_chunk_cache *cache, bool (*must_leave)(void *own, int64_t array, int64_t chunk),
                             void *own)
{
    for (pnc_kept_chunk *k = cache->newest, *older; k != NULL; k = older) {
        older = k->older;
        if (must_leave(own, k->array, k->chunk))
            drop_chunk(cache, k);
    }
}
