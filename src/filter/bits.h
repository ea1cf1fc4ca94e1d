/* Numbers of any number of bits, one behind the other, the highest bit first. Of this room only. */
#ifndef PNC_FILTER_BITS_H
#define PNC_FILTER_BITS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pnc_bit_reader {
    const unsigned char *at;
    int left; /* bits of the byte at `at` that were not read: 1 to 8 */
} pnc_bit_reader;

/* The next n bits, 0 to 64, which the caller knows to be there. */
static inline uint64_t pnc_filter_bits_read(pnc_bit_reader *r, int n)
{
    uint64_t bits = 0;

    while (n > 0) {
        int some = n < r->left ? n : r->left;

        bits = bits << some | ((uint64_t)(*r->at >> (r->left - some)) & ((UINT64_C(1) << some) - 1));
        n -= some;
        r->left -= some;
        if (r->left == 0) {
            r->at++;
            r->left = 8;
        }
    }
    return bits;
}

/* The lowest n bits set, 0 to 64. */
static inline uint64_t pnc_filter_mask_get(int n)
{
    return n == 0 ? 0 : UINT64_MAX >> (64 - n);
}

/* A number of 1 to 8 bytes. */
static inline uint64_t pnc_filter_bytes_read(const unsigned char *from, int size, bool is_big_endian)
{
    uint64_t number = 0;

    for (int i = 0; i < size; i++)
        number |= (uint64_t)from[i] << 8 * (is_big_endian ? size - 1 - i : i);
    return number;
}

static inline void pnc_filter_bytes_write(unsigned char *to, int size, bool is_big_endian, uint64_t number)
{
    for (int i = 0; i < size; i++)
        to[i] = (unsigned char)(number >> 8 * (is_big_endian ? size - 1 - i : i));
}

#endif
