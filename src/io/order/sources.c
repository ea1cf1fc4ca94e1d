/* From requests to sources. */
#include "io/order/sources.h"

#include "mapping/cursor.h"

void pnc_io_source_finder_init(pnc_source_finder *finder, pnc_io_context *io, const pnc_request_list *list)
{
    *finder = (pnc_source_finder){.io = io, .list = list, .target = {.varid = -1}};
    pnc_io_source_finder_start(finder);
}

void pnc_io_source_finder_start(pnc_source_finder *finder)
{
    finder->at = (pnc_source_position){0};
    finder->end = (pnc_source_position){.request = finder->list->n};
    finder->low = INT64_MIN;
    finder->high = INT64_MAX;
}

/* Shorter runs cost more to merge than to sort. */
#define LEAST_RUN 16
/* At most so many long runs: each one that is active takes about 1 KiB of memory. */
#define MOST_RUNS 2048

/* Set the length of long runs at the first request that may have one. */
static void find_least_run(pnc_source_finder *finder)
{
    const pnc_request_list *list = finder->list;
    int64_t slabs = 0;

    if (finder->least_run > 0)
        return;

    for (int64_t i = 0; i < list->n; i++)
        if (list->at[i]->elements.count > 0 && list->at[i]->elements.form != PNC_FILETYPE)
            slabs += list->at[i]->elements.n;
    finder->least_run = slabs / MOST_RUNS > LEAST_RUN ? slabs / MOST_RUNS : LEAST_RUN;
}

static bool is_outside(const pnc_source_finder *finder, int64_t first)
{
    return first < finder->low || first >= finder->high;
}

/* Extents or hyperslabs that ascend, up to `end`. */
typedef struct section {
    int64_t end;
    pnc_span span; /* bytes: not set for the whole of a request */
} section;

static pnc_span get_span(pnc_source_finder *finder, const pnc_elements *e, int64_t i)
{
    return pnc_mapping_span_get(&finder->target.mapping, &finder->target.locator, e, i);
}

/* From number `first` on, whose span is known; hyperslabs without elements are passed over. */
static section find_section(pnc_source_finder *finder, const pnc_elements *e, int64_t first, pnc_span span)
{
    section s = {first + 1, span};

    if (e->ascends) {
        s.end = e->n;
        s.span.end = get_span(finder, e, e->n - 1).end;
        return s;
    }
    for (; s.end < e->n; s.end++) {
        pnc_span next = get_span(finder, e, s.end);

        if (next.bytes > 0 && next.first < s.span.end)
            break;
        s.span.end = next.bytes > 0 ? next.end : s.span.end;
        s.span.bytes += next.bytes;
    }
    return s;
}

/* Find the next source from finder->at on: a long section, or one extent or hyperslab. Others that begin outside of
 * what is wanted are passed over: a scan of a long list spends its time here. */
static void find_in_slabs(pnc_source_finder *finder, const pnc_elements *e, pnc_source *out, bool *found)
{
    pnc_source_position *at = &finder->at;
    int64_t end = at->request < finder->end.request ? e->n : finder->end.slab;
    section s;

    pnc_io_target_load(&finder->target, finder->io, e->varid);
    for (; at->slab < end && !*found; at->slab = s.end) {
        s = (section){at->slab + 1, get_span(finder, e, at->slab)};
        if (e->n > 1 && at->slab >= at->singles && s.span.bytes > 0) {
            section all = find_section(finder, e, at->slab, s.span);

            find_least_run(finder);
            if (all.end - at->slab >= finder->least_run)
                s = all;
            else
                at->singles = all.end;
        }
        *found = s.span.bytes > 0 && (s.end > at->slab + 1 || !is_outside(finder, s.span.first));
        if (*found)
            *out = (pnc_source){.first = s.span.first,
                                .end = s.span.end,
                                .position = at->position,
                                .slab = at->slab,
                                .slab_end = s.end,
                                .request = at->request};
        at->position += s.span.bytes;
    }
}

/* Elements of the filetype from finder->at.slab on, as long as they ascend. */
static int find_in_filetype(pnc_source_finder *finder, const pnc_elements *e, pnc_source *out, bool *found)
{
    int64_t size = e->elem_size, begin;
    pnc_run_cursor cursor;
    pnc_memory_run run;
    int err = pnc_select_run_cursor_init(&cursor, e->filetype);

    if (err != NC_NOERR)
        return pnc_error_set(finder->io->file->error, err, "%s: no memory for the extents of a filetype",
                             finder->io->file->path);
    pnc_io_target_load(&finder->target, finder->io, e->varid);
    begin = pnc_mapping_address_get(&finder->target.mapping);
    pnc_select_run_cursor_seek(&cursor, finder->at.slab);
    while (finder->at.slab < e->count && pnc_select_run_cursor_next(&cursor, e->count - finder->at.slab, &run)) {
        int64_t first = begin + run.offset;

        if (run.stride < size) /* elements in descending order, or overlapping: one at a time */
            run.count = 1;
        if (*found && first < out->end)
            break;
        if (!*found)
            *out = (pnc_source){.first = first,
                                .position = finder->at.slab * size,
                                .slab = finder->at.slab,
                                .request = finder->at.request};
        *found = true;
        out->end = first + (run.count - 1) * run.stride + size;
        finder->at.slab += run.count;
        out->slab_end = finder->at.slab;
        if (run.stride < size)
            pnc_select_run_cursor_seek(&cursor, finder->at.slab);
    }
    pnc_select_run_cursor_free(&cursor);
    return NC_NOERR;
}

static int find_any(pnc_source_finder *finder, pnc_source *out, bool *found)
{
    const pnc_source_position *at = &finder->at, *end = &finder->end;
    int err = NC_NOERR;

    *found = false;
    while (err == NC_NOERR && !*found &&
           (at->request < end->request || (at->request == end->request && at->slab < end->slab))) {
        const pnc_elements *e = &finder->list->at[finder->at.request]->elements;

        if (e->count == 0 || finder->at.slab >= pnc_mapping_elements_get_end(e))
            finder->at = (pnc_source_position){.request = finder->at.request + 1};
        else if (e->form == PNC_FILETYPE)
            err = find_in_filetype(finder, e, out, found);
        else
            find_in_slabs(finder, e, out, found);
    }
    return err;
}

int pnc_io_source_find_next(pnc_source_finder *finder, pnc_source *out, bool *found)
{
    int err;

    do
        err = find_any(finder, out, found);
    while (err == NC_NOERR && *found && is_outside(finder, out->first));
    return err;
}

/* --- all sources --- */

int pnc_io_sources_count(pnc_source_finder *finder, pnc_source_totals *totals)
{
    pnc_source_totals t = {.ascend = true};
    pnc_source_position second = {0};
    pnc_source source;
    bool found;

    pnc_io_source_finder_start(finder);
    PNC_TRY(pnc_io_source_find_next(finder, &source, &found));
    while (found) {
        if (t.n == 0) {
            t.first = source;
            second = finder->at;
        }
        t.ascend = t.ascend && (t.n == 0 || source.first >= t.high);
        t.low = t.n == 0 || source.first < t.low ? source.first : t.low;
        t.high = t.n == 0 || source.end > t.high ? source.end : t.high;
        t.n++;
        PNC_TRY(pnc_io_source_find_next(finder, &source, &found));
    }
    finder->at = second;
    t.least_run = finder->least_run;
    *totals = t;
    return NC_NOERR;
}
