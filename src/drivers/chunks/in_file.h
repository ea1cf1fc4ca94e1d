/* The container of a file whose index of chunks others keep, like that of HDF5. New chunks are written behind the end
 * of the file: one scan of lengths assigns their addresses. A chunk without filters that the file has already keeps its
 * address. The caller registers the records of new chunks, and says when the file has them.
 *
 * Chunks that others have written are found when they are registered, or shared. */
#ifndef PNC_CHUNKS_IN_FILE_H
#define PNC_CHUNKS_IN_FILE_H

#include "drivers/chunks/container.h"
#include "drivers/store.h"

/* A chunk that was written. */
typedef struct pnc_chunk_record {
    int64_t array; /* index in the arrays of the store of chunks */
    int64_t chunk; /* number in row-major order of the grid of the shape: pnc_chunks_store_find_index */
    pnc_chunk_place place;
} pnc_chunk_record;

/* What the container asks. */
typedef struct pnc_file_index {
    void *own;
    /* The place of a chunk, which begins at this index of the array. Local. is_first: the file has the index that it
     * had when the container was created. */
    int (*find)(void *own, int64_t array, const int64_t *index, bool is_first, pnc_chunk_place *out, pnc_error *error);
    /* Collective, before new chunks are written behind the end of the file; NULL: there is nothing to check. If it
     * fails, on all ranks, nothing is written. */
    int (*check)(void *own, pnc_error *error);
} pnc_file_index;

/* end: of the file, the address of the next new chunk, the same on all ranks. The file must outlive the container. NULL
 * without memory. */
pnc_container *pnc_chunks_file_create(pnc_store *file, const pnc_file_index *index, int64_t end);

/* Local. The chunks that this rank has written since the last call, each once; valid until the next call of any
 * function of the container or of its store. */
void pnc_chunks_records_take(pnc_container *container, const pnc_chunk_record **records, int64_t *n);
/* The same; the next call has them again. */
void pnc_chunks_records_peek(const pnc_container *container, const pnc_chunk_record **records, int64_t *n);
bool pnc_chunks_records_has_any(const pnc_container *container);
/* Collective, after a flush. All ranks know then, until the index is renewed, where the chunks are that others have
 * written since records were taken. *is_shared is false, and nothing has changed, if there are more than `most`. */
int pnc_chunks_records_share(pnc_container *container, int64_t most, bool *is_shared, pnc_error *error);

/* Local, the same on all ranks. The file gets chunks at other places than the container knows: until the index is
 * renewed, it finds them where it has put them, and none of them is written in place. */
void pnc_chunks_index_reject(pnc_container *container);
/* Local, the same on all ranks. The index has all records. `end`: that of the file now. */
void pnc_chunks_index_adopt(pnc_container *container, int64_t end);

/* Local, the same on all ranks. What is in front of this end is allocated: new chunks are behind it. */
void pnc_chunks_end_raise(pnc_container *container, int64_t end);
/* Local. The end of the file with all chunks that were given an address; the same on all ranks. */
int64_t pnc_chunks_end_get(const pnc_container *container);
/* Local. New chunks of all ranks since the index was renewed; the same on all ranks. */
int64_t pnc_chunks_new_count(const pnc_container *container);

#endif
