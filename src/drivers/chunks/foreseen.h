/* Gets that are foreseen (hint nc_prefetch): the hyperslabs of the last get, moved by a step, and the chunks that this
 * rank will load for them. The store that reads ahead has the bytes of these chunks read; its worker decodes them where
 * a processor is idle. */
#ifndef PNC_CHUNKS_FORESEEN_H
#define PNC_CHUNKS_FORESEEN_H

#include <stdbool.h>
#include <stdint.h>

/* The hyperslabs of a get, and what other ranks have asked this one for in it. Of each: its array, start, count and
 * stride. */
typedef struct pnc_noted_get {
    int64_t *numbers;
    int64_t n, capacity;
    bool is_full; /* it has more than are noted */
} pnc_noted_get;

struct pnc_foreseen;

#endif
