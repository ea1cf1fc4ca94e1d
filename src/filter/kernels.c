/* Shuffle and Fletcher's checksum in loops that compilers vectorise. */
#include "filter/kernels.h"

#include <string.h>

#include "base/minmax.h"

/* Elements of 2, 4 and 8 bytes. A statement for each byte of an element: compilers vectorise that, but not a loop over
 * these bytes, which is 10 times slower for elements of 4 bytes (gcc 12, SSE2). */
static void split_2(unsigned char *restrict out, const unsigned char *restrict in, int64_t n)
{
    unsigned char *restrict to0 = out, *restrict to1 = out + n;

    for (int64_t i = 0; i < n; i++) {
        to0[i] = in[2 * i];
        to1[i] = in[2 * i + 1];
    }
}

static void split_4(unsigned char *restrict out, const unsigned char *restrict in, int64_t n)
{
    unsigned char *restrict to0 = out, *restrict to1 = out + n, *restrict to2 = out + 2 * n,
                            *restrict to3 = out + 3 * n;

    for (int64_t i = 0; i < n; i++) {
        to0[i] = in[4 * i];
        to1[i] = in[4 * i + 1];
        to2[i] = in[4 * i + 2];
        to3[i] = in[4 * i + 3];
    }
}

static void split_8(unsigned char *restrict out, const unsigned char *restrict in, int64_t n)
{
    unsigned char *restrict to0 = out, *restrict to1 = out + n, *restrict to2 = out + 2 * n,
                            *restrict to3 = out + 3 * n;
    unsigned char *restrict to4 = out + 4 * n, *restrict to5 = out + 5 * n, *restrict to6 = out + 6 * n,
                            *restrict to7 = out + 7 * n;

    for (int64_t i = 0; i < n; i++) {
        to0[i] = in[8 * i];
        to1[i] = in[8 * i + 1];
        to2[i] = in[8 * i + 2];
        to3[i] = in[8 * i + 3];
        to4[i] = in[8 * i + 4];
        to5[i] = in[8 * i + 5];
        to6[i] = in[8 * i + 6];
        to7[i] = in[8 * i + 7];
    }
}

static void join_2(unsigned char *restrict out, const unsigned char *restrict in, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        out[2 * i] = in[i];
        out[2 * i + 1] = in[n + i];
    }
}

static void join_4(unsigned char *restrict out, const unsigned char *restrict in, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        out[4 * i] = in[i];
        out[4 * i + 1] = in[n + i];
        out[4 * i + 2] = in[2 * n + i];
        out[4 * i + 3] = in[3 * n + i];
    }
}

static void join_8(unsigned char *restrict out, const unsigned char *restrict in, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        out[8 * i] = in[i];
        out[8 * i + 1] = in[n + i];
        out[8 * i + 2] = in[2 * n + i];
        out[8 * i + 3] = in[3 * n + i];
        out[8 * i + 4] = in[4 * n + i];
        out[8 * i + 5] = in[5 * n + i];
        out[8 * i + 6] = in[6 * n + i];
        out[8 * i + 7] = in[7 * n + i];
    }
}

/* Elements of other sizes: byte by byte of a part that stays in the first-level cache. */
enum { CACHED = 16384 };

static void split_any(unsigned char *restrict out, const unsigned char *restrict in, int64_t n, uint32_t size)
{
    int64_t part = pnc_max64(CACHED / size, 1);

    for (int64_t begin = 0; begin < n; begin += part)
        for (uint32_t b = 0; b < size; b++)
            for (int64_t i = begin; i < pnc_min64(begin + part, n); i++)
                out[b * n + i] = in[i * size + b];
}

static void join_any(unsigned char *restrict out, const unsigned char *restrict in, int64_t n, uint32_t size)
{
    int64_t part = pnc_max64(CACHED / size, 1);

    for (int64_t begin = 0; begin < n; begin += part)
        for (uint32_t b = 0; b < size; b++)
            for (int64_t i = begin; i < pnc_min64(begin + part, n); i++)
                out[i * size + b] = in[b * n + i];
}

void pnc_filter_shuffle_encode(unsigned char *out, const unsigned char *in, int64_t bytes, uint32_t size)
{
    int64_t n = bytes / size, whole = n * size;

    switch (size) {
    case 1: memcpy(out, in, (size_t)whole); break;
    case 2: split_2(out, in, n); break;
    case 4: split_4(out, in, n); break;
    case 8: split_8(out, in, n); break;
    default: split_any(out, in, n, size);
    }
    memcpy(out + whole, in + whole, (size_t)(bytes - whole));
}

void pnc_filter_shuffle_decode(unsigned char *out, const unsigned char *in, int64_t bytes, uint32_t size)
{
    int64_t n = bytes / size, whole = n * size;

    switch (size) {
    case 1: memcpy(out, in, (size_t)whole); break;
    case 2: join_2(out, in, n); break;
    case 4: join_4(out, in, n); break;
    case 8: join_8(out, in, n); break;
    default: join_any(out, in, n, size);
    }
    memcpy(out + whole, in + whole, (size_t)(bytes - whole));
}

/* The sums of a block of STEPS x LANES words are made of sums of its columns: with a = the sum of a column and b = the
 * sum of a after each step, the first sum is that of a, and the second LANES * b - lane * a. b stays below
 * STEPS * (STEPS + 1) / 2 * 65535 < 2^32. */
enum { LANES = 16, STEPS = 360, BLOCK = 2 * LANES * STEPS };

static void add_fletcher_block(const unsigned char *in, uint64_t *first, uint64_t *second)
{
    uint32_t a[LANES] = {0}, b[LANES] = {0};
    uint16_t words[LANES];

    for (int step = 0; step < STEPS; step++) {
        memcpy(words, in + step * (int64_t)sizeof words, sizeof words);
        for (int lane = 0; lane < LANES; lane++) {
            a[lane] += words[lane];
            b[lane] += a[lane];
        }
    }
    *second += (uint64_t)(LANES * STEPS) * *first;
    for (int lane = 0; lane < LANES; lane++) {
        *second += (uint64_t)LANES * b[lane] - (uint64_t)lane * a[lane];
        *first += a[lane];
    }
}

/* A sum of 64 bits in ones' complement of 16: 0 only if it is 0. */
static uint32_t reduce_sum(uint64_t sum)
{
    return sum == 0 ? 0 : (uint32_t)((sum - 1) % 65535 + 1);
}

/* Words are added in the byte order of the machine: in ones' complement, a sum of words whose bytes are exchanged is
 * the sum of the words with its bytes exchanged. */
static uint32_t in_big_endian(uint32_t sum)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap16((uint16_t)sum) : sum;
}

uint32_t pnc_filter_fletcher32_compute(const unsigned char *in, int64_t bytes)
{
    uint64_t first = 0, second = 0;
    int64_t at = 0;

    for (; bytes - at >= BLOCK; at += BLOCK) {
        add_fletcher_block(in + at, &first, &second);
        first = reduce_sum(first);
        second = reduce_sum(second);
    }
    for (; at < bytes; at += 2) { /* less than a block: no overflow */
        unsigned char pair[2] = {in[at], at + 1 < bytes ? in[at + 1] : 0};
        uint16_t word;
        memcpy(&word, pair, 2);
        first += word;
        second += first;
    }
    return in_big_endian(reduce_sum(second)) << 16 | in_big_endian(reduce_sum(first));
}
