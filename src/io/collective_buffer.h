/* The collective buffer of an aggregator: the bytes of its blocks in one window of the file. It merges pieces of
 * several ranks into few large accesses. */
#ifndef PNC_IO_COLLECTIVE_BUFFER_H
#define PNC_IO_COLLECTIVE_BUFFER_H

#include "file/file.h"
#include "io/file_domains.h"

#define PNC_WRITES_AT_ONCE 16

/* Pieces of a get, by position in the buffer. */
typedef struct pnc_wanted {
    int64_t low, high, bytes, n;
} pnc_wanted;

/* Memory of one or of two buffers. */
typedef struct pnc_collective_memory {
    int64_t capacity;
    char *bytes;
    uint64_t *covered;
    char *sieve; /* for bytes that the file holds in gaps; allocated at first use */
} pnc_collective_memory;

typedef struct pnc_collective_buffer {
    pnc_file *file;
    int aggregator;                /* in the domains */
    bool sieves_writes;            /* no other rank writes to gaps between the pieces during the call */
    int64_t sieve_gap;             /* smaller gaps are cheaper to access than to skip */
    int64_t capacity;              /* bytes */
    pnc_file_domains domains;      /* of the current round */
    bool reads_blocks;             /* get: the ranks want most of the range; one access reads a block */
    int64_t range_low, range_high; /* of the file, of the call */
    bool overlaps;                 /* writes need not be complete at the end of a round */
    int64_t block_end, shift; /* file offset after the last block that was accessed; from its offsets to positions */
    int64_t low, high;        /* positions of the span of all pieces; low == high: no piece yet */
    char *bytes;              /* by position */
    uint64_t *covered;        /* one bit per byte, set if a piece covers the byte, or if it was read */
    pnc_collective_memory *memory;
    pnc_wanted wanted;                          /* pieces that were announced and not yet read */
    pnc_store_write writes[PNC_WRITES_AT_ONCE]; /* that have begun */
    int nwrites;
} pnc_collective_buffer;

/* NC_ENOMEM */
int pnc_io_collective_memory_alloc(pnc_collective_memory *memory, pnc_file *file, int64_t capacity);
void pnc_io_collective_memory_free(pnc_collective_memory *memory);

/* Use a part of the memory, which no other buffer uses; `first` is a multiple of 64. The bits of the part are 0, as
 * after pnc_io_collective_buffer_free. */
void pnc_io_collective_buffer_init(pnc_collective_buffer *cb, pnc_file *file, pnc_collective_memory *memory,
                                   int64_t first, int64_t capacity);
void pnc_io_collective_buffer_free(pnc_collective_buffer *cb);

/* Begin a round of this aggregator. */
void pnc_io_collective_buffer_start(pnc_collective_buffer *cb, const pnc_file_domains *domains, int aggregator);
/* Put: copy pieces into the buffer, then write all of them. A piece lies in one block. Where pieces overlap, the last
 * one wins. */
void pnc_io_collective_buffer_put(pnc_collective_buffer *cb, pnc_extent piece, const char *data);
int pnc_io_collective_buffer_write(pnc_collective_buffer *cb);
/* The same, but return while the file is written. pnc_io_collective_buffer_finish must follow, before the next round of
 * the buffer; it returns the errors. */
int pnc_io_collective_buffer_write_start(pnc_collective_buffer *cb);
int pnc_io_collective_buffer_finish(pnc_collective_buffer *cb);
/* Get: announce pieces of several ranks, read them in few accesses, then copy them to `data`, one after the other. Data
 * sieving covers the gaps between pieces. */
void pnc_io_collective_buffer_include(pnc_collective_buffer *cb, const pnc_extent *pieces, int64_t n);
int pnc_io_collective_buffer_read(pnc_collective_buffer *cb);
int pnc_io_collective_buffer_get(pnc_collective_buffer *cb, const pnc_extent *pieces, int64_t n, char *data);

#endif
