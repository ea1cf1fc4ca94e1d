/* netCDF-4 files, which are HDF5 files. Rank 0 reads and writes the metadata by libhdf5 and describes them to all ranks
 * (description.h); chunks are read and written by every rank (drivers/chunks).
 *
 * A variable whose values are not one part of the file is an array of the store of chunks. In a file that may change
 * its unlimited dimensions have room in the array for all lengths that they may get. */
#ifndef PNC_NETCDF4_NETCDF4_H
#define PNC_NETCDF4_NETCDF4_H

#include "drivers/chunks/in_file.h"
#include "formats/format.h"
#include "formats/netcdf4/description.h"
#include "formats/netcdf4/metadata.h"
#include "formats/netcdf4/redo.h"

/* What all ranks know of the file beside the model; replaced as a whole with the definitions. */
typedef struct pnc_netcdf4_content {
    char *bytes; /* the description, in which storage has pointers */
    pnc_region region;
    pnc_netcdf4_storage *storage; /* of each variable */
    pnc_chunk_array *arrays;      /* in the order of their variables */
    int64_t narrays;
    int *varids; /* of the arrays */
} pnc_netcdf4_content;

/* What rank 0 knows that the file has: of its last commit, or of the time when the file was opened. */
#define PNC_NETCDF4_FRONT 48 /* the superblock of version 2; of an older one, up to the end of the file */
typedef struct pnc_netcdf4_seen {
    bool has_front; /* a new file has none before its first commit */
    int64_t superblock;
    char front[PNC_NETCDF4_FRONT];
    char next[PNC_NETCDF4_FRONT]; /* after the commit in progress */
    int64_t least, most;          /* bytes of the file, with those that the ranks may have written since */
} pnc_netcdf4_seen;

/* Puts of strings (string_puts.c). */
typedef struct pnc_netcdf4_strings {
    char *parts; /* string_part.h: those of independent puts, which wait at this rank */
    int64_t n, capacity;
    bool are_dirty; /* libhdf5 has strings on rank 0 that are not in the file; the same on all ranks */
} pnc_netcdf4_strings;

typedef struct pnc_netcdf4 {
    pnc_format format;
    pnc_netcdf4_content content;
    int64_t end;         /* of the file: what is behind it is given to chunks */
    bool has_chunks;     /* the store of chunks is attached */
    bool lengths_dirty;  /* dimensions are longer than the file says */
    bool index_dirty;    /* libhdf5 has metadata that are not in the file yet */
    bool parts_dirty;    /* rank 0 has values of compact variables that others do not have */
    pnc_redo unfinished; /* on rank 0: metadata that are not completely written, as on a full disk */
    bool is_unfinished;  /* on all ranks: there are such metadata */
    pnc_netcdf4_seen seen;
    pnc_netcdf4_strings strings;
    /* libhdf5's file: on rank 0 since the file was opened, on others since they looked up a chunk */
    pnc_netcdf4_metadata *metadata;
    int64_t opened;    /* when the file had last changed, as libhdf5 opened it to read it; 0: not known */
    pnc_codecs codecs; /* of the store of chunks */
} pnc_netcdf4;

static inline pnc_netcdf4 *pnc_netcdf4_state_get(pnc_format *f)
{
    return (pnc_netcdf4 *)f;
}

/* --- content.c: what all ranks know --- */

/* The bytes of a description that rank 0 has broadcast: a copy of the message, if that has all of them. Local. */
int pnc_netcdf4_description_take(pnc_netcdf4 *n, pnc_format_bytes *found, const pnc_format_message *message);
/* The definitions and the content of a description, whose bytes the content gets. Local. After an error both are
 * unchanged. */
int pnc_netcdf4_content_adopt(pnc_netcdf4 *n, char **bytes, int64_t nbytes, pnc_model *model,
                              pnc_netcdf4_content *content);
void pnc_netcdf4_content_free(pnc_netcdf4_content *content);
/* Lengths of dimensions have changed: values up to them can be read. Local. */
void pnc_netcdf4_content_extend(pnc_netcdf4 *n);

/* --- properties.c, attach.c --- */

/* Give each variable the storage that programs see. NC_ENOMEM. Local. */
int pnc_netcdf4_properties_set(pnc_model *model, const pnc_netcdf4_storage *storage, pnc_error *error);
/* Give each variable an address or an array, and put the store of chunks in front of that of the file. Local. */
int pnc_netcdf4_store_attach(pnc_netcdf4 *n);
void pnc_netcdf4_store_detach(pnc_netcdf4 *n);
/* The container of its chunks (drivers/chunks/in_file.h). */
pnc_container *pnc_netcdf4_container_get(const pnc_netcdf4 *n);
/* The index of the file has all chunks. Local, the same on all ranks. */
void pnc_netcdf4_index_adopt(pnc_netcdf4 *n);
/* A handle of libhdf5's file on this rank. Local. */
int pnc_netcdf4_handle_get(pnc_netcdf4 *n);
void pnc_netcdf4_handle_release(pnc_netcdf4 *n);

