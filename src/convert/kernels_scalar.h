/* Template of the scalar kernels: conversion of one element at a time, with every case explicit. Included once per byte
 * order of external values, with KERNELS (name of the table) and EXTERNAL_ORDER defined. The fast kernels call it for
 * blocks with special values, and a test compares them with it.
 *
 * A floating-point value is in the range of an integer type if it lies between the limits before truncation: -0.5 is
 * out of range for unsigned types, 127.5 for a byte, 2^63 for int64. NaN becomes an integer without an error
 * (numbers.h). A double beyond FLT_MAX, infinities included, is out of range for a float; NaN is not. */
#include <math.h>

#include "convert/kernels.h"
#include "convert/numbers.h"

/* Each function converts v and returns true if v is in range. If it is not, *out is what remains without a fill value:
 * the low bits of an integer, an infinity, or what x86 makes of a real number. */
#define CONVERT_WIDE(S, D)                                        \
    static inline bool convert_##S##_##D(pnc_##S v, pnc_##D *out) \
    {                                                             \
        *out = (pnc_##D)v;                                        \
        return true;                                              \
    }
#define CONVERT_INT(S, D)                                         \
    static inline bool convert_##S##_##D(pnc_##S v, pnc_##D *out) \
    {                                                             \
        const pnc_##S low = LOW(S, D), high = HIGH(S, D);         \
        *out = (pnc_##D)v;                                        \
        return v >= low && v <= high;                             \
    }
#define CONVERT_TRUNC(S, D)                                       \
    static inline bool convert_##S##_##D(pnc_##S v, pnc_##D *out) \
    {                                                             \
        bool fits = v >= (pnc_##S)MIN_##D && v <= TOP_##S##_##D;  \
        *out = NAN_##D;                                           \
        if (v != v)                                               \
            return true;                                          \
        *out = fits ? (pnc_##D)v : CUT_##D((double)v);            \
        return fits;                                              \
    }
#define CONVERT_REAL(S, D)                                        \
    static inline bool convert_##S##_##D(pnc_##S v, pnc_##D *out) \
    {                                                             \
        bool fits = !(v < -FLT_MAX || v > FLT_MAX);               \
        *out = fits ? (pnc_##D)v : v < 0 ? -INFINITY : INFINITY;  \
        return fits;                                              \
    }

/* clang-format off */
#define KERNEL_CONVERT(S, D, way)                                                \
    CONVERT_##way(S, D)                                                          \
    static int put_##S##_##D(void *dst, const void *src, int64_t n, const void *fill) \
    {                                                                            \
        int status = NC_NOERR;                                                   \
        for (int64_t i = 0; i < n; i++) {                                        \
            pnc_##D v;                                                           \
            bool fits = convert_##S##_##D(pnc_load_##S(src, i), &v);             \
            if (fits || fill == NULL)                                            \
                pnc_store_ext_##D(dst, i, v);                                     \
            else                                                                 \
                memcpy((char *)dst + i * (int64_t)sizeof v, fill, sizeof v);     \
            status = fits ? status : NC_ERANGE;                                  \
        }                                                                        \
        return status;                                                           \
    }                                                                            \
    static int get_##S##_##D(void *dst, const void *src, int64_t n, const void *fill) \
    {                                                                            \
        int status = NC_NOERR;                                                   \
        for (int64_t i = 0; i < n; i++) {                                        \
            pnc_##D v;                                                           \
            bool fits = convert_##S##_##D(pnc_load_ext_##S(src, i), &v);          \
            if (!fits && fill != NULL)                                           \
                memcpy(&v, fill, sizeof v);                                      \
            status = fits ? status : NC_ERANGE;                                  \
            pnc_store_##D(dst, i, v);                                            \
        }                                                                        \
        return status;                                                           \
    }
/* clang-format on */

#define KERNEL_SAME(S, D, way)                                                        \
    static int put_##S##_##D(void *dst, const void *src, int64_t n, const void *fill) \
    {                                                                                 \
        (void)fill;                                                                   \
        for (int64_t i = 0; i < n; i++)                                               \
            pnc_swap_##S(dst, src, i);                                                \
        return NC_NOERR;                                                              \
    }                                                                                 \
    static int get_##S##_##D(void *dst, const void *src, int64_t n, const void *fill) \
    {                                                                                 \
        return put_##S##_##D(dst, src, n, fill);                                      \
    }
#define KERNEL_WIDE KERNEL_CONVERT
#define KERNEL_INT KERNEL_CONVERT
#define KERNEL_TRUNC KERNEL_CONVERT
#define KERNEL_REAL KERNEL_CONVERT

#define KERNEL(S, D, way) KERNEL_##way(S, D, way)
PNC_EACH_PAIR(KERNEL)

const pnc_kernels KERNELS = {"scalar", PNC_TABLE(put), PNC_TABLE(get)};
