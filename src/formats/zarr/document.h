/* The documents of a Zarr store, versions 2 and 3 of that format: bytes to what they say of groups and arrays, that to
 * a model of netCDF, and both back. Pure: what is read and written are bytes in memory.
 *
 * Nothing about documents is trusted. Results are in memory of a region, which the caller frees, also after an error;
 * texts and attributes stay valid without the documents. Functions that need json-c take its functions: where that is
 * NULL, the library is not installed, and they return NC_ENOTBUILT with a message. All may return NC_ENOMEM. Messages
 * do not name the store. */
#ifndef PNC_ZARR_DOCUMENT_H
#define PNC_ZARR_DOCUMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/region.h"
#include "filter/filter.h"
#include "format/model.h"
#include "format/storage.h"
#include "host/json.h"

enum { PNC_ZARR_DIMS_MOST = PNC_STORAGE_DIMS_MOST };

#define PNC_ZARR_ROOT "zarr.json" /* key of the root document of version 3 */

/* A file of the store that has metadata. */
typedef struct pnc_zarr_document {
    const char *key; /* in the store: "zarr.json", "tas/zarr.json"; of version 2: "forecast/tas/.zarray", ".zattrs" */
    const char *bytes;
    int64_t n;
    bool is_unchanged; /* of encoding: the store has a document that says the same */
} pnc_zarr_document;

/* What the elements of an array are; all have a type of netCDF. */
typedef enum pnc_zarr_content {
    PNC_ZARR_NUMBERS,
    PNC_ZARR_BOOLEANS,  /* NC_BYTE, 0 or 1 */
    PNC_ZARR_CHARACTERS /* NC_CHAR: null_terminated_bytes of length 1, |S1 */
} pnc_zarr_content;

typedef struct pnc_zarr_index {
    bool is_at_start;   /* of the shard; else at its end */
    bool is_big_endian; /* as a rule it is little-endian */
    bool has_sum;       /* 4 bytes behind it: crc32c */
} pnc_zarr_index;

typedef struct pnc_zarr_array {
    const char *path;     /* in the store: "tas", "forecast/tas" */
    const char *old_path; /* for encoding: where the old documents have it, before it was renamed; NULL: they do not */
    int version;          /* of Zarr: 2 or 3 */
    int type;             /* NC_BYTE .. NC_UINT64 */
    pnc_zarr_content content;
    bool is_big_endian;
    int ndims;
    const int64_t *shape;     /* of the array in the store: along an unlimited dimension it may be shorter */
    const int64_t *chunks;    /* of what one key has: a shard or a chunk */
    const int64_t *inner;     /* of chunks in a shard, which divide it; NULL: there are no shards */
    pnc_zarr_index index;     /* with shards */
    pnc_filter_chain filters; /* of a chunk, as src/filter applies them: transposition, compressors, checksums */
    bool has_prefix;          /* keys of chunks begin with c (version 3, "default") */
    char separator;           /* '/' or '.' */
    bool has_fill;            /* else null, in version 2: what was never written is 0 */
    unsigned char fill[8];    /* of the type, host order */
    const char *const *names; /* of the dimensions, as documents have them; entries may be NULL; NULL: none has one */
    bool is_renamed;          /* for encoding: the old documents have other names */
    const int *dimids;        /* of pnc_zarr_store.dims */
    int natts;
    const pnc_att *atts; /* host order */
    /* Why its values can be neither read nor written: the end of a sentence that begins with the variable. NULL: they
     * can. Then chunks, filters .. are undefined; type and shape are those of the array, but for types that netCDF does
     * not have: NC_BYTE. */
    const char *refusal;
    int refusal_code; /* NC_EFILTER: a codec is missing; else 0 */
} pnc_zarr_array;

typedef struct pnc_zarr_group {
    const char *path; /* "" for the root, which is the first one; each is behind its parent */
    int natts;        /* for encoding: -1: those of the old document stay */
    const pnc_att *atts;
} pnc_zarr_group;

typedef struct pnc_zarr_dim {
    const char *name; /* with the path of its group */
    int64_t length;   /* the current one */
    bool is_unlimited;
} pnc_zarr_dim;

/* All that the documents of a store say. */
typedef struct pnc_zarr_store {
    int version;
    bool is_consolidated; /* the document of the root has all others */
    bool is_classic;      /* it was made for the classic model of netCDF-4, by which programs know its types */
    int ngroups, ndims, narrays;
    const pnc_zarr_group *groups;
    const pnc_zarr_dim *dims;     /* a dimension of the model has the same id */
    const pnc_zarr_array *arrays; /* likewise */
} pnc_zarr_store;

/* What definitions of a Zarr store may have. */
extern const pnc_rules pnc_zarr_rules;

/* The attribute of the root group for what Zarr has no place for. xarray does not show names that begin with _nc. */
#define PNC_ZARR_ATTRIBUTE "_ncmpi"

