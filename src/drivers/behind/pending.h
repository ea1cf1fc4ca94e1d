/* Ranges of the file that collective calls have put, and that ranks may not have written yet: the same list on all
 * ranks. Another rank must not read or overwrite them before they are written. Pure. */
#ifndef PNC_DRIVERS_BEHIND_PENDING_H
#define PNC_DRIVERS_BEHIND_PENDING_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pnc_behind_range {
    int64_t low, high; /* high is behind the last byte */
    int64_t call;      /* the last one that put any of it */
} pnc_behind_range;

/* More ranges than this are merged: with those of a step in each, there are enough for the steps of some variables. */
#define PNC_BEHIND_RANGES 64

typedef struct pnc_behind_pending {
    int n;
    pnc_behind_range ranges[PNC_BEHIND_RANGES]; /* ascending and disjoint */
} pnc_behind_pending;

/* Add a range of a call that is later than all others, which does not overlap them. */
void pnc_behind_pending_add(pnc_behind_pending *pending, pnc_behind_range range);
bool pnc_behind_pending_has_range(const pnc_behind_pending *pending, int64_t low, int64_t high);
/* Remove those of the calls before this one. */
void pnc_behind_pending_remove(pnc_behind_pending *pending, int64_t call);

#endif
