/* Sums of doubles without rounding (J. R. Shewchuk, Adaptive Precision Floating-Point Arithmetic, 1997): a result that
 * was computed with rounding errors is corrected by the sign of the exact residue. */
#include "tools/common/linear.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/types.h"

enum { PARTS = 32 };

/* The exact sum of the parts, which do not overlap, and ascend in magnitude. */
typedef struct sum {
    double part[PARTS];
    int n;
} sum;

static void add(sum *s, double x)
{
    int kept = 0;
    for (int i = 0; i < s->n; i++) {
        double other = s->part[i], total = x + other, back = total - x;
        double lost = (x - (total - back)) + (other - back);
        x = total;
        if (lost != 0)
            s->part[kept++] = lost;
    }
    if (x != 0)
        s->part[kept++] = x;
    s->n = kept;
}

static void add_product(sum *s, double x, double y)
{
    double product = x * y;
    add(s, fma(x, y, -product));
    add(s, product);
}

static double round_sum(const sum *s)
{
    double total = 0;
    for (int i = 0; i < s->n; i++)
        total += s->part[i];
    return total;
}

static int sign_of(const sum *s)
{
    double largest = s->n > 0 ? s->part[s->n - 1] : 0;
    return (largest > 0) - (largest < 0);
}

/* --- numbers of a type --- */

static bool is_real(int type)
{
    return type == NC_FLOAT || type == NC_DOUBLE;
}

static void split_signed(long long value, double parts[2])
{
    long long low = value & 0xffffffffLL;
    parts[0] = (double)(value - low);
    parts[1] = (double)low;
}

static void split_unsigned(unsigned long long value, double parts[2])
{
    parts[0] = (double)(value & ~0xffffffffULL);
    parts[1] = (double)(value & 0xffffffffULL);
}

#define LOAD_CASE(code, ctype, split)          \
    case code: {                               \
        ctype number;                          \
        memcpy(&number, value, sizeof number); \
        split;                                 \
        break;                                 \
    }

void tool_number_load(int type, const void *value, double parts[2])
{
    parts[0] = parts[1] = 0;
    switch (type) {
        LOAD_CASE(NC_BYTE, signed char, parts[0] = number)
        LOAD_CASE(NC_CHAR, char, parts[0] = number)
        LOAD_CASE(NC_SHORT, short, parts[0] = number)
        LOAD_CASE(NC_INT, int, parts[0] = number)
        LOAD_CASE(NC_FLOAT, float, parts[0] = number)
        LOAD_CASE(NC_DOUBLE, double, parts[0] = number)
        LOAD_CASE(NC_UBYTE, unsigned char, parts[0] = number)
        LOAD_CASE(NC_USHORT, unsigned short, parts[0] = number)
        LOAD_CASE(NC_UINT, unsigned, parts[0] = number)
        LOAD_CASE(NC_INT64, long long, split_signed(number, parts))
        LOAD_CASE(NC_UINT64, unsigned long long, split_unsigned(number, parts))
    default: break;
    }
}

/* The least and the largest integer of a type; for 8 bytes the largest one that rounding to a double cannot exceed. */
static void get_range(int type, double *least, double *most)
{
    double bits = 8.0 * (double)pnc_type_get_size(type);
    bool is_signed = type == NC_BYTE || type == NC_SHORT || type == NC_INT || type == NC_INT64;
    *most = ldexp(1, (int)bits - is_signed) - (bits == 64 ? 2048 : 1);
    *least = is_signed ? -*most - 1 : 0;
}

/* Both parts are integers. */
static bool store_integer(int type, const double parts[2], void *result)
{
    double least, most, value = parts[0] + parts[1];
    get_range(type, &least, &most);
    if (!(value >= least && value <= most))
        return false;
    if (type == NC_UINT64) {
        unsigned long long number = (unsigned long long)parts[0] + (unsigned long long)(long long)parts[1];
        memcpy(result, &number, sizeof number);
        return true;
    }
    long long number = (long long)parts[0] + (long long)parts[1];
    signed char one = (signed char)number;
    short two = (short)number;
    int four = (int)number;
    switch (pnc_type_get_size(type)) { /* an unsigned number has the same bits */
    case 1: memcpy(result, &one, sizeof one); return true;
    case 2: memcpy(result, &two, sizeof two); return true;
    case 4: memcpy(result, &four, sizeof four); return true;
    default: memcpy(result, &number, sizeof number); return true;
    }
}

