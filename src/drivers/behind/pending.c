/* Ranges that may not be written yet. */
#include "drivers/behind/pending.h"

#include <assert.h>
#include <string.h>

#include "base/minmax.h"

/* Behind range i. */
static int64_t find_gap(const pnc_behind_pending *p, int i)
{
    pnc_behind_point from = p->ranges[i].high, to = p->ranges[i + 1].low;

    return from.space == to.space ? to.offset - from.offset : INT64_MAX;
}

/* The index of the range before the smallest gap. */
static int find_smallest_gap(const pnc_behind_pending *p)
{
    int best = 0;

    for (int i = 1; i + 1 < p->n; i++)
        if (find_gap(p, i) < find_gap(p, best))
            best = i;
    return best;
}

static void merge_next(pnc_behind_pending *p, int i)
{
    pnc_behind_range *a = &p->ranges[i], *b = a + 1;

    a->high = b->high;
    a->call = pnc_max64(a->call, b->call);
    p->n--;
    memmove(b, b + 1, (size_t)(p->n - i - 1) * sizeof *b);
}

void pnc_behind_pending_add(pnc_behind_pending *p, pnc_behind_range range)
{
    int at = p->n;

    if (pnc_behind_range_is_empty(&range))
        return;
    assert(!pnc_behind_pending_has_range(p, &range));
    if (p->n == PNC_BEHIND_RANGES)
        merge_next(p, find_smallest_gap(p));
    /* the merge may have closed the gap that the range is in */
    for (at = 0; at < p->n && !pnc_behind_point_is_before(range.low, p->ranges[at].high); at++)
        ;
    if (at < p->n && pnc_behind_point_is_before(p->ranges[at].low, range.high)) {
        p->ranges[at].call = range.call;
        return;
    }
    memmove(&p->ranges[at + 1], &p->ranges[at], (size_t)(p->n - at) * sizeof range);
    p->ranges[at] = range;
    p->n++;
}

void pnc_behind_pending_join(pnc_behind_pending *p, pnc_behind_range range)
{
    int n = 0;

    if (pnc_behind_range_is_empty(&range))
        return;
    for (int i = 0; i < p->n; i++) {
        const pnc_behind_range *old = &p->ranges[i];

        if (!pnc_behind_point_is_before(old->low, range.high) || !pnc_behind_point_is_before(range.low, old->high)) {
            p->ranges[n++] = *old;
            continue;
        }
        range.low = pnc_behind_point_is_before(old->low, range.low) ? old->low : range.low;
        range.high = pnc_behind_point_is_before(range.high, old->high) ? old->high : range.high;
    }
    p->n = n;
    pnc_behind_pending_add(p, range);
}

bool pnc_behind_pending_has_range(const pnc_behind_pending *p, const pnc_behind_range *range)
{
    for (int i = 0; i < p->n; i++)
        if (pnc_behind_point_is_before(p->ranges[i].low, range->high) &&
            pnc_behind_point_is_before(range->low, p->ranges[i].high))
            return true;
    return false;
}

void pnc_behind_pending_remove(pnc_behind_pending *p, int64_t call)
{
    int n = 0;

    for (int i = 0; i < p->n; i++)
        if (p->ranges[i].call >= call)
            p->ranges[n++] = p->ranges[i];
    p->n = n;
}
