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

/* The digest of bytes that come in pieces of any length. */
typedef struct pnc_growth_digest {
    uint64_t hash;
    char rest[8]; /* a word that is not complete, of n bytes */
    int64_t n;
} pnc_growth_digest;

static inline pnc_growth_digest pnc_growth_digest_begin(void)
{
    return (pnc_growth_digest){.hash = PNC_DIGEST_START};
}

static inline void pnc_growth_digest_add(pnc_growth_digest *d, const char *bytes, int64_t n)
{
    int64_t missing = d->n == 0 ? 0 : 8 - d->n, first = n < missing ? n : missing, whole = (n - first) / 8 * 8;

    memcpy(d->rest + d->n, bytes, (size_t)first);
    d->n += first;
    if (d->n == 8)
        d->hash = pnc_digest_add(d->hash, d->rest, 8);
    if (first < missing)
        return;
    d->hash = pnc_digest_add(d->hash, bytes + first, whole);
    d->n = n - first - whole;
    memcpy(d->rest, bytes + first + whole, (size_t)d->n);
}

static inline int64_t pnc_growth_digest_end(const pnc_growth_digest *d)
{
    return (int64_t)pnc_digest_add(d->hash, d->rest, d->n);
}

static inline int64_t pnc_growth_digest_get(const char *bytes, int64_t n)
{
    return (int64_t)pnc_digest_add(PNC_DIGEST_START, bytes, n);
}

#endif
