/* XXH3 with 128 bits, by the header of xxHash: digests of values that are kept in files. */
#ifndef PNC_BASE_XXH3_H
#define PNC_BASE_XXH3_H

#include <stdbool.h>
#include <stdint.h>

#define PNC_XXH3_BYTES 16

/* Whether the header was there when this was built. */
bool pnc_digest_has_xxh3(void);
/* In the canonical form: the most significant byte first. Zeros without the header. */
void pnc_digest_xxh3_compute(const void *bytes, int64_t n, unsigned char out[PNC_XXH3_BYTES]);

#endif
