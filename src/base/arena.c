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

/* --- spare chunks ---
 * Free chunks are kept because the system clears the pages of new ones: 10 of the 90 ns of a request in a list of a
 * million. */

static bool keep_chunk(pnc_arena *arena, struct pnc_chunk *chunk)
{
    if (chunk->capacity != CHUNK_UNITS)
        return false;
    if (arena->nresident < PNC_ARENA_RESIDENT) {
        arena->resident[arena->nresident++] = chunk;
        return true;
    }
    if (arena->nreleased == PNC_ARENA_RELEASED || !pnc_memory_pages_release(chunk, CHUNK_BYTES))
        return false;
    arena->released[arena->nreleased++] = chunk;
    return true;
}

static struct pnc_chunk *take_spare(pnc_arena *arena)
{
    struct pnc_chunk *chunk;

    if (arena->nresident > 0)
        return arena->resident[--arena->nresident];
    if (arena->nreleased == 0)
        return NULL;
    chunk = arena->released[--arena->nreleased];
    pnc_memory_pages_take(chunk);
    return chunk;
}

static void free_spares(pnc_arena *arena)
{
    while (arena->nresident > 0)
        pnc_memory_free(arena->resident[--arena->nresident]);
    while (arena->nreleased > 0)
        pnc_memory_pages_free(arena->released[--arena->nreleased]);
}

/* --- chunks --- */

static struct pnc_chunk *alloc_chunk(int64_t capacity)
{
    if (capacity == CHUNK_UNITS)
        return pnc_memory_alloc_large(CHUNK_BYTES);
    if (capacity > INT64_MAX / (int64_t)sizeof(unit) - 8)
        return NULL;
    return pnc_memory_alloc_array((int64_t)sizeof(struct pnc_chunk) + capacity * (int64_t)sizeof(unit), 1);
}

/* With room for an allocation of so many units. */
static struct pnc_chunk *new_arena_chunk(pnc_arena *arena, int64_t units)
{
    int64_t capacity = arena->current == NULL && units <= FIRST_UNITS ? FIRST_UNITS : CHUNK_UNITS;
    struct pnc_chunk *chunk = NULL;

    if (capacity < units)
        capacity = units;
    if (capacity == CHUNK_UNITS)
        chunk = take_spare(arena);
    if (chunk == NULL)
        chunk = alloc_chunk(capacity);
    if (chunk == NULL && arena->nresident + arena->nreleased > 0) {
        free_spares(arena); /* they occupy address space, which may be limited */
        chunk = alloc_chunk(capacity);
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
        chunk = new_arena_chunk(arena, units);
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
    free_spares(arena);
}
