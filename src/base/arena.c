/* Arena allocator: many small allocations from large chunks. */
#include "base/arena.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/memory.h"

/* The first chunk is small, those that follow it are in large pages: posting and completing a million requests took
 * twice as long with chunks of 256 KiB. */
#define FIRST_BYTES (256 << 10)
#define CHUNK_BYTES (2 * PNC_LARGE_PAGE)
/* Free chunks are kept, because the system clears the pages of new ones: 10 of the 90 ns of a request in a list of a
 * million. Those beyond the first ones are in released pages. */
#define MOST_RESIDENT 2
#define MOST_BYTES (INT64_C(256) << 20)

/* Header of each allocation: its place in its chunk, and its size including the header, both in units. An allocation
 * that does not fit in an ordinary chunk has one of its own, and size 0 here. */
typedef struct unit {
    _Alignas(int64_t) uint32_t place;
    uint32_t units;
} unit;
_Static_assert(sizeof(unit) == sizeof(int64_t), "the header of an allocation has 8 bytes");

struct pnc_chunk {
    int64_t used, capacity; /* in units */
    int64_t live;           /* number of allocations not yet freed */
    struct pnc_chunk *older, *newer;
    int64_t unused[3]; /* pads to a cache line */
    unit units[];
};

static int64_t count_capacity(int64_t bytes)
{
    return (bytes - (int64_t)sizeof(struct pnc_chunk)) / (int64_t)sizeof(unit);
}

#define FIRST_UNITS count_capacity(FIRST_BYTES)
#define CHUNK_UNITS count_capacity(CHUNK_BYTES)

/* Of an ordinary chunk, or of one for a single allocation. */
static int64_t count_bytes(int64_t capacity)
{
    int64_t bytes = (int64_t)sizeof(struct pnc_chunk) + capacity * (int64_t)sizeof(unit);

    return (bytes + PNC_LARGE_PAGE - 1) / PNC_LARGE_PAGE * PNC_LARGE_PAGE;
}

/* --- spare chunks --- */

static bool keep_chunk(pnc_arena *arena, struct pnc_chunk *chunk)
{
    pnc_spare_chunk spare = {chunk, count_bytes(chunk->capacity), false};

    if (chunk->capacity < CHUNK_UNITS || arena->nspares == PNC_ARENA_SPARES ||
        spare.bytes > MOST_BYTES - arena->spare_bytes)
        return false;
    if (arena->nspares >= MOST_RESIDENT || chunk->capacity > CHUNK_UNITS) {
        spare.is_released = pnc_memory_pages_release(chunk, spare.bytes);
        if (!spare.is_released)
            return false;
    }
    arena->spares[arena->nspares++] = spare;
    arena->spare_bytes += spare.bytes;
    return true;
}

static struct pnc_chunk *take_spare(pnc_arena *arena, int i)
{
    pnc_spare_chunk spare = arena->spares[i];

    arena->spares[i] = arena->spares[--arena->nspares];
    arena->spare_bytes -= spare.bytes;
    if (spare.is_released)
        pnc_memory_pages_take(spare.bytes);
    return spare.chunk;
}

/* The chunk that was freed last of those of these bytes; NULL if there is none. */
static struct pnc_chunk *find_spare(pnc_arena *arena, int64_t bytes)
{
    for (int i = arena->nspares - 1; i >= 0; i--)
        if (arena->spares[i].bytes == bytes)
            return take_spare(arena, i);
    return NULL;
}

/* --- chunks --- */

/* With room for an allocation of so many units. */
static struct pnc_chunk *new_chunk(pnc_arena *arena, int64_t units)
{
    int64_t capacity = arena->current == NULL && units <= FIRST_UNITS ? FIRST_UNITS : CHUNK_UNITS;
    struct pnc_chunk *chunk = NULL;

    if (capacity < units)
        capacity = units;
    if (capacity == FIRST_UNITS)
        chunk = pnc_memory_alloc(FIRST_BYTES, 1);
    else if (capacity <= (INT64_MAX - 2 * PNC_LARGE_PAGE) / (int64_t)sizeof(unit)) {
        chunk = find_spare(arena, count_bytes(capacity));
        if (chunk == NULL)
            chunk = pnc_memory_alloc_large(count_bytes(capacity));
    }
    if (chunk != NULL)
        *chunk = (struct pnc_chunk){.capacity = capacity};
    return chunk;
}

