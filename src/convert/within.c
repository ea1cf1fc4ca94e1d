/* Rounding of binary32 and binary64 values within a bound of the error.
 *
 * Magnitudes in ascending order have bits in ascending order, as integers. Of the values from m - bound to m + bound
 * the one with most zeros at its end is found from the highest bit in which the ends of this range differ; no other one
 * has as many, and it is the nearest one that has. The ends are rounded to the type, so that the range may have one
 * value too many at each end: each result is compared with its value, and a difference of numbers with so few bits is
 * exact.
 */
#include "convert/within.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* A product and a difference are rounded, by 2^-53 each: with this factor they are never too large. */
#define ROUNDED_DOWN (1 - 2 * DBL_EPSILON)
/* Relative bounds below it would be subnormal products, which are rounded by more: such values stay. */
#define LEAST_BOUND (DBL_MIN / DBL_EPSILON)

typedef struct real_format {
    int mantissa;      /* bits */
    uint64_t infinity; /* and the sign */
    uint64_t sign;
} real_format;

static const real_format single_format = {FLT_MANT_DIG - 1, 0x7f800000u, 0x80000000u},
                         double_format = {DBL_MANT_DIG - 1, 0x7ff0000000000000u, 0x8000000000000000u};

static inline double make_real(uint64_t bits, bool is_single)
{
    uint32_t half = (uint32_t)bits;
    float single;
    double value;

    if (is_single) {
        memcpy(&single, &half, sizeof single);
        return single;
    }
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Rounded to the nearest one of the type. */
static inline uint64_t get_bits(double value, bool is_single)
{
    float single = is_single ? (float)value : 0;
    uint32_t half;
    uint64_t bits;

    memcpy(&half, &single, sizeof half);
    memcpy(&bits, &value, sizeof bits);
    return is_single ? half : bits;
}

/* By how much a finite magnitude may change. What was put may differ from it by half of its last bit, if it was
 * converted. */
static inline double get_bound(const pnc_quantizer *q, uint64_t bits, double magnitude, bool is_single)
{
    double lost = q->is_converted ? (make_real(bits + 1, is_single) - magnitude) / 2 : 0, bound = q->bound;

    if (q->mode == PNC_RELATIVE_ERROR) {
        bound *= magnitude - lost;
        if (!(bound >= LEAST_BOUND))
            return 0;
        bound *= ROUNDED_DOWN;
    }
    return q->is_converted ? (bound - lost) * ROUNDED_DOWN : bound;
}

/* The number of zeros that the bits of a value of the range can have at their end; perhaps too many. */
static inline int count_zeros_within(double low, double high, int mantissa, bool is_single)
{
    uint64_t first = get_bits(low, is_single), differ = (first - (first > 0)) ^ get_bits(high, is_single);
    int zeros = differ == 0 ? 0 : 63 - __builtin_clzll(differ);

    return zeros < mantissa ? zeros : mantissa;
}

/* A magnitude that is finite and not 0. */
static inline uint64_t round_magnitude(const pnc_quantizer *q, uint64_t bits, bool is_single)
{
    const real_format *format = is_single ? &single_format : &double_format;
    double magnitude = make_real(bits, is_single), bound = get_bound(q, bits, magnitude, is_single);

    if (!(bound > 0))
        return bits;
    if (magnitude <= bound)
        return 0;
    for (int zeros = count_zeros_within(magnitude - bound, magnitude + bound, format->mantissa, is_single); zeros > 0;
         zeros--) {
        uint64_t mask = ((uint64_t)1 << zeros) - 1, rounded = (bits + (mask + 1) / 2) & ~mask;

        if (rounded < format->infinity && fabs(make_real(rounded, is_single) - magnitude) <= bound)
            return rounded;
    }
    return bits;
}

static inline bool is_one_of(const uint64_t *kept, int nkept, uint64_t bits)
{
    bool found = false;

    for (int i = 0; i < nkept; i++)
        found = found || kept[i] == bits;
    return found;
}

/* A rounded value that means something else would be lost. */
static inline uint64_t round_bits_within(const pnc_quantizer *q, const uint64_t *kept, uint64_t bits, bool is_single)
{
    const real_format *format = is_single ? &single_format : &double_format;
    uint64_t magnitude = bits & ~format->sign, rounded;

    if (magnitude >= format->infinity || magnitude == 0 || is_one_of(kept, q->nkept, bits))
        return bits;
    rounded = round_magnitude(q, magnitude, is_single);
    if (rounded > 0)
        rounded |= bits & format->sign;
    return is_one_of(kept, q->nkept, rounded) ? bits : rounded;
}

static void round_singles(const pnc_quantizer *q, const uint64_t *kept, char *at, int64_t n)
{
    uint32_t bits;

    for (int64_t i = 0; i < n; i++, at += sizeof bits) {
        memcpy(&bits, at, sizeof bits);
        bits = (uint32_t)round_bits_within(q, kept, bits, true);
        memcpy(at, &bits, sizeof bits);
    }
}

static void round_doubles(const pnc_quantizer *q, const uint64_t *kept, char *at, int64_t n)
{
    uint64_t bits;

    for (int64_t i = 0; i < n; i++, at += sizeof bits) {
        memcpy(&bits, at, sizeof bits);
        bits = round_bits_within(q, kept, bits, false);
        memcpy(at, &bits, sizeof bits);
    }
}

void pnc_convert_within_quantize(const pnc_quantizer *quantizer, void *values, int64_t n)
{
    uint64_t kept[PNC_KEPT_MOST];
    uint32_t half;

    assert(quantizer->mode == PNC_ABSOLUTE_ERROR || quantizer->mode == PNC_RELATIVE_ERROR);
    for (int i = 0; i < quantizer->nkept; i++) {
        memcpy(&half, quantizer->kept[i], sizeof half);
        memcpy(&kept[i], quantizer->kept[i], sizeof kept[i]);
        kept[i] = quantizer->type == NC_FLOAT ? half : kept[i];
    }
    if (quantizer->type == NC_FLOAT)
        round_singles(quantizer, kept, values, n);
    else
        round_doubles(quantizer, kept, values, n);
}
