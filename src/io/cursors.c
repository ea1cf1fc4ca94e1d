/* A cursor over the extents of a list of requests. */
#include "io/cursors.h"

#include <assert.h>

void pnc_io_extent_cursor_init(pnc_extent_cursor *cursor, pnc_io_context *io, pnc_request **list, int64_t n)
{
    cursor->io = io;
    cursor->list = list;
    cursor->n = n;
    cursor->at = cursor->slab = cursor->within = 0;
    cursor->locator.varid = -1;
    cursor->open = false; /* nothing else is in use */
}

static const pnc_request *current(const pnc_extent_cursor *p)
{
    return p->list[p->at];
}

static void close_slab(pnc_extent_cursor *p)
{
    if (p->open && current(p)->has_filetype) {
        pnc_select_run_cursor_free(&p->runs);
    } else if (p->open) {
        pnc_select_cursor_free(&p->cursor);
        pnc_select_selection_free(&p->selection);
    }
    p->open = false;
}

void pnc_io_extent_cursor_free(pnc_extent_cursor *cursor)
{
    close_slab(cursor);
}

static int64_t count_slabs(const pnc_request *r)
{
    return r->has_filetype ? 1 : r->nslabs;
}

static const pnc_request *skip_finished(pnc_extent_cursor *p)
{
    while (p->at < p->n && p->slab == count_slabs(current(p))) {
        p->at++;
        p->slab = 0;
    }
    return p->at < p->n ? current(p) : NULL;
}

static int open_current(pnc_extent_cursor *p)
{
    int err;

    if (current(p)->has_filetype) {
        p->run.count = 0;
        return pnc_select_run_cursor_init(&p->runs, current(p)->filetype);
    }
    err = pnc_io_request_get_selection(p->io, current(p), p->slab, &p->selection);
    if (err != NC_NOERR)
        return err;
    err = pnc_select_cursor_init(&p->cursor, &p->selection);
    if (err != NC_NOERR)
        pnc_select_selection_free(&p->selection);
    return err;
}

/* Open the next hyperslab; *found is false at the end. */
static int open_slab(pnc_extent_cursor *p, bool *found)
{
    int err;

    *found = skip_finished(p) != NULL;
    if (!*found)
        return NC_NOERR;
    err = open_current(p);
    if (err != NC_NOERR)
        return pnc_error_set(p->io->file->error, err, "%s: no memory for the extents of a request", p->io->file->path);
    p->slab++;
    p->open = true;
    return NC_NOERR;
}

/* As pnc_select_cursor_take, for a request with a filetype. */
static int64_t take_runs(pnc_extent_cursor *p, int64_t max_bytes, pnc_extent *out, int64_t max_extents, int64_t *bytes)
{
    const pnc_request *r = current(p);
    int64_t begin = p->io->model->vars[r->varid]->begin, size = r->elem_size, n = 0;

    *bytes = 0;
    while (n < max_extents && max_bytes - *bytes >= size) {
        int64_t elements = (max_bytes - *bytes) / size, offset;

        if (p->run.count == 0 && !pnc_select_run_cursor_next(&p->runs, r->elements, &p->run))
            break;
        if (elements > p->run.count)
            elements = p->run.count;
        if (p->run.stride != size)
            elements = 1;
        offset = begin + p->run.offset;
        if (n > 0 && out[n - 1].offset + out[n - 1].length == offset)
            out[n - 1].length += elements * size;
        else
            out[n++] = (pnc_extent){offset, elements * size};
        *bytes += elements * size;
        p->run.offset += elements * p->run.stride;
        p->run.count -= elements;
    }
    return n;
}

/* The same, for a request with extents. */
static int64_t take_extents(pnc_extent_cursor *p, int64_t max_bytes, pnc_extent *out, int64_t max_extents,
                            int64_t *bytes)
{
    const pnc_request *r = current(p);
    int64_t size = r->elem_size, n = 0;

    *bytes = 0;
    pnc_io_locator_load(&p->locator, p->io, r->varid);
    while (p->slab < r->nslabs && n < max_extents && max_bytes - *bytes >= size) {
        pnc_extent e = pnc_io_request_get_extent(r, p->slab);
        int64_t space = max_bytes - *bytes, length = e.length - p->within;

        length = length <= space ? length : space - space % size;
        out[n++] = (pnc_extent){pnc_io_offset_locate(&p->locator, e.offset) + p->within, length};
        *bytes += length;
        p->within += length;
        if (p->within == e.length) {
            p->slab++;
            p->within = 0;
        }
    }
    return n;
}

int pnc_io_extent_cursor_take(pnc_extent_cursor *p, int64_t max_bytes, pnc_extent *out, int64_t max_extents,
                              int64_t *taken, int64_t *bytes)
{
    *taken = *bytes = 0;
    while (*taken < max_extents && max_bytes - *bytes >= 8) {
        int64_t space = max_bytes - *bytes, most = max_extents - *taken, more, n;
        bool found = true;

        if (!p->open && skip_finished(p) != NULL && pnc_io_request_has_extents(current(p))) {
            *taken += take_extents(p, space, out + *taken, most, &more);
            *bytes += more;
            continue;
        }
        if (!p->open) {
            int err = open_slab(p, &found);

            if (err != NC_NOERR || !found)
                return err;
        }
        if (current(p)->has_filetype)
            n = take_runs(p, space, out + *taken, most, &more);
        else
            n = pnc_select_cursor_take(&p->cursor, space, current(p)->elem_size, out + *taken, most, &more);
        if (n == 0)
            close_slab(p);
        *taken += n;
        *bytes += more;
    }
    return NC_NOERR;
}
