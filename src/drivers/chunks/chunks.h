/* A store in front of another one, with the variables of a netCDF-4 file at addresses behind those of the file: each
 * has its values there, uncompressed, in row-major order. Reads of extents decompress the chunks that they touch, each
 * once in a read, and keep some in a cache. */
#ifndef PNC_CHUNKS_CHUNKS_H
#define PNC_CHUNKS_CHUNKS_H

#include "drivers/store.h"
#include "filter/filter.h"

/* Where a chunk is in the file. */
typedef struct pnc_chunk_place {
    int64_t offset; /* -1: it was never written */
    int64_t bytes;
    int64_t mask; /* filters that were left out */
} pnc_chunk_place;

/* A variable. */
typedef struct pnc_chunk_array {
    const char *name;
    int64_t begin, bytes; /* addresses, multiples of 8; of all values */
    int elem_size, ndims;
    const int64_t *shape;    /* all but the first dimension at least 1, if there are values */
    const int64_t *extent;   /* of what is stored: at most the shape in each dimension */
    unsigned char fill[8];   /* as in the file: of values within the extent that were never written */
    unsigned char beyond[8]; /* of values beyond the extent */
    const char *refusal;     /* why its values cannot be read; NULL: they can */
    /* Chunks: */
    const int64_t *chunk; /* NULL: one part, that follows */
    pnc_filter_chain filters;
    bool skips_partial;            /* chunks beyond the extent have no filters */
    const pnc_chunk_place *places; /* of all chunks within the extent, in row-major order; NULL: ask find */
    const unsigned char *contents; /* one part: its bytes; NULL: it was never written */
} pnc_chunk_array;

/* What the store reads. The caller's; `release` frees it. */
typedef struct pnc_chunk_source {
    int64_t narrays;
    const pnc_chunk_array *arrays; /* their addresses ascend and do not overlap */
    int64_t cache_bytes;           /* most bytes of chunks that are kept, but for the one in use */
    const pnc_codecs *codecs;
    void *own;
    /* The place of a chunk, which begins at this index of the array. Local. */
    int (*find)(void *own, int64_t array, const int64_t *index, pnc_chunk_place *out, pnc_error *error);
    void (*release)(void *own);
} pnc_chunk_source;

/* Local. A store in front of `inner`, which it closes with it. NULL without memory: then nothing has changed. */
pnc_store *pnc_chunks_store_create(pnc_store *inner, const pnc_chunk_source *source);

#endif
