/* Changes of a store that readers see together. An object is written under a temporary name first, KEY.~ID, and an
 * index of a shard is kept; both are in a list. When all ranks have flushed theirs, the lists become the log, one
 * object of the store, by which any program can make the changes: then they are made, and the log is deleted. So after
 * a death the store has no log, and is as before or as after, or it has one, and the next open for writing makes the
 * changes, which may be made again.
 *
 * All functions are local. Numbers are in the byte order of the host; a log of another one is refused. Of this folder
 * only. */
#ifndef PNC_ZARR_CHANGES_H
#define PNC_ZARR_CHANGES_H

#include "base/error.h"
#include "drivers/objects.h"
#include "format/storage.h"

#define PNC_ZARR_LOG ".~log"                /* the key of the log */
#define PNC_ZARR_MARK ".~"                  /* in the names of all objects that are no part of the dataset */
#define PNC_ZARR_PORTION (INT64_C(1) << 20) /* bytes of a log that are read at once. A guess */
/* Bytes of a change: the index of the largest shard, and what stands before it. */
#define PNC_ZARR_CHANGE_MOST (16 * PNC_STORAGE_SHARD_CHUNKS_MOST + 2 * PNC_OBJECTS_KEY_MOST)

typedef enum pnc_zarr_change_kind {
    PNC_ZARR_CHANGE_NAME = 1, /* KEY.~ID becomes KEY */
    PNC_ZARR_CHANGE_INDEX     /* the first bytes of KEY become these */
} pnc_zarr_change_kind;

typedef struct pnc_zarr_changes {
    char *at; /* encoded, one behind the other */
    int64_t n, capacity, count;
    int64_t nindexes; /* of `count`: which are not made by one call of the system */
    uint64_t sum;     /* of their digests */
} pnc_zarr_changes;

/* A key, perhaps with the suffix of a temporary name. */
typedef struct pnc_zarr_key {
    char text[PNC_OBJECTS_KEY_MOST];
} pnc_zarr_key;
/* id: of the handle; no other one has it. */
pnc_zarr_key pnc_zarr_temporary_make(const char *key, int64_t id);

/* NC_ENOMEM */
int pnc_zarr_changes_add(pnc_zarr_changes *changes, pnc_zarr_change_kind kind, const char *key, const void *bytes,
                         int64_t n, pnc_error *error);
void pnc_zarr_changes_free(pnc_zarr_changes *changes);
/* Make them, so that they survive the death of the node. The temporary names have this id. */
int pnc_zarr_changes_apply(const pnc_objects *objects, int64_t id, const pnc_zarr_changes *changes, pnc_error *error);

/* --- the log --- */

/* Write and flush the part of a rank, which begins at byte `offset` of all parts, to a log that does not count yet. */
int pnc_zarr_log_write(const pnc_objects *objects, int64_t id, int64_t offset, const pnc_zarr_changes *changes,
                       pnc_error *error);
/* Of all parts: bytes, number and sum. The log counts then, in place of another one. After an error there is none. */
int pnc_zarr_log_begin(const pnc_objects *objects, int64_t id, const pnc_zarr_changes *all, pnc_error *error);
/* The changes are made. Before another change is made, this survives the death of the node. */
int pnc_zarr_log_end(const pnc_objects *objects, pnc_error *error);
/* Delete one that does not count. */
void pnc_zarr_log_discard(const pnc_objects *objects, int64_t id);

/* Make the changes of the log of a program that has died. *found: there was one. NC_ENCZARR: it is damaged, or not one
 * that this library writes; nothing was changed. */
int pnc_zarr_log_execute(const pnc_objects *objects, bool *found, pnc_error *error);

#endif