/* --- results --- */

static tool_linear_result find_integer(const sum *numerator, double divisor, int type, bool exact, void *result)
{
    double parts[2] = {rint(round_sum(numerator) / divisor), 0};
    sum residue;
    double correction = 1;
    for (int i = 0; i < 4 && correction != 0; i++) {
        if (!(fabs(parts[0]) < 1.9e19))
            return TOOL_LINEAR_TOO_LARGE;
        residue = *numerator;
        add_product(&residue, -parts[0], divisor);
        add_product(&residue, -parts[1], divisor);
        correction = rint(round_sum(&residue) / divisor);
        parts[1] += correction;
    }
    if (exact && sign_of(&residue) != 0)
        return TOOL_LINEAR_INEXACT;
    return store_integer(type, parts, result) ? TOOL_LINEAR_DONE : TOOL_LINEAR_TOO_LARGE;
}

/* The next number of a floating point type, upwards or downwards. */
static double get_next(int type, double value, int direction)
{
    return type == NC_FLOAT ? (double)nextafterf((float)value, direction > 0 ? INFINITY : -INFINITY)
                            : nextafter(value, direction > 0 ? INFINITY : -INFINITY);
}

static bool is_even(int type, double value)
{
    float single = (float)value;
    uint64_t bits = 0;
    uint32_t few = 0;
    memcpy(&bits, &value, sizeof bits);
    memcpy(&few, &single, sizeof few);
    return ((type == NC_FLOAT ? few : bits) & 1) == 0;
}

static double find_real(const sum *numerator, double divisor, int type)
{
    double value = round_sum(numerator) / divisor;
    value = type == NC_FLOAT ? (double)(float)value : value;
    for (int i = 0; i < 4 && isfinite(value); i++) {
        sum residue = *numerator, twice = *numerator;
        add_product(&residue, -value, divisor);
        int direction = sign_of(&residue) * (divisor > 0 ? 1 : -1);
        if (direction == 0)
            return value;
        double next = get_next(type, value, direction);
        for (int k = 0; k < numerator->n; k++)
            add(&twice, numerator->part[k]);
        add_product(&twice, -value, divisor);
        add_product(&twice, -next, divisor);
        int beyond = sign_of(&twice) * (divisor > 0 ? 1 : -1) * direction; /* the middle between both */
        if (beyond < 0 || (beyond == 0 && is_even(type, value)))
            return value;
        value = next;
    }
    return value;
}

/* The error of the first estimate is far below a tenth: most integers need no more. */
static bool estimate_integer(const tool_linear *f, double value, double *result)
{
    double exact = (value * f->scale + (f->offset[0] + f->offset[1] + f->offset[2])) / f->divisor;
    double size =
        (fabs(value * f->scale) + fabs(f->offset[0]) + fabs(f->offset[1]) + fabs(f->offset[2])) / fabs(f->divisor);
    *result = rint(exact);
    return size < 1e12 && fabs(exact - *result) < 0.4;
}

tool_linear_result tool_linear_compute(const tool_linear *f, int type, const void *value, bool exact, void *result)
{
    double parts[2], quick[2] = {0, 0};
    sum numerator = {.n = 0};
    tool_number_load(type, value, parts);
    if (is_real(type) && !isfinite(parts[0])) {
        memmove(result, value, pnc_type_get_size(type));
        return TOOL_LINEAR_DONE;
    }
    if (!is_real(type) && !exact && parts[1] == 0 && estimate_integer(f, parts[0], &quick[0]))
        return store_integer(type, quick, result) ? TOOL_LINEAR_DONE : TOOL_LINEAR_TOO_LARGE;
    add_product(&numerator, parts[0], f->scale);
    add_product(&numerator, parts[1], f->scale);
    for (int i = 0; i < 3; i++)
        add(&numerator, f->offset[i]);
    if (!is_real(type))
        return find_integer(&numerator, f->divisor, type, exact, result);
    double real = find_real(&numerator, f->divisor, type);
    if (!isfinite(real))
        return TOOL_LINEAR_TOO_LARGE;
    float single = (float)real;
    if (type == NC_FLOAT)
        memcpy(result, &single, sizeof single);
    else
        memcpy(result, &real, sizeof real);
    return TOOL_LINEAR_DONE;
}
