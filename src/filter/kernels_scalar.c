/* The definitions of shuffle, of Fletcher's checksum and of CRC-32C. */
#include "filter/kernels.h"

#include <string.h>

void pnc_filter_scalar_shuffle_encode(unsigned char *out, const unsigned char *in, int64_t bytes, uint32_t size)
{
    int64_t n = bytes / size, whole = n * size;

    for (int64_t i = 0; i < whole; i++)
        out[i % size * n + i / size] = in[i];
    memcpy(out + whole, in + whole, (size_t)(bytes - whole));
}

void pnc_filter_scalar_shuffle_decode(unsigned char *out, const unsigned char *in, int64_t bytes, uint32_t size)
{
    int64_t n = bytes / size, whole = n * size;

    for (int64_t i = 0; i < whole; i++)
        out[i] = in[i % size * n + i / size];
    memcpy(out + whole, in + whole, (size_t)(bytes - whole));
}

/* Of 16 bits, in ones' complement: 65535 stands for 0, except for the sum of nothing but zeros. */
static uint32_t fold_sum(uint32_t sum)
{
    return (sum & 0xFFFF) + (sum >> 16);
}

uint32_t pnc_filter_scalar_fletcher32_compute(const unsigned char *in, int64_t bytes)
{
    uint32_t first = 0, second = 0;

    for (int64_t i = 0; i < bytes; i += 2) {
        uint32_t low = i + 1 < bytes ? in[i + 1] : 0;
        first = fold_sum(first + ((uint32_t)in[i] << 8 | low));
        second = fold_sum(second + first);
    }
    return second << 16 | first;
}

/* The polynomial of RFC 3720, its bits reversed. */
uint32_t pnc_filter_scalar_crc32c_compute(const void *bytes, int64_t n)
{
    const unsigned char *in = bytes;
    uint32_t sum = 0xFFFFFFFF;

    for (int64_t i = 0; i < n; i++) {
        sum ^= in[i];
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ ((sum & 1) != 0 ? 0x82F63B78 : 0);
    }
    return ~sum;
}
