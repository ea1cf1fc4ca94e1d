/* Template of the fast kernels: included once per instruction set and byte order of external values, with KERNELS (name
 * of the table), SCALAR (that of the scalar twins), ISA and EXTERNAL_ORDER defined.
 *
 * A block fits in the first-level cache. Its range check only accumulates flags, without a branch per element, so
 * that the compiler vectorises it. A block with a special value (out of range, or NaN to an integer) is converted by
 * the scalar kernel. The conversion below therefore never has undefined behaviour or a floating-point exception. */
#include "convert/kernels.h"
#include "convert/numbers.h"

#define BLOCK 512

/* Flag of a value: 0 if it is in range. Comparisons with NaN are false, hence the negation in ODD_TRUNC. */
#define ODD_INT(v) (((v) < low) | ((v) > high))
#define ODD_TRUNC(v) (!(((v) >= low) & ((v) <= high)))
#define ODD_REAL(v) (((v) < low) | ((v) > high))

#define LIMITS_INT(S, D) const pnc_##S low = LOW(S, D), high = HIGH(S, D)
#define LIMITS_TRUNC(S, D) const pnc_##S low = (pnc_##S)MIN_##D, high = TOP_##S##_##D
#define LIMITS_REAL(S, D) const pnc_##S low = -FLT_MAX, high = FLT_MAX

/* Converts block by block: to and from point to element i, m is the number of elements in the block. */
#define BLOCKS(S, D, way, usual, convert)                                    \
    int status = NC_NOERR;                                                   \
    for (int64_t i = 0; i < n; i += BLOCK) {                                 \
        int64_t m = n - i < BLOCK ? n - i : BLOCK;                           \
        char *to = (char *)dst + i * (int64_t)sizeof(pnc_##D);               \
        const char *from = (const char *)src + i * (int64_t)sizeof(pnc_##S); \
        if (usual)                                                           \
            convert;                                                         \
        else if (SCALAR.way[PNC_NUM_##S][PNC_NUM_##D](to, from, m, fill))    \
            status = NC_ERANGE;                                              \
    }                                                                        \
    return status

/* Pairs that may fail: check, then convert. A get swaps the bytes into a block of its own in between. */
#define KERNEL_CHECKED(S, D, kind)                                                                         \
    static inline bool usual_put_##S##_##D(const char *src, int64_t n)                                     \
    {                                                                                                      \
        LIMITS_##kind(S, D);                                                                               \
        pnc_bits_##S odd = 0;                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                                  \
            pnc_##S v = pnc_load_##S(src, i);                                                              \
            odd = (pnc_bits_##S)(odd | ODD_##kind(v));                                                     \
        }                                                                                                  \
        return odd == 0;                                                                                   \
    }                                                                                                      \
    static inline bool usual_get_##S##_##D(pnc_##S *restrict block, const char *restrict src, int64_t n)   \
    {                                                                                                      \
        LIMITS_##kind(S, D);                                                                               \
        pnc_bits_##S odd = 0;                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                                  \
            pnc_##S v = pnc_load_ext_##S(src, i);                                                          \
            odd = (pnc_bits_##S)(odd | ODD_##kind(v));                                                     \
            block[i] = v;                                                                                  \
        }                                                                                                  \
        return odd == 0;                                                                                   \
    }                                                                                                      \
    static inline void convert_put_##S##_##D(char *restrict dst, const char *restrict src, int64_t n)      \
    {                                                                                                      \
        for (int64_t i = 0; i < n; i++)                                                                    \
            pnc_store_ext_##D(dst, i, (pnc_##D)pnc_load_##S(src, i));                                      \
    }                                                                                                      \
    static inline void convert_get_##S##_##D(char *restrict dst, const pnc_##S *restrict block, int64_t n) \
    {                                                                                                      \
        for (int64_t i = 0; i < n; i++)                                                                    \
            pnc_store_##D(dst, i, (pnc_##D)block[i]);                                                      \
    }                                                                                                      \
    static int put_##S##_##D(void *dst, const void *src, int64_t n, const void *fill)                      \
    {                                                                                                      \
        BLOCKS(S, D, put, usual_put_##S##_##D(from, m), convert_put_##S##_##D(to, from, m));               \
    }                                                                                                      \
    static int get_##S##_##D(void *dst, const void *src, int64_t n, const void *fill)                      \
    {                                                                                                      \
        pnc_##S block[BLOCK];                                                                              \
        BLOCKS(S, D, get, usual_get_##S##_##D(block, from, m), convert_get_##S##_##D(to, block, m));       \
    }
#define KERNEL_INT(S, D) KERNEL_CHECKED(S, D, INT)
#define KERNEL_TRUNC(S, D) KERNEL_CHECKED(S, D, TRUNC)
#define KERNEL_REAL(S, D) KERNEL_CHECKED(S, D, REAL)

/* Pairs that cannot fail: one pass. */
#define KERNEL_PASS(S, D, in_put, in_get)                                                         \
    static inline void all_put_##S##_##D(char *restrict dst, const char *restrict src, int64_t n) \
    {                                                                                             \
        for (int64_t i = 0; i < n; i++)                                                           \
            in_put;                                                                               \
    }                                                                                             \
    static inline void all_get_##S##_##D(char *restrict dst, const char *restrict src, int64_t n) \
    {                                                                                             \
        for (int64_t i = 0; i < n; i++)                                                           \
            in_get;                                                                               \
    }                                                                                             \
    static int put_##S##_##D(void *dst, const void *src, int64_t n, const void *fill)             \
    {                                                                                             \
        (void)fill;                                                                               \
        all_put_##S##_##D(dst, src, n);                                                           \
        return NC_NOERR;                                                                          \
    }                                                                                             \
    static int get_##S##_##D(void *dst, const void *src, int64_t n, const void *fill)             \
    {                                                                                             \
        (void)fill;                                                                               \
        all_get_##S##_##D(dst, src, n);                                                           \
        return NC_NOERR;                                                                          \
    }
#define KERNEL_WIDE(S, D)                                                       \
    KERNEL_PASS(S, D, pnc_store_ext_##D(dst, i, (pnc_##D)pnc_load_##S(src, i)), \
                pnc_store_##D(dst, i, (pnc_##D)pnc_load_ext_##S(src, i)))
#define KERNEL_SAME(S, D) KERNEL_PASS(S, D, pnc_swap_##S(dst, src, i), pnc_swap_##S(dst, src, i))

#define KERNEL(S, D, way) KERNEL_##way(S, D)
PNC_EACH_PAIR(KERNEL)

const pnc_kernels KERNELS = {ISA, PNC_TABLE(put), PNC_TABLE(get)};
