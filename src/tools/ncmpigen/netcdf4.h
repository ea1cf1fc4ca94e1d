/* A netCDF-4 file of values that are in a temporary file, at the offsets that they have in a CDF-5 file. */
#ifndef PNC_TOOLS_NCMPIGEN_NETCDF4_H
#define PNC_TOOLS_NCMPIGEN_NETCDF4_H

#include "tools/ncmpigen/gen.h"

typedef struct gen_values {
    const pnc_model *model; /* of CDL for such a file: its format says which one */
    const int64_t *counts;  /* elements of each variable with values in the text */
    int file;               /* a descriptor, and the size of the file */
    int64_t size;
    bool fills; /* elements without values have fill values, else zeros */
} gen_values;

/* Whether the file gets values of a variable: not if it has chunks, and all values are fill values. */
bool gen_netcdf4_var_is_written(const pnc_model *model, const int64_t *counts, bool fills, int varid);
/* Write to output->temporary. NC_NOERR, or a code after setting error. */
int gen_netcdf4_write(const gen_values *values, const tool_output *output, pnc_error *error);

#endif
