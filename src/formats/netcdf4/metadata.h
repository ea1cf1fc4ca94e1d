/* The metadata of an HDF5 file, read and written by libhdf5 on one rank. All functions are local; codes have a message
 * in the error of the file.
 *
 * Nothing that is written is in the file before a commit. Bytes of chunks and of contiguous datasets are written by
 * others: chunks at addresses that they choose, from the end of allocation at the last commit on. */
#ifndef PNC_NETCDF4_METADATA_H
#define PNC_NETCDF4_METADATA_H

#include "file/file.h"
#include "formats/netcdf4/description.h"
#include "formats/netcdf4/redo.h"
#include "formats/reader.h"

typedef struct pnc_netcdf4_metadata pnc_netcdf4_metadata;

/* Open the file, which has `size` bytes, by libhdf5. NC_EHDFERR; NC_ENOTBUILT: there is no libhdf5 that fits. */
int pnc_netcdf4_metadata_open(pnc_file *file, int64_t size, bool is_writable, pnc_netcdf4_metadata **out);
/* A new file. version: NC_FORMAT_NETCDF4 or NC_FORMAT_NETCDF4_CLASSIC. */
int pnc_netcdf4_metadata_create(pnc_file *file, int version, pnc_netcdf4_metadata **out);
/* What was not committed is lost. Also NULL. */
void pnc_netcdf4_metadata_close(pnc_netcdf4_metadata *m);

/* What is described of the groups below the root group. */
typedef enum pnc_netcdf4_scope {
    PNC_NETCDF4_PATHS,  /* dimensions and variables, which are not listed */
    PNC_NETCDF4_LISTED, /* also attributes */
    PNC_NETCDF4_ROOT    /* nothing */
} pnc_netcdf4_scope;

/* Describe dimensions, variables and attributes. With the places of at most `most_places` chunks. The caller frees
 * out->bytes, also after an error. */
int pnc_netcdf4_metadata_describe(pnc_netcdf4_metadata *m, pnc_netcdf4_scope scope, int64_t most_places,
                                  pnc_netcdf4_writer *out);

/* Whether the file keeps the rules of the classic model. */
bool pnc_netcdf4_metadata_is_classic(pnc_netcdf4_metadata *m);
/* A hidden attribute of the root group that is a text. False: there is none, or it does not fit. */
bool pnc_netcdf4_metadata_get_text(pnc_netcdf4_metadata *m, const char *name, char *out, size_t capacity);

/* count elements from start of a dataset of strings, within its extent. */
int pnc_netcdf4_metadata_read_strings(pnc_netcdf4_metadata *m, const char *path, int ndims, const int64_t *start,
                                      const int64_t *count, pnc_reader_strings *out);

/* The lengths of a dataset, as libhdf5 has them. */
int pnc_netcdf4_metadata_get_extent(pnc_netcdf4_metadata *m, const char *path, int ndims, int64_t *extent);

/* The place of the chunk that begins at this index of a dataset. */
int pnc_netcdf4_metadata_find_chunk(pnc_netcdf4_metadata *m, const char *path, const int64_t *index, int ndims,
                                    pnc_chunk_place *out);

/* --- writing. After an error the metadata must be closed and opened again. --- */

/* Make the definitions those of `now`. before: those that the file has; NULL: it is new. Dimension i and variable i of
 * `before` are those of `now`, perhaps with other names; attributes may differ in any way. paths[i] is the dataset of
 * variable i: of `before` when called, of `now` afterwards, in memory of `region`. New variables need a storage with
 * all lengths of their chunks. NC_EHDFERR, NC_ENOMEM, NC_ENOTSUPPORT. */
int pnc_netcdf4_metadata_define(pnc_netcdf4_metadata *m, const pnc_model *before, const pnc_model *now,
                                pnc_region *region, const char **paths);

/* The filters of a dataset, whose plugins may have other parameters than it was created with; in memory of `region`. */
int pnc_netcdf4_metadata_read_filters(pnc_netcdf4_metadata *m, const char *path, pnc_region *region,
                                      pnc_filter_chain *out);

/* The address of the values of a contiguous dataset; -1: it has none. */
int pnc_netcdf4_metadata_get_address(pnc_netcdf4_metadata *m, const char *path, int64_t *address);
/* The same, after giving an address to a dataset of another library that was never written. What is there is undefined:
 * who calls this writes all values, or fills them. */
int pnc_netcdf4_metadata_alloc_values(pnc_netcdf4_metadata *m, const char *path, int64_t *address);
/* Write all values of a compact dataset, which have the byte order of the file. NC_EINVAL: not so many bytes. */
int pnc_netcdf4_metadata_write_compact(pnc_netcdf4_metadata *m, const char *path, const void *values, int64_t bytes);

/* Write count elements from start of a dataset of strings of variable length, which gets the lengths that they need. */
int pnc_netcdf4_metadata_write_strings(pnc_netcdf4_metadata *m, const char *path, int ndims, const int64_t *start,
                                       const int64_t *count, char *const *strings);

/* Give a dataset at least these lengths. */
int pnc_netcdf4_metadata_extend(pnc_netcdf4_metadata *m, const char *path, int ndims, const int64_t *lengths);
/* Make n chunks, whose bytes are in the file, those of the dataset: chunk i begins at the element with the indices
 * indices[i * ndims ..]. *moves is set if the file gets one at another place, where libhdf5 has found free space. */
int pnc_netcdf4_metadata_register(pnc_netcdf4_metadata *m, const char *path, int ndims, const int64_t *indices,
                                  const pnc_chunk_place *places, int64_t n, bool *moves);

/* The end of what is allocated. Others raise it when they have put chunks there. */
int64_t pnc_netcdf4_metadata_get_end(const pnc_netcdf4_metadata *m);
void pnc_netcdf4_metadata_raise_end(pnc_netcdf4_metadata *m, int64_t end);

/* A commit: what must be written to the file, all or nothing; then, when it has been written. */
int pnc_netcdf4_metadata_list(pnc_netcdf4_metadata *m, pnc_redo *redo);
int pnc_netcdf4_metadata_discard_writes(pnc_netcdf4_metadata *m);
/* After a commit that has failed: libhdf5 reads its metadata from memory. */
int pnc_netcdf4_metadata_restore(pnc_netcdf4_metadata *m);
/* Memory that waits for a commit: it grows with every change. */
int64_t pnc_netcdf4_metadata_get_pending_bytes(const pnc_netcdf4_metadata *m);

#endif