/* The newest chunk becomes the current one, but for one that is full: small allocations continue where they are. */
static void add_chunk(pnc_arena *arena, struct pnc_chunk *chunk)
{
    chunk->newer = chunk->capacity > CHUNK_UNITS ? arena->current : NULL;
    chunk->older = chunk->newer != NULL ? chunk->newer->older : arena->current;
    if (chunk->older != NULL)
        chunk->older->newer = chunk;
    if (chunk->newer != NULL)
        chunk->newer->older = chunk;
    else
        arena->current = chunk;
}

static void free_chunk(pnc_arena *arena, struct pnc_chunk *chunk)
{
    if (chunk->older != NULL)
        chunk->older->newer = chunk->newer;
    if (chunk->newer != NULL)
        chunk->newer->older = chunk->older;
    else
        arena->current = chunk->older;
    if (!keep_chunk(arena, chunk))
        pnc_memory_free(chunk);
}

/* --- allocations --- */

static int64_t units_for(int64_t bytes)
{
    return bytes / (int64_t)sizeof(unit) + (bytes % (int64_t)sizeof(unit) != 0) + 1;
}

static struct pnc_chunk *chunk_of(unit *allocation)
{
    return (struct pnc_chunk *)(void *)((char *)(allocation - allocation->place) - offsetof(struct pnc_chunk, units));
}

static int64_t count_units(unit *allocation)
{
    return allocation->units > 0 ? allocation->units : chunk_of(allocation)->used;
}

/* True if the allocation is the last one of its chunk. */
static bool is_last(unit *allocation)
{
    return allocation->place + count_units(allocation) == chunk_of(allocation)->used;
}

void *pnc_arena_alloc(pnc_arena *arena, int64_t bytes)
{
    int64_t units = units_for(bytes);
    struct pnc_chunk *chunk = arena->current;
    unit *allocation;

    assert(bytes >= 0);
    if (chunk == NULL || chunk->capacity - chunk->used < units) {
        chunk = new_chunk(arena, units);
        if (chunk == NULL)
            return NULL;
        if (arena->current != NULL && arena->current->live == 0 && units <= CHUNK_UNITS)
            free_chunk(arena, arena->current);
        add_chunk(arena, chunk);
    }
    allocation = chunk->units + chunk->used;
    *allocation = (unit){(uint32_t)chunk->used, units <= CHUNK_UNITS ? (uint32_t)units : 0};
    chunk->used += units;
    chunk->live++;
    return allocation + 1;
}

void *pnc_arena_grow(pnc_arena *arena, void *allocation, int64_t bytes)
{
    unit *old = (unit *)allocation - 1;
    struct pnc_chunk *chunk = chunk_of(old);
    int64_t units = units_for(bytes), more = units - count_units(old);
    void *larger;

    assert(chunk->live > 0);
    if (more <= 0)
        return allocation;
    if (is_last(old) && chunk->capacity - chunk->used >= more) {
        chunk->used += more;
        old->units = (uint32_t)units;
        return allocation;
    }
    larger = pnc_arena_alloc(arena, bytes);
    if (larger != NULL) {
        memcpy(larger, allocation, (size_t)(count_units(old) - 1) * sizeof(unit));
        pnc_arena_free(arena, allocation);
    }
    return larger;
}

void pnc_arena_free(pnc_arena *arena, void *allocation)
{
    unit *given = (unit *)allocation - 1;
    struct pnc_chunk *chunk = chunk_of(given);

    assert(chunk->live > 0);
    if (is_last(given))
        chunk->used -= count_units(given);
    if (--chunk->live > 0)
        return;
    chunk->used = 0;
    if (chunk != arena->current || chunk->capacity > CHUNK_UNITS)
        free_chunk(arena, chunk);
}

void pnc_arena_clear(pnc_arena *arena)
{
    struct pnc_chunk *chunk = arena->current;

    if (chunk == NULL)
        return;
    while (chunk->older != NULL)
        free_chunk(arena, chunk->older);
    chunk->used = chunk->live = 0;
    if (chunk->capacity > CHUNK_UNITS)
        free_chunk(arena, chunk);
}

void pnc_arena_destroy(pnc_arena *arena)
{
    assert(arena->current == NULL || (arena->current->live == 0 && arena->current->older == NULL));
    pnc_memory_free(arena->current);
    arena->current = NULL;
    while (arena->nspares > 0)
        pnc_memory_free(take_spare(arena, arena->nspares - 1));
}
