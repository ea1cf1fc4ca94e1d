/* The pieces of a rank, and a cursor over them. */
#include "tools/plan/pieces.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "format/mapping.h"
#include "io/choose/sizes.h"
#include "tools/common/message.h"
#include "tools/plan/map.h"

enum { ALL_RANKS = -1 };

static int no_memory(const plan_decomposition *d)
{
    tool_error_print("%s: no memory for the pieces of a rank", d->options->path);
    return NC_ENOMEM;
}

/* --- hyperslabs --- */

static void get_whole(const plan_decomposition *d, const pnc_var *var, int64_t *start, int64_t *count)
{
    for (int k = 0; k < var->ndims; k++) {
        start[k] = 0;
        count[k] = var->is_record && k == 0 ? d->options->records : var->shape[k];
    }
}

bool plan_block_find(const plan_decomposition *d, const pnc_var *var, int rank, int64_t *start, int64_t *count)
{
    int ngrid = d->ngrid, ndims = var->ndims;

    get_whole(d, var, start, count);
    for (int i = 0; i < ngrid; i++) {
        int64_t n = d->grid[ngrid - 1 - i], at = rank % n, length;
        int dim = ndims - 1 - i; /* both end with the fastest dimension */

        rank = (int)(rank / n);
        if (dim < 0 && at > 0)
            return false;
        if (dim < 0)
            continue;
        length = count[dim];
        start[dim] = length * at / n;
        count[dim] = length * (at + 1) / n - start[dim];
    }
    return true;
}

static void add_range(plan_pieces *p, int64_t low, int64_t high)
{
    if (low >= high)
        return;
    if (p->range.low >= p->range.high)
        p->range.low = low;
    p->range.low = low < p->range.low ? low : p->range.low;
    p->range.high = high > p->range.high ? high : p->range.high;
}

static int64_t find_end(const pnc_selection *s)
{
    const pnc_axis *axis = pnc_select_selection_get_axes(s);
    int64_t end = s->base + s->run;

    for (int i = 0; i < s->rank; i++)
        end += (axis[i].count - 1) * axis[i].stride;
    return end;
}

/* Add a selection; one without bytes is left out. */
static void add_selection(plan_pieces *p, pnc_selection *s, int elem_size)
{
    if (s->bytes == 0) {
        pnc_select_selection_free(s);
        return;
    }
    p->selections[p->nselections++] = *s;
    p->runs += s->nruns;
    p->reads += pnc_io_reads_count(s, elem_size);
    p->bytes += s->bytes;
    add_range(p, s->base, find_end(s));
}

/* --- a grid --- */

/* Records `first` to `first + n` of variable number i of the call. */
static int add_variable(const plan_decomposition *d, int i, int rank, int64_t first, int64_t n, plan_pieces *out)
{
    const pnc_var *var = d->whole->vars[d->varids[i]];
    int64_t start[PLAN_MOST_DIMS], count[PLAN_MOST_DIMS];
    const pnc_array array = pnc_format_mapping_get(d->whole, var).array;
    pnc_selection selection;

    get_whole(d, var, start, count);
    if (rank != ALL_RANKS && !plan_block_find(d, var, rank, start, count))
        return NC_NOERR;
    if (var->is_record) { /* the part of the rank in these records */
        int64_t low = start[0] > first ? start[0] : first, high = start[0] + count[0];

        high = high < first + n ? high : first + n;
        if (low >= high)
            return NC_NOERR;
        start[0] = low;
        count[0] = high - low;
    }
    PNC_TRY(pnc_select_selection_init(&selection, &array, start, count, NULL) == NC_NOERR ? NC_NOERR : no_memory(d));
    add_selection(out, &selection, array.elem_size);
    return NC_NOERR;
}

/* Records of several variables alternate in the file. */
static int add_variables(const plan_decomposition *d, int rank, plan_pieces *out)
{
    int64_t records = d->options->records;

    for (int i = 0; i < d->nvars; i++)
        if (!d->whole->vars[d->varids[i]]->is_record || d->nvars == 1)
            PNC_TRY(add_variable(d, i, rank, 0, records, out));
    for (int64_t r = 0; r < records && d->nvars > 1; r++)
        for (int i = 0; i < d->nvars; i++)
            if (d->whole->vars[d->varids[i]]->is_record)
                PNC_TRY(add_variable(d, i, rank, r, 1, out));
    return NC_NOERR;
}

