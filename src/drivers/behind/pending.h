/* Ranges that collective calls have put, and that ranks may not have written yet: the same list on all ranks. Another
 * rank must not read or overwrite them before they are written. Pure. */
#ifndef PNC_DRIVERS_BEHIND_PENDING_H
#define PNC_DRIVERS_BEHIND_PENDING_H

#include <stdbool.h>
#include <stdint.h>

/* Points are ordered by their space, and in a space by their offset. */
typedef struct pnc_behind_point {
    int64_t space; /* 0: the file; v + 1: the values of variable v, which is in chunks, in row-major order */
    int64_t offset;
} pnc_behind_point;

typedef struct pnc_behind_range {
    pnc_behind_point low, high; /* high is behind the last byte */
    int64_t call;               /* the last one that put any of it */
} pnc_behind_range;

static inline bool pnc_behind_point_is_before(pnc_behind_point a, pnc_behind_point b)
{
    return a.space < b.space || (a.space == b.space && a.offset < b.offset);
}

static inline bool pnc_behind_range_is_empty(const pnc_behind_range *range)
{
    return !pnc_behind_point_is_before(range->low, range->high);
}

/* Bytes of the file. */
static inline pnc_behind_range pnc_behind_range_make(int64_t low, int64_t high)
{
    return (pnc_behind_range){.low = {0, low}, .high = {0, high}};
}

/* More ranges than this are merged: with those of a step in each, there are enough for the steps of some variables. */
#define PNC_BEHIND_RANGES 64

typedef struct pnc_behind_pending {
    int n;
    pnc_behind_range ranges[PNC_BEHIND_RANGES]; /* ascending and disjoint */
} pnc_behind_pending;

/* Add a range of a call that is later than all others, which does not overlap them. */
void pnc_behind_pending_add(pnc_behind_pending *pending, pnc_behind_range range);
/* The same of a range that may overlap others: it becomes one with them. */
void pnc_behind_pending_join(pnc_behind_pending *pending, pnc_behind_range range);
/* Whether it has any byte of a range. */
bool pnc_behind_pending_has_range(const pnc_behind_pending *pending, const pnc_behind_range *range);
/* Remove those of the calls before this one. */
void pnc_behind_pending_remove(pnc_behind_pending *pending, int64_t call);

#endif
