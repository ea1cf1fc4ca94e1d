/* Random numbers that are the same in every run, so that a failure can be repeated. */
#ifndef PNC_TEST_RANDOM_H
#define PNC_TEST_RANDOM_H

#include <stdint.h>

static uint64_t random_state = 88172645463325252u;

/* xorshift64* (Vigna). */
static inline uint64_t random_bits(void)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 2685821657736338717u;
}

/* From low to high, both included. */
static inline int64_t random_in(int64_t low, int64_t high)
{
    return low + (int64_t)((random_bits() >> 8) % (uint64_t)(high - low + 1));
}

#endif