/* --- addresses.c: addresses of variables that others replace --- */

typedef struct pnc_netcdf4_addresses {
    pnc_store *store;
    pnc_chunk_array *arrays;
    int64_t narrays;
    int *varids;
    pnc_netcdf4_var *vars; /* NULL: they are not replaced */
    bool lacks_space;
} pnc_netcdf4_addresses;

/* Take them from a file with a store of chunks, which accesses its bytes only then; pnc_netcdf4_store_attach gives it
 * others. NC_ENOMEM: nothing has changed. Local. */
int pnc_netcdf4_addresses_take(pnc_netcdf4 *n, pnc_netcdf4_addresses *old);
/* One of these ends that. restore: also if none were taken, or no others were given. Local. */
void pnc_netcdf4_addresses_restore(pnc_netcdf4 *n, pnc_netcdf4_addresses *old);
void pnc_netcdf4_addresses_discard(pnc_netcdf4_addresses *old);

/* --- define.c: definitions --- */

int pnc_netcdf4_model_create(pnc_format *f, int version);
int pnc_netcdf4_definitions_begin(pnc_format *f, int err);
int pnc_netcdf4_definitions_end(pnc_format *f, pnc_layout_hints *hints, int err);
int pnc_netcdf4_change_execute(pnc_format *f, const pnc_format_change *change);

/* --- flush.c: what the file lacks --- */

/* Collective. Write all metadata that rank 0 has changed, all or none; err is its result so far. */
int pnc_netcdf4_metadata_update(pnc_netcdf4 *n, int err);
/* The operations of the format. */
void pnc_netcdf4_length_add(pnc_format *f, int dimid, int64_t length);
int pnc_netcdf4_chunks_flush(pnc_format *f, int err, bool *unsynced);
int pnc_netcdf4_chunks_publish(pnc_format *f);
int pnc_netcdf4_file_restore(pnc_format *f);
int pnc_netcdf4_file_restore_before_put(pnc_format *f, bool collective);

/* --- seen.c: whether another program has changed the file, although a file has one writer --- */

/* On rank 0, when the file is opened: before the metadata are read. */
int pnc_netcdf4_seen_begin(pnc_netcdf4 *n, int64_t size, int64_t superblock);
/* On rank 0, before anything is written that would overwrite what another program has written: NC_ESTALE if the file is
 * not that of the last commit, with what the ranks may have written since. */
int pnc_netcdf4_seen_check(pnc_netcdf4 *n);
/* Collective. The same before new chunks are written. */
int pnc_netcdf4_seen_check_chunks(void *own, pnc_error *error);
/* Ranks may have written up to there, also if what they have written is not part of the file then. */
void pnc_netcdf4_seen_extend(pnc_netcdf4 *n, int64_t end);
/* On rank 0: the commit begins; it is complete, and the file has its end. */
void pnc_netcdf4_seen_derive(pnc_netcdf4 *n);
void pnc_netcdf4_seen_adopt(pnc_netcdf4 *n, bool has_end);

/* --- renew.c --- */

bool pnc_netcdf4_values_update(pnc_format *f);

/* --- strings.c --- */

int pnc_netcdf4_strings_get(pnc_format *f, int varid, const int64_t *start, const int64_t *count, bool collective,
                            char **out);

/* --- string_puts.c --- */

int pnc_netcdf4_strings_put(pnc_format *f, const pnc_format_string_put *put, bool collective, int err);
/* Collective. libhdf5 gets on rank 0 what waits at the ranks. */
int pnc_netcdf4_strings_send(pnc_netcdf4 *n);
/* Local. The strings of a hyperslab become those that wait at this rank. NC_ENOMEM */
int pnc_netcdf4_strings_replace(pnc_netcdf4 *n, int varid, const int64_t *start, const int64_t *count, char **out);
void pnc_netcdf4_strings_free(pnc_netcdf4_strings *strings);

/* --- register.c --- */

/* Collective. Records of chunks of all ranks to the index; err is the result so far of this rank. If it fails, the next
 * call has them again. *any is set if there are some, *moves on rank 0 if the file gets one at another place. */
int pnc_netcdf4_chunks_register(pnc_netcdf4 *n, int err, bool *any, bool *moves);

/* --- fill.c --- */

/* Collective. Give a contiguous variable space in the file, which is filled. Each rank passes the first one that it
 * needs, or -1; *more: whether any has passed one. */
int pnc_netcdf4_space_add(pnc_format *f, int varid, bool *more);

/* Collective. Fill contiguous variables from varid on that are in fill mode. */
int pnc_netcdf4_vars_fill(pnc_netcdf4 *n, int varid);
int pnc_netcdf4_record_check(pnc_format *f, int64_t record);
int pnc_netcdf4_record_fill(pnc_format *f, int varid, int64_t record);

#endif
