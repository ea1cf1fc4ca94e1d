/* Region allocator: many small allocations that are freed at once. Nothing is freed before. */
#ifndef PNC_BASE_REGION_H
#define PNC_BASE_REGION_H

#include <stdint.h>

typedef struct pnc_region {
    struct pnc_region_chunk *chunks; /* the current one first */
    char *next;                      /* free bytes of the current chunk */
    int64_t left;
} pnc_region;

void *pnc_region_alloc(pnc_region *region,
                       int64_t bytes); /* aligned for pointers and 64-bit numbers; NULL on failure */
/* A copy of n bytes with a null character behind them; NULL on failure. */
char *pnc_region_text_copy(pnc_region *region, const char *bytes, int64_t n);
void pnc_region_free(pnc_region *region); /* leaves an empty region */

#endif
