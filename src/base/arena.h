/* Arena allocator: many small allocations, freed one by one, without a malloc for each. A chunk whose allocations are
 * all freed is kept for later ones: 12 MiB as they are, and up to 240 MiB whose pages the system may take when it is
 * short of memory. A chunk of a single large allocation is freed. Memory that is freed before the next allocation is
 * reused at once. */
#ifndef PNC_BASE_ARENA_H
#define PNC_BASE_ARENA_H

#include <stdint.h>

/* Of 4 MiB each. */
#define PNC_ARENA_RESIDENT 2
#define PNC_ARENA_RELEASED 60

typedef struct pnc_arena {
    struct pnc_chunk *current;                      /* the newest chunk, which leads to the others */
    struct pnc_chunk *resident[PNC_ARENA_RESIDENT]; /* free ones */
    struct pnc_chunk *released[PNC_ARENA_RELEASED]; /* free ones that may have lost their bytes */
    int nresident, nreleased;
} pnc_arena;

void *pnc_arena_alloc(pnc_arena *arena, int64_t bytes); /* aligned for int64_t and pointers; NULL on failure */
/* Enlarge an allocation, in place if it is the last one; its bytes are kept. On failure NULL, and the allocation is
 * unchanged. */
void *pnc_arena_grow(pnc_arena *arena, void *allocation, int64_t bytes);
void pnc_arena_free(pnc_arena *arena, void *allocation);
void pnc_arena_clear(pnc_arena *arena);   /* free all allocations, without a step for each */
void pnc_arena_destroy(pnc_arena *arena); /* all allocations must have been freed */

#endif
