/* FNV-1a: sufficient to detect arguments and definitions that differ by mistake. */
#ifndef PNC_BASE_DIGEST_H
#define PNC_BASE_DIGEST_H

#include <stdint.h>

#define PNC_DIGEST_START 14695981039346656037u

static inline uint64_t pnc_digest_add(uint64_t hash, const void *bytes, int64_t n)
{
    const unsigned char *at = bytes;

    for (int64_t i = 0; i < n; i++)
        hash = (hash ^ at[i]) * 1099511628211u;
    return hash;
}

#endif
