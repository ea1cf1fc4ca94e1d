/* Blocks are mostly equal: slices that are equal byte by byte are skipped, others are compared value by value. */
#include "tools/diff/compare.h"

#include <math.h>
#include <string.h>

#include "base/types.h"

enum { SLICE = 512 }; /* elements */

void diff_result_init(diff_result *result)
{
    *result = (diff_result){.first.at = -1, .absolute.at = -1, .relative.at = -1};
}

/* Of equal differences the one with the smallest index is kept: the result does not depend on the order. */
static void keep_larger(int order, const diff_element *other, diff_element *largest)
{
    if (other->at >= 0 && (largest->at < 0 || order > 0 || (order == 0 && other->at < largest->at)))
        *largest = *other;
}

static int order_of(double a, double b)
{
    return (a > b) - (a < b);
}

static int order_absolute(const diff_element *a, const diff_element *b)
{
    int order = order_of(a->absolute, b->absolute);
    return order != 0 ? order : (a->whole > b->whole) - (a->whole < b->whole);
}

static void keep(const diff_element *first, const diff_element *absolute, const diff_element *relative,
                 diff_result *result)
{
    if (first->at >= 0 && (result->first.at < 0 || first->at < result->first.at))
        result->first = *first;
    keep_larger(order_absolute(absolute, &result->absolute), absolute, &result->absolute);
    keep_larger(order_of(relative->relative, result->relative.relative), relative, &result->relative);
}

void diff_result_merge(diff_result *result, const diff_result *other)
{
    result->count += other->count;
    result->nans += other->nans;
    result->unwritten += other->unwritten;
    keep(&other->first, &other->absolute, &other->relative, result);
    if (result->status == NC_NOERR)
        result->status = other->status;
}

static void note(diff_element *element, double absolute, double relative, diff_result *result)
{
    element->absolute = absolute;
    element->relative = relative;
    result->count++;
    keep(element, element, element, result);
}

static void note_without_size(diff_element *element, diff_result *result)
{
    static const diff_element none = {.at = -1};
    element->absolute = element->relative = NAN;
    result->count++;
    keep(element, &none, &none, result);
}

static bool tolerated(const diff_tolerance *tolerance, double absolute, double relative)
{
    return tolerance->given && (absolute <= tolerance->absolute || relative <= tolerance->ratio);
}

static void judge_real(diff_element *element, double x, double y, const diff_tolerance *tolerance, diff_result *result)
{
    if (isnan(x) && isnan(y))
        return;
    if (isnan(x) || isnan(y)) {
        result->nans++;
        note_without_size(element, result);
    } else if (isinf(x) || isinf(y)) {
        note(element, INFINITY, INFINITY, result);
    } else {
        double largest = fmax(fabs(x), fabs(y)); /* not 0: x and y are not equal */
        double absolute = fabs(x - y);
        double relative = isinf(absolute) ? fabs(x / largest - y / largest) : absolute / largest;
        if (!tolerated(tolerance, absolute, relative))
            note(element, absolute, relative, result);
    }
}

/* Is whole <= bound, without rounding whole? */
static bool within(uint64_t whole, double bound)
{
    return bound >= 18446744073709551616. || (bound >= 0 && whole <= (uint64_t)bound);
}

static void judge_whole(diff_element *element, uint64_t whole, double largest, const diff_tolerance *tolerance,
                        diff_result *result)
{
    double relative = (double)whole / largest;
    if (tolerance->given && (within(whole, tolerance->absolute) || relative <= tolerance->ratio))
        return;
    element->whole = whole;
    note(element, (double)whole, relative, result);
}

static uint64_t magnitude(int64_t x)
{
    return x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
}

static void judge_signed(diff_element *element, int64_t x, int64_t y, const diff_tolerance *tolerance,
                         diff_result *result)
{
    uint64_t whole = x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
    uint64_t largest = magnitude(x) > magnitude(y) ? magnitude(x) : magnitude(y);
    judge_whole(element, whole, (double)largest, tolerance, result);
}