/* --- reading --- */

/* What a model has of groups other than the root: entries with paths; these listed; nothing. */
typedef enum pnc_zarr_groups {
    PNC_ZARR_GROUPS_BY_PATH,
    PNC_ZARR_GROUPS_LISTED,
    PNC_ZARR_GROUPS_HIDDEN
} pnc_zarr_groups;

/* Whether a document of the root has those of all nodes: then no others are read. */
bool pnc_zarr_root_is_consolidated(const pnc_json_functions *json, const pnc_zarr_document *root);

/* The documents of a store, in any order: of the root (zarr.json, or .zgroup and .zattrs, and .zmetadata if it exists),
 * and unless they have all nodes those of others. NC_ENCZARR: damaged, or not documents of Zarr; the message has the
 * key and the member. NC_ENOTSUPPORT: references as Parquet.
 *
 * Dimensions: those of the attribute _ncmpi; of a store without it, or of an array that does not match it: its
 * dimension_names (version 2: _ARRAY_DIMENSIONS). One without a name is dim_LENGTH. A second length of the same name
 * makes another dimension NAME_LENGTH. One of length 0 is unlimited. In a group other than the root, a dimension of the
 * same name and length in a group above is taken; else names have the path of the group, as those of arrays have. If no
 * array has the length that _ncmpi says, another program has changed it: it is that of the first array.
 *
 * Order: as in the attribute, else of documents; unless groups are listed, those of the root group first. Types of
 * attributes: those of the attribute; else texts NC_CHAR, integers NC_INT, NC_INT64 or NC_UINT64 as their values need,
 * other numbers NC_DOUBLE, booleans NC_BYTE, lists of texts as strings; anything else is a text of JSON. Attributes
 * with names that netCDF cannot have, and what says how stores of version 2 are made, are left out. */
int pnc_zarr_store_decode(const pnc_json_functions *json, const pnc_zarr_document *documents, int64_t n,
                          pnc_zarr_groups groups, pnc_region *region, pnc_zarr_store *out, pnc_error *error);

/* Definitions of netCDF, with the storage of each variable (format/storage.h: chunks are `inner`, or else `chunks`;
 * filters those of netCDF that pnc_zarr_filters_derive would make these codecs of, as far as there are such).
 * version: for model->format; groups: the hint. *model is replaced, and empty after an error. Variable i
 * is array i; only of groups that are hidden are arrays left out, at the end. */
int pnc_zarr_model_make(const pnc_zarr_store *store, int version, pnc_zarr_groups groups, pnc_model *model,
                        pnc_error *error);

/* --- writing --- */

/* How values of a variable are stored: chosen by the caller for a new one, else as the array has it. */
typedef struct pnc_zarr_layout {
    const int64_t *chunks, *inner; /* as in an array */
    pnc_zarr_index index;
    pnc_filter_chain filters;       /* of Zarr: pnc_zarr_filters_derive */
    const pnc_zarr_array *existing; /* NULL: a new array. Else the others are not used, and of this one all but path,
                                     * shape and attributes stays */
    bool is_renamed;                /* but for the names of its dimensions */
} pnc_zarr_layout;

/* Which codecs the filters of a variable become, in an order that readers know. The table is in filters.c. NC_EFILTER:
 * readers of Zarr do not have the filter. find: the same the other way, for what programs ask; its filters are of
 * netCDF. */
int pnc_zarr_filters_derive(const pnc_var *var, pnc_region *region, pnc_filter_chain *out, pnc_error *error);
int pnc_zarr_filters_find(const pnc_filter_chain *codecs, pnc_region *region, pnc_filter_chain *out, pnc_error *error);

/* NC_EBADNAME: a name that cannot be that of a node (version 3), such as one that begins with __. The name may be a
 * path. */
int pnc_zarr_name_check(const char *name, pnc_error *error);

/* What documents say of a model, whose attributes are in host order: layouts has one for each variable. Lengths of
 * unlimited dimensions are the current ones. `out` has parts of the model. NC_EBADNAME */
int pnc_zarr_store_make(const pnc_model *model, const pnc_zarr_layout *layouts, pnc_region *region, pnc_zarr_store *out,
                        pnc_error *error);

/* Documents of a store, in the order in which they are written: those of arrays, of groups, and that of the root last,
 * which has all others (consolidated metadata; of version 2 .zmetadata has them, if it existed). old: documents that
 * the store has, as for decoding; members and attributes of them that have not changed, or that this library does not
 * know, stay, and so do nodes that are not in `store`. The version is that of the old ones. NC_ENOTSUPPORT: a new
 * variable in a store of version 2. NC_EFILTER; and as decoding. */
int pnc_zarr_store_encode(const pnc_json_functions *json, const pnc_zarr_store *store, const pnc_zarr_document *old,
                          int64_t nold, pnc_region *region, const pnc_zarr_document **out, int64_t *n,
                          pnc_error *error);

#endif
