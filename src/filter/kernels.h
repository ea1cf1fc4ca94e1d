/* The inner loops of filters that need no library. The scalar twins define the result; tests compare both. */
#ifndef PNC_FILTER_KERNELS_H
#define PNC_FILTER_KERNELS_H

#include <stdint.h>

/* The first bytes of all elements, then the second ones ...; bytes of an incomplete element at the end stay there.
 * `size` is at least 1. */
void pnc_filter_shuffle_encode(unsigned char *out, const unsigned char *in, int64_t bytes, uint32_t size);
void pnc_filter_shuffle_decode(unsigned char *out, const unsigned char *in, int64_t bytes, uint32_t size);
void pnc_filter_scalar_shuffle_encode(unsigned char *out, const unsigned char *in, int64_t bytes, uint32_t size);
void pnc_filter_scalar_shuffle_decode(unsigned char *out, const unsigned char *in, int64_t bytes, uint32_t size);

/* Fletcher's checksum as HDF5 has it: of big-endian 16-bit words, both sums beginning with 0, an odd last byte being
 * the upper half of a word. The second sum is in the upper half of the result. */
uint32_t pnc_filter_fletcher32_compute(const unsigned char *in, int64_t bytes);
uint32_t pnc_filter_scalar_fletcher32_compute(const unsigned char *in, int64_t bytes);

/* CRC-32C: pnc_filter_crc32c_compute (filter.h), bit by bit. */
uint32_t pnc_filter_scalar_crc32c_compute(const void *bytes, int64_t n);

#endif
