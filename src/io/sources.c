/* From requests to sources. */
#include "io/sources.h"

#include "base/memory.h"

void pnc_io_distances_init(pnc_distances *distances)
{
    *distances = (pnc_distances){.varid = -1, .capacity = (int)(sizeof distances->few / sizeof *distances->few)};
}

static int64_t *distances_of(pnc_distances *distances)
{
    return distances->at != NULL ? distances->at : distances->few;
}

void pnc_io_distances_free(pnc_distances *distances)
{
    pnc_memory_free(distances->at);
    pnc_io_distances_init(distances);
}

int pnc_io_distances_load(pnc_distances *distances, pnc_io_context *io, int varid)
{
    const pnc_var *var = io->model->vars[varid];
    int64_t distance = (int64_t)pnc_type_get_size(var->type);

    if (distances->varid == varid)
        return NC_NOERR;
    distances->varid = -1;
    if (var->ndims > distances->capacity) {
        pnc_memory_free(distances->at);
        distances->at = pnc_memory_alloc(var->ndims, sizeof *distances->at);
        if (distances->at == NULL)
            return pnc_error_set(io->file->error, NC_ENOMEM, "%s: no memory for the %d dimensions of variable \"%s\"",
                                 io->file->path, var->ndims, var->name);
        distances->capacity = var->ndims;
    }
    for (int i = var->ndims - 1; i >= 0; i--) {
        distances_of(distances)[i] = i == 0 && var->is_record ? io->model->recsize : distance;
        if (i > 0)
            distance *= var->shape[i];
    }
    distances->varid = varid;
    return NC_NOERR;
}

pnc_slab_span pnc_io_slab_compute_span(const pnc_distances *distances, const pnc_io_context *io, const pnc_request *r,
                                       int64_t slab)
{
    const pnc_var *var = io->model->vars[r->varid];
    const int64_t *distance = distances->at != NULL ? distances->at : distances->few;
    const pnc_slab s = pnc_io_request_get_slab(r, slab);
    pnc_slab_span span = {var->begin, var->begin, 1};

    for (int i = 0; i < r->ndims; i++) {
        int64_t stride = r->strided ? s.stride[i] : 1;

        if (s.count[i] <= 0)
            return (pnc_slab_span){0, 0, 0};
        span.first += s.start[i] * distance[i];
        span.end += (s.start[i] + (s.count[i] - 1) * stride) * distance[i];
        span.elements *= s.count[i];
    }
    span.end += (int64_t)pnc_type_get_size(var->type);
    return span;
}

void pnc_io_source_finder_init(pnc_source_finder *finder, pnc_io_context *io, const pnc_request_list *list)
{
    *finder = (pnc_source_finder){.io = io, .list = list, .locator = {.varid = -1}};
    pnc_io_distances_init(&finder->distances);
    pnc_io_source_finder_start(finder);
}

void pnc_io_source_finder_start(pnc_source_finder *finder)
{
    finder->at = (pnc_source_position){0};
    finder->end = (pnc_source_position){.request = finder->list->n};
    finder->low = INT64_MIN;
    finder->high = INT64_MAX;
}

void pnc_io_source_finder_free(pnc_source_finder *finder)
{
    pnc_io_distances_free(&finder->distances);
}

static void start_next_request(pnc_source_finder *finder)
{
    finder->at = (pnc_source_position){.request = finder->at.request + 1};
}

/* Shorter runs cost more to merge than to sort. */
#define LEAST_RUN 16
/* At most so many long runs: each one that is active takes nearly 1 KiB of memory. */
#define MOST_RUNS 2048

/* Set the length of long runs at the first request that may have one. */
static void find_least_run(pnc_source_finder *finder)
{
    const pnc_request_list *list = finder->list;
    int64_t slabs = 0;

    if (finder->least_run > 0)
        return;

    for (int64_t i = 0; i < list->n; i++)
        if (list->at[i]->elements > 0 && !list->at[i]->has_filetype)
            slabs += list->at[i]->nslabs;
    finder->least_run = slabs / MOST_RUNS > LEAST_RUN ? slabs / MOST_RUNS : LEAST_RUN;
}

