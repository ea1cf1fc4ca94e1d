/* A cache of chunks: a hash table and a list by use. */
#include "drivers/chunks/cache.h"

#include <string.h>

#include "base/memory.h"
#include "drivers/chunks/map.h"

static pnc_kept_chunk **find_kept(pnc_chunk_cache *cache, int64_t array, int64_t chunk)
{
    uint64_t hash = pnc_chunks_hash_get(array, chunk);

    return cache->many != NULL ? &cache->many[hash % (uint64_t)cache->nbuckets] : &cache->few[hash % PNC_CACHE_BUCKETS];
}

/* Small chunks are many: no more of them than buckets. Without memory for these, they are found more slowly. */
static void add_buckets(pnc_chunk_cache *cache)
{
    int64_t nbuckets = cache->many != NULL ? cache->nbuckets : PNC_CACHE_BUCKETS;
    pnc_kept_chunk **more;

    if (cache->n < nbuckets)
        return;
    more = pnc_memory_alloc_zeroed(4 * nbuckets, sizeof *more);
    if (more == NULL)
        return;
    pnc_memory_free(cache->many);
    memset(cache->few, 0, sizeof cache->few); /* they are used again after a clear */
    cache->many = more;
    cache->nbuckets = 4 * nbuckets;
    for (pnc_kept_chunk *k = cache->newest; k != NULL; k = k->older) {
        pnc_kept_chunk **bucket = find_kept(cache, k->array, k->chunk);

        k->next = *bucket;
        *bucket = k;
    }
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
    cache->n--;
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
    int64_t counted = pnc_chunks_cache_count(bytes);
    pnc_kept_chunk **bucket, *k;

    while (cache->oldest != NULL && cache->bytes + counted > cache->most)
        drop_chunk(cache, cache->oldest);
    k = pnc_memory_alloc((int64_t)sizeof *k + bytes, 1);
    if (k == NULL)
        return NULL;
    add_buckets(cache);
    bucket = find_kept(cache, array, chunk);
    *k = (pnc_kept_chunk){.array = array, .chunk = chunk, .bytes = counted, .next = *bucket};
    *bucket = k;
    become_newest(cache, k);
    cache->bytes += counted;
    cache->n++;
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
    pnc_memory_free(cache->many);
    cache->many = NULL;
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
