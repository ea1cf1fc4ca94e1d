/* The boxes of a get by chunk, so that each chunk is decompressed once however they interleave. */
#ifndef PNC_CHUNKS_WANTED_H
#define PNC_CHUNKS_WANTED_H

#include "drivers/chunks/chunk_store.h"

/* Of what is collected before the chunks are read: 1.2 MiB with the tables. A guess. */
enum {
    PNC_WANTED_BYTES = 768 << 10, /* of boxes */
    PNC_WANTED_CHUNKS = 8192,
    PNC_WANTED_SLOTS = 2 * PNC_WANTED_CHUNKS
};

/* A box that is wanted, and the values that it becomes. */
typedef struct pnc_wanted_box {
    void *of; /* as pnc_chunk_values.unpack gets it */
    int64_t at, value, run;
    int32_t next; /* of the same chunk: where it is in the memory of boxes; or -1 */
    int32_t naxes;
    pnc_box_axis axes[];
} pnc_wanted_box;

typedef struct pnc_wanted_chunk {
    pnc_chunk_item item;
    int32_t first, last; /* of its boxes */
    int slot;
    bool is_copied; /* the caller of the get has its values */
} pnc_wanted_chunk;

static inline pnc_wanted_chunk *pnc_chunks_item_get_wanted(pnc_chunk_item *item)
{
    return (pnc_wanted_chunk *)(void *)item;
}

/* The next box of an aggregator. */
typedef struct pnc_wanted_cursor {
    pnc_wanted_chunk *chunk; /* NULL: the end */
    int32_t box;
} pnc_wanted_cursor;

/* What a get has collected. */
typedef struct pnc_wanted_list {
    pnc_chunk_values values;
    bool collective;
    int32_t used; /* bytes of boxes */
    int nchunks;
    pnc_wanted_cursor asked[PNC_MESSAGE_SLOTS]; /* the first box of each message for other aggregators */
    pnc_wanted_chunk chunks[PNC_WANTED_CHUNKS];
    int slots[PNC_WANTED_SLOTS]; /* a hash table: numbers of chunks + 1 */
    _Alignas(8) char boxes[PNC_WANTED_BYTES];
} pnc_wanted_list;

static inline const pnc_wanted_box *pnc_chunks_wanted_get_box(const pnc_wanted_list *list, int32_t at)
{
    return (const pnc_wanted_box *)(const void *)(list->boxes + at);
}

void pnc_chunks_wanted_clear(pnc_wanted_list *list);
/* A wanted box of a chunk. */
void pnc_chunks_wanted_load_box(const pnc_wanted_box *wanted, int64_t chunk, pnc_box *box);
/* Values of a chunk that this rank reads itself, unless they have been copied. */
int pnc_chunks_wanted_copy(pnc_chunk_store *s, pnc_wanted_chunk *w, pnc_error *error);
/* Some of the first n of these chunks, which are pnc_wanted_chunk, are decoded by all threads, and copied meanwhile.
 * *done: how many have been considered. */
int pnc_chunks_wanted_load(pnc_chunk_store *s, pnc_chunk_item *const *items, int n, int *done, pnc_error *error);
/* Get what other aggregators have from them, and the rest. Collects nothing more then. */
int pnc_chunks_wanted_transfer(pnc_chunk_store *s, pnc_error *error);
/* What this rank answers to the others: pnc_messages. */
int pnc_chunks_answer_pack(void *own, const char *message, int64_t bytes, char *answer, int64_t *length,
                           pnc_error *error);
void pnc_chunks_answer_unpack(void *own, int slot, const char *answer, int64_t bytes);

#endif
