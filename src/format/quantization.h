/* Quantization of the values that are put into a variable, and the attribute that says so, as netCDF-C writes it. */
#ifndef PNC_FORMAT_QUANTIZATION_H
#define PNC_FORMAT_QUANTIZATION_H

#include "convert/quantize.h"
#include "format/model.h"

/* nsd: significant digits; significant bits with NC_QUANTIZE_BITROUND. NC_EINVAL: not a mode, a number out of range, or
 * a variable of another type than NC_FLOAT and NC_DOUBLE. */
int pnc_format_quantization_set(pnc_var *var, int mode, int nsd, pnc_error *error);
/* What the attributes of a variable say: *mode is NC_NOQUANTIZE without a valid one. */
void pnc_format_quantization_find(const pnc_model *model, const pnc_var *var, int *mode, int *nsd);
/* Whether the variable can have values with a bound of the error, PNC_ABSOLUTE_ERROR or PNC_RELATIVE_ERROR: floating
 * point, and no attribute says another bound. */
bool pnc_format_error_bound_is_possible(const pnc_model *model, const pnc_var *var, pnc_quantization mode,
                                        double bound);
/* The same, and its attribute says this one. */
bool pnc_format_error_bound_is_stated(const pnc_model *model, const pnc_var *var, pnc_quantization mode, double bound);
/* Give the variable the attribute of its quantization, or of its bound, if it has one, and no other attribute of a
 * quantization. NC_ENOMEM */
int pnc_format_quantization_write(pnc_model *model, pnc_var *var, pnc_error *error);
/* Give the file what CF conventions have for quantized variables that are no coordinates and have no attribute
 * `quantization`: a variable for each algorithm, behind all others, and attributes. has_storage: that of the format.
 * Errors as of adding variables and attributes; the model may have a part of it then. */
int pnc_format_quantization_describe(pnc_model *model, bool has_storage, pnc_error *error);

#define PNC_FORMAT_INT_BYTES 4 /* of an external NC_INT */
void pnc_format_int_write(int number, bool little, unsigned char *out);

#endif
