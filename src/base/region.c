/* Region allocator. */
#include "base/region.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/memory.h"

/* Chunks double, so that a small region is small, up to a size from which larger ones save nothing. */
enum { LEAST_CHUNK = 1024, MOST_CHUNK = 256 * 1024 };

struct pnc_region_chunk {
    struct pnc_region_chunk *next;
    int64_t bytes;
    int64_t data[];
};

static struct pnc_region_chunk *new_region_chunk(int64_t bytes)
{
    struct pnc_region_chunk *chunk = NULL;
    int64_t total;

    if (pnc_size_add(bytes, (int64_t)sizeof *chunk, &total) == 0)
        chunk = pnc_memory_alloc(total, 1);
    if (chunk != NULL)
        chunk->bytes = bytes;
    return chunk;
}

static int64_t next_size(const pnc_region *region)
{
    if (region->chunks == NULL)
        return LEAST_CHUNK;
    return region->chunks->bytes < MOST_CHUNK / 2 ? 2 * region->chunks->bytes : MOST_CHUNK;
}

/* An allocation that does not fit in the current chunk. One that is large has a chunk of its own, behind the current
 * one, whose free bytes remain usable. */
static void *alloc_in_new_chunk(pnc_region *region, int64_t bytes)
{
    int64_t size = next_size(region);
    bool is_large = bytes > size / 4;
    struct pnc_region_chunk *chunk = new_region_chunk(is_large ? bytes : size);

    if (chunk == NULL)
        return NULL;
    if (is_large && region->chunks != NULL) {
        chunk->next = region->chunks->next;
        region->chunks->next = chunk;
        return chunk->data;
    }
    chunk->next = region->chunks;
    region->chunks = chunk;
    region->next = (char *)chunk->data + bytes;
    region->left = chunk->bytes - bytes;
    return chunk->data;
}

void *pnc_region_alloc(pnc_region *region, int64_t bytes)
{
    const int64_t align = sizeof(int64_t);
    void *allocation = region->next;

    assert(bytes >= 0);
    if (bytes > INT64_MAX - align)
        return NULL;
    bytes = bytes > 0 ? (bytes + align - 1) / align * align : align;
    if (bytes > region->left)
        return alloc_in_new_chunk(region, bytes);
    region->next += bytes;
    region->left -= bytes;
    return allocation;
}

char *pnc_region_text_copy(pnc_region *region, const char *bytes, int64_t n)
{
    char *copy = pnc_region_alloc(region, n + 1);

    if (copy == NULL)
        return NULL;
    memcpy(copy, bytes, (size_t)n);
    copy[n] = '\0';
    return copy;
}

void pnc_region_free(pnc_region *region)
{
    struct pnc_region_chunk *chunk, *next;

    for (chunk = region->chunks; chunk != NULL; chunk = next) {
        next = chunk->next;
        pnc_memory_free(chunk);
    }
    *region = (pnc_region){NULL, NULL, 0};
}
