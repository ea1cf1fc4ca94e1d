/* Hyperslabs of requests. What a request has as extents or as a filetype becomes few hyperslabs. */
#include "io/chunked/slabs.h"

int pnc_io_slab_cursor_init(pnc_slab_cursor *c, const pnc_io_context *io, const pnc_request *r)
{
    c->request = r;
    c->mapping = pnc_io_context_get_mapping(io, r->elements.varid);
    c->at = c->value = 0;
    c->range = (pnc_extent){0, 0};
    c->has_runs = false;
    c->run.count = 0;
    if (r->elements.form != PNC_FILETYPE || r->elements.count == 0)
        return NC_NOERR;
    PNC_TRY(pnc_select_run_cursor_init(&c->runs, r->elements.filetype));
    c->has_runs = true;
    return NC_NOERR;
}

void pnc_io_slab_cursor_free(pnc_slab_cursor *c)
{
    if (c->has_runs)
        pnc_select_run_cursor_free(&c->runs);
    c->has_runs = false;
}

/* The next elements of a filetype that are adjacent. */
static bool take_run(pnc_slab_cursor *c)
{
    int64_t size = c->request->elements.elem_size, n = 1;

    if (c->run.count == 0 && (c->at == c->request->elements.count ||
                              !pnc_select_run_cursor_next(&c->runs, c->request->elements.count - c->at, &c->run)))
        return false;
    if (c->run.stride == size)
        n = c->run.count;
    c->range = (pnc_extent){c->run.offset / size, n};
    c->at += n;
    c->run.offset += n * c->run.stride;
    c->run.count -= n;
    return true;
}

/* The next range of elements. */
static bool take_range(pnc_slab_cursor *c)
{
    const pnc_elements *e = &c->request->elements;
    pnc_extent extent;

    if (e->form == PNC_FILETYPE)
        return c->has_runs && take_run(c);
    if (c->at == e->n)
        return false;
    extent = pnc_mapping_extent_get(&c->mapping, e, c->at++);
    c->range = (pnc_extent){extent.offset / e->elem_size, extent.length / e->elem_size};
    return true;
}

static bool next_of_range(pnc_slab_cursor *c, pnc_array_slab *slab)
{
    int64_t n;

    while (c->range.length == 0)
        if (!take_range(c))
            return false;
    n = pnc_array_range_take(c->mapping.array.ndims, c->mapping.array.shape, c->range.offset, c->range.length, c->start,
                             c->count);
    *slab = (pnc_array_slab){.start = c->start, .count = c->count, .first = c->value};
    c->range.offset += n;
    c->range.length -= n;
    c->value += n;
    return true;
}

/* The next hyperslab of a list that has elements; those of varn may have none. */
static bool next_of_list(pnc_slab_cursor *c, pnc_array_slab *slab)
{
    const pnc_elements *e = &c->request->elements;
    int ndims = c->mapping.array.ndims;
    int64_t n = 0;
    pnc_slab s;

    while (n == 0) {
        if (c->at == e->n)
            return false;
        s = pnc_mapping_slab_get(e, ndims, c->at++);
        n = pnc_array_elements_count(ndims, s.count);
    }
    *slab = (pnc_array_slab){.start = s.start, .count = s.count, .stride = s.stride, .first = c->value};
    c->value += n;
    return true;
}

bool pnc_io_slab_cursor_next(pnc_slab_cursor *c, pnc_array_slab *slab)
{
    if (c->request->elements.count == 0)
        return false;
    return c->request->elements.form == PNC_SLABS ? next_of_list(c, slab) : next_of_range(c, slab);
}
