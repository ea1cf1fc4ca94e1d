/* The aggregator's side of an exchange: pieces of one block of the file, gathered from several ranks, become few large
 * accesses. */
#ifndef PNC_IO_COLLECTIVE_BUFFER_H
#define PNC_IO_COLLECTIVE_BUFFER_H

#include "dataset/dataset.h"

#define PNC_DOMAIN_BLOCK (INT64_C(1) << 20) /* bytes */
#define PNC_COLLECTIVE_BUFFER_MEMORY (2 * PNC_DOMAIN_BLOCK + PNC_DOMAIN_BLOCK / 8) /* that serving blocks takes */

typedef struct pnc_collective_buffer {
    pnc_dataset *ds;
    bool exclusive;     /* nobody else writes to the block meanwhile: its gaps may be read and written again */
    int64_t first;      /* file offset of the block */
    int64_t low, high;  /* the part of it that the pieces span, as file offsets; low == high: nothing yet */
    char *bytes;        /* bytes of the block */
    char *old;          /* what the file holds in gaps */
    uint64_t *covered;  /* one bit for each byte that a piece has */
} pnc_collective_buffer;

int pnc_io_collective_buffer_init(pnc_collective_buffer *cb, pnc_dataset *ds);
void pnc_io_collective_buffer_free(pnc_collective_buffer *cb);

/* Begin with block number `index` of the file. */
void pnc_io_collective_buffer_start(pnc_collective_buffer *cb, int64_t index);
/* Put: take the bytes of one piece in, and at the end write everything. Where pieces overlap, the last one stays. */
void pnc_io_collective_buffer_put(pnc_collective_buffer *cb, pnc_extent piece, const char *data);
int pnc_io_collective_buffer_write(pnc_collective_buffer *cb);
/* Get: say what is wanted, read the span of it, hand out pieces. */
void pnc_io_collective_buffer_include(pnc_collective_buffer *cb, pnc_extent piece);
int pnc_io_collective_buffer_read(pnc_collective_buffer *cb);
void pnc_io_collective_buffer_get(const pnc_collective_buffer *cb, pnc_extent piece, char *data);

#endif
