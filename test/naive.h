/* The naive model of values, which tests compare the library with: each element is one wide number (see wide.h),
 * converted by rules that are written again here from the description of the interface, independently of src/convert.
 * */
#ifndef TEST_NAIVE_H
#define TEST_NAIVE_H

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "calls.h"
#include "wide.h"

enum kind { K_CHAR, K_INTEGER, K_FLOAT, K_DOUBLE };

struct kind_of {
    enum kind kind;
    int bytes;
    wide low, high, fill;
};

#define TWO63 9223372036854775808.0L
#define KIND_I8                       \
    {                                 \
        K_INTEGER, 1, -128, 127, -127 \
    }
#define KIND_U8                   \
    {                             \
        K_INTEGER, 1, 0, 255, 255 \
    }
#define KIND_I16                            \
    {                                       \
        K_INTEGER, 2, -32768, 32767, -32767 \
    }
#define KIND_U16                      \
    {                                 \
        K_INTEGER, 2, 0, 65535, 65535 \
    }
#define KIND_I32                                                    \
    {                                                               \
        K_INTEGER, 4, -2147483648.0L, 2147483647.0L, -2147483647.0L \
    }
#define KIND_U32                                      \
    {                                                 \
        K_INTEGER, 4, 0, 4294967295.0L, 4294967295.0L \
    }
#define KIND_I64                                    \
    {                                               \
        K_INTEGER, 8, -TWO63, TWO63 - 1, -TWO63 + 2 \
    }
#define KIND_U64                                      \
    {                                                 \
        K_INTEGER, 8, 0, 2 * TWO63 - 1, 2 * TWO63 - 2 \
    }
#define KIND_F32                                               \
    {                                                          \
        K_FLOAT, 4, -FLT_MAX, FLT_MAX, 9.9692099683868690e+36f \
    }
#define KIND_F64                                               \
    {                                                          \
        K_DOUBLE, 8, -DBL_MAX, DBL_MAX, 9.9692099683868690e+36 \
    }
#define KIND_TXT                \
    {                           \
        K_CHAR, 1, -128, 255, 0 \
    }

static const struct kind_of kind_of_type[12] = {{K_CHAR, 0, 0, 0, 0},
                                                KIND_I8,
                                                KIND_TXT,
                                                KIND_I16,
                                                KIND_I32,
                                                KIND_F32,
                                                KIND_F64,
                                                KIND_U8,
                                                KIND_U16,
                                                KIND_U32,
                                                KIND_I64,
                                                KIND_U64};
static const struct kind_of kind_of_memory[MEMORIES] = {
    KIND_TXT, KIND_I8,
    KIND_U8,  KIND_I16,
    KIND_U16, KIND_I32,
    KIND_U32, {K_INTEGER, sizeof(long), LONG_MIN, LONG_MAX, -2147483647.0L}, /* the fill value of long is NC_INT's */
    KIND_F32, KIND_F64,
    KIND_I64, KIND_U64};
static const char *const type_names[12] = {"?",      "byte",  "char",   "short", "int",   "float",
                                           "double", "ubyte", "ushort", "uint",  "int64", "uint64"};

enum fit { FITS, RANGE, UNDEFINED };

#define NAIVE_LOAD(ctype)                 \
    {                                     \
        ctype value;                      \
        memcpy(&value, at, sizeof value); \
        return (wide)value;               \
    }
#define NAIVE_STORE(ctype)                \
    {                                     \
        ctype value = (ctype)from;        \
        memcpy(at, &value, sizeof value); \
        return;                           \
    }

static inline wide naive_load(enum memory memory, const void *at)
{
    switch (memory) {
    case M_TEXT: NAIVE_LOAD(unsigned char)
    case M_SCHAR: NAIVE_LOAD(signed char)
    case M_UCHAR: NAIVE_LOAD(unsigned char)
    case M_SHORT: NAIVE_LOAD(short)
    case M_USHORT: NAIVE_LOAD(unsigned short)
    case M_INT: NAIVE_LOAD(int)
    case M_UINT: NAIVE_LOAD(unsigned int)
    case M_LONG: NAIVE_LOAD(long)
    case M_FLOAT: NAIVE_LOAD(float)
    case M_DOUBLE: NAIVE_LOAD(double)
    case M_LONGLONG: NAIVE_LOAD(long long)
    default: NAIVE_LOAD(unsigned long long)
    }
}

static inline void naive_store(enum memory memory, void *at, wide from)
{
    switch (memory) {
    case M_TEXT: NAIVE_STORE(unsigned char)
    case M_SCHAR: NAIVE_STORE(signed char)
    case M_UCHAR: NAIVE_STORE(unsigned char)
    case M_SHORT: NAIVE_STORE(short)
    case M_USHORT: NAIVE_STORE(unsigned short)
    case M_INT: NAIVE_STORE(int)
    case M_UINT: NAIVE_STORE(unsigned int)
    case M_LONG: NAIVE_STORE(long)
    case M_FLOAT: NAIVE_STORE(float)
    case M_DOUBLE: NAIVE_STORE(double)
    case M_LONGLONG: NAIVE_STORE(long long)
    default: NAIVE_STORE(unsigned long long)
    }
}

