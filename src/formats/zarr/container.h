/* The chunks of a Zarr store: objects of a folder, each of which has a chunk, or a shard with several ones.
 *
 * A chunk of a shard is put behind those that the shard has, and a new index in its place when the container is
 * flushed: at any time the shard has the old chunks or the new ones. A new shard gets its name then. */
#ifndef PNC_ZARR_CONTAINER_H
#define PNC_ZARR_CONTAINER_H

#include "drivers/chunks/chunks.h"
#include "drivers/folder/folder.h"
#include "formats/zarr/document.h"

/* The chunks of an array of the store of chunks. */
typedef struct pnc_zarr_chunks {
    const char *name; /* of the variable, for messages */
    const pnc_zarr_array *array;
    const int64_t *along; /* chunks along each dimension, by which the store of chunks numbers them */
} pnc_zarr_chunks;

/* Collective. Whether any rank has *more rounds. */
typedef int pnc_zarr_agreement(void *own, bool *more, pnc_error *error);

/* The chunks of each array of the store of chunks, and the folder, are the caller's. agree: NULL if nothing is put.
 * NULL without memory. Local. */
pnc_container *pnc_zarr_container_create(const pnc_folder *folder, const pnc_zarr_chunks *chunks,
                                         pnc_zarr_agreement *agree, void *own);

/* Local. What this rank has put is found by all: indexes of shards have it. is_durable: also after the death of the
 * node. What could not be flushed is tried again by the next call. */
int pnc_zarr_container_flush(pnc_container *container, bool is_durable, pnc_error *error);
/* Local. Whether a flush has something to do. */
bool pnc_zarr_container_is_dirty(const pnc_container *container);
/* Local. Other ranks, or other programs, may have changed shards of which this rank knows the index. */
void pnc_zarr_container_discard(pnc_container *container);

#endif
