/* Quantization of binary32 and binary64 values. The results are those of netCDF-C 4.9 and later, bit by bit, with
 * these exceptions: NaN, infinities and -0 stay as they are, no result is infinite, a value that needs more bits than
 * its type has does not change, and GranularBitRound keeps subnormal numbers. netCDF-C 4.9.0 loses such values. */
#include "convert/quantize.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/types.h"
#include "convert/within.h"

int pnc_convert_quantizer_get_most(pnc_quantization mode, int xtype)
{
    switch (xtype) {
    case NC_FLOAT: return mode == PNC_BIT_ROUND ? FLT_MANT_DIG - 1 : 7;
    case NC_DOUBLE: return mode == PNC_BIT_ROUND ? DBL_MANT_DIG - 1 : 15;
    default: return 0;
    }
}

bool pnc_convert_error_bound_is_valid(pnc_quantization mode, double bound)
{
    return isfinite(bound) && bound > 0 && (mode != PNC_RELATIVE_ERROR || bound < 1);
}

bool pnc_convert_is_lossy(int xtype, pnc_mem_type mem)
{
    switch (mem) {
    case PNC_LONG:
    case PNC_LONGLONG:
    case PNC_ULONGLONG: return true;
    case PNC_INT:
    case PNC_UINT:
    case PNC_DOUBLE: return xtype == NC_FLOAT;
    default: return false;
    }
}

const char *pnc_convert_quantization_get_attribute(pnc_quantization mode)
{
    switch (mode) { /* NC_QUANTIZE_BITGROOM_ATT_NAME of pnetcdf.h is spelt in another way than in files */
    case PNC_BIT_GROOM: return "_QuantizeBitGroomNumberOfSignificantDigits";
    case PNC_GRANULAR_BIT_ROUND: return NC_QUANTIZE_GRANULARBR_ATT_NAME;
    case PNC_ABSOLUTE_ERROR: return "maximum_absolute_error";
    case PNC_RELATIVE_ERROR: return "maximum_relative_error";
    default: return NC_QUANTIZE_BITROUND_ATT_NAME;
    }
}

static const double log2_of_10 = 3.32192809488736234787;

/* --- mathematics: programs that are linked with the static library need not have libm --- */

static int round_down(double x)
{
    int n = (int)x;

    return n > x ? n - 1 : n;
}

static int round_upwards(double x)
{
    return -round_down(-x);
}

/* As frexp: a number that is neither 0 nor infinite is the result, 0.5 to 1, times 2 to the power of *exponent. */
static double split(double x, int *exponent)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    *exponent = (int)(bits >> 52 & 0x7ff) - 1022;
    if (*exponent == -1022) { /* subnormal */
        x *= (double)((uint64_t)1 << 54);
        memcpy(&bits, &x, sizeof bits);
        *exponent = (int)(bits >> 52 & 0x7ff) - 1022 - 54;
    }
    bits = (bits & 0x800fffffffffffffu) | (uint64_t)1022 << 52;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Of 0.5 to 1, by the series of artanh about 1 or sqrt(1/2): terms until 0.18 to the power of 23. */
static double compute_log10(double x)
{
    static const double ln_of_10 = 2.30258509299404568402, half_ln_of_2 = 0.34657359027997265471,
                        root_of_half = 0.70710678118654752440;
    double base = x < 0.84 ? root_of_half : 1, y = (x - base) / (x + base), square = y * y, sum = 0;

    for (int k = 23; k >= 3; k -= 2)
        sum = (sum + 1.0 / k) * square;
    return (2 * (y + y * sum) - (base < 1 ? half_ln_of_2 : 0)) / ln_of_10;
}

/* --- how many bits --- */

/* The power of 2 to whose multiples a value is rounded, so that `digits` decimal digits are kept. The rounding of this
 * expression decides about powers of 10: 100 has two digits before the decimal point. */
