/* Arena allocator: many small allocations, freed one by one, without a malloc for each. When all allocations of a chunk
 * are freed, it is kept for later ones: up to 8 MiB, and up to 256 MiB whose pages the system may take when it is short
 * of memory. Memory that is freed before the next allocation is reused at once. */
#ifndef PNC_BASE_ARENA_H
#define PNC_BASE_ARENA_H

#include <stdbool.h>
#include <stdint.h>

#define PNC_ARENA_SPARES 64

/* What is known of a chunk that may have lost its bytes. */
typedef struct pnc_spare_chunk {
    struct pnc_chunk *chunk;
    int64_t bytes;
    bool is_released; /* the system may take its pages */
} pnc_spare_chunk;

typedef struct pnc_arena {
    struct pnc_chunk *current; /* the newest chunk, which leads to the others */
    pnc_spare_chunk spares[PNC_ARENA_SPARES];
    int nspares;
    int64_t spare_bytes; /* of them all */
} pnc_arena;

void *pnc_arena_alloc(pnc_arena *arena, int64_t bytes); /* aligned for int64_t and pointers; NULL on failure */
/* Enlarge an allocation, in place if it is the last one; its bytes are kept. On failure NULL, and the allocation is
 * unchanged. */
void *pnc_arena_grow(pnc_arena *arena, void *allocation, int64_t bytes);
void pnc_arena_free(pnc_arena *arena, void *allocation);
void pnc_arena_clear(pnc_arena *arena);   /* free all allocations, without a step for each */
void pnc_arena_destroy(pnc_arena *arena); /* all allocations must have been freed */

#endif
