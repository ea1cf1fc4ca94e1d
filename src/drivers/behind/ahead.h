/* What a program will probably read next (hint nc_prefetch). A stream is the gets of one variable; of the last one it
 * knows the range of the file and what this rank has read for it. If the ranges have moved by equal steps, the same
 * reads one step further make a batch, which the worker reads (worker.h). For a variable in chunks, whose ranges are
 * those of its values, the store of chunks knows what the next get needs (pnc_store_ops.find_reads), and may prepare it
 * when it is read. Pure; without a lock, but for `done`, `is_waiting`, `is_preparing` and `is_discarded` of a batch,
 * which are the worker's while it waits.
 *
 *      range of get k     k + 1              k + 2
 *        |###|-- step ---->|###|-- step ---->|...|  the batch, made when get k + 1 has ended
 *
 * If no get uses a batch, its stream needs twice as many equal steps before it makes the next one. */
#ifndef PNC_DRIVERS_BEHIND_AHEAD_H
#define PNC_DRIVERS_BEHIND_AHEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "drivers/reads.h"

/* Guesses: a get of 64 reads of a buffer each is larger than the memory; programs with more variables than 256 get few
 * of them in turn. */
#define PNC_BEHIND_EXTENTS 64 /* reads of a get of a variable without chunks; of one with more, none is made ahead */
#define PNC_BEHIND_STREAMS 256

/* A part of a batch that is one extent of the file. */
typedef struct pnc_behind_part {
    pnc_extent extent;
    int64_t at; /* in the bytes of the batch */
} pnc_behind_part;

typedef struct pnc_behind_batch {
    struct pnc_behind_batch *next; /* of those that wait for the worker */
    pnc_behind_part *parts;        /* ascending in the file: those that are adjacent there are one */
    int64_t n, current;            /* how many; the one that is read */
    char *bytes;                   /* of the parts, one after the other */
    int64_t length;                /* of all parts; 0: there is no batch */
    int64_t changed;               /* the time of the file before it was read */
    int64_t done, used;            /* bytes from the beginning that were read; bytes that gets have taken */
    pnc_store_reads *reads;        /* what they are; NULL: nothing is prepared */
    bool is_waiting, is_preparing, is_discarded; /* the worker stops at the end of its turn */
} pnc_behind_batch;

typedef struct pnc_behind_stream {
    int varid;
    int64_t low, length; /* range of the last get */
    int64_t step;        /* from that of the get before; 0: unknown */
    int steps;           /* how many were equal */
    int needed;          /* as many make a batch */
    int64_t capacity;    /* of `memory` */
    char *memory;        /* that the batch uses */
    pnc_extent reads[PNC_BEHIND_EXTENTS];
    int nreads; /* of the last get; more than PNC_BEHIND_EXTENTS: too many */
    pnc_behind_batch batch;
} pnc_behind_stream;

/* The memory of all batches is in `capacity`. */
typedef struct pnc_behind_ahead {
    pnc_behind_stream *streams[PNC_BEHIND_STREAMS];
    pnc_behind_stream *current; /* the get that is executed is of it; NULL: of none */
    pnc_extent reads[PNC_BEHIND_EXTENTS];
    int nreads;     /* of the get; more than PNC_BEHIND_EXTENTS: too many */
    int64_t length; /* their bytes */
    int batches;
    int64_t capacity, allocated;
    int64_t read, used; /* bytes of all batches so far */
    int64_t lacking;    /* bytes that were to be read, and that had no memory */
} pnc_behind_ahead;

/* A get of values of the variable begins, in this range. Returns whether the batch of its stream, if there is one, is
 * of another range: the caller removes it. */
bool pnc_behind_ahead_begin(pnc_behind_ahead *ahead, int varid, int64_t low, int64_t high);
/* The get reads an extent. */
void pnc_behind_ahead_add(pnc_behind_ahead *ahead, pnc_extent extent);
/* The range of the next get, if that is known. */
bool pnc_behind_ahead_find_next(const pnc_behind_ahead *ahead, pnc_extent *range);
/* What it reads, if the reads of this get have moved as the range did: at most PNC_BEHIND_EXTENTS. Aggregators may have
 * other parts of each range. Returns how many; 0: that is not known. */
int pnc_behind_ahead_move(const pnc_behind_ahead *ahead, pnc_store_read *out);
/* The get has ended, and the batch of its stream was removed. Makes the next batch, of these reads, as many of them
 * from the first on as have memory, all of which the worker may read; NULL: there is none. of: what they are, with n
 * reads, which get their memory; the batch frees it. NULL: nothing but reads. */
pnc_behind_batch *pnc_behind_ahead_end(pnc_behind_ahead *ahead, pnc_store_read *reads, int64_t n, pnc_store_reads *of);
/* The worker may not read it. */
void pnc_behind_batch_discard(pnc_behind_ahead *ahead, pnc_behind_stream *stream);
/* Remove a batch that does not wait, and learn from it. */
void pnc_behind_batch_remove(pnc_behind_ahead *ahead, pnc_behind_stream *stream);

/* Where the batch has the bytes of an extent, from its beginning; -1: not all of them. */
int64_t pnc_behind_batch_find(const pnc_behind_batch *batch, pnc_extent extent);
/* The next bytes to be read, at most `most`, which are one extent. */
pnc_extent pnc_behind_batch_find_next(pnc_behind_batch *batch, int64_t most);

void pnc_behind_ahead_free(pnc_behind_ahead *ahead);

#endif