static int init_from_grid(const plan_decomposition *d, int rank, plan_pieces *out)
{
    int64_t most = d->nvars * (d->nvars > 1 ? d->options->records : 1);

    out->selections = pnc_memory_alloc(most, sizeof *out->selections);
    if (out->selections == NULL)
        return no_memory(d);
    PNC_TRY(add_variables(d, rank, out));
    out->slabs = out->nselections < d->nvars ? out->nselections : d->nvars;
    return NC_NOERR;
}

/* --- a map --- */

static int compare_extents(const void *a, const void *b)
{
    const pnc_extent *x = a, *y = b;

    return (x->offset > y->offset) - (x->offset < y->offset);
}

int64_t plan_extents_merge(pnc_extent *extents, int64_t n)
{
    int64_t kept = 0;

    if (n == 0)
        return 0;
    qsort(extents, (size_t)n, sizeof *extents, compare_extents);
    for (int64_t i = 0; i < n; i++) {
        pnc_extent *last = kept > 0 ? &extents[kept - 1] : NULL;
        int64_t end = extents[i].offset + extents[i].length;

        if (last == NULL || extents[i].offset > last->offset + last->length)
            extents[kept++] = extents[i];
        else if (end > last->offset + last->length)
            last->length = end - last->offset;
    }
    return kept;
}

/* The extents of a selection, behind those that are there. */
static int add_extents(const pnc_selection *s, plan_pieces *out)
{
    pnc_extent *larger = pnc_memory_resize(out->extents, out->nextents + s->nruns, sizeof *larger);
    pnc_selection_cursor cursor;
    int64_t bytes, n = 1;

    if (larger == NULL)
        return NC_ENOMEM;
    out->extents = larger;
    PNC_TRY(pnc_select_cursor_init(&cursor, s));
    while (n > 0) {
        n = pnc_select_cursor_take(&cursor, INT64_MAX / 4, 1, out->extents + out->nextents, s->nruns, &bytes);
        out->nextents += n;
    }
    pnc_select_cursor_free(&cursor);
    return NC_NOERR;
}

static int add_slab(const plan_decomposition *d, const plan_slab *slab, plan_pieces *out)
{
    const pnc_var *var = d->whole->vars[d->varids[0]];
    const int64_t *start = d->map->numbers + slab->at;
    const pnc_array array = pnc_format_mapping_get(d->whole, var).array;
    pnc_selection s;
    int err = pnc_select_selection_init(&s, &array, start, start + var->ndims, NULL);

    PNC_TRY(err);
    if (s.bytes > 0) {
        err = add_extents(&s, out);
        out->runs += s.nruns;
        out->reads += pnc_io_reads_count(&s, array.elem_size);
        out->bytes += s.bytes;
        out->slabs++;
        add_range(out, s.base, find_end(&s));
    }
    pnc_select_selection_free(&s);
    return err;
}

static int init_from_map(const plan_decomposition *d, int64_t first, int64_t end, plan_pieces *out)
{
    for (int64_t i = first; i < end; i++)
        if (add_slab(d, &d->map->slabs[i], out) != NC_NOERR)
            return no_memory(d);
    out->nextents = plan_extents_merge(out->extents, out->nextents);
    return NC_NOERR;
}

/* --- both --- */

int plan_pieces_init(const plan_decomposition *d, int rank, plan_pieces *out)
{
    int64_t first, end;
    int err;

    *out = (plan_pieces){.nselections = 0};
    if (d->map == NULL) {
        err = init_from_grid(d, rank, out);
    } else {
        plan_map_find(d->map, rank, &first, &end);
        err = init_from_map(d, first, end, out);
    }
    if (!pnc_io_runs_is_counted(out->slabs, out->bytes))
        out->runs = out->reads = out->slabs;
    if (err != NC_NOERR)
        plan_pieces_free(out);
    return err;
}

int plan_pieces_init_all(const plan_decomposition *d, plan_pieces *out)
{
    int err;

    *out = (plan_pieces){.nselections = 0};
    err = d->map == NULL ? init_from_grid(d, ALL_RANKS, out) : init_from_map(d, 0, d->map->n, out);
    if (err != NC_NOERR)
        plan_pieces_free(out);
    return err;
}

