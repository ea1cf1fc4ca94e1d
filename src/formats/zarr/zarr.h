/* Zarr stores: folders, of which rank 0 reads and writes the documents (document.h), which all ranks decode; chunks are
 * read and written by every rank (container.h).
 *
 * Every variable is an array of the store of chunks. Its unlimited dimensions have room in that array for all lengths
 * that they may get. Documents get the lengths when the chunks are flushed, that of the group last. */
#ifndef PNC_ZARR_ZARR_H
#define PNC_ZARR_ZARR_H

#include "drivers/chunks/chunks.h"
#include "drivers/objects.h"
#include "formats/format.h"
#include "formats/zarr/container.h"
#include "formats/zarr/document.h"

/* What all ranks know of the store beside the model; replaced as a whole with the definitions. */
typedef struct pnc_zarr_facts {
    pnc_region region;
    pnc_zarr_store store;
    pnc_zarr_groups groups;  /* what the model has of them */
    pnc_chunk_array *arrays; /* in the order of their variables */
    pnc_zarr_chunks *chunks; /* of each of them */
    int *varids;
    int64_t narrays;
} pnc_zarr_facts;

/* Documents that the store has, on rank 0. */
typedef struct pnc_zarr_documents {
    pnc_region region;
    const pnc_zarr_document *at;
    int64_t n;
} pnc_zarr_documents;

typedef struct pnc_zarr {
    pnc_format format;
    const pnc_objects *objects;
    pnc_zarr_facts facts;
    pnc_zarr_documents documents;
    pnc_objects_facts seen; /* rank 0: of the root document, when it was that of `documents`; zeros: not known */
    pnc_codecs codecs;
    int64_t id;                       /* of temporary names; the same on all ranks */
    pnc_zarr_changes changes, staged; /* that are committed, or to be: of chunks; rank 0: of documents */
    pnc_zarr_documents next;          /* rank 0: these */
    bool has_log;                     /* rank 0: an error has left one */
    bool has_failed;                  /* rank 0: the store may have old or new documents */
    bool has_chunks;                  /* the store of chunks is attached */
    bool lengths_dirty;               /* dimensions are longer than the documents say */
    bool is_unfinished; /* on all ranks: the store may have documents of definitions that it could not get */
    bool is_unapplied;  /* on all ranks: changes are committed, and not all of them made */
} pnc_zarr;

static inline pnc_zarr *pnc_zarr_state_get(pnc_format *f)
{
    return (pnc_zarr *)f;
}

/* --- documents.c: between the folder, rank 0 and the others --- */

/* On rank 0: all documents of the store. */
int pnc_zarr_documents_load(pnc_zarr *z, pnc_zarr_documents *out);
/* On rank 0: write those that have changed, and keep what the store has then; `documents` is empty then. After an error
 * the store may have some of them. */
int pnc_zarr_documents_write(pnc_zarr *z, pnc_zarr_documents *documents);
/* On rank 0, its steps. put: under temporary names with this id; remove: delete these; adopt: they have their names. */
int pnc_zarr_documents_put(pnc_zarr *z, int64_t id, const pnc_zarr_documents *documents, pnc_zarr_changes *changes);
void pnc_zarr_documents_remove(const pnc_zarr *z, int64_t id, const pnc_zarr_documents *documents);
void pnc_zarr_documents_adopt(pnc_zarr *z, pnc_zarr_documents *documents);
void pnc_zarr_documents_free(pnc_zarr_documents *documents);
/* The documents as bytes for a broadcast, and back, which points into the bytes. Local. */
int pnc_zarr_documents_join(const pnc_zarr *z, const pnc_zarr_document *documents, int64_t n, pnc_format_bytes *out);
int pnc_zarr_documents_divide(pnc_zarr *z, const pnc_format_bytes *bytes, pnc_zarr_documents *out);
/* As check_rename of pnc_format_ops. */
int pnc_zarr_rename_check(pnc_format *f, int varid, const char *name);
/* On rank 0: documents of the model, with the storage that arrays have, and that new variables ask for. */
int pnc_zarr_documents_make(pnc_zarr *z, pnc_zarr_documents *out);

/* --- commit.c: chunks and documents become those of the store, all or none --- */

/* Collective. What the ranks have put becomes part of the dataset, and so do new lengths of dimensions if with_lengths
 * is set, which is the same on all ranks. After an error nothing has changed, or is_unapplied is set. */
int pnc_zarr_changes_commit(pnc_zarr *z, bool with_lengths);
/* Collective, while is_unapplied is set: make the changes. */
int pnc_zarr_changes_execute(pnc_zarr *z);

/* --- seen.c: what other programs do --- */

/* On rank 0, before anything is written: NC_ESTALE if the root document is not the one that this handle has read or
 * written last. */
int pnc_zarr_seen_check(pnc_zarr *z);
/* On rank 0. New documents, of which the root has not changed, get the bytes that it has in the store. */
void pnc_zarr_seen_keep(const pnc_zarr *z, pnc_zarr_documents *next);

/* --- facts.c: what all ranks know --- */

/* The model and the facts that the documents in the bytes of a broadcast have. Local. After an error both are empty. */
int pnc_zarr_facts_decode(pnc_zarr *z, const pnc_format_bytes *bytes, pnc_zarr_groups groups, pnc_model *model,
                          pnc_zarr_facts *facts);
void pnc_zarr_facts_free(pnc_zarr_facts *facts);
/* Lengths of dimensions have changed: values up to them can be read. Local. */
void pnc_zarr_facts_extend(pnc_zarr *z);
/* The bytes of a broadcast: a copy of the message, if that has all of them. Local. */
int pnc_zarr_bytes_take(pnc_zarr *z, pnc_format_bytes *found, const pnc_format_message *message);
/* The arrays of the variables, and their chunks, of facts that were decoded. Local. */
int pnc_zarr_arrays_make(pnc_zarr *z);
/* Put the store of chunks in front of the folder; the reverse. Local. */
int pnc_zarr_store_attach(pnc_zarr *z);
void pnc_zarr_store_detach(pnc_zarr *z);
pnc_container *pnc_zarr_container_get(const pnc_zarr *z);

/* --- define.c: definitions --- */

int pnc_zarr_model_create(pnc_format *f, int version);
int pnc_zarr_definitions_begin(pnc_format *f, int err);
int pnc_zarr_definitions_end(pnc_format *f, pnc_layout_hints *hints, int err);
int pnc_zarr_change_execute(pnc_format *f, const pnc_format_change *change);

/* --- flush.c: what the store lacks --- */

void pnc_zarr_length_add(pnc_format *f, int dimid, int64_t length);
int pnc_zarr_chunks_flush(pnc_format *f, int err, bool *unsynced);
int pnc_zarr_chunks_publish(pnc_format *f);
int pnc_zarr_store_restore(pnc_format *f);
int pnc_zarr_store_restore_before_put(pnc_format *f, bool collective);
int pnc_zarr_record_check(pnc_format *f, int64_t record);
int pnc_zarr_record_fill(pnc_format *f, int varid, int64_t record);

#endif
