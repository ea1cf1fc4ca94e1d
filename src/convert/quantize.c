/* Quantization of binary32 and binary64 values. The results are those of netCDF-C 4.9 and later, bit by bit, with three
 * exceptions: no result is infinite, 7 digits of a float that has no bit to spare do not change it, and
 * GranularBitRound keeps subnormal numbers. */
#include "convert/quantize.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/types.h"

int pnc_convert_quantizer_get_most(pnc_quantization mode, int xtype)
{
    switch (xtype) {
    case NC_FLOAT: return mode == PNC_BIT_ROUND ? FLT_MANT_DIG - 1 : 7;
    case NC_DOUBLE: return mode == PNC_BIT_ROUND ? DBL_MANT_DIG - 1 : 15;
    default: return 0;
    }
}

/* The power of 2 to whose multiples a value is rounded, so that `digits` decimal digits are kept. The rounding of this
 * expression decides about powers of 10: 100 has two digits before the decimal point. */
static int find_quantum(double value, int digits)
{
    static const double log10_of_2 = 0.69314718055994530942 / 2.30258509299404568402,
                        log2_of_10 = 3.32192809488736234787;
    int exponent;
    double mantissa = frexp(fabs(value), &exponent);
    int before = (int)floor(exponent * log10_of_2 + log10(mantissa)) + 1;

    return (int)floor(log2_of_10 * (before - digits));
}

/* Bits at the end of the mantissa that become zeros. ulp: exponent of the last bit, of a normal number with exponent 0;
 * least: of the smallest number. */
static int count_zeros(const pnc_quantizer *quantizer, double value, int mantissa, int least)
{
    int exponent, last;

    if (quantizer->mode == PNC_BIT_ROUND)
        return mantissa - quantizer->number;
    frexp(value, &exponent);
    last = exponent - 1 - mantissa;
    return find_quantum(value, quantizer->number) - (last > least ? last : least);
}

/* Half away from zero: in both formats, the next larger magnitude has the next larger bits. */
static uint64_t round_bits(uint64_t bits, int zeros, uint64_t infinity)
{
    uint64_t mask = ((uint64_t)1 << zeros) - 1, rounded = (bits + (mask + 1) / 2) & ~mask;

    return (rounded & infinity) == infinity ? bits & ~mask : rounded;
}

static bool is_kept(const pnc_quantizer *quantizer, const void *value, size_t size)
{
    for (int i = 0; i < quantizer->nkept; i++)
        if (memcmp(value, quantizer->kept[i], size) == 0)
            return true;
    return false;
}

static void quantize_single(const pnc_quantizer *quantizer, char *at)
{
    float value;
    uint32_t bits;
    int zeros;

    memcpy(&value, at, sizeof value);
    if (!isfinite(value) || value == 0)
        return;
    zeros = count_zeros(quantizer, value, FLT_MANT_DIG - 1, FLT_MIN_EXP - FLT_MANT_DIG);
    if (zeros <= 0)
        return;
    memcpy(&bits, at, sizeof bits);
    bits = (uint32_t)round_bits(bits, zeros, 0x7f800000u);
    memcpy(at, &bits, sizeof bits);
}

static void quantize_double(const pnc_quantizer *quantizer, char *at)
{
    double value;
    uint64_t bits;
    int zeros;

    memcpy(&value, at, sizeof value);
    if (!isfinite(value) || value == 0)
        return;
    zeros = count_zeros(quantizer, value, DBL_MANT_DIG - 1, DBL_MIN_EXP - DBL_MANT_DIG);
    if (zeros <= 0)
        return;
    memcpy(&bits, at, sizeof bits);
    bits = round_bits(bits, zeros, 0x7ff0000000000000u);
    memcpy(at, &bits, sizeof bits);
}

void pnc_convert_values_quantize(const pnc_quantizer *quantizer, void *values, int64_t n)
{
    bool single = quantizer->type == NC_FLOAT;
    size_t size = single ? sizeof(float) : sizeof(double);
    char *at = values;

    for (int64_t i = 0; i < n; i++, at += size) {
        if (is_kept(quantizer, at, size))
            continue;
        if (single)
            quantize_single(quantizer, at);
        else
            quantize_double(quantizer, at);
    }
}
