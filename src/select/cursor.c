/* Cursor over a selection: returns its runs as extents, in portions. */
#include "select/selection.h"

#include <assert.h>

#include "base/memory.h"
#include "base/minmax.h"

int pnc_select_cursor_init(pnc_selection_cursor *cursor, const pnc_selection *selection)
{
    *cursor = (pnc_selection_cursor){.selection = selection, .offset = selection->base};
    if (selection->rank <= PNC_SELECTION_INLINE)
        return NC_NOERR;
    cursor->large = pnc_memory_alloc_zeroed(selection->rank, sizeof *cursor->large);
    return cursor->large != NULL ? NC_NOERR : NC_ENOMEM;
}

void pnc_select_cursor_free(pnc_selection_cursor *cursor)
{
    pnc_memory_free(cursor->large);
    *cursor = (pnc_selection_cursor){0};
}

/* The number of whole runs before a file offset, and the bytes of the next one that are before it, too. */
static int64_t count_runs_before(const pnc_selection *s, int64_t offset, int64_t *within)
{
    const pnc_axis *axis = pnc_select_selection_get_axes(s);
    int64_t rest = offset - s->base, inner = s->nruns, runs = 0;

    *within = 0;
    if (rest <= 0 || s->nruns == 0)
        return 0;
    for (int d = 0; d < s->rank; d++) {
        int64_t i = axis[d].stride > 0 ? rest / axis[d].stride : 0;

        if (i >= axis[d].count) /* the offset is in the gap behind the last index of this axis */
            return runs + inner;
        inner /= axis[d].count;
        runs += i * inner;
        rest -= i * axis[d].stride;
    }
    if (rest >= s->run)
        return runs + 1;
    *within = rest;
    return runs;
}

void pnc_select_cursor_seek(pnc_selection_cursor *cursor, int64_t offset)
{
    const pnc_selection *s = cursor->selection;
    const pnc_axis *axis = pnc_select_selection_get_axes(s);
    int64_t *index = cursor->large != NULL ? cursor->large : cursor->small, rest;

    cursor->run = rest = count_runs_before(s, offset, &cursor->within);
    cursor->offset = s->base;
    if (cursor->run == s->nruns)
        return;
    for (int d = s->rank - 1; d >= 0; d--) {
        index[d] = rest % axis[d].count;
        rest /= axis[d].count;
        cursor->offset += index[d] * axis[d].stride;
    }
}

/* The portion being filled. */
typedef struct portion {
    pnc_extent *out;
    int64_t n, max_extents;
    int64_t space; /* bytes that may still be taken */
} portion;

static void portion_add(portion *p, int64_t offset, int64_t length)
{
    pnc_extent *last = p->n > 0 ? &p->out[p->n - 1] : NULL;
    if (last != NULL && last->offset + last->length == offset)
        last->length += length;
    else
        p->out[p->n++] = (pnc_extent){offset, length};
    p->space -= length;
}

/* Carry into the outer axes at the end of the innermost one. */
static void cursor_carry(pnc_selection_cursor *cursor, const pnc_axis *axis, int64_t *index)
{
    for (int d = cursor->selection->rank - 1; d > 0 && index[d] == axis[d].count; d--) {
        index[d] = 0;
        cursor->offset -= (axis[d].count - 1) * axis[d].stride;
        cursor->offset += axis[d - 1].stride * (++index[d - 1] < axis[d - 1].count);
    }
}

/* Advance by n runs along the innermost axis; at least n must be left. */
static void cursor_step(pnc_selection_cursor *cursor, int64_t n)
{
    const pnc_selection *s = cursor->selection;
    const pnc_axis *axis = pnc_select_selection_get_axes(s);
    int64_t *index = cursor->large != NULL ? cursor->large : cursor->small;
    int inner = s->rank - 1;
    assert(n > 0 && n <= s->nruns - cursor->run);
    cursor->run += n;
    cursor->within = 0;
    if (s->rank == 0)
        return;
    index[inner] += n;
    if (index[inner] < axis[inner].count) {
        cursor->offset += n * axis[inner].stride;
        return;
    }
    cursor->offset += (n - 1) * axis[inner].stride;
    cursor_carry(cursor, axis, index);
}

/* Take the rest of a run, cut to fit; false if nothing more fits. */
static bool cursor_take_part(pnc_selection_cursor *cursor, int grain, portion *p)
{
    int64_t left = cursor->selection->run - cursor->within;
    int64_t take = left <= p->space ? left : p->space - p->space % grain;
    if (take <= 0)
        return false;
    portion_add(p, cursor->offset + cursor->within, take);
    if (take == left) {
        cursor_step(cursor, 1);
        return true;
    }
    cursor->within += take;
    return false;
}

/* Take whole runs along the innermost axis. Only the first one can be adjacent to the extent before it: within an
 * axis the stride exceeds the run, because adjacent runs are collapsed. */
static void cursor_take_runs(pnc_selection_cursor *cursor, portion *p)
{
    const pnc_selection *s = cursor->selection;
    const pnc_axis inner = pnc_select_selection_get_axes(s)[s->rank - 1];
    int64_t n = inner.count - (cursor->large != NULL ? cursor->large : cursor->small)[s->rank - 1];
    int64_t offset = cursor->offset, length = s->run;
    if (n > p->max_extents - p->n)
        n = p->max_extents - p->n;
    if (n * length > p->space)
        n = p->space / length;
    portion_add(p, offset, length);
    pnc_extent *out = p->out + p->n;
    for (int64_t i = 1; i < n; i++) {
        offset += inner.stride;
        out[i - 1] = (pnc_extent){offset, length};
    }
    p->n += n - 1;
    p->space -= (n - 1) * length;
    cursor_step(cursor, n);
}

int64_t pnc_select_cursor_take_row(pnc_selection_cursor *cursor, int64_t high, int64_t *offset)
{
    const pnc_selection *s = cursor->selection;
    int64_t space = high - cursor->offset - s->run, fitting, n;
    pnc_axis inner;

    assert(s->rank > 0 && cursor->within == 0);
    if (cursor->run == s->nruns || space < 0)
        return 0;
    inner = pnc_select_selection_get_axes(s)[s->rank - 1];
    n = inner.count - (cursor->large != NULL ? cursor->large : cursor->small)[s->rank - 1];
    fitting = space / inner.stride + 1;
    n = pnc_min64(n, fitting);
    *offset = cursor->offset;
    cursor_step(cursor, n);
    return n;
}

int64_t pnc_select_cursor_take(pnc_selection_cursor *cursor, int64_t max_bytes, int grain, pnc_extent *out,
                               int64_t max_extents, int64_t *bytes)
{
    const pnc_selection *s = cursor->selection;
    portion p = {out, 0, max_extents, max_bytes};
    assert(grain > 0 && s->run % grain == 0 && max_bytes >= 0 && max_extents >= 0);
    while (cursor->run < s->nruns && p.n < p.max_extents) {
        if (s->rank > 0 && cursor->within == 0 && p.space >= s->run)
            cursor_take_runs(cursor, &p);
        else if (!cursor_take_part(cursor, grain, &p))
            break;
    }
    *bytes = max_bytes - p.space;
    return p.n;
}
