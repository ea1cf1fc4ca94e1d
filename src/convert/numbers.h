/* The ten numeric types of the kernels: C type, limits, loads and stores at any alignment in memory form and in
 * external form, whose byte order is EXTERNAL_ORDER: __ORDER_BIG_ENDIAN__ or __ORDER_LITTLE_ENDIAN__.
 *
 * All functions are static inline: each kernel file compiles them for its own instruction set and byte order. */
#ifndef PNC_CONVERT_NUMBERS_H
#define PNC_CONVERT_NUMBERS_H

#include <float.h>
#include <stdint.h>
#include <string.h>

typedef int8_t pnc_i8;
typedef uint8_t pnc_u8;
typedef int16_t pnc_i16;
typedef uint16_t pnc_u16;
typedef int32_t pnc_i32;
typedef uint32_t pnc_u32;
typedef int64_t pnc_i64;
typedef uint64_t pnc_u64;
typedef float pnc_f32;
typedef double pnc_f64;

/* The unsigned integer of the same width: for the bytes, and for the flags of a range check, lane by lane. */
typedef uint8_t pnc_bits_i8, pnc_bits_u8;
typedef uint16_t pnc_bits_i16, pnc_bits_u16;
typedef uint32_t pnc_bits_i32, pnc_bits_u32, pnc_bits_f32;
typedef uint64_t pnc_bits_i64, pnc_bits_u64, pnc_bits_f64;

#define MIN_i8 INT8_MIN
#define MIN_u8 0
#define MIN_i16 INT16_MIN
#define MIN_u16 0
#define MIN_i32 INT32_MIN
#define MIN_u32 0
#define MIN_i64 INT64_MIN
#define MIN_u64 0

#define MAX_i8 INT8_MAX
#define MAX_u8 UINT8_MAX
#define MAX_i16 INT16_MAX
#define MAX_u16 UINT16_MAX
#define MAX_i32 INT32_MAX
#define MAX_u32 UINT32_MAX
#define MAX_i64 INT64_MAX
#define MAX_u64 UINT64_MAX

/* The range of D as values of the integer type S. If D has a wider range, the limit of S, which no value exceeds:
 * the compiler then removes the comparison. */
#define LOW(S, D) ((int64_t)MIN_##D > (int64_t)MIN_##S ? (pnc_##S)MIN_##D : (pnc_##S)MIN_##S)
#define HIGH(S, D) ((uint64_t)MAX_##D < (uint64_t)MAX_##S ? (pnc_##S)MAX_##D : (pnc_##S)MAX_##S)

/* The largest floating-point numbers that integers of each type can hold: 2^31, 2^32, 2^63 and 2^64 less one unit in
 * the last place of a float (24 bits) or a double (53 bits). */
#define TOP_f32_i8 127.0f
#define TOP_f32_u8 255.0f
#define TOP_f32_i16 32767.0f
#define TOP_f32_u16 65535.0f
#define TOP_f32_i32 2147483520.0f
#define TOP_f32_u32 4294967040.0f
#define TOP_f32_i64 9223371487098961920.0f
#define TOP_f32_u64 18446742974197923840.0f
#define TOP_f64_i8 127.0
#define TOP_f64_u8 255.0
#define TOP_f64_i16 32767.0
#define TOP_f64_u16 65535.0
#define TOP_f64_i32 2147483647.0
#define TOP_f64_u32 4294967295.0
#define TOP_f64_i64 9223372036854774784.0
#define TOP_f64_u64 18446744073709549568.0

/* The integer that NaN becomes: the result on x86, which existing files have. Narrow types take the low bytes of the
 * wider indefinite integer, which are zero. */
#define NAN_i8 0
#define NAN_u8 0
#define NAN_i16 0
#define NAN_u16 0
#define NAN_i32 INT32_MIN
#define NAN_u32 0
#define NAN_i64 INT64_MIN
#define NAN_u64 (UINT64_C(1) << 63)

