/* Quantization: rounding of floating point values to few significant bits. The rest of the mantissa is zeros, which any
 * compressor takes out. */
#ifndef PNC_CONVERT_QUANTIZE_H
#define PNC_CONVERT_QUANTIZE_H

#include <stdint.h>

typedef enum pnc_quantization {
    PNC_BIT_ROUND,         /* keeps a number of bits of the mantissa (Kouznetsov 2021) */
    PNC_GRANULAR_BIT_ROUND /* keeps, value by value, the bits that a number of decimal digits needs (Delaunay and others
                              2019, Kouznetsov 2021) */
} pnc_quantization;

typedef struct pnc_quantizer {
    pnc_quantization mode;
    int type;                 /* NC_FLOAT or NC_DOUBLE */
    int number;               /* of bits or digits that are kept: 1 to pnc_convert_quantizer_get_most */
    int nkept;                /* elements of `kept` */
    unsigned char kept[2][8]; /* values in memory form that stay as they are, such as fill values */
} pnc_quantizer;

/* The largest number of bits or digits of an external type; 0 for types that are not quantized. */
int pnc_convert_quantizer_get_most(pnc_quantization mode, int xtype);

/* n values in memory, in place. NaN and infinities stay as they are, and no value becomes infinite. */
void pnc_convert_values_quantize(const pnc_quantizer *quantizer, void *values, int64_t n);

#endif
