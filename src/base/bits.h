/* Bits of numbers. */
#ifndef PNC_BASE_BITS_H
#define PNC_BASE_BITS_H

#include <stdint.h>

/* Up to the highest one that is set: 0 of 0, 3 of 4 to 7. */
static inline int pnc_bits_count(int64_t number)
{
    return number > 0 ? 64 - __builtin_clzll((unsigned long long)number) : 0;
}

/* How often 1 is doubled until it reaches n: the base-2 logarithm, rounded up. The steps of a reduction of n ranks. */
static inline int pnc_bits_count_doublings(int64_t n)
{
    return pnc_bits_count(n - 1);
}

#endif
