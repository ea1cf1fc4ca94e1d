/* The store of chunks: its parts, and the functions that its files have for each other. */
#ifndef PNC_CHUNKS_CHUNK_STORE_H
#define PNC_CHUNKS_CHUNK_STORE_H

#include "drivers/chunks/cache.h"
#include "drivers/chunks/chunks.h"
#include "drivers/chunks/dirty.h"
#include "drivers/chunks/grid.h"
#include "drivers/chunks/messages.h"
#include "drivers/chunks/pending.h"
#include "drivers/chunks/places.h"
#include "drivers/chunks/values.h"

typedef struct pnc_chunk_store {
    pnc_store store;
    pnc_store_ops ops;
    pnc_chunk_source source;
    pnc_chunk_grid *grids;
    bool *encodes;         /* of each array: this rank has its filters */
    pnc_chunk_cache cache; /* as the file has them; with what is pending of this rank */
    pnc_filter_worker worker;
    pnc_chunk_map loaded; /* with statistics: the chunks that were read, in the region */
    pnc_region loaded_region;
    struct pnc_wanted_list *wanted;
    char *stored; /* the bytes of a chunk as the file has them */
    int64_t capacity;
    int64_t latest; /* the array that was read last */
    bool exchanges; /* values of chunks pass between ranks */
    /* writing */
    pnc_dirty dirty;
    pnc_pending pending; /* for other aggregators */
    pnc_pending logged;  /* of this one: chunks of which only some values have memory */
    pnc_places places;
    pnc_places shared; /* of chunks that other ranks have written, and that are not registered */
    pnc_messages messages;
    char *encoded; /* bytes of chunks on their way to the file */
    int64_t encoded_capacity;
    int64_t end;
    int64_t unregistered; /* new chunks of all ranks */
    bool is_renewed;
    bool is_distrusted; /* the file gets chunks at other places */
    bool spills;        /* values that wait are bounded: nothing is written before the next collective call */
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

/* --- load.c --- */

/* The key of a chunk, with its aggregator. */
pnc_chunk_item pnc_chunks_item_make(const pnc_chunk_store *s, int64_t array, int64_t chunk);
/* Where a chunk is in the file, as this rank knows. */
int pnc_chunks_place_find(pnc_chunk_store *s, int64_t array, int64_t chunk, pnc_chunk_place *out, pnc_error *error);
/* The bytes of a chunk as this rank knows it, until the next one is used; NULL: it was never written. once: all its
 * values are wanted now; the cache does not get it, unless it was decoded. */
int pnc_chunks_chunk_get(pnc_chunk_store *s, int64_t array, int64_t chunk, bool once, const unsigned char **out,
                         pnc_error *error);
/* Make all bytes of a dirty chunk valid. */
int pnc_chunks_chunk_merge(pnc_chunk_store *s, pnc_dirty_chunk *d, pnc_error *error);

/* --- next_reads.c --- */

int pnc_chunks_reads_find(pnc_store *store, pnc_extent range, bool collective, pnc_extent *out, int most);

/* --- read.c, fetch.c, put.c, deliver.c, flush.c, share.c --- */

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
/* Collective. Encode and write the chunks that are ready; also those that are logged, each of which then has memory in
 * turn. */
int pnc_chunks_ready_write(pnc_chunk_store *s, bool with_logged, pnc_error *error);
/* Local. Whether this rank can encode chunks of an array. NC_EFILTER. */
int pnc_chunks_filters_check(pnc_chunk_store *s, int64_t array, pnc_error *error);
/* Local. Write all values of a chunk of which this rank is the aggregator from where they are, if no filter changes
 * them and the file has a place for them, or on one rank. */
int pnc_chunks_whole_write(pnc_chunk_store *s, const pnc_chunk_item *item, const char *bytes, bool *is_written,
                           pnc_error *error);
/* Local. Make chunks ready, the oldest first, until those that wait have no more than this many bytes; all others that
 * can be completed, too, if it is 0. */
int pnc_chunks_dirty_finish(pnc_chunk_store *s, int64_t most, pnc_error *error);
/* Local. Chunks of other aggregators may have changed. */
void pnc_chunks_others_discard(pnc_chunk_store *s);

#endif
