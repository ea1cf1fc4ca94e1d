/* How chunks become writes: sizes that plans of calls use, too. */
#ifndef PNC_CHUNKS_SIZES_H
#define PNC_CHUNKS_SIZES_H

#include <stdint.h>

/* Of encoded chunks in a round, but for one that is larger: a guess. It takes some hundredths of a second to compress
 * as much. */
#define PNC_CHUNKS_ROUND_BYTES (INT64_C(16) << 20)
/* Chunks of at least so many bytes that no filter changes are written from where they are: a guess. Smaller ones become
 * one write. */
#define PNC_CHUNKS_DIRECT_BYTES (INT64_C(64) << 10)

#endif
