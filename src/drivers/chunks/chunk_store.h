/* The store of chunks: its parts, and the functions that its files have for each other. */
#ifndef PNC_CHUNKS_CHUNK_STORE_H
#define PNC_CHUNKS_CHUNK_STORE_H

#include "drivers/chunks/cache.h"
#include "drivers/chunks/chunks.h"
#include "drivers/chunks/dirty.h"
#include "drivers/chunks/foreseen.h"
#include "drivers/chunks/grid.h"
#include "drivers/chunks/messages.h"
#include "drivers/chunks/pending.h"
#include "drivers/chunks/sizes.h"
#include "drivers/chunks/values.h"

typedef struct pnc_chunk_store {
    pnc_store store;
    pnc_store_ops ops;
    pnc_chunk_source source;
    pnc_chunk_grid *grids;
    bool *encodes;              /* of each array: this rank has its filters */
    pnc_chunk_cache cache;      /* as the file has them; with what is pending of this rank */
    int nthreads;               /* that encode and decode chunks beside this one */
    pnc_filter_worker *workers; /* of this thread, and of each of them */
    pnc_chunk_map loaded;       /* with statistics: the chunks that were read, in the region */
    pnc_region loaded_region;
    struct pnc_wanted_list *wanted;
    pnc_noted_get noted;           /* if the next get is to be foreseen */
    struct pnc_foreseen *foreseen; /* the chunks of such gets */
    pnc_filter_worker
        *decoders; /* of the worker that decodes them, and of the threads that help it; NULL: no need yet */
    char *stored;  /* the bytes of a chunk as the file has them */
    int64_t capacity;
    bool exchanges; /* values of chunks pass between ranks */
    /* writing */
    pnc_dirty dirty;
    pnc_pending pending; /* for other aggregators */
    pnc_pending logged;  /* of this one: chunks of which only some values have memory */
    pnc_messages messages;
    char *encoded; /* bytes of chunks on their way to the file */
    int64_t encoded_capacity;
    struct pnc_behind_chunk *oldest_behind, *newest_behind; /* that threads encode while the program goes on */
    int64_t behind_bytes;                                   /* of their values, and of what each takes beside them */
    bool spills; /* values that wait are bounded: nothing is written before the next collective call */
} pnc_chunk_store;

static inline pnc_chunk_store *pnc_chunks_store_of(const pnc_store *store)
{
    return (pnc_chunk_store *)(uintptr_t)store;
}

/* One whose values are in the metadata. */
static inline bool pnc_chunks_array_is_part(const pnc_chunk_array *a)
{
    return a->chunk != NULL && a->contents != NULL;
}

/* Several threads may encode and decode its chunks at the same time, and it takes longer than a copy. */
static inline bool pnc_chunks_array_is_parallel(const pnc_chunk_array *a)
{
    for (int i = 0; i < a->filters.nfilters; i++)
        if (!pnc_filter_is_own(a->filters.filters[i].id))
            return false;
    return a->filters.nfilters > 0;
}

static inline int64_t pnc_chunks_dirty_get_most(const pnc_chunk_store *s)
{
    return s->source.dirty_bytes > 0 ? s->source.dirty_bytes : PNC_CHUNKS_DIRTY_BYTES;
}

/* n bytes of repeated elements. */
void pnc_chunks_value_fill(const unsigned char *value, int size, char *to, int64_t n);
/* Add the name of an array to the message of an error, if it is the first one. Returns its code. */
int pnc_chunks_name_add(const pnc_chunk_array *a, int err, bool is_first, pnc_error *error);
/* NC_ENOMEM */
int pnc_chunks_memory_fail(const pnc_chunk_array *a, int64_t bytes, pnc_error *error);

/* Local. Chunks of other aggregators may have changed. */
void pnc_chunks_others_discard(pnc_chunk_store *s);

/* --- load.c --- */

/* The key of a chunk, with its aggregator. */
pnc_chunk_item pnc_chunks_item_make(const pnc_chunk_store *s, int64_t array, int64_t chunk);
/* Where a chunk is in the container, as this rank knows. *is_parallel: any thread can decode what is there. */
int pnc_chunks_place_find(pnc_chunk_store *s, int64_t array, int64_t chunk, pnc_chunk_place *out, bool *is_parallel,
                          pnc_error *error);
/* The bytes of a chunk as this rank knows it, until the next one is used; NULL: it was never written. once: all its
 * values are wanted now; the cache does not get it, unless it was decoded. */
int pnc_chunks_chunk_get(pnc_chunk_store *s, int64_t array, int64_t chunk, bool once, const unsigned char **out,
                         pnc_error *error);
/* Some of the next chunks that will be used, which all threads decode. Returns how many have been considered, at least
 * one: errors are those of their use. use: the calling thread calls it for each one that is decoded, while others
 * decode more; it may use this chunk, and no other. NULL: all are used later. */
typedef void (*pnc_chunks_use)(void *own, pnc_chunk_item *item);
int pnc_chunks_ahead_load(pnc_chunk_store *s, pnc_chunk_item *const *items, int n, pnc_chunks_use use, void *own);
/* Make all bytes of a dirty chunk valid. */
int pnc_chunks_chunk_merge(pnc_chunk_store *s, pnc_dirty_chunk *d, pnc_error *error);

/* --- encode.c --- */

/* Chunks that threads have at a time, and the most that they become: chunks of 2 MiB for 15 threads. A guess. */
#define PNC_CHUNKS_BATCH_BYTES (INT64_C(32) << 20)
#define PNC_CHUNKS_BATCH 64

