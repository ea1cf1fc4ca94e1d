#include "base/xxh3.h"

#include <string.h>

#if defined __has_include
#if __has_include(<xxhash.h>)
#define XXH_INLINE_ALL
#include <xxhash.h>
#if XXH_VERSION_NUMBER >= 800 /* the first one whose digests do not change any more */
#define HAS_XXH3
#endif
#endif
#endif

#ifdef HAS_XXH3
bool pnc_digest_has_xxh3(void)
{
    return true;
}

void pnc_digest_xxh3_compute(const void *bytes, int64_t n, unsigned char out[PNC_XXH3_BYTES])
{
    XXH128_canonical_t canonical;

    XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes, (size_t)n));
    memcpy(out, canonical.digest, PNC_XXH3_BYTES);
}
#else
bool pnc_digest_has_xxh3(void)
{
    return false;
}

void pnc_digest_xxh3_compute(const void *bytes, int64_t n, unsigned char out[PNC_XXH3_BYTES])
{
    (void)bytes, (void)n;
    memset(out, 0, PNC_XXH3_BYTES);
}
#endif
