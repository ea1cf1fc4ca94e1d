/* A container keeps the bytes of encoded chunks, and finds them. The store of chunks (chunks.h) makes these bytes, and
 * values of them; it knows nothing of where they are.
 *
 * Chunks are put in steps: a rank prepares its own; all ranks place those that are new; each rank writes its own, and
 * the container adopts what was written. So chunks can be encoded in one call, and placed in a later one. What makes
 * them part of the dataset, for other programs, is the format's. */
#ifndef PNC_CHUNKS_CONTAINER_H
#define PNC_CHUNKS_CONTAINER_H

#include "base/error.h"
#include "drivers/chunks/map.h"

/* Where a chunk is. */
typedef struct pnc_chunk_place {
    int64_t offset; /* in the file; of another container: what it likes; -1: it does not have the chunk */
    int64_t bytes;
    int64_t mask; /* filters that were left out */
} pnc_chunk_place;

/* A chunk that is put. */
typedef struct pnc_stored_chunk {
    pnc_chunk_item item;
    pnc_chunk_place place;
    bool is_new;      /* it is not written where it is, but to another place */
    bool was_written; /* by this rank, before */
} pnc_stored_chunk;

typedef struct pnc_container pnc_container;

/* Functions that return an int return NC_NOERR, or a code with a message in *error. `index` is that of the first
 * element of the chunk in its array. All are local but `place`. */
typedef struct pnc_container_ops {
    bool is_in_file; /* places are those of the file that the store of chunks is in front of */
    int (*find)(pnc_container *container, const pnc_chunk_item *chunk, const int64_t *index, pnc_chunk_place *out,
                pnc_error *error);
    /* The bytes of a chunk at the place that was found. */
    int (*read)(pnc_container *container, const pnc_chunk_item *chunk, const pnc_chunk_place *place, void *to,
                pnc_error *error);
    /* chunk->place.bytes: if no filter changes the chunk, its length, and it may be written where it is; else 0. Sets
     * is_new, was_written and, unless it is new, the place. What follows needs no more memory. */
    int (*prepare)(pnc_container *container, pnc_stored_chunk *chunk, const int64_t *index, pnc_error *error);
    /* Collective. A list of chunks that are prepared, and have their lengths and masks: those that are new get places,
     * of which nothing may fail any more. *more: whether this rank has further lists; then whether any rank has. After
     * an error, which may be one of this rank only, the chunks have no places, but other ranks may continue as long as
     * *more is set, and this one must, too. */
    int (*place)(pnc_container *container, pnc_chunk_item *chunks, bool *more, pnc_error *error);
    /* Whether one write may have the bytes of a chunk, and behind them those of the next one. NULL: none may. */
    bool (*joins)(const pnc_container *container, const pnc_stored_chunk *chunk, const pnc_stored_chunk *next);
    /* `length` bytes of a chunk, and of those that join it. After an error they may be written in part: the places are
     * not used. */
    int (*write)(pnc_container *container, const pnc_stored_chunk *chunk, const void *bytes, int64_t length,
                 pnc_error *error);
    /* A chunk was written: it is found at its place from now on. */
    void (*adopt)(pnc_container *container, const pnc_stored_chunk *chunk);
    void (*free)(pnc_container *container);
} pnc_container_ops;

/* The first member of each container. */
struct pnc_container {
    const pnc_container_ops *ops;
};

#endif
