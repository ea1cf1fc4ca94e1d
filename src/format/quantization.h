/* Quantization of the values that are put into a variable, and the attribute that says so, as netCDF-C writes it. */
#ifndef PNC_FORMAT_QUANTIZATION_H
#define PNC_FORMAT_QUANTIZATION_H

#include "format/model.h"

/* nsd: significant digits; significant bits with NC_QUANTIZE_BITROUND. NC_EINVAL: not a mode, a number out of range, or
 * a variable of another type than NC_FLOAT and NC_DOUBLE. */
int pnc_format_quantization_set(pnc_var *var, int mode, int nsd, pnc_error *error);
/* What the attributes of a variable say: *mode is NC_NOQUANTIZE without a valid one. */
void pnc_format_quantization_find(const pnc_model *model, const pnc_var *var, int *mode, int *nsd);
/* Give the variable the attribute of its quantization, if it has one, and no other such attribute. NC_ENOMEM */
int pnc_format_quantization_write(pnc_model *model, pnc_var *var, pnc_error *error);

#endif