static int find_quantum(double value, int digits)
{
    static const double log10_of_2 = 0.69314718055994530942 / 2.30258509299404568402;
    int exponent;
    double mantissa = split(value < 0 ? -value : value, &exponent);
    int before = round_down(exponent * log10_of_2 + compute_log10(mantissa)) + 1;

    return round_down(log2_of_10 * (before - digits));
}

/* Bits at the end of the mantissa that become zeros. ulp: exponent of the last bit, of a normal number with exponent 0;
 * least: of the smallest number. */
static int count_zeros(const pnc_quantizer *quantizer, double value, int mantissa, int least)
{
    int exponent, last;

    if (quantizer->mode == PNC_BIT_ROUND)
        return mantissa - quantizer->number;
    if (quantizer->mode == PNC_BIT_GROOM) /* one bit more than the digits have */
        return mantissa - round_upwards(quantizer->number * log2_of_10) - 1;
    split(value, &exponent);
    last = exponent - 1 - mantissa;
    return find_quantum(value, quantizer->number) - (last > least ? last : least);
}

/* Half away from zero: in both formats, the next larger magnitude has the next larger bits. BitGroom sets the bits of
 * every other value, so that the mean stays. */
static uint64_t round_bits(const pnc_quantizer *quantizer, int64_t index, uint64_t bits, int zeros, uint64_t infinity)
{
    uint64_t mask = ((uint64_t)1 << zeros) - 1, rounded = (bits + (mask + 1) / 2) & ~mask;

    if (quantizer->mode == PNC_BIT_GROOM)
        return index % 2 == 0 ? bits & ~mask : bits | mask;
    return (rounded & infinity) == infinity ? bits & ~mask : rounded;
}

static bool is_kept(const pnc_quantizer *quantizer, const void *value, size_t size)
{
    for (int i = 0; i < quantizer->nkept; i++)
        if (memcmp(value, quantizer->kept[i], size) == 0)
            return true;
    return false;
}

static void quantize_single(const pnc_quantizer *quantizer, int64_t index, char *at)
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
    bits = (uint32_t)round_bits(quantizer, index, bits, zeros, 0x7f800000u);
    memcpy(at, &bits, sizeof bits);
}

static void quantize_double(const pnc_quantizer *quantizer, int64_t index, char *at)
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
    bits = round_bits(quantizer, index, bits, zeros, 0x7ff0000000000000u);
    memcpy(at, &bits, sizeof bits);
}

static void quantize_values(const pnc_quantizer *quantizer, int64_t first, void *values, int64_t n)
{
    bool single = quantizer->type == NC_FLOAT;
    size_t size = single ? sizeof(float) : sizeof(double);
    char *at = values;

    if (quantizer->mode >= PNC_ABSOLUTE_ERROR) {
        pnc_convert_within_quantize(quantizer, values, n);
        return;
    }
    for (int64_t i = 0; i < n; i++, at += size) {
        if (is_kept(quantizer, at, size))
            continue;
        if (single)
            quantize_single(quantizer, first + i, at);
        else
            quantize_double(quantizer, first + i, at);
    }
}

void pnc_convert_values_quantize(const pnc_quantizer *quantizer, void *values, int64_t n)
{
    quantize_values(quantizer, 0, values, n);
}

static void swap_bytes(char *at, size_t size, int64_t n)
{
    for (int64_t i = 0; i < n; i++, at += size)
        for (size_t k = 0; k < size / 2; k++) {
            char other = at[k];

            at[k] = at[size - 1 - k];
            at[size - 1 - k] = other;
        }
}

void pnc_convert_external_quantize(const pnc_quantizer *quantizer, pnc_encoding encoding, int64_t first, void *values,
                                   int64_t n)
{
    const size_t size = quantizer->type == NC_FLOAT ? sizeof(float) : sizeof(double);
    bool swaps = encoding.little != PNC_HOST_IS_LITTLE;

    if (swaps)
        swap_bytes(values, size, n);
    quantize_values(quantizer, first, values, n);
    if (swaps)
        swap_bytes(values, size, n);
}
