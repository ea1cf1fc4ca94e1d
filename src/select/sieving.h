/* Data sieving: extents that one access covers, with the gaps between them. */
#ifndef PNC_SELECT_SIEVING_H
#define PNC_SELECT_SIEVING_H

#include <string.h>

#include "select/selection.h"

/* Measured on tmpfs, one rank: a read at an offset costs 550 ns, and gaps are read at 6 GB/s: gaps up to about 2 KiB
 * are cheaper to read than to skip. (Rows of 64, 1024, 4096 B with gaps of the same size: 550, 770, 1080 ns one by
 * one; 25, 360, 1320 ns through a sieve buffer.) Writes through a file view: 755, 890, 1120 ns one by one; 63, 440,
 * 1690 ns through the view. */
#define PNC_SIEVE_GAP 2048
#define PNC_SIEVE_MIN_EXTENTS 4           /* up to this many extents are accessed one by one */
#define PNC_SIEVE_LARGE 4096              /* extents of this length or more are accessed on their own */
#define PNC_SIEVE_READ_BYTES (512 << 10)  /* of a driver's sieve buffer */
#define PNC_SIEVE_WRITE_BYTES (256 << 10) /* of a rank that is the only one to write to a range */

/* The largest gap and extent, and the largest span that one access covers. */
typedef struct pnc_sieve_limits {
    int64_t gap, extent, span;
} pnc_sieve_limits;

/* gap: smaller ones are cheaper to access than to skip. */
static inline pnc_sieve_limits pnc_select_sieve_get_limits(int64_t gap, int64_t span)
{
    return (pnc_sieve_limits){gap - 1, PNC_SIEVE_LARGE - 1, span};
}

/* Leading extents that one access covers; 1: the first one is accessed on its own. */
typedef struct pnc_sieved {
    int64_t n, bytes; /* bytes: without the gaps */
    pnc_extent span;
} pnc_sieved;

/* Whether the extents ascend and are disjoint, and extents and gaps are small on average. */
bool pnc_select_extents_is_dense(const pnc_extent *extents, int64_t n, const pnc_sieve_limits *most);
/* From the first to the last of ascending extents. */
static inline pnc_extent pnc_select_extents_get_span(const pnc_extent *extents, int64_t n)
{
    return (pnc_extent){extents[0].offset, extents[n - 1].offset + extents[n - 1].length - extents[0].offset};
}

/* With a constant size the compiler replaces the call of memcpy by a move: most extents of a list are single values. */
static inline void pnc_select_extent_copy(char *to, const char *from, int64_t length)
{
    if (length == 8)
        memcpy(to, from, 8);
    else if (length == 4)
        memcpy(to, from, 4);
    else
        memcpy(to, from, (size_t)length);
}

pnc_sieved pnc_select_extents_count_sieved(const pnc_extent *extents, int64_t n, const pnc_sieve_limits *most);

#endif
