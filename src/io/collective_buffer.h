/* The collective buffer of an aggregator: the bytes of its blocks in one window of the file. It merges pieces of
 * several ranks into few large accesses. */
#ifndef PNC_IO_COLLECTIVE_BUFFER_H
#define PNC_IO_COLLECTIVE_BUFFER_H

#include "file/file.h"
#include "io/file_domains.h"

/* Pieces of a get, by position in the buffer. */
typedef struct pnc_wanted {
    int64_t low, high, bytes, n;
} pnc_wanted;

typedef struct pnc_collective_buffer {
    pnc_file *file;
    int aggregator;
    int64_t sieve_gap;        /* smaller gaps are cheaper to access than to skip */
    int64_t capacity;         /* bytes */
    pnc_file_domains domains; /* of the current round */
    int64_t low, high;        /* positions of the span of all pieces; low == high: no piece yet */
    char *bytes;              /* by position */
    uint64_t *covered;        /* one bit per byte, set if a piece covers the byte, or if it was read */
    char *sieve;              /* for bytes that the file holds in gaps; allocated at first use */
    pnc_wanted wanted;        /* pieces that were announced and not yet read */
} pnc_collective_buffer;

/* NC_ENOMEM. After a failure, too, the buffer must be freed. */
int pnc_io_collective_buffer_init(pnc_collective_buffer *cb, pnc_file *file, int aggregator, int64_t capacity);
void pnc_io_collective_buffer_free(pnc_collective_buffer *cb);

/* Begin a round. */
void pnc_io_collective_buffer_start(pnc_collective_buffer *cb, const pnc_file_domains *domains);
/* Put: copy pieces into the buffer, then write all of them. A piece lies in one block. Where pieces overlap, the last
 * one wins. */
void pnc_io_collective_buffer_put(pnc_collective_buffer *cb, pnc_extent piece, const char *data);
int pnc_io_collective_buffer_write(pnc_collective_buffer *cb);
/* Get: announce pieces of several ranks, read them in few accesses, then copy them to `data`, one after the other. Data
 * sieving covers the gaps between pieces. */
void pnc_io_collective_buffer_include(pnc_collective_buffer *cb, const pnc_extent *pieces, int64_t n);
int pnc_io_collective_buffer_read(pnc_collective_buffer *cb);
int pnc_io_collective_buffer_get(pnc_collective_buffer *cb, const pnc_extent *pieces, int64_t n, char *data);

#endif
