/* The collective buffer of an aggregator: the bytes of its blocks in one window of the file. It merges pieces of
 * several ranks into few large accesses. */
#ifndef PNC_IO_COLLECTIVE_BUFFER_H
#define PNC_IO_COLLECTIVE_BUFFER_H

#include "file/file.h"
#include "io/choose/sizes.h"

/* Pieces of a get, by position in the buffer. */
typedef struct pnc_wanted {
    int64_t low, high, bytes, n;
} pnc_wanted;

/* Memory of one or of two buffers. `covered` has a bit for each `grain` bytes: set if a piece covers them, or if they
 * were read. Nearly all pieces are multiples of 4 bytes; the first one that is not makes the bits finer. */
typedef struct pnc_collective_memory {
    int64_t capacity;
    char *bytes;
    uint64_t *covered;
    int grain;   /* 4 or 1 */
    char *sieve; /* for bytes that the file holds in gaps; allocated at first use */
} pnc_collective_memory;

typedef struct pnc_collective_buffer {
    pnc_file *file;
    int aggregator;           /* in the domains */
    bool sieves_writes;       /* no other rank writes to gaps between the pieces during the call */
    int64_t sieve_gap;        /* smaller gaps are cheaper to access than to skip */
    int64_t capacity;         /* bytes */
    pnc_file_domains domains; /* of the current round */
    bool in_background;       /* accesses take place while the program does something else */
    bool has_blocks;          /* get: the blocks of the round are read at once */
    int status;               /* first error of a read of the round */
    pnc_block block;          /* the last one that was accessed */
    int64_t low, high;        /* positions of the span of all pieces; low == high: no piece yet */
    int64_t first;            /* of this buffer in the memory */
    char *bytes;              /* by position */
    pnc_collective_memory *memory;
    pnc_wanted wanted;                                   /* pieces that were announced and not yet read */
    pnc_store_transfer transfers[PNC_TRANSFERS_AT_ONCE]; /* that have begun */
    int ntransfers, oldest;
    bool is_reading; /* they are reads */
} pnc_collective_buffer;

/* NC_ENOMEM */
int pnc_io_collective_memory_alloc(pnc_collective_memory *memory, pnc_file *file, int64_t capacity);
void pnc_io_collective_memory_free(pnc_collective_memory *memory);

/* Use a part of the memory, which no other buffer uses; `first` is a multiple of 256. The bits of the part are 0, as
 * after pnc_io_collective_buffer_free. The caller sets sieve_gap, sieves_writes and in_background. */
void pnc_io_collective_buffer_init(pnc_collective_buffer *cb, pnc_file *file, pnc_collective_memory *memory,
                                   int64_t first, int64_t capacity);
void pnc_io_collective_buffer_free(pnc_collective_buffer *cb);

/* Begin a round of this aggregator. */
void pnc_io_collective_buffer_start(pnc_collective_buffer *cb, const pnc_file_domains *domains, int aggregator);
/* Put: copy pieces into the buffer, then write all of them. A piece lies in one block. Where pieces overlap, the last
 * one wins. NC_ENOMEM: for finer bits. */
int pnc_io_collective_buffer_put(pnc_collective_buffer *cb, pnc_extent piece, const char *data);
int pnc_io_collective_buffer_write(pnc_collective_buffer *cb);
/* Get: read all blocks of the round, as far as they lie in the range. A failure is returned by the last function. */
void pnc_io_collective_buffer_read_blocks(pnc_collective_buffer *cb, int64_t low, int64_t high);
/* If `in_background` is set, functions other than this one and the last one may return while the file is accessed.
 * This one ends the accesses; it must precede the next round of the buffer. It returns errors of writes; those of
 * reads are returned by the last function. */
int pnc_io_collective_buffer_finish(pnc_collective_buffer *cb);
/* Whether no access is in progress in the background. */
bool pnc_io_collective_buffer_is_complete(const pnc_collective_buffer *cb);
/* Get: announce pieces of several ranks; read all of them in few accesses if they are close to each other; read what is
 * not yet read of each list, at the same time in the background; then copy pieces to `data`, one after the other. Data
 * sieving covers the gaps between pieces. */
void pnc_io_collective_buffer_include(pnc_collective_buffer *cb, const pnc_extent *pieces, int64_t n);
void pnc_io_collective_buffer_read(pnc_collective_buffer *cb);
void pnc_io_collective_buffer_read_pieces(pnc_collective_buffer *cb, const pnc_extent *pieces, int64_t n);
int pnc_io_collective_buffer_get(pnc_collective_buffer *cb, const pnc_extent *pieces, int64_t n, char *data);

#endif
