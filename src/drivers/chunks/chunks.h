/* The values of the variables of a netCDF-4 file that are not one part of the file: a store in front of that of the
 * file, which forwards all accesses to it, and has arrays, whose values are put and got by hyperslabs.
 *
 * Gets decompress the chunks that they touch, each once, and keep some in a cache.
 *
 * Puts: each chunk has one rank, its aggregator, where its values wait until all of it is there. Independent puts,
 * which exchange nothing, keep values for chunks of other aggregators, in memory or, beyond a bound, in a temporary
 * file. Collective puts deliver these values, and aggregators encode complete chunks and put them into a container
 * (container.h), which may be this file (in_file.h).
 *
 * Of values that others have written, independent gets see what the container finds, after pnc_chunks_store_discard;
 * collective gets see all that was put before them. */
#ifndef PNC_CHUNKS_CHUNKS_H
#define PNC_CHUNKS_CHUNKS_H

#include "array/walk.h"
#include "drivers/chunks/container.h"
#include "drivers/chunks/values.h"
#include "drivers/store.h"
#include "filter/filter.h"

/* A guess: some chunks of 1 to 4 MiB for each of several variables. */
#define PNC_CHUNKS_DIRTY_BYTES (INT64_C(64) << 20)

/* A variable. */
typedef struct pnc_chunk_array {
    const char *name;
    int varid;
    int elem_size, ndims;
    const int64_t *shape;    /* all but the first dimension at least 1, if there are values. Of a dimension that grows:
                              * the most, so that all values have less than 2^63 bytes */
    const int64_t *extent;   /* of what may be read: at most the shape in each dimension */
    uint32_t growing;        /* bit i: dimension i grows */
    int64_t first;           /* a number of the array, at least 0: its small rows begin at this rank */
    unsigned char fill[8];   /* as in the file: of values within the extent that were never written */
    unsigned char beyond[8]; /* of values beyond the extent */
    const char *refusal;     /* why its values cannot be read; NULL: they can */
    int refusal_code;        /* 0: NC_EHDFERR */
    const char *put_refusal; /* why none can be put: the end of a sentence; NULL: they can */
    /* Chunks: */
    const int64_t *chunk; /* NULL: one part, that follows, and is not written */
    const int64_t *shard; /* how many along each dimension have one aggregator, as a file has them; NULL: 1 */
    pnc_filter_chain filters;
    bool skips_partial; /* chunks beyond the extent have no filters; it is not written */
    const unsigned char
        *contents; /* one part: its bytes; NULL: it was never written. With one chunk of that many bytes,
                                    * which is in the metadata: rank 0 is its aggregator, and writes it by write_part */
} pnc_chunk_array;

/* What the store reads and writes. The caller's, but for the container; `release` frees it. */
typedef struct pnc_chunk_source {
    pnc_container *container; /* of the chunks; the store frees it */
    int64_t narrays;
    const pnc_chunk_array *arrays; /* of ascending variables */
    int64_t cache_bytes;           /* most bytes of chunks that are kept, but for the one in use */
    const pnc_codecs *codecs;
    void *own;
    /* Local, on rank 0: the file gets these values of a part with one chunk, and `contents` has them. */
    int (*write_part)(void *own, int64_t array, const void *values, int64_t bytes, pnc_error *error);
    void (*release)(void *own);
    int nthreads; /* of the process, beside the caller's, that encode and decode chunks: host/pool.h */
    int nbehind;  /* of these: those that encode chunks of puts while the program goes on */
    int nahead;   /* those that decode chunks of gets that are foreseen, likewise */
    bool is_writable;
    int64_t dirty_bytes; /* most bytes of chunks that wait for more values, at each rank; 0: PNC_CHUNKS_DIRTY_BYTES.
                          * Other chunks have memory for the values only that they have. After a collective write (one
                          * rank: any write) these values have at most as many bytes, or else their chunks are completed
                          * with values of the file, or fill values, and written. On several ranks independent writes
                          * keep values for chunks of other aggregators, too, and up to 16 MiB of complete chunks: each
                          * of these three in so much memory, and what is more in a temporary file */
    const char *spill_folder; /* for temporary files; NULL: all is in memory */
} pnc_chunk_source;

/* Local. A store in front of `inner`, which it closes with it; has_collective is not set. NULL without memory: then
 * nothing has changed. The code of a collective function is that of this rank. Before the store is closed:
 * pnc_chunks_store_flush, or values are lost. The arrays and the communicator are used until then. */
pnc_store *pnc_chunks_store_create(pnc_store *inner, const pnc_chunk_source *source);

/* Local. End the store without closing the inner one, which is returned; the source is not released. Values that are
 * not in the file are lost. */
pnc_store *pnc_chunks_store_detach(pnc_store *store);

/* --- values --- */

/* Local. The array of a variable; -1: it has none, as its values are one part of the file. */
int64_t pnc_chunks_array_find(const pnc_store *store, int varid);
/* Local. The boxes of a hyperslab of an array. */
void pnc_chunks_walk_init(const pnc_store *store, int64_t array, const pnc_array_slab *slab, pnc_array_walk *walk);

/* Local. Whether values of an array can be put: before the others. */
int pnc_chunks_put_check(pnc_store *store, int64_t array, pnc_error *error);
/* Local. A part of a put; what it needs of the values is copied. collective: of a put that all ranks end. */
int pnc_chunks_box_put(pnc_store *store, int64_t array, const pnc_box *box, const pnc_chunk_values *values,
                       bool collective, pnc_error *error);
/* The same for all boxes of a hyperslab. */
int pnc_chunks_slab_put(pnc_store *store, int64_t array, const pnc_array_slab *slab, const pnc_chunk_values *values,
                        bool collective, pnc_error *error);
/* Local, or collective: deliver values and write complete chunks. err: the result of this rank so far, which it returns
 * if it is an error. */
int pnc_chunks_put_end(pnc_store *store, bool collective, int err, pnc_error *error);

/* A get: begin; some hyperslabs; end. Between them no values are put. Local, or the begin and the end are collective.
 * Values may be unpacked only at the end. */
int pnc_chunks_get_begin(pnc_store *store, const pnc_chunk_values *values, bool collective, pnc_error *error);
/* Local. `of`: what is passed to pnc_chunk_values.unpack. */
int pnc_chunks_slab_get(pnc_store *store, int64_t array, const pnc_array_slab *slab, void *of, pnc_error *error);
/* err: as above. After an error of pnc_chunks_get_begin, too. */
int pnc_chunks_get_end(pnc_store *store, bool collective, int err, pnc_error *error);

/* --- the file --- */

/* Collective. Deliver what is pending, complete all chunks that have values which are not in the file, and write them.
 * A chunk that cannot be written keeps its values, and the next collective write or flush tries again. */
int pnc_chunks_store_flush(pnc_store *store, pnc_error *error);

/* Local. The index at which a chunk begins: ndims numbers. */
void pnc_chunks_store_find_index(const pnc_store *store, int64_t array, int64_t chunk, int64_t *index);
/* Local. The container of the source. */
pnc_container *pnc_chunks_store_get_container(const pnc_store *store);
/* Local. What others may have changed is read again: after their values are in the container. */
void pnc_chunks_store_discard(pnc_store *store);
/* Local. Extents of arrays have changed. */
void pnc_chunks_store_update(pnc_store *store);
/* Local. Whether this rank has values that are not in the container. */
bool pnc_chunks_store_is_dirty(const pnc_store *store);

#endif
