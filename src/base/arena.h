/* Arena allocator: many small allocations, freed one by one, without a malloc for each. A chunk is freed, or kept for
 * later ones, when all of its allocations are freed: at most 12 MiB are kept. Memory that is freed before the next
 * allocation is reused at once. */
#ifndef PNC_BASE_ARENA_H
#define PNC_BASE_ARENA_H

#include <stdint.h>

typedef struct pnc_arena {
    struct pnc_chunk *current; /* the newest chunk, which leads to the others */
    struct pnc_chunk *spare;   /* free ones, which lead to each other as well */
    int nspare;
} pnc_arena;

void *pnc_arena_alloc(pnc_arena *arena, int64_t bytes); /* aligned for int64_t and pointers; NULL on failure */
/* Enlarge an allocation, in place if it is the last one; its bytes are kept. On failure NULL, and the allocation is
 * unchanged. */
void *pnc_arena_grow(pnc_arena *arena, void *allocation, int64_t bytes);
void pnc_arena_free(pnc_arena *arena, void *allocation);
void pnc_arena_clear(pnc_arena *arena);   /* free all allocations, without a step for each */
void pnc_arena_destroy(pnc_arena *arena); /* all allocations must have been freed */

#endif
