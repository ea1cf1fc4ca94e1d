/* Numbers of a journal: 8 bytes, big-endian, as in headers; the digest of its bytes. */
#ifndef PNC_GROWTH_NUMBER_H
#define PNC_GROWTH_NUMBER_H

#include <stdint.h>

#include "base/digest.h"

/* Returns the byte after it. */
static inline char *pnc_growth_number_encode(char *to, int64_t value)
{
    for (int i = 0; i < 8; i++)
        to[i] = (char)((uint64_t)value >> (56 - 8 * i));
    return to + 8;
}

static inline int64_t pnc_growth_number_decode(const char *from)
{
    uint64_t value = 0;

    for (int i = 0; i < 8; i++)
        value = value << 8 | (unsigned char)from[i];
    return (int64_t)value;
}

static inline int64_t pnc_growth_digest_get(const char *bytes, int64_t n)
{
    return (int64_t)pnc_digest_add(PNC_DIGEST_START, bytes, n);
}

#endif
