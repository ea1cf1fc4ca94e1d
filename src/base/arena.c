/* Many small pieces of memory out of large chunks. */
#include "base/arena.h"

#include <stddef.h>

#include "base/memory.h"

#define CHUNK_BYTES (256 * 1024)

typedef union unit {
    max_align_t align;
    struct pnc_chunk *chunk; /* before each piece: where it comes from */
} unit;

struct pnc_chunk {
    int64_t used, room; /* in units */
    int64_t live;       /* pieces not yet given back */
    unit units[];
};

static struct pnc_chunk *new_chunk(int64_t units)
{
    int64_t room = CHUNK_BYTES / (int64_t)sizeof(unit);
    struct pnc_chunk *chunk;

    if (room < units)
        room = units;
    chunk = room > INT64_MAX / (int64_t)sizeof(unit) - 8 ? NULL
                : pnc_alloc((int64_t)sizeof *chunk + room * (int64_t)sizeof(unit), 1);
    if (chunk != NULL) {
        chunk->used = chunk->live = 0;
        chunk->room = room;
    }
    return chunk;
}

void *pnc_arena_take(pnc_arena *arena, int64_t bytes)
{
    int64_t units = bytes / (int64_t)sizeof(unit) + 2;
    struct pnc_chunk *chunk = arena->current;
    unit *piece;

    if (chunk == NULL || chunk->room - chunk->used < units) {
        chunk = new_chunk(units);
        if (chunk == NULL)
            return NULL;
        if (arena->current != NULL && arena->current->live == 0)
            pnc_free(arena->current);
        arena->current = chunk;
    }
    piece = chunk->units + chunk->used;
    piece->chunk = chunk;
    chunk->used += units;
    chunk->live++;
    return piece + 1;
}

void pnc_arena_give(pnc_arena *arena, void *piece)
{
    struct pnc_chunk *chunk = ((unit *)piece - 1)->chunk;

    if (--chunk->live > 0)
        return;
    if (chunk == arena->current)
        chunk->used = 0;
    else
        pnc_free(chunk);
}

void pnc_arena_end(pnc_arena *arena)
{
    pnc_free(arena->current);
    arena->current = NULL;
}
