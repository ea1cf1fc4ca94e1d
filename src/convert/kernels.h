/* Shared by the kernel files: the numeric types, the list of all pairs, and the tables of kernels.
 *
 * Both sides of a conversion have one of ten numeric types: those of CDF-5. Memory types map to them by size and
 * sign (long is i64 or i32). */
#ifndef PNC_CONVERT_KERNELS_H
#define PNC_CONVERT_KERNELS_H

#include "convert/convert.h"

typedef enum pnc_num {
    PNC_NUM_i8,
    PNC_NUM_u8,
    PNC_NUM_i16,
    PNC_NUM_u16,
    PNC_NUM_i32,
    PNC_NUM_u32,
    PNC_NUM_i64,
    PNC_NUM_u64,
    PNC_NUM_f32,
    PNC_NUM_f64,
    PNC_NUM_COUNT
} pnc_num;

/* The kernels compiled for one instruction set, of external values of one byte order. put: [memory][file]; get:
 * [file][memory]. */
typedef struct pnc_kernels {
    const char *isa;
    pnc_kernel put[PNC_NUM_COUNT][PNC_NUM_COUNT];
    pnc_kernel get[PNC_NUM_COUNT][PNC_NUM_COUNT];
} pnc_kernels;

/* One element at a time. */
extern const pnc_kernels pnc_kernels_scalar, pnc_kernels_scalar_little;
/* Blocks, baseline instruction set of the architecture. */
extern const pnc_kernels pnc_kernels_base, pnc_kernels_base_little;
/* Blocks, AVX2; only where PNC_WITH_AVX2 is defined. */
extern const pnc_kernels pnc_kernels_avx2, pnc_kernels_avx2_little;

/* The kind of conversion of each pair of types: M(source, destination, kind).
 * SAME  byte order only                      WIDE  always fits
 * INT   integers that may not fit            TRUNC floating point to integer
 * REAL  double to float
 * A double that becomes a short in the file is (f64, i16, TRUNC): kernels_scalar.h and the vectorised kernels_block.h
 * make put_f64_i16 of it. */
/* clang-format off */
#define PNC_PAIR_ROW(M, S, i8w, u8w, i16w, u16w, i32w, u32w, i64w, u64w, f32w, f64w) \
    M(S, i8, i8w) M(S, u8, u8w) M(S, i16, i16w) M(S, u16, u16w) M(S, i32, i32w) M(S, u32, u32w) \
    M(S, i64, i64w) M(S, u64, u64w) M(S, f32, f32w) M(S, f64, f64w)
#define PNC_EACH_PAIR(M) \
    /* to:                i8     u8     i16    u16    i32    u32    i64    u64    f32   f64 */ \
    PNC_PAIR_ROW(M, i8,   SAME,  INT,   WIDE,  INT,   WIDE,  INT,   WIDE,  INT,   WIDE, WIDE) \
    PNC_PAIR_ROW(M, u8,   INT,   SAME,  WIDE,  WIDE,  WIDE,  WIDE,  WIDE,  WIDE,  WIDE, WIDE) \
    PNC_PAIR_ROW(M, i16,  INT,   INT,   SAME,  INT,   WIDE,  INT,   WIDE,  INT,   WIDE, WIDE) \
    PNC_PAIR_ROW(M, u16,  INT,   INT,   INT,   SAME,  WIDE,  WIDE,  WIDE,  WIDE,  WIDE, WIDE) \
    PNC_PAIR_ROW(M, i32,  INT,   INT,   INT,   INT,   SAME,  INT,   WIDE,  INT,   WIDE, WIDE) \
    PNC_PAIR_ROW(M, u32,  INT,   INT,   INT,   INT,   INT,   SAME,  WIDE,  WIDE,  WIDE, WIDE) \
    PNC_PAIR_ROW(M, i64,  INT,   INT,   INT,   INT,   INT,   INT,   SAME,  INT,   WIDE, WIDE) \
    PNC_PAIR_ROW(M, u64,  INT,   INT,   INT,   INT,   INT,   INT,   INT,   SAME,  WIDE, WIDE) \
    PNC_PAIR_ROW(M, f32,  TRUNC, TRUNC, TRUNC, TRUNC, TRUNC, TRUNC, TRUNC, TRUNC, SAME, WIDE) \
    PNC_PAIR_ROW(M, f64,  TRUNC, TRUNC, TRUNC, TRUNC, TRUNC, TRUNC, TRUNC, TRUNC, REAL, SAME)
/* clang-format on */

/* The same pairs as rows of a table of function names. */
/* clang-format off */
#define PNC_TABLE_ROW(prefix, S) \
    {prefix##_##S##_i8, prefix##_##S##_u8, prefix##_##S##_i16, prefix##_##S##_u16, prefix##_##S##_i32, \
     prefix##_##S##_u32, prefix##_##S##_i64, prefix##_##S##_u64, prefix##_##S##_f32, prefix##_##S##_f64}
#define PNC_TABLE(prefix) \
    {PNC_TABLE_ROW(prefix, i8), PNC_TABLE_ROW(prefix, u8), PNC_TABLE_ROW(prefix, i16), PNC_TABLE_ROW(prefix, u16), \
     PNC_TABLE_ROW(prefix, i32), PNC_TABLE_ROW(prefix, u32), PNC_TABLE_ROW(prefix, i64), PNC_TABLE_ROW(prefix, u64), \
     PNC_TABLE_ROW(prefix, f32), PNC_TABLE_ROW(prefix, f64)}
/* clang-format on */

#endif
