/* The smaller and the larger of two numbers. */
#ifndef PNC_BASE_MINMAX_H
#define PNC_BASE_MINMAX_H

#include <stdint.h>

static inline int64_t pnc_min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t pnc_max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#endif
