/* SipHash, a keyed hash: without the key, bytes whose hashes collide cannot be found. Written from the paper (Aumasson
 * and Bernstein, SipHash: a fast short-input PRF, 2012); test/unit/test_table.c has its test vector.
 *
 * SipHash-1-3 has one round for each word and three at the end, as in the tables of Python, Ruby and Rust: 16 ns for a
 * name of 14 bytes. A multiplicative hash with a random start is faster, but not safe: words that differ in their
 * highest bits collide for every start. */
#ifndef PNC_BASE_SIPHASH_H
#define PNC_BASE_SIPHASH_H

#include <stdint.h>

typedef struct pnc_siphash_key {
    uint64_t low, high;
} pnc_siphash_key;

static inline uint64_t pnc_siphash_bits_move(uint64_t word, int bits)
{
    return word << bits | word >> (64 - bits);
}

static inline void pnc_siphash_state_update(uint64_t v[4], int rounds)
{
    for (int i = 0; i < rounds; i++) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = pnc_siphash_bits_move(v[1], 13) ^ v[0];
        v[3] = pnc_siphash_bits_move(v[3], 16) ^ v[2];
        v[0] = pnc_siphash_bits_move(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = pnc_siphash_bits_move(v[1], 17) ^ v[2];
        v[3] = pnc_siphash_bits_move(v[3], 21) ^ v[0];
        v[2] = pnc_siphash_bits_move(v[2], 32);
    }
}

/* Little-endian. */
static inline uint64_t pnc_siphash_word_load(const unsigned char *bytes, int64_t n)
{
    uint64_t word = 0;

    for (int64_t i = 0; i < n; i++)
        word |= (uint64_t)bytes[i] << 8 * i;
    return word;
}

static inline uint64_t pnc_siphash_compute(pnc_siphash_key key, const void *bytes, int64_t n, int rounds, int last)
{
    const unsigned char *at = bytes;
    uint64_t word, v[4] = {key.low ^ 0x736f6d6570736575u, key.high ^ 0x646f72616e646f6du, key.low ^ 0x6c7967656e657261u,
                           key.high ^ 0x7465646279746573u};

    for (int64_t left = n;; left -= 8, at += 8) {
        word = left < 8 ? pnc_siphash_word_load(at, left) | (uint64_t)n << 56 : pnc_siphash_word_load(at, 8);
        v[3] ^= word;
        pnc_siphash_state_update(v, rounds);
        v[0] ^= word;
        if (left < 8)
            break;
    }
    v[2] ^= 0xff;
    pnc_siphash_state_update(v, last);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* From the system's random numbers. */
pnc_siphash_key pnc_siphash_key_make(void);

#endif