void plan_pieces_free(plan_pieces *p)
{
    for (int i = 0; i < p->nselections; i++)
        pnc_select_selection_free(&p->selections[i]);
    pnc_memory_free(p->selections);
    pnc_memory_free(p->extents);
    *p = (plan_pieces){.nselections = 0};
}

/* --- the cursor --- */

void plan_cursor_begin(plan_cursor *c, const plan_pieces *pieces)
{
    *c = (plan_cursor){.pieces = pieces};
}

void plan_cursor_end(plan_cursor *c)
{
    if (c->open)
        pnc_select_cursor_free(&c->cursor);
    c->open = false;
}

static void fill_from_extents(plan_cursor *c)
{
    const plan_pieces *p = c->pieces;

    while (c->n < PLAN_AHEAD && c->next < p->nextents)
        c->ahead[c->n++] = p->extents[c->next++];
}

/* Without memory for a cursor of many dimensions, the pieces end: options bound their number. */
static void fill_ahead(plan_cursor *c)
{
    int64_t bytes;

    c->at = c->n = 0;
    if (c->pieces->extents != NULL) {
        fill_from_extents(c);
        return;
    }
    while (c->n == 0 && (c->open || c->next < c->pieces->nselections)) {
        if (!c->open && pnc_select_cursor_init(&c->cursor, &c->pieces->selections[c->next++]) != NC_NOERR)
            return;
        c->open = true;
        c->n = (int)pnc_select_cursor_take(&c->cursor, INT64_MAX / 4, 1, c->ahead, PLAN_AHEAD, &bytes);
        if (c->n == 0)
            plan_cursor_end(c);
    }
}

const pnc_extent *plan_cursor_peek(plan_cursor *c)
{
    if (c->at == c->n)
        fill_ahead(c);
    return c->at < c->n ? &c->ahead[c->at] : NULL;
}

static void move(plan_cursor *c, int64_t length);

/* The first extent that ends behind the offset. */
static int64_t find_extent(const plan_pieces *p, int64_t offset)
{
    int64_t low = 0, high = p->nextents;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (p->extents[middle].offset + p->extents[middle].length <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Open the first selection, from the current one on, that ends behind the offset. */
static void seek_selection(plan_cursor *c, int64_t offset)
{
    const plan_pieces *p = c->pieces;

    c->next -= c->open;
    while (c->next < p->nselections && find_end(&p->selections[c->next]) <= offset) {
        plan_cursor_end(c);
        c->next++;
    }
    if (c->next == p->nselections)
        return;
    if (!c->open && pnc_select_cursor_init(&c->cursor, &p->selections[c->next]) != NC_NOERR) {
        c->next = p->nselections; /* as in fill_ahead */
        return;
    }
    c->open = true;
    c->next++;
    pnc_select_cursor_seek(&c->cursor, offset);
}

void plan_cursor_seek(plan_cursor *c, int64_t offset)
{
    const pnc_extent *next = plan_cursor_peek(c);

    if (next == NULL || next->offset >= offset)
        return;
    c->at = c->n = 0;
    if (c->pieces->extents != NULL)
        c->next = find_extent(c->pieces, offset);
    else
        seek_selection(c, offset);
    next = plan_cursor_peek(c);
    if (next != NULL && next->offset < offset)
        move(c, offset - next->offset);
}

static void move(plan_cursor *c, int64_t length)
{
    pnc_extent *extent = &c->ahead[c->at];

    extent->offset += length;
    extent->length -= length;
    c->at += extent->length == 0;
}

int64_t plan_cursor_take(plan_cursor *c, int64_t limit, int64_t max_bytes, int64_t max_extents, pnc_extent *out,
                         int64_t *bytes)
{
    const pnc_extent *next;
    int64_t n = 0;

    *bytes = 0;
    while (*bytes < max_bytes && n < max_extents && (next = plan_cursor_peek(c)) != NULL && next->offset < limit) {
        int64_t length = next->length, offset = next->offset;

        length = length < max_bytes - *bytes ? length : max_bytes - *bytes;
        length = length < limit - offset ? length : limit - offset;
        if (n > 0 && out[n - 1].offset + out[n - 1].length == offset)
            out[n - 1].length += length;
        else
            out[n++] = (pnc_extent){offset, length};
        *bytes += length;
        move(c, length);
    }
    return n;
}
