/* How variables are stored in a netCDF-4 output: chunks, filters, byte order. */
#ifndef PNC_TOOLS_NCMPICOPY_STORAGE_H
#define PNC_TOOLS_NCMPICOPY_STORAGE_H

#include "tools/ncmpicopy/plan.h"

/* These parse [var1,...:]level, [var1,...:]filter and [var1,...:]chunks, and return -1, or the exit status after an
 * error message. Names can be patterns of a shell. */
int copy_deflate_parse(const char *text, copy_options *options);
int copy_zstd_parse(const char *text, copy_options *options);
int copy_compression_parse(const char *text, copy_options *options);
int copy_chunks_parse(const char *text, copy_options *options);
void copy_storage_options_free(copy_options *options);

/* Whether a version of the format has a choice of storage. */
bool copy_format_has_storage(int format);

/* The options must suit the format of the output, and the file, whose names they have. NC_NOERR or, on all ranks, a
 * code after an error message of rank 0. */
int copy_storage_check(const copy_plan *plan);

/* Collective. Define the storage of a variable of the output: that of the options, and else that of the input. */
int copy_storage_define(copy_plan *plan, int from, const copy_var *var, int to, int varid);

/* Lengths of the pieces in which a variable of ndims dimensions is best copied: those of chunks of the output, or else
 * of the input. *most: elements of a piece, more than usual, but at most `large`, where both would else be accessed
 * many times. False if neither has chunks. Local. */
bool copy_unit_find(int from, int varid, int to, int id, int ndims, int64_t large, int64_t *unit, int64_t *most);
/* The lengths of the chunks of a variable; false if it has none. Local. */
bool copy_chunks_find(int ncid, int varid, MPI_Offset *lengths);

#endif
