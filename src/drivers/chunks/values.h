/* The values of hyperslabs in external form, by their numbers, and their way into chunks and out of them. */
#ifndef PNC_CHUNKS_VALUES_H
#define PNC_CHUNKS_VALUES_H

#include <stdint.h>

#include "array/box.h"

/* What the caller of a put or get has. */
typedef struct pnc_chunk_values {
    void *own;
    /* A put: the values from number `first` on. */
    void (*pack)(void *own, int64_t first, int64_t n, void *to);
    /* Where the same are, in external form, one behind the other; NULL: nowhere. */
    const void *(*look)(void *own, int64_t first);
    /* A get: values of what the caller has passed as `of`. */
    void (*unpack)(void *own, void *of, int64_t first, int64_t n, const void *from);
} pnc_chunk_values;

/* The values of a packed box. */
typedef struct pnc_packed_values {
    const char *bytes;
    int size; /* of an element */
} pnc_packed_values;

/* To be put; `packed` must outlive the result. */
pnc_chunk_values pnc_chunks_packed_get_values(pnc_packed_values *packed);

/* The values of a box to its chunk. */
void pnc_chunks_values_scatter(const pnc_box *box, const pnc_chunk_values *values, int size, unsigned char *chunk);
/* The values of a box, one behind the other. */
void pnc_chunks_values_pack(const pnc_box *box, const pnc_chunk_values *values, int size, char *to);
/* What a chunk has for a box, likewise. */
void pnc_chunks_values_gather(const pnc_box *box, int size, const unsigned char *chunk, char *to);

#endif
