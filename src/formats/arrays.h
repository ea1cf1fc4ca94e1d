/* What formats share whose variables are arrays of the store of chunks (drivers/chunks). */
#ifndef PNC_FORMATS_ARRAYS_H
#define PNC_FORMATS_ARRAYS_H

#include "formats/format.h"

/* What all values of an array have at most: offsets and numbers of chunks fit in 63 bits. */
#define PNC_FORMATS_ARRAY_BYTES_MOST (INT64_C(1) << 62)

/* Of such variables, whose `netcdf4.shape` is set when the file is open. */
extern const pnc_addressing pnc_formats_array_addressing;

/* Bytes of a record of all variables that have some, as in a classic file with the same definitions: records are
 * padded, unless there is one such variable. */
int64_t pnc_formats_record_size_get(const pnc_model *model);

/* Choose the lengths of chunks that the program has left to this library, of variables from varid on. Local. */
int pnc_formats_chunks_choose(pnc_model *model, int varid, pnc_error *error);

/* The most that the dimensions of a variable may become; false: the variable is too large. */
bool pnc_formats_array_shape_choose(const pnc_model *model, const pnc_var *var, int64_t *shape);
/* A bit of each dimension that may grow. */
uint32_t pnc_formats_array_growing_find(const pnc_model *model, const pnc_var *var);

/* `write_length` of these formats: the metadata get it with the next flush, as chunks do. */
int pnc_formats_length_write(pnc_format *f, int dimid, int64_t length);
/* `keeps_values` of these formats. */
bool pnc_formats_values_wait(const pnc_format *f);
/* Collective. The ranks agree on the lengths of unlimited dimensions but the first one. */
int pnc_formats_lengths_agree(pnc_format *f);

/* Put this rank's part of a record of fill values, up to the lengths that the dimensions have now. Local. */
int pnc_formats_record_part_fill(pnc_format *f, int varid, int64_t array, int64_t record);

/* Where independent puts keep values that have no space in memory. In the region; NULL without memory. Local. */
char *pnc_formats_spill_folder_find(const pnc_file *file, pnc_region *region);

#endif
