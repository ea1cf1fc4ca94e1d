#include "convert/checksum.h"

#include <stdio.h>

#include "convert/convert.h"

void pnc_convert_checksum_compute(int type, const void *values, int64_t n, void *bytes,
                                  unsigned char digest[PNC_XXH3_BYTES])
{
    static const char unused[8] = {0}; /* fill value: the same type on both sides, and nothing is out of range */
    pnc_kernel put = pnc_convert_kernel_find(PNC_PUT, type, pnc_type_get_mem_type(type), PNC_ENCODING_CDF5, NULL);

    if (n > 0)
        put(bytes, values, n, unused);
    pnc_digest_xxh3_compute(bytes, n * (int64_t)pnc_type_get_size(type), digest);
}

void pnc_convert_checksum_format(const unsigned char *digests, int64_t n, char text[PNC_CHECKSUM_TEXT])
{
    unsigned char digest[PNC_XXH3_BYTES];
    int used;

    pnc_digest_xxh3_compute(digests, n * PNC_XXH3_BYTES, digest);
    used = snprintf(text, PNC_CHECKSUM_TEXT, "xxh3-128:");
    for (int i = 0; i < PNC_XXH3_BYTES; i++)
        used += snprintf(text + used, (size_t)(PNC_CHECKSUM_TEXT - used), "%02x", digest[i]);
}

/* From element `begin`, at most to `end`. Returns the number of elements. */
static int64_t find_slab(int ndims, const int64_t *shape, int64_t begin, int64_t end, pnc_offset *start,
                         pnc_offset *count)
{
    int64_t inner = 1, rest = begin, n = 1;
    bool found = false;

    for (int d = 0; d < ndims; d++)
        inner *= shape[d];
    for (int d = 0; d < ndims; d++) {
        int64_t fits, left;

        inner /= shape[d];
        start[d] = rest / inner;
        rest %= inner;
        fits = (end - begin) / inner;
        left = shape[d] - start[d];
        count[d] = found ? shape[d] : 1;
        if (!found && rest == 0 && fits > 0) {
            found = true;
            count[d] = fits < left ? fits : left;
        }
        n *= count[d];
    }
    return n;
}

int pnc_convert_checksum_find_slabs(int ndims, const int64_t *shape, int64_t begin, int64_t end,
                                    pnc_offset *const *starts, pnc_offset *const *counts)
{
    int n = 0;

    for (; begin < end; n++)
        begin += find_slab(ndims, shape, begin, end, starts[n], counts[n]);
    return n;
}