/* The end of the extents that ascend, from `first` on. */
static int64_t find_run(const pnc_request *r, int64_t first)
{
    pnc_extent last = pnc_io_request_get_extent(r, first), next;
    int64_t end = first + 1;

    if (r->ascends)
        return r->nslabs;
    for (; end < r->nslabs; end++, last = next) {
        next = pnc_io_request_get_extent(r, end);
        if (next.offset < last.offset + last.length)
            break;
    }
    return end;
}

static bool is_at_end(const pnc_source_finder *finder)
{
    return finder->at.request > finder->end.request ||
           (finder->at.request == finder->end.request && finder->at.slab >= finder->end.slab);
}

static bool is_outside(const pnc_source_finder *finder, int64_t first)
{
    return first < finder->low || first >= finder->high;
}

/* Pass over extents that are no part of a long run and begin outside of what is wanted; then return the end of the next
 * source. A scan of a long list spends its time here. */
static int64_t find_end(pnc_source_finder *finder, const pnc_request *r)
{
    int64_t end = finder->at.request < finder->end.request ? r->nslabs : finder->end.slab;
    int64_t slab = finder->at.slab, bytes = 0, run_end = slab + 1;

    for (; slab < end; slab++) {
        pnc_extent e = pnc_io_request_get_extent(r, slab);

        run_end = slab + 1;
        if (slab >= finder->at.singles) {
            run_end = find_run(r, slab);
            if (run_end - slab >= finder->least_run)
                break;
            finder->at.singles = run_end;
            run_end = slab + 1;
        }
        if (!is_outside(finder, pnc_io_offset_locate(&finder->locator, e.offset)))
            break;
        bytes += e.length;
    }
    if (bytes > 0)
        finder->at.element += bytes / r->elem_size;
    finder->at.slab = slab;
    return run_end;
}

/* Extents from finder->at.slab on. */
static void find_in_extents(pnc_source_finder *finder, const pnc_request *r, pnc_source *out, bool *found)
{
    int64_t end, bytes = 0;

    find_least_run(finder);
    pnc_io_locator_load(&finder->locator, finder->io, r->varid);
    end = find_end(finder, r);
    *found = end > finder->at.slab;
    if (*found) {
        pnc_extent first = pnc_io_request_get_extent(r, finder->at.slab), last = pnc_io_request_get_extent(r, end - 1);

        *out = (pnc_source){.first = pnc_io_offset_locate(&finder->locator, first.offset),
                            .end = pnc_io_offset_locate(&finder->locator, last.offset) + last.length,
                            .element = finder->at.element,
                            .slab = finder->at.slab,
                            .slab_end = end,
                            .request = finder->at.request};
    }
    if (end == r->nslabs) {
        start_next_request(finder);
        return;
    }
    for (int64_t i = finder->at.slab; i < end; i++)
        bytes += pnc_io_request_get_extent(r, i).length;
    finder->at.element += bytes / r->elem_size;
    finder->at.slab = end;
}

/* Add the next hyperslab that is not empty to the source, or begin the source with it. False: there is none, or it
 * begins before the end of the source. */
static bool add_slab(pnc_source_finder *finder, const pnc_request *r, bool is_first, pnc_source *out)
{
    for (; finder->at.slab < r->nslabs; finder->at.slab++) {
        pnc_slab_span span = pnc_io_slab_compute_span(&finder->distances, finder->io, r, finder->at.slab);

        if (span.elements == 0)
            continue;
        if (!is_first && span.first < out->end)
            return false;
        if (is_first)
            *out = (pnc_source){.first = span.first,
                                .element = finder->at.element,
                                .slab = finder->at.slab,
                                .request = finder->at.request};
        out->end = span.end;
        out->slab_end = ++finder->at.slab;
        finder->at.element += span.elements;
        return true;
    }
    return false;
}

/* Pass over hyperslabs that are no part of a long run and begin outside of what is wanted. */
static void skip_slabs(pnc_source_finder *finder, const pnc_request *r)
{
    int64_t end = finder->at.singles;

    if (finder->at.request == finder->end.request && finder->end.slab < end)
        end = finder->end.slab;
    for (; finder->at.slab < end; finder->at.slab++) {
        pnc_slab_span span = pnc_io_slab_compute_span(&finder->distances, finder->io, r, finder->at.slab);

        if (span.elements > 0 && !is_outside(finder, span.first))
            return;
        finder->at.element += span.elements;
    }
}

