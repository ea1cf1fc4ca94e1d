/* Decompressed chunks that are kept for the next read, those that were used last. */
#ifndef PNC_CHUNKS_CACHE_H
#define PNC_CHUNKS_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#define PNC_CACHE_BUCKETS 1024 /* at least */

typedef struct pnc_kept_chunk {
    int64_t array, chunk, bytes;          /* that are counted */
    struct pnc_kept_chunk *next;          /* in the bucket */
    struct pnc_kept_chunk *newer, *older; /* by use */
} pnc_kept_chunk;

typedef struct pnc_chunk_cache {
    int64_t most, bytes, n;
    pnc_kept_chunk *newest, *oldest;
    pnc_kept_chunk *few[PNC_CACHE_BUCKETS]; /* buckets, until `many` has memory */
    pnc_kept_chunk **many;
    int64_t nbuckets; /* of many */
} pnc_chunk_cache;

/* What counts of a chunk: also of a small one its head. */
static inline int64_t pnc_chunks_cache_count(int64_t bytes)
{
    return bytes > 256 ? bytes : 256;
}

/* The bytes of a chunk; NULL: it is not there. */
unsigned char *pnc_chunks_cache_find(pnc_chunk_cache *cache, int64_t array, int64_t chunk);
/* Memory for the bytes of another chunk: others leave the cache for it, all if it is larger than the bound. NULL
 * without memory. */
unsigned char *pnc_chunks_cache_add(pnc_chunk_cache *cache, int64_t array, int64_t chunk, int64_t bytes);
/* Remove the one that was added last. */
void pnc_chunks_cache_undo(pnc_chunk_cache *cache);
void pnc_chunks_cache_clear(pnc_chunk_cache *cache);
/* Remove those for which must_leave returns true. */
void pnc_chunks_cache_remove(pnc_chunk_cache *cache, bool (*must_leave)(void *own, int64_t array, int64_t chunk),
                             void *own);

#endif
