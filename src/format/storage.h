/* How a variable is stored, where a format leaves the choice: contiguous or in chunks, filters, byte order.
 *
 * Functions that set it check the rules of netCDF-4; src/dataset checks modes, and whether the format has a choice. */
#ifndef PNC_FORMAT_STORAGE_H
#define PNC_FORMAT_STORAGE_H

#include "filter/filter.h"
#include "format/model.h"

#define PNC_STORAGE_PARAMETERS 32767                     /* of a filter: HDF5 counts them in 16 bits */
#define PNC_STORAGE_DIMS_MOST 32                         /* of a variable: H5S_MAX_RANK of HDF5 */
#define PNC_STORAGE_SHARD_CHUNKS_MOST (INT64_C(1) << 22) /* an index of 64 MiB. A guess */

typedef struct pnc_storage {
    int layout; /* NC_CONTIGUOUS, NC_CHUNKED or NC_COMPACT */
    const int64_t
        *chunks; /* elements of a chunk along each dimension, in the region; 0: the format chooses; NULL: all */
    const int64_t *shards; /* elements of a shard, which has whole chunks; NULL: none, or the format chooses */
    int endian;            /* NC_ENDIAN_NATIVE, NC_ENDIAN_LITTLE or NC_ENDIAN_BIG */
    int nfilters;
    bool no_fill_value;                                      /* of a new variable: the file says that it has none */
    bool chosen_layout, chosen_filters, chosen_quantization; /* by the program: hints do not change them */
    bool chosen_shards;                                      /* likewise */
    pnc_filter filters[PNC_FILTER_MOST];                     /* as a chain has them; parameters in the region */
} pnc_storage;

/* Bytes of an element in a chunk. HDF5 stores values of NC_STRING elsewhere: 16 bytes say where. */
int64_t pnc_format_storage_get_elem_size(const pnc_var *var);
/* Give a variable the storage of a new one: contiguous, or chunked if it has an unlimited dimension. NC_ENOMEM */
int pnc_format_storage_add(pnc_model *model, pnc_var *var, pnc_error *error);
/* Give it a copy of that of another variable, if that has one. NC_ENOMEM */
int pnc_format_storage_copy(pnc_model *model, pnc_var *var, const pnc_var *from);

/* Both need a storage, and change nothing after an error.
 *
 * chunks: a length for each dimension, 0 where the format chooses; NULL: all. NC_EINVAL: the layout does not suit the
 * dimensions or the filters; NC_EBADCHUNK: a length below 0, above that of a fixed dimension, or chunks of more than
 * 4 GiB - 1; NC_ENOMEM */
int pnc_format_storage_set_layout(pnc_model *model, pnc_var *var, int layout, const int64_t *chunks, pnc_error *error);
/* The chunks have chosen lengths, of which those of shards are multiples; NULL: no shards. A new layout chooses none.
 * NC_EINVAL: the variable has no such chunks; NC_EBADCHUNK: not a multiple, or too many chunks; NC_ENOMEM */
int pnc_format_storage_set_shards(pnc_model *model, pnc_var *var, const int64_t *shards, pnc_error *error);
/* Add a filter at the end, or give new parameters to one that is there. The variable becomes chunked. One of a plugin
 * is optional: plugins fail where a chunk becomes no smaller (Blosc), which is stored without it then. NC_EINVAL for a
 * scalar; NC_EFILTER for more filters than a variable can have, and for one of NC_STRING; NC_ENOMEM */
int pnc_format_storage_set_filter(pnc_model *model, pnc_var *var, const pnc_filter *filter, pnc_error *error);
/* Remove a filter, if it is there. */
void pnc_format_storage_remove_filter(pnc_var *var, int id);
/* Have shuffle, which has no parameters and comes before deflate, or not. Errors as above. */
int pnc_format_storage_set_shuffle(pnc_model *model, pnc_var *var, bool on, pnc_error *error);
/* NC_EINVAL for another value, or a variable of characters or strings, which has no byte order. */
int pnc_format_storage_set_endian(pnc_var *var, int endian, pnc_error *error);
/* Index of a filter, or -1; also for a variable without a storage. */
int pnc_format_storage_find_filter(const pnc_var *var, int id);

#endif
