/* --quantize and --error: which variables are quantized, and how. */
#ifndef PNC_TOOLS_NCMPICOPY_QUANTIZE_H
#define PNC_TOOLS_NCMPICOPY_QUANTIZE_H

#include "tools/ncmpicopy/plan.h"

/* Parse [var1,...:]bits=N or digits=N. Returns -1, or the exit status after an error message. */
int copy_quantize_parse(const char *text, copy_options *options);

/* The same for [var1,...:]abs=X or rel=X. */
int copy_error_parse(const char *text, copy_options *options);

/* Set the quantizer of each variable of the plan; ncid is the first input. Collective; NC_NOERR or, on all ranks, a
 * code after an error message of rank 0, or without one for NC_ENOMEM. */
int copy_quantizers_choose(int ncid, copy_plan *plan);

/* Define the attribute by which netCDF-C describes the quantization of a variable, or the one of the bound of its
 * error. */
int copy_quantizer_put(const copy_var *var, int ncid, int varid);

#endif
