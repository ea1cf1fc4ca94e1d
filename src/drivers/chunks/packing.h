/* Boxes of chunks as bytes, in messages and logs: a packed_chunk, its packed boxes, the next chunk. A packed box has a
 * head and its values one behind the other; in a request only the head. */
#ifndef PNC_CHUNKS_PACKING_H
#define PNC_CHUNKS_PACKING_H

#include <stdint.h>

#include "array/box.h"

typedef struct pnc_packed_chunk {
    int64_t array, chunk, nboxes;
} pnc_packed_chunk;

/* A chunk has less than 2^32 bytes (PNC_FILTER_CHUNK_MOST). Behind it are its axes. */
typedef struct pnc_packed_box {
    uint32_t at, run, naxes;
} pnc_packed_box;

typedef struct pnc_packed_axis {
    uint32_t count, in_chunk;
} pnc_packed_axis;

enum {
    PNC_CHUNK_HEAD = (int)sizeof(pnc_packed_chunk),
    PNC_BOX_HEAD = (int)sizeof(pnc_packed_box) /* of one without axes */
};

/* Values of a packed box at most: a guess, so that a message has several. */
#define PNC_BOX_BYTES (INT64_C(64) << 10)

/* Bytes of the head of a box. */
static inline int64_t pnc_chunks_head_count(int64_t naxes)
{
    return PNC_BOX_HEAD + naxes * (int64_t)sizeof(pnc_packed_axis);
}

/* Write the head of a box. Returns its bytes. */
int64_t pnc_chunks_head_pack(const pnc_box *box, char *to);
/* Read it: a box whose values are numbered from 0 on. Returns its bytes. */
int64_t pnc_chunks_head_unpack(const char *from, int64_t chunk, pnc_box *box);

#endif