static void judge_unsigned(diff_element *element, uint64_t x, uint64_t y, const diff_tolerance *tolerance,
                           diff_result *result)
{
    judge_whole(element, x > y ? x - y : y - x, (double)(x > y ? x : y), tolerance, result);
}

/* Chunks of a netCDF-4 file that no rank has put are fill values, and such bytes of a classic file mostly zeros. */
static bool is_unwritten(const diff_values *v, const diff_element *element, size_t size)
{
    static const unsigned char zeros[8];
    if (v->fills[0] == NULL)
        return false;
    return (memcmp(element->x, v->fills[0], size) == 0 && memcmp(element->y, zeros, size) == 0) ||
           (memcmp(element->y, v->fills[1], size) == 0 && memcmp(element->x, zeros, size) == 0);
}

static bool is_same_text(const char *x, const char *y)
{
    return x == NULL || y == NULL ? x == y : strcmp(x, y) == 0;
}

static bool is_unwritten_text(const char *fill, const char *x, const char *y)
{
    return fill != NULL && is_same_text(x, fill) && (y == NULL || *y == '\0');
}

void diff_strings_compare(const diff_strings *s, diff_result *result)
{
    for (int64_t i = 0; i < s->n; i++) {
        diff_element element = {.at = s->at + i};
        if (is_same_text(s->x[i], s->y[i]))
            continue;
        if (is_unwritten_text(s->fills[0], s->x[i], s->y[i]) || is_unwritten_text(s->fills[1], s->y[i], s->x[i]))
            result->unwritten++;
        else
            note_without_size(&element, result);
    }
}

/* One loop for each type, so that the type is not tested for every element. */
#define EACH(ctype, judge)                                \
    do {                                                  \
        const ctype *a = v->x, *b = v->y;                 \
        for (int64_t i = 0; i < v->n; i++) {              \
            if (a[i] != b[i]) {                           \
                diff_element element = {.at = v->at + i}; \
                element.less = a[i] < b[i];               \
                memcpy(element.x, a + i, sizeof *a);      \
                memcpy(element.y, b + i, sizeof *b);      \
                if (is_unwritten(v, &element, sizeof *a)) \
                    result->unwritten++;                  \
                else                                      \
                    judge;                                \
            }                                             \
        }                                                 \
    } while (0)
#define EACH_NUMBER(ctype, judge) EACH(ctype, judge(&element, a[i], b[i], tolerance, result))

static void compare_slice(const diff_values *v, const diff_tolerance *tolerance, diff_result *result)
{
    switch (v->type) {
    case NC_CHAR: EACH(char, note_without_size(&element, result)); break;
    case NC_BYTE: EACH_NUMBER(signed char, judge_signed); break;
    case NC_SHORT: EACH_NUMBER(short, judge_signed); break;
    case NC_INT: EACH_NUMBER(int, judge_signed); break;
    case NC_INT64: EACH_NUMBER(long long, judge_signed); break;
    case NC_UBYTE: EACH_NUMBER(unsigned char, judge_unsigned); break;
    case NC_USHORT: EACH_NUMBER(unsigned short, judge_unsigned); break;
    case NC_UINT: EACH_NUMBER(unsigned, judge_unsigned); break;
    case NC_UINT64: EACH_NUMBER(unsigned long long, judge_unsigned); break;
    case NC_FLOAT: EACH_NUMBER(float, judge_real); break;
    case NC_DOUBLE: EACH_NUMBER(double, judge_real); break;
    default: break; /* not reached: pnc_type_get_size is 0 */
    }
}

void diff_values_compare(const diff_values *values, const diff_tolerance *tolerance, diff_result *result)
{
    size_t size = pnc_type_get_size(values->type);
    for (int64_t i = 0; i < values->n; i += SLICE) {
        size_t offset = (size_t)i * size;
        diff_values slice = {.type = values->type,
                             .x = (const char *)values->x + offset,
                             .y = (const char *)values->y + offset,
                             .n = values->n - i < SLICE ? values->n - i : SLICE,
                             .at = values->at + i,
                             .fills = {values->fills[0], values->fills[1]}};
        if (memcmp(slice.x, slice.y, (size_t)slice.n * size) != 0)
            compare_slice(&slice, tolerance, result);
    }
}