/* The integer that a real number out of range becomes without a fill value: likewise that of x86. */
static inline int32_t pnc_cut_32(double v)
{
    return v > -2147483649.0 && v < 2147483648.0 ? (int32_t)v : INT32_MIN;
}

static inline int64_t pnc_cut_64(double v)
{
    return v >= -9223372036854775808.0 && v < 9223372036854775808.0 ? (int64_t)v : INT64_MIN;
}

#define CUT_i8(v) (int8_t) pnc_cut_32(v)
#define CUT_u8(v) (uint8_t) pnc_cut_32(v)
#define CUT_i16(v) (int16_t) pnc_cut_32(v)
#define CUT_u16(v) (uint16_t) pnc_cut_32(v)
#define CUT_i32(v) pnc_cut_32(v)
#define CUT_u32(v) (uint32_t) pnc_cut_64(v)
#define CUT_i64(v) pnc_cut_64(v)
#define CUT_u64(v) ((v) > 0 ? 0 : (uint64_t)pnc_cut_64(v))

static inline uint8_t pnc_swap_8(uint8_t v)
{
    return v;
}

/* No operation on machines that have the external byte order. */
static inline uint16_t pnc_swap_16(uint16_t v)
{
    return __BYTE_ORDER__ == EXTERNAL_ORDER ? v : __builtin_bswap16(v);
}

static inline uint32_t pnc_swap_32(uint32_t v)
{
    return __BYTE_ORDER__ == EXTERNAL_ORDER ? v : __builtin_bswap32(v);
}

static inline uint64_t pnc_swap_64(uint64_t v)
{
    return __BYTE_ORDER__ == EXTERNAL_ORDER ? v : __builtin_bswap64(v);
}

/* Element i of an array in memory form (load, store) or external form (load_ext, store_ext), at any alignment. swap
 * converts from either form to the other and preserves all bits of a NaN. */
#define NUMBER(T, width)                                                   \
    static inline pnc_##T pnc_load_##T(const char *p, int64_t i)           \
    {                                                                      \
        pnc_##T v;                                                         \
        memcpy(&v, p + i * (int64_t)sizeof v, sizeof v);                   \
        return v;                                                          \
    }                                                                      \
    static inline void pnc_store_##T(char *p, int64_t i, pnc_##T v)        \
    {                                                                      \
        memcpy(p + i * (int64_t)sizeof v, &v, sizeof v);                   \
    }                                                                      \
    static inline pnc_##T pnc_load_ext_##T(const char *p, int64_t i)       \
    {                                                                      \
        uint##width##_t bits;                                              \
        pnc_##T v;                                                         \
        memcpy(&bits, p + i * (int64_t)sizeof bits, sizeof bits);          \
        bits = pnc_swap_##width(bits);                                     \
        memcpy(&v, &bits, sizeof v);                                       \
        return v;                                                          \
    }                                                                      \
    static inline void pnc_store_ext_##T(char *p, int64_t i, pnc_##T v)    \
    {                                                                      \
        uint##width##_t bits;                                              \
        memcpy(&bits, &v, sizeof bits);                                    \
        bits = pnc_swap_##width(bits);                                     \
        memcpy(p + i * (int64_t)sizeof bits, &bits, sizeof bits);          \
    }                                                                      \
    static inline void pnc_swap_##T(char *dst, const char *src, int64_t i) \
    {                                                                      \
        uint##width##_t bits;                                              \
        memcpy(&bits, src + i * (int64_t)sizeof bits, sizeof bits);        \
        bits = pnc_swap_##width(bits);                                     \
        memcpy(dst + i * (int64_t)sizeof bits, &bits, sizeof bits);        \
    }

NUMBER(i8, 8)
NUMBER(u8, 8)
NUMBER(i16, 16)
NUMBER(u16, 16)
NUMBER(i32, 32)
NUMBER(u32, 32)
NUMBER(i64, 64)
NUMBER(u64, 64)
NUMBER(f32, 32)
NUMBER(f64, 64)
#undef NUMBER

#endif
