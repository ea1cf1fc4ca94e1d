/* Quantization: rounding of floating point values to few significant bits. The rest of the mantissa is zeros, which any
 * compressor takes out. */
#ifndef PNC_CONVERT_QUANTIZE_H
#define PNC_CONVERT_QUANTIZE_H

#include <stdbool.h>

#include "base/types.h"

/* NC_QUANTIZE_BITGROOM .. */
typedef enum pnc_quantization {
    PNC_BIT_GROOM = 1,      /* sets the bits that decimal digits never need to 0 and 1 in turns (Zender 2016) */
    PNC_GRANULAR_BIT_ROUND, /* keeps, value by value, the bits that decimal digits need (Delaunay and others 2019,
                               Kouznetsov 2021) */
    PNC_BIT_ROUND,          /* keeps a number of bits of the mantissa (Kouznetsov 2021) */
    PNC_ABSOLUTE_ERROR,     /* keeps, value by value, the bits that a bound of the error needs */
    PNC_RELATIVE_ERROR      /* the same; the bound is a factor of the value's magnitude */
} pnc_quantization;

#define PNC_KEPT_MOST 9 /* the fill value, and so many missing values as no data are known to have */

typedef struct pnc_quantizer {
    pnc_quantization mode; /* 0: none */
    int type;              /* NC_FLOAT or NC_DOUBLE */
    int number;            /* of bits or digits that are kept: 1 to pnc_convert_quantizer_get_most */
    double bound;          /* of an error: above 0; a relative one below 1 */
    bool is_converted; /* what was put may have more digits than the type; the bound is for the sum of both errors */
    int nkept;         /* elements of `kept` */
    unsigned char kept[PNC_KEPT_MOST][8]; /* values in memory form that stay as they are, such as fill values */
} pnc_quantizer;

/* The largest number of bits or digits of an external type; 0 for types that are not quantized. */
int pnc_convert_quantizer_get_most(pnc_quantization mode, int xtype);

/* Whether a mode for bounds can have this one: a number above 0, a relative one below 1. */
bool pnc_convert_error_bound_is_valid(pnc_quantization mode, double bound);

/* Whether numbers in memory can have more digits than those of an external type, NC_FLOAT or NC_DOUBLE. */
bool pnc_convert_is_lossy(int xtype, pnc_mem_type mem);

/* The attribute that has the number, of type NC_INT, as in netCDF-C, or the bound, of type NC_DOUBLE. */
const char *pnc_convert_quantization_get_attribute(pnc_quantization mode);

/* n values in memory, in place. NaN and infinities stay as they are, and no value becomes infinite. BitGroom, which
 * counts the values, begins with 0. */
void pnc_convert_values_quantize(const pnc_quantizer *quantizer, void *values, int64_t n);
/* n external values, at any address; `first` is the number of the first one among those of the call. */
void pnc_convert_external_quantize(const pnc_quantizer *quantizer, pnc_encoding encoding, int64_t first, void *values,
                                   int64_t n);

#endif
