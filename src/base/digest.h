/* A digest of bytes, 8 at a time: sufficient to detect arguments and definitions that differ by mistake. Not
 * for tables: anyone can find bytes whose digests are equal (base/siphash.h). */
#ifndef PNC_BASE_DIGEST_H
#define PNC_BASE_DIGEST_H

#include <stdint.h>
#include <string.h>

#define PNC_DIGEST_START 14695981039346656037u

/* A bijection of hash for each word: digests of bytes that differ in one word are different. The shift lets high bits
 * change low ones, which a product does not. */
static inline uint64_t pnc_digest_word_add(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

static inline uint64_t pnc_digest_add(uint64_t hash, const void *bytes, int64_t n)
{
    const unsigned char *at = bytes;
    uint64_t word;

    for (; n >= (int64_t)sizeof word; n -= (int64_t)sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        hash = pnc_digest_word_add(hash, word);
    }
    if (n > 0) { /* with their number, so that zeros at the end count */
        word = 0;
        memcpy(&word, at, (size_t)n);
        hash = pnc_digest_word_add(hash + (uint64_t)n, word);
    }
    return hash;
}

#endif