/* A chunk that is encoded. */
typedef struct pnc_encoding {
    pnc_dirty_chunk *d; /* d->stored gets length and mask, d->at is set */
    int err;
    /* For encode.c only: */
    const void *stored;
    bool is_direct; /* the container gets the values from where they are */
    int64_t at;
} pnc_encoding;

/* Local. The container is asked where a chunk of so many bytes will be. */
int pnc_chunks_stored_init(pnc_chunk_store *s, pnc_stored_chunk *chunk, int64_t bytes, pnc_error *error);
/* How many chunks are encoded at a time, at most PNC_CHUNKS_BATCH. */
int pnc_chunks_batch_get_most(const pnc_chunk_store *s);
/* Local. Encode n chunks that are prepared. Their bytes follow the *used bytes of s->encoded, in order. Returns the
 * first error; those of chunks are in `err`. */
int pnc_chunks_batch_encode(pnc_chunk_store *s, pnc_encoding *batch, int n, int64_t *used, pnc_error *error);
/* Local. The bytes of an encoded chunk, behind the *used bytes of s->encoded, unless they are its values, and many. */
int pnc_chunks_encoded_append(pnc_chunk_store *s, pnc_dirty_chunk *d, const void *stored, int64_t *used,
                              pnc_error *error);
/* Local. Whether this rank can encode chunks of an array. NC_EFILTER. */
int pnc_chunks_filters_check(pnc_chunk_store *s, int64_t array, pnc_error *error);

/* --- behind.c --- */

/* Local. Let threads encode chunks of a list that are ready, as many as may wait. Returns the others. */
pnc_chunk_item *pnc_chunks_behind_begin(pnc_chunk_store *s, pnc_chunk_item *ready, pnc_language language);
/* Local. How many of the oldest have been encoded. all: those that threads have not begun become ready; how many are
 * left. */
int64_t pnc_chunks_behind_count(pnc_chunk_store *s, bool all);
/* Local. The length of the oldest one, which is encoded when this returns. */
int64_t pnc_chunks_behind_wait(pnc_chunk_store *s);
/* Local. Take the oldest one, after pnc_chunks_behind_wait: *d. It is prepared, and its bytes follow the *used bytes of
 * s->encoded. */
int pnc_chunks_behind_take(pnc_chunk_store *s, pnc_dirty_chunk **d, int64_t *used, pnc_error *error);
/* Local. Make one ready again, before its values change. */
void pnc_chunks_behind_undo(pnc_chunk_store *s, pnc_dirty_chunk *d);
/* Local. None is left; those that there were are not written. */
void pnc_chunks_behind_free(pnc_chunk_store *s);

/* --- foreseen.c --- */

/* A get has this hyperslab, or this rank answers a box of it. */
void pnc_chunks_noted_slab_add(pnc_chunk_store *s, int64_t array, const pnc_array_slab *slab);
void pnc_chunks_noted_box_add(pnc_chunk_store *s, int64_t array, const pnc_box *box);
bool pnc_chunks_reads_find(pnc_store *store, const pnc_store_foreseen *next, pnc_store_reads **out, bool *is_known);
/* Whether the worker has decoded a chunk that is at this place; if not, it will not, unless it does already. */
bool pnc_chunks_foreseen_has(pnc_chunk_store *s, int64_t array, int64_t chunk, const pnc_chunk_place *place);
/* Its values, which are valid until the end of the get; NULL: it has not. */
const unsigned char *pnc_chunks_foreseen_take(pnc_chunk_store *s, int64_t array, int64_t chunk,
                                              const pnc_chunk_place *place);
/* The store ends. */
void pnc_chunks_foreseen_free(pnc_chunk_store *s);

/* --- read.c, fetch.c, put.c, deliver.c, flush.c --- */

/* Local. Values for a chunk of which this rank is the aggregator. */
int pnc_chunks_values_put(pnc_chunk_store *s, const pnc_chunk_item *item, const pnc_box *box,
                          const pnc_chunk_values *values, pnc_error *error);
/* Local. Spill what takes more memory than its bound of the values for chunks of this rank, if the store spills: not
 * those for others, which may be on their way. */
int pnc_chunks_memory_release(pnc_chunk_store *s, pnc_error *error);
/* Count values that pass to or from the aggregator of their chunks, which is another rank. */
void pnc_chunks_values_count(pnc_chunk_store *s, int aggregator, int64_t bytes);
/* Collective. Send what is pending to the aggregators. */
int pnc_chunks_pending_send(pnc_chunk_store *s, pnc_error *error);
/* Local. The waiting chunk of an item, or another one; NULL without memory. */
pnc_dirty_chunk *pnc_chunks_dirty_load(pnc_chunk_store *s, const pnc_chunk_item *item);
/* Collective. Write chunks that are ready: those of which threads have encoded the values, and others, or let threads
 * encode these. PNC_WRITE_LOGGED: also those that are logged, each of which then has memory in turn. PNC_WRITE_ALL: and
 * none is left to threads. */
typedef enum pnc_write_scope { PNC_WRITE_READY, PNC_WRITE_LOGGED, PNC_WRITE_ALL } pnc_write_scope;
int pnc_chunks_ready_write(pnc_chunk_store *s, pnc_write_scope scope, pnc_error *error);
/* Local. Write all values of a chunk of which this rank is the aggregator from where they are, if no filter changes
 * them and the file has a place for them, or on one rank. */
int pnc_chunks_whole_write(pnc_chunk_store *s, const pnc_chunk_item *item, const char *bytes, bool *is_written,
                           pnc_error *error);
/* Local. Make chunks ready, the oldest first, until those that wait have no more than this many bytes; all others that
 * can be completed, too, if it is 0. */
int pnc_chunks_dirty_finish(pnc_chunk_store *s, int64_t most, pnc_error *error);
#endif
