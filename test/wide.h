/* A floating-point type that holds every value of every netCDF type exactly, 64-bit integers among them.
 *
 * long double is such a type on many machines, but not for x86 programs under valgrind, which computes it in 64 bits
 * whatever the compiler promised. __float128 is computed by integer instructions, exactly everywhere; C's library knows
 * nothing of it, hence the functions here. printf takes it as (long double). */
#ifndef TEST_WIDE_H
#define TEST_WIDE_H

#include <float.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 wide;
#else
typedef long double wide;
_Static_assert(LDBL_MANT_DIG >= 64, "tests need a floating-point type with 64 bits of precision");
#endif

static inline bool wide_is_nan(wide v)
{
    return v != v;
}

static inline bool wide_is_inf(wide v)
{
    return v == v && v - v != 0;
}

static inline wide wide_abs(wide v)
{
    return v < 0 ? -v : v;
}

/* Without its fraction, of a value within the range of some 64-bit integer; never a negative zero. */
static inline wide wide_whole(wide v)
{
    return v < 0 ? (wide)(int64_t)v : (wide)(uint64_t)v;
}

/* The same value and the same sign of zero; NaN equals NaN. */
static inline bool wide_same(wide a, wide b)
{
    if (wide_is_nan(a) || wide_is_nan(b))
        return wide_is_nan(a) && wide_is_nan(b);
    return a == b && (a != 0 || (1 / a < 0) == (1 / b < 0));
}

#endif
