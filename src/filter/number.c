/* Numbers whose bits in the file are not those of a type in memory: integers of 12 bits or of 3 bytes, floating-point
 * numbers of 2 bytes. To decode them is the last step of a chunk; the file has no such filter. */
#include <math.h>

#include "filter/bits.h"
#include "filter/kind.h"

enum { MANTISSA_MOST = 53, EXPONENT_MOST = 11, BIAS_MOST = 4096 }; /* of double; of exponents that it can have */

static bool is_field(const uint32_t *p, uint32_t at, uint32_t bits, uint32_t most)
{
    return bits >= 1 && bits <= most && bits <= 8 * p[PNC_NUMBER_SIZE] && at <= 8 * p[PNC_NUMBER_SIZE] - bits;
}

static bool is_valid_number(const uint32_t *p)
{
    uint32_t memory = p[PNC_NUMBER_MEMORY_SIZE], offset = p[PNC_NUMBER_OFFSET], precision = p[PNC_NUMBER_PRECISION];

    if (p[PNC_NUMBER_SIZE] < 1 || p[PNC_NUMBER_SIZE] > 8 ||
        (memory != 1 && memory != 2 && memory != 4 && memory != 8) || p[PNC_NUMBER_ORDER] > 1 ||
        p[PNC_NUMBER_IS_FLOAT] > 1 || p[PNC_NUMBER_IS_SIGNED] > 1 || p[PNC_NUMBER_HAS_FIRST_BIT] > 1)
        return false;
    if (p[PNC_NUMBER_IS_FLOAT] == 0)
        return is_field(p, offset, precision, 8 * memory);
    return memory >= 4 && is_field(p, offset, precision, MANTISSA_MOST) && is_field(p, p[PNC_NUMBER_SIGN_AT], 1, 1) &&
           is_field(p, p[PNC_NUMBER_EXPONENT_AT], p[PNC_NUMBER_EXPONENT_BITS], EXPONENT_MOST) &&
           p[PNC_NUMBER_BIAS] <= BIAS_MOST;
}

static int check_number(const pnc_filter *filter, pnc_error *error)
{
    PNC_TRY(pnc_filter_parameters_check(filter, PNC_NUMBER_PARAMETERS, PNC_NUMBER_PARAMETERS, error));
    if (!is_valid_number(filter->parameters))
        return pnc_error_set(error, NC_EFILTER, "numbers of %lu bytes with fields that this library does not read",
                             (unsigned long)filter->parameters[PNC_NUMBER_SIZE]);
    return NC_NOERR;
}

static uint64_t extend_integer(const uint32_t *p, uint64_t bits)
{
    uint64_t mask = pnc_filter_mask_get((int)p[PNC_NUMBER_PRECISION]), value = bits >> p[PNC_NUMBER_OFFSET] & mask;
    bool is_negative = p[PNC_NUMBER_IS_SIGNED] == 1 && (value >> (p[PNC_NUMBER_PRECISION] - 1) & 1) != 0;

    return is_negative ? value | ~mask : value;
}

/* Exact, but for exponents that double does not have. */
static double read_float(const uint32_t *p, uint64_t bits)
{
    const int precision = (int)p[PNC_NUMBER_PRECISION], has_first_bit = (int)p[PNC_NUMBER_HAS_FIRST_BIT];
    const uint64_t mantissa = bits >> p[PNC_NUMBER_OFFSET] & pnc_filter_mask_get(precision);
    const uint64_t most = pnc_filter_mask_get((int)p[PNC_NUMBER_EXPONENT_BITS]);
    const uint64_t exponent = bits >> p[PNC_NUMBER_EXPONENT_AT] & most;
    const int scale = (int)exponent - (int)p[PNC_NUMBER_BIAS] - precision + has_first_bit;
    double value;

    if (exponent == most)
        value = (mantissa & pnc_filter_mask_get(precision - has_first_bit)) == 0 ? (double)INFINITY : (double)NAN;
    else if (has_first_bit == 1)
        value = ldexp((double)mantissa, scale);
    else if (exponent == 0)
        value = ldexp((double)mantissa, scale + 1);
    else
        value = ldexp((double)(mantissa | UINT64_C(1) << precision), scale);
    return (bits >> p[PNC_NUMBER_SIGN_AT] & 1) != 0 ? -value : value;
}

static uint64_t convert_float(const uint32_t *p, uint64_t bits)
{
    double value = read_float(p, bits);
    float small = (float)value;
    uint64_t out = 0;
    uint32_t half;

    if (p[PNC_NUMBER_MEMORY_SIZE] == 8) {
        memcpy(&out, &value, sizeof value);
        return out;
    }
    memcpy(&half, &small, sizeof half);
    return half;
}

static int decode_numbers(pnc_filter_step *step)
{
    const uint32_t *p = step->filter->parameters;
    const int size = (int)p[PNC_NUMBER_SIZE], memory_size = (int)p[PNC_NUMBER_MEMORY_SIZE];
    const bool is_big_endian = p[PNC_NUMBER_ORDER] == 1;
    const int64_t n = step->in_bytes / size;

    if (n > step->capacity / memory_size)
        return pnc_filter_damage_set(step, "has more numbers than the chunk");
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits = pnc_filter_bytes_read(step->in + i * size, size, is_big_endian);

        pnc_filter_bytes_write(step->out + i * memory_size, memory_size, is_big_endian,
                               p[PNC_NUMBER_IS_FLOAT] == 1 ? convert_float(p, bits) : extend_integer(p, bits));
    }
    step->result_bytes = n * memory_size;
    return NC_NOERR;
}

static int64_t get_bound_of_numbers(const pnc_filter *filter, int64_t bytes)
{
    return bytes / filter->parameters[PNC_NUMBER_MEMORY_SIZE] * filter->parameters[PNC_NUMBER_SIZE];
}

const pnc_filter_kind pnc_filter_kind_number = {
    .id = PNC_FILTER_NUMBER,
    .name = "numbers of other bits",
    .get_bound = get_bound_of_numbers,
    .check = check_number,
    .decode = decode_numbers,
};
