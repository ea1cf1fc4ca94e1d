/* Zarr metadata (version 2 of the format) of the variables of a netCDF file, and the division of variables into
 * chunks. Each chunk is contiguous in the file. */
#ifndef PNC_REFERENCES_ZARR_H
#define PNC_REFERENCES_ZARR_H

#include <stdio.h>

#include "format/model.h"
#include "formats/reader.h"

/* Chunks have one index of the dimensions before `split`, `length` indices of dimension `split`, and all indices of
 * the dimensions after it. */
typedef struct pnc_zarr_chunks {
    int split;      /* ndims of the variable: each chunk is one element */
    int64_t length; /* divides the length of the dimension: Zarr knows no shorter chunk at the end */
    int64_t along;  /* chunks along dimension `split` */
    int64_t number; /* chunks of a fixed-size variable, or of one record */
    int64_t size;   /* bytes of a chunk */
} pnc_zarr_chunks;

/* A record is one chunk, and so is a fixed-size variable. If it has more than `most` bytes, it is divided along its
 * slowest dimensions. */
void pnc_references_chunks_choose(const pnc_var *var, int64_t most, pnc_zarr_chunks *chunks);

/* The key of a chunk: the number of the chunk along each dimension, as in "3.0.0". */
void pnc_references_key_write(FILE *out, const pnc_var *var, const pnc_zarr_chunks *chunks, int64_t record,
                              int64_t number);

/* The _FillValue of numbers, which Zarr has among its metadata. NULL: the variable has none. */
const pnc_att *pnc_references_fill_value_find(const pnc_var *var);

/* The JSON documents .zattrs of the group, and .zarray and .zattrs of a variable. */
void pnc_references_group_write_attributes(FILE *out, const pnc_model *model);
void pnc_references_array_write(FILE *out, const pnc_model *model, const pnc_var *var, const pnc_zarr_chunks *chunks,
                                int64_t numrecs);
/* The same of a variable of a netCDF-4 file. lengths: of a chunk; has_filters: chunks have those of the storage;
 * has_gaps: some were never written, and no reference has their value, the fill value of the storage; first: the length
 * of the first dimension, which is that of several files if they are joined. */
typedef struct pnc_zarr_array {
    const pnc_var *var;
    const pnc_stored *storage;
    const int64_t *lengths;
    int64_t first;
    bool has_filters, has_gaps, is_short; /* is_short: some values are beyond the extent of the dataset */
} pnc_zarr_array;
void pnc_references_stored_array_write(FILE *out, const pnc_model *model, const pnc_zarr_array *array);
/* Whether readers of Zarr have the filter. */
bool pnc_references_filter_is_known(int id);
/* The length of a chunk along a dimension. */
int64_t pnc_references_chunk_get_length(const pnc_var *var, const pnc_zarr_chunks *chunks, int dim);
void pnc_references_array_write_attributes(FILE *out, const pnc_model *model, const pnc_var *var);

#endif
