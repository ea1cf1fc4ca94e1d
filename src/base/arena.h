/* Arena allocator: many small pieces, freed one by one, without a malloc per piece. A chunk is freed when all of its
 * pieces are. A piece that is freed before the next allocation is reused at once. */
#ifndef PNC_BASE_ARENA_H
#define PNC_BASE_ARENA_H

#include <stdint.h>

typedef struct pnc_arena {
    struct pnc_chunk *current; /* the chunk with free space; full chunks are reachable by their pieces */
} pnc_arena;

void *pnc_arena_alloc(pnc_arena *arena, int64_t bytes); /* aligned for any type; NULL on failure */
/* Enlarge a piece, in place if it was allocated last; its bytes are kept. NULL if allocation fails; the piece is
 * then unchanged. */
void *pnc_arena_grow(pnc_arena *arena, void *piece, int64_t bytes);
void pnc_arena_free(pnc_arena *arena, void *piece);
void pnc_arena_destroy(pnc_arena *arena); /* all pieces must have been freed */

#endif
