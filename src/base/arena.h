/* Many small pieces of memory, given back one by one: no allocation per piece, and memory returns when all pieces of a
 * chunk have. What is given back right after it was taken can be taken again at once. */
#ifndef PNC_BASE_ARENA_H
#define PNC_BASE_ARENA_H

#include <stdint.h>

typedef struct pnc_arena {
    struct pnc_chunk *current; /* has room at its end; full chunks live on in their pieces */
} pnc_arena;

void *pnc_arena_alloc(pnc_arena *arena, int64_t bytes); /* aligned for any type; NULL without memory */
/* Make a piece larger, in place if it was taken last; its bytes are kept. NULL without memory, and the piece
 * remains. */
void *pnc_arena_grow(pnc_arena *arena, void *piece, int64_t bytes);
void pnc_arena_free(pnc_arena *arena, void *piece);
void pnc_arena_destroy(pnc_arena *arena);              /* all pieces have been given back */

#endif
