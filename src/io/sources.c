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
    const int64_t *start = r->numbers + slab * r->ndims * (r->strided ? 3 : 2), *count = start + r->ndims;
    pnc_slab_span span = {var->begin, var->begin, 1};

    for (int i = 0; i < r->ndims; i++) {
        int64_t stride = r->strided ? count[r->ndims + i] : 1;

        if (count[i] <= 0)
            return (pnc_slab_span){0, 0, 0};
        span.first += start[i] * distance[i];
        span.end += (start[i] + (count[i] - 1) * stride) * distance[i];
        span.elements *= count[i];
    }
    span.end += (int64_t)pnc_type_get_size(var->type);
    return span;
}

void pnc_io_source_finder_init(pnc_source_finder *finder, pnc_io_context *io, const pnc_request_list *list)
{
    *finder = (pnc_source_finder){.io = io, .list = list, .locator = {.varid = -1}};
    pnc_io_distances_init(&finder->distances);
}

void pnc_io_source_finder_free(pnc_source_finder *finder)
{
    pnc_io_distances_free(&finder->distances);
}

static void start_next_request(pnc_source_finder *finder)
{
    finder->request++;
    finder->slab = finder->element = 0;
}

/* Extents from finder->slab on, as long as they ascend. */
static void find_in_extents(pnc_source_finder *finder, const pnc_request *r, pnc_source *out, bool *found)
{
    const pnc_extent *e = r->extents;
    int64_t first = finder->slab, element = finder->element, end = r->nslabs;

    if (!r->ascends) {
        int64_t bytes = e[first].length;

        for (end = first + 1; end < r->nslabs && e[end].offset >= e[end - 1].offset + e[end - 1].length; end++)
            bytes += e[end].length;
        finder->element += bytes / r->elem_size;
    }
    pnc_io_locator_load(&finder->locator, finder->io, r->varid);
    *out = (pnc_source){.first = pnc_io_offset_locate(&finder->locator, e[first].offset),
                        .end = pnc_io_offset_locate(&finder->locator, e[end - 1].offset) + e[end - 1].length,
                        .element = element,
                        .slab = first,
                        .slab_end = end,
                        .request = finder->request};
    finder->slab = end;
    if (end == r->nslabs)
        start_next_request(finder);
    *found = true;
}

/* Hyperslabs from finder->slab on, as long as each one begins after the end of the last one. */
static int find_in_slabs(pnc_source_finder *finder, const pnc_request *r, pnc_source *out, bool *found)
{
    int err = pnc_io_distances_load(&finder->distances, finder->io, r->varid);

    for (; err == NC_NOERR && finder->slab < r->nslabs; finder->slab++) {
        pnc_slab_span span = pnc_io_slab_compute_span(&finder->distances, finder->io, r, finder->slab);

        if (span.elements == 0)
            continue;
        if (*found && span.first < out->end)
            return NC_NOERR;
        if (!*found)
            *out = (pnc_source){
                .first = span.first, .element = finder->element, .slab = finder->slab, .request = finder->request};
        *found = true;
        out->end = span.end;
        out->slab_end = finder->slab + 1;
        finder->element += span.elements;
    }
    return err;
}

/* Elements of the filetype from finder->slab on, as long as they ascend. */
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
    pnc_select_run_cursor_seek(&cursor, finder->slab);
    while (finder->slab < r->elements && pnc_select_run_cursor_next(&cursor, r->elements - finder->slab, &run)) {
        int64_t first = var->begin + run.offset;

        if (run.stride < size) /* elements in descending order, or overlapping: one at a time */
            run.count = 1;
        if (*found && first < out->end)
            break;
        if (!*found)
            *out =
                (pnc_source){.first = first, .element = finder->slab, .slab = finder->slab, .request = finder->request};
        *found = true;
        out->end = first + (run.count - 1) * run.stride + size;
        finder->slab += run.count;
        out->slab_end = finder->slab;
        if (run.stride < size)
            pnc_select_run_cursor_seek(&cursor, finder->slab);
    }
    pnc_select_run_cursor_free(&cursor);
    return NC_NOERR;
}

int pnc_io_source_find_next(pnc_source_finder *finder, pnc_source *out, bool *found)
{
    int err = NC_NOERR;

    *found = false;
    while (err == NC_NOERR && !*found && finder->request < finder->list->n) {
        const pnc_request *r = finder->list->at[finder->request];
        int64_t end = r->filetype != NULL ? r->elements : r->nslabs;

        if (r->elements == 0 || finder->slab >= end)
            start_next_request(finder);
        else if (r->extents != NULL)
            find_in_extents(finder, r, out, found);
        else if (r->filetype != NULL)
            err = find_in_filetype(finder, r, out, found);
        else
            err = find_in_slabs(finder, r, out, found);
    }
    return err;
}
