/* Chunks with values that are not in the file, at their aggregator. */
#ifndef PNC_CHUNKS_DIRTY_H
#define PNC_CHUNKS_DIRTY_H

#include "drivers/chunks/container.h"
#include "drivers/chunks/values.h"

typedef struct pnc_dirty_chunk {
    pnc_stored_chunk stored;
    struct pnc_dirty_chunk *newer, *older; /* by use, while it waits */
    int64_t bytes;
    int elem_size;
    int64_t covered, inside; /* elements that have values; elements within the shape of the array */
    bool is_ready;           /* all bytes are valid, and it is in the list of those to be written */
    bool is_merged;          /* all bytes are valid: elements that are not covered have those of the file, or fill */
    int64_t at; /* while it is written: where its encoded bytes are in the buffer; -1: they are its values */
    struct pnc_behind_chunk *behind; /* if threads encode it while the program goes on */
    uint64_t *coverage;              /* a bit for each element */
    unsigned char *values;
} pnc_dirty_chunk;

/* Those that wait for more values, by use; those that are ready. The memory of chunks that were removed is used again:
 * new pages take as long as a copy of the values. */
typedef struct pnc_dirty {
    pnc_chunk_map map;
    pnc_dirty_chunk *newest, *oldest;
    int64_t waiting_bytes, ready_bytes;
    pnc_chunk_item *ready;
    pnc_dirty_chunk *spare; /* a list by `older`: memory of chunks of the same length */
    int64_t spare_bytes, most_spare;
} pnc_dirty;

pnc_dirty_chunk *pnc_chunks_dirty_find(const pnc_dirty *dirty, int64_t array, int64_t chunk);
/* Another one, without values; NULL without memory. */
pnc_dirty_chunk *pnc_chunks_dirty_add(pnc_dirty *dirty, const pnc_chunk_item *item, int64_t bytes, int elem_size,
                                      int64_t inside);
/* The values of a box. */
void pnc_chunks_dirty_put(pnc_dirty *dirty, pnc_dirty_chunk *d, const pnc_box *box, const pnc_chunk_values *values);
/* Elements that are not covered get those of `base`; NULL: the fill value. */
void pnc_chunks_dirty_merge(pnc_dirty_chunk *d, const unsigned char *base, const unsigned char *fill);
/* It waits no longer. Its bytes are valid. */
void pnc_chunks_dirty_make_ready(pnc_dirty *dirty, pnc_dirty_chunk *d);
/* Take the list of those that are ready, or the last one of them; each is removed or put back. */
pnc_chunk_item *pnc_chunks_dirty_take_ready(pnc_dirty *dirty);
pnc_chunk_item *pnc_chunks_dirty_take_last(pnc_dirty *dirty);
void pnc_chunks_dirty_put_back(pnc_dirty *dirty, pnc_dirty_chunk *d);
void pnc_chunks_dirty_remove(pnc_dirty *dirty, pnc_dirty_chunk *d);
/* Free memory that is kept to be used again. */
void pnc_chunks_dirty_strip(pnc_dirty *dirty);
void pnc_chunks_dirty_free(pnc_dirty *dirty);

#endif
