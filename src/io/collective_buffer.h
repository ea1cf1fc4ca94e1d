/* The collective buffer of an aggregator: merges the pieces of one block of the file, from several ranks, into few
 * large accesses. */
#ifndef PNC_IO_COLLECTIVE_BUFFER_H
#define PNC_IO_COLLECTIVE_BUFFER_H

#include "io/context.h"

#define PNC_DOMAIN_BLOCK (INT64_C(1) << 20)                                        /* bytes */
#define PNC_COLLECTIVE_BUFFER_MEMORY (2 * PNC_DOMAIN_BLOCK + PNC_DOMAIN_BLOCK / 8) /* bytes */

typedef struct pnc_collective_buffer {
    pnc_io_context *io;
    bool exclusive;    /* no other rank writes to the block during the call: its gaps may be read and written back */
    int64_t first;     /* file offset of the block */
    int64_t low, high; /* file offsets of the span of all pieces; low == high: no piece yet */
    char *bytes;       /* bytes of the block */
    char *old;         /* bytes that the file holds in the gaps */
    uint64_t *covered; /* one bit per byte, set if a piece covers the byte */
} pnc_collective_buffer;

int pnc_io_collective_buffer_init(pnc_collective_buffer *cb, pnc_io_context *io);
void pnc_io_collective_buffer_free(pnc_collective_buffer *cb);

/* Start with block number `index` of the file. */
void pnc_io_collective_buffer_start(pnc_collective_buffer *cb, int64_t index);
/* Put: copy each piece into the buffer, then write all of them. Where pieces overlap, the last one wins. */
void pnc_io_collective_buffer_put(pnc_collective_buffer *cb, pnc_extent piece, const char *data);
int pnc_io_collective_buffer_write(pnc_collective_buffer *cb);
/* Get: include each piece in the span, read the span, then copy each piece out. */
void pnc_io_collective_buffer_include(pnc_collective_buffer *cb, pnc_extent piece);
int pnc_io_collective_buffer_read(pnc_collective_buffer *cb);
void pnc_io_collective_buffer_get(const pnc_collective_buffer *cb, pnc_extent piece, char *data);

#endif
