/* The runs of a read by chunk, so that each chunk is decompressed once however the runs interleave. */
#ifndef PNC_CHUNKS_WANTED_H
#define PNC_CHUNKS_WANTED_H

#include "drivers/chunks/chunk_store.h"

enum {
    PNC_WANTED_MOST = 16384, /* runs, collected before their chunks are read: 1.4 MiB with the table */
    PNC_WANTED_SLOTS = 2 * PNC_WANTED_MOST
};

/* Bytes of a chunk that are wanted. */
typedef struct pnc_wanted_run {
    int64_t within, length;
    char *to;
    int next; /* of the same chunk, or -1 */
} pnc_wanted_run;

typedef struct pnc_wanted_chunk {
    pnc_chunk_item item;
    int first, last; /* of its runs */
    int slot;
} pnc_wanted_chunk;

/* Where a message has got to, of the runs of an aggregator. */
typedef struct pnc_wanted_cursor {
    const pnc_wanted_chunk *chunk; /* NULL: the end */
    int run;
    int64_t done; /* bytes of it */
} pnc_wanted_cursor;

/* What a read has collected. */
typedef struct pnc_wanted_list {
    int (*complete)(pnc_chunk_store *s, pnc_error *error); /* what becomes of a full list */
    int nruns, nchunks;
    pnc_wanted_cursor asked[PNC_MESSAGE_SLOTS]; /* the first byte of each message for other aggregators */
    pnc_wanted_run runs[PNC_WANTED_MOST];
    pnc_wanted_chunk chunks[PNC_WANTED_MOST];
    int slots[PNC_WANTED_SLOTS]; /* a hash table: numbers of chunks + 1 */
} pnc_wanted_list;

/* Memory for the list, and what becomes of it. */
int pnc_chunks_wanted_begin(pnc_chunk_store *s, int (*complete)(pnc_chunk_store *s, pnc_error *error),
                            pnc_error *error);
void pnc_chunks_wanted_clear(pnc_wanted_list *list);
/* Values of a chunk that this rank reads itself. */
int pnc_chunks_wanted_copy(pnc_chunk_store *s, const pnc_wanted_chunk *w, pnc_error *error);
/* Collect the runs of extents, and complete them. Not for extents that are all in the file. */
int pnc_chunks_wanted_read(pnc_chunk_store *s, const pnc_extent *extents, int64_t n, char *bytes, pnc_error *error);

#endif
