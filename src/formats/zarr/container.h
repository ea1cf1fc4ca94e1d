/* The chunks of a Zarr store: objects of a folder, each of which has a chunk, or a shard with several ones.
 *
 * What is put is seen by this handle only, until the changes that the container lists are made (changes.h): a chunk
 * in a file of its own has a temporary name, and so has a new shard. A chunk of a shard is put behind those that the
 * shard has, which keeps its index. */
#ifndef PNC_ZARR_CONTAINER_H
#define PNC_ZARR_CONTAINER_H

#include "drivers/chunks/chunks.h"
#include "drivers/objects.h"
#include "formats/zarr/changes.h"
#include "formats/zarr/document.h"

/* The chunks of an array of the store of chunks. */
typedef struct pnc_zarr_chunks {
    const char *name; /* of the variable, for messages */
    const pnc_zarr_array *array;
    const int64_t *along; /* chunks along each dimension, by which the store of chunks numbers them */
} pnc_zarr_chunks;

/* Collective. Whether any rank has *more rounds. */
typedef int pnc_zarr_agreement(void *own, bool *more, pnc_error *error);

/* The chunks of each array of the store of chunks, and the folder, are the caller's. id: of temporary names. agree:
 * NULL if nothing is put. NULL without memory. Local. */
pnc_container *pnc_zarr_container_create(const pnc_objects *objects, int64_t id, const pnc_zarr_chunks *chunks,
                                         pnc_zarr_agreement *agree, void *own);

/* Local. What this rank has put is found by the other ranks of the program, which call pnc_zarr_container_set_shown.
 * Other programs do not see it. */
int pnc_zarr_container_display(pnc_container *container, pnc_error *error);
void pnc_zarr_container_set_shown(pnc_container *container);

/* Local. Flush what this rank has put, and add what makes it part of the dataset. NC_ESTALE: another program has put
 * chunks into a shard. finish: these changes are made. Before that, update may be called again. */
int pnc_zarr_container_update(pnc_container *container, pnc_zarr_changes *changes, pnc_error *error);
void pnc_zarr_container_finish(pnc_container *container);

/* Local. Whether this rank has put something that is not part of the dataset yet. */
bool pnc_zarr_container_is_dirty(const pnc_container *container);
/* Local. Other ranks, or other programs, may have changed shards of which this rank knows the index. */
void pnc_zarr_container_discard(pnc_container *container);

#endif