/* Hyperslabs from finder->at.slab on: one, or a long run, where each one begins after the end of the one before. */
static int find_in_slabs(pnc_source_finder *finder, const pnc_request *r, pnc_source *out, bool *found)
{
    int64_t n = 1, slab, element;
    pnc_source single;

    PNC_TRY(pnc_io_distances_load(&finder->distances, finder->io, r->varid));
    skip_slabs(finder, r);
    *found = !is_at_end(finder) && add_slab(finder, r, true, out);
    if (!*found || r->nslabs == 1 || out->slab < finder->at.singles)
        return NC_NOERR;
    find_least_run(finder);
    single = *out;
    slab = finder->at.slab;
    element = finder->at.element;
    while (add_slab(finder, r, false, out))
        n++;
    if (n >= finder->least_run)
        return NC_NOERR;
    *out = single;
    finder->at.singles = finder->at.slab;
    finder->at.slab = slab;
    finder->at.element = element;
    return NC_NOERR;
}

/* Elements of the filetype from finder->at.slab on, as long as they ascend. */
static int find_in_filetype(pnc_source_finder *finder, const pnc_request *r, pnc_source *out, bool *found)
{
    const pnc_var *var = finder->io->model->vars[r->varid];
    int64_t size = (int64_t)pnc_type_get_size(var->type);
    pnc_run_cursor cursor;
    pnc_memory_run run;
    int err = pnc_select_run_cursor_init(&cursor, r->filetype);

    if (err != NC_NOERR)
        return pnc_error_set(finder->io->file->error, err, "%s: no memory for the extents of a filetype",
                             finder->io->file->path);
    pnc_select_run_cursor_seek(&cursor, finder->at.slab);
    while (finder->at.slab < r->elements && pnc_select_run_cursor_next(&cursor, r->elements - finder->at.slab, &run)) {
        int64_t first = var->begin + run.offset;

        if (run.stride < size) /* elements in descending order, or overlapping: one at a time */
            run.count = 1;
        if (*found && first < out->end)
            break;
        if (!*found)
            *out = (pnc_source){
                .first = first, .element = finder->at.slab, .slab = finder->at.slab, .request = finder->at.request};
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

/* A request of one extent. */
static void find_one_extent(pnc_source_finder *finder, const pnc_request *r, pnc_source *out, bool *found)
{
    int64_t first;

    pnc_io_locator_load(&finder->locator, finder->io, r->varid);
    first = pnc_io_offset_locate(&finder->locator, r->extents->offset);
    *out =
        (pnc_source){.first = first, .end = first + r->extents->length, .slab_end = 1, .request = finder->at.request};
    *found = true;
    start_next_request(finder);
}

static int find_any(pnc_source_finder *finder, pnc_source *out, bool *found)
{
    int err = NC_NOERR;

    *found = false;
    while (err == NC_NOERR && !*found && !is_at_end(finder)) {
        const pnc_request *r = finder->list->at[finder->at.request];
        int64_t end = r->has_filetype ? r->elements : r->nslabs;

        if (r->elements == 0 || finder->at.slab >= end)
            start_next_request(finder);
        else if (r->has_extents && r->nslabs == 1)
            find_one_extent(finder, r, out, found);
        else if (pnc_io_request_has_extents(r))
            find_in_extents(finder, r, out, found);
        else if (r->has_filetype)
            err = find_in_filetype(finder, r, out, found);
        else
            err = find_in_slabs(finder, r, out, found);
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
    pnc_source source;
    bool found;

    pnc_io_source_finder_start(finder);
    PNC_TRY(pnc_io_source_find_next(finder, &source, &found));
    while (found) {
        t.ascend = t.ascend && (t.n == 0 || source.first >= t.high);
        t.low = t.n == 0 || source.first < t.low ? source.first : t.low;
        t.high = t.n == 0 || source.end > t.high ? source.end : t.high;
        t.n++;
        PNC_TRY(pnc_io_source_find_next(finder, &source, &found));
    }
    pnc_io_source_finder_start(finder);
    t.least_run = finder->least_run;
    *totals = t;
    return NC_NOERR;
}