/* Convert a value between two kinds. RANGE: it does not fit, and the caller stores a fill value. UNDEFINED: the
 * interface does not say what is stored (NaN to an integer type gives no error). */
static inline enum fit naive_convert(wide value, struct kind_of from, struct kind_of to, wide *out)
{
    if (to.kind == K_INTEGER) {
        if (wide_is_nan(value))
            return UNDEFINED;
        if (value < to.low || value > to.high) /* other libraries accept 2^63, and store another number */
            return RANGE;
        *out = wide_whole(value);
        return FITS;
    }
    if (to.kind == K_FLOAT && from.kind == K_DOUBLE && !wide_is_nan(value) && wide_abs(value) > FLT_MAX)
        return RANGE; /* infinities as well */
    *out = value;
    if (to.kind == K_FLOAT)
        *out = (wide)(float)value;
    else if (to.kind == K_DOUBLE)
        *out = (wide)(double)value;
    return FITS;
}

/* CDF-1 and CDF-2: NC_BYTE through the uchar functions copies bits. */
static inline bool naive_copies_bits(int xtype, enum memory memory, int format)
{
    return xtype == NC_BYTE && memory == M_UCHAR && format != 5;
}

static inline enum fit naive_put(wide value, enum memory memory, int xtype, int format, wide *out)
{
    if (naive_copies_bits(xtype, memory, format)) {
        *out = value > 127 ? value - 256 : value;
        return FITS;
    }
    return naive_convert(value, kind_of_memory[memory], kind_of_type[xtype], out);
}

static inline enum fit naive_get(wide value, int xtype, enum memory memory, int format, wide *out)
{
    if (naive_copies_bits(xtype, memory, format)) {
        *out = value < 0 ? value + 256 : value;
        return FITS;
    }
    return naive_convert(value, kind_of_type[xtype], kind_of_memory[memory], out);
}

/* Random numbers that are the same on every machine (splitmix64, public domain by S. Vigna). */
typedef uint64_t dice;
static inline uint64_t dice_next(dice *d)
{
    *d += 0x9e3779b97f4a7c15u;
    uint64_t z = *d;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}
static inline int64_t dice_upto(dice *d, int64_t n)
{
    return n <= 0 ? 0 : (int64_t)(dice_next(d) % (uint64_t)(n + 1));
}
static inline int64_t dice_from(dice *d, int64_t low, int64_t high)
{
    return low + dice_upto(d, high - low);
}
static inline bool dice_chance(dice *d, int percent)
{
    return dice_upto(d, 99) < percent;
}

/* A memory value for a test: mostly small; sometimes at or one beyond a limit of the external type, or special.
 * Fractions only where no limit is near, where truncation is what the interface says. */
static inline wide naive_draw(dice *d, enum memory memory, int xtype, bool wild)
{
    struct kind_of mine = kind_of_memory[memory], other = kind_of_type[xtype];
    wide v = (wide)dice_from(d, mine.low < 0 && other.low < 0 ? -100 : 0, 100);
    if (mine.kind == K_CHAR)
        return (wide)dice_upto(d, 255);
    int way = wild ? (int)dice_upto(d, 9) : 0;
    bool real = mine.kind == K_FLOAT || mine.kind == K_DOUBLE;
    if (way == 1 || way == 2) {
        v = (way == 1 ? other.high : other.low) + dice_from(d, -1, 1);
    } else if (way == 3 && real) {
        wide const special[] = {NAN, INFINITY, -INFINITY, -0.0L, 3.99L, -3.99L, 1e-30L, 1e37L, -1e37L, 1e300L};
        v = special[dice_upto(d, 9)];
    } else if (way == 4 || way == 5) {
        v = (wide)(int64_t)(dice_next(d) >> dice_upto(d, 63));
        v = dice_chance(d, 50) ? v : -v;
    }
    if (real) {
        if (wide_is_inf(v) && mine.kind == K_FLOAT && other.kind == K_DOUBLE)
            v = 1; /* an infinite float put into a double: the interface does not say */
        if (mine.kind == K_FLOAT && wide_abs(v) > FLT_MAX && !wide_is_inf(v))
            v = FLT_MAX;
        if (mine.kind == K_DOUBLE && wide_abs(v) > DBL_MAX && !wide_is_inf(v))
            v = DBL_MAX;
        return mine.kind == K_FLOAT ? (wide)(float)v : (wide)(double)v;
    }
    if (v < mine.low)
        return mine.low;
    return v > mine.high ? mine.high : v + 0.0L; /* no negative zero among integers */
}

#endif
