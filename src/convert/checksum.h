/* Checksums of the values of a variable, the same in every format and with any chunks: XXH3 with 128 bits of blocks of
 * 1 MiB of its values, in the order of the variable, big-endian as in a classic file, and then of the digests of the
 * blocks. Kept in an attribute of the variable, which its length makes one. */
#ifndef PNC_CONVERT_CHECKSUM_H
#define PNC_CONVERT_CHECKSUM_H

#include "base/types.h"
#include "base/xxh3.h"

#define PNC_CHECKSUM_ATTRIBUTE "_Checksum"
/* Until there is one. */
#define PNC_CHECKSUM_NONE "xxh3-128:00000000000000000000000000000000"
enum { PNC_CHECKSUM_BLOCK = 1 << 20 };                 /* bytes */
enum { PNC_CHECKSUM_TEXT = sizeof PNC_CHECKSUM_NONE }; /* with a null character */

/* The digest of a block: n values in their memory type. `bytes` is memory for a block. */
void pnc_convert_checksum_compute(int type, const void *values, int64_t n, void *bytes,
                                  unsigned char digest[PNC_XXH3_BYTES]);
/* The checksum of a variable with n blocks. */
void pnc_convert_checksum_format(const unsigned char *digests, int64_t n, char text[PNC_CHECKSUM_TEXT]);

/* The elements begin .. end - 1 of a variable, which has as many, as hyperslabs, each as large as possible. There are
 * at most 2 * ndims + 1, the number of `starts` and `counts`. Returns their number. */
int pnc_convert_checksum_find_slabs(int ndims, const int64_t *shape, int64_t begin, int64_t end,
                                    pnc_offset *const *starts, pnc_offset *const *counts);

#endif
