/* Data sieving: extents that one access covers, with the gaps between them. */
#ifndef PNC_SELECT_SIEVING_H
#define PNC_SELECT_SIEVING_H

#include <string.h>

#include "select/selection.h"

/* Smaller gaps are cheaper to access than to skip. Measured on tmpfs, one rank, a file of 240 to 480 MiB, ns for a row:
 * rows of 256 B one by one 760; through a sieve buffer, with gaps of 2400, 4800, 7200 B, 270, 510, 750. Rows of 2400 B:
 * 1160, and 720, 950, 1180. A file that fits in the cache: 550, and 150, 290, 420. A put reads and writes the gaps:
 * rows of 64, 1024, 4096 B with gaps of the same size 755, 890, 1120 one by one; 63, 440, 1690 through a file view. */
#define PNC_SIEVE_READ_GAP 4096
#define PNC_SIEVE_WRITE_GAP 2048
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

/* Reads that data sieving makes of the runs of a selection, if one list has all of them: of small runs with small gaps,
 * one for each `most` bytes. */
int64_t pnc_select_selection_count_reads(const pnc_selection *selection, int64_t most);

pnc_sieved pnc_select_extents_count_sieved(const pnc_extent *extents, int64_t n, const pnc_sieve_limits *most);

#endif
