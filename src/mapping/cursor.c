/* A cursor over elements. */
#include "mapping/cursor.h"

void pnc_mapping_cursor_init(pnc_elements_cursor *c, const pnc_mapping *mapping, const pnc_elements *elements,
                             int64_t first, int64_t end)
{
    c->of = elements;
    c->mapping = *mapping;
    pnc_mapping_locator_init(&c->locator, mapping);
    c->at = first;
    c->end = end;
    c->within = 0;
    c->is_open = false; /* nothing else is in use */
}

/* What is open; a cursor over hyperslabs goes on with the next one. */
void pnc_mapping_cursor_free(pnc_elements_cursor *c)
{
    if (c->is_open && c->of->form == PNC_FILETYPE) {
        pnc_select_run_cursor_free(&c->runs);
    } else if (c->is_open) {
        pnc_select_cursor_free(&c->in_slab);
        pnc_select_selection_free(&c->own);
    }
    c->is_open = false;
}

/* What was taken. */
typedef struct taken_extents {
    pnc_extent *out;
    int64_t n, max_extents;
    int64_t bytes, max_bytes;
} taken_extents;

static bool has_space(const taken_extents *t)
{
    return t->n < t->max_extents && t->max_bytes - t->bytes >= 8;
}

static void take_from_extents(pnc_elements_cursor *c, taken_extents *t)
{
    int64_t size = c->of->elem_size;

    for (; c->at < c->end && has_space(t); t->n++) {
        pnc_extent e = pnc_mapping_extent_get(&c->mapping, c->of, c->at);
        int64_t space = t->max_bytes - t->bytes, length = e.length - c->within;

        length = length <= space ? length : space - space % size;
        t->out[t->n] = (pnc_extent){pnc_mapping_offset_locate(&c->locator, e.offset) + c->within, length};
        t->bytes += length;
        c->within += length;
        if (c->within == e.length) {
            c->at++;
            c->within = 0;
        }
    }
}

static int take_from_slabs(pnc_elements_cursor *c, taken_extents *t)
{
    while (has_space(t) && (c->is_open || c->at < c->end)) {
        const pnc_selection *selection;
        int64_t n, bytes;
        int err;

        if (!c->is_open) {
            pnc_select_selection_init_empty(&c->own);
            PNC_TRY(pnc_mapping_selection_get(&c->mapping, c->of, c->at, &c->own, &selection));
            err = pnc_select_cursor_init(&c->in_slab, selection);
            if (err != NC_NOERR) {
                pnc_select_selection_free(&c->own);
                return err;
            }
            c->is_open = true;
            c->at++;
        }
        n = pnc_select_cursor_take(&c->in_slab, t->max_bytes - t->bytes, (int)c->of->elem_size, t->out + t->n,
                                   t->max_extents - t->n, &bytes);
        if (n == 0)
            pnc_mapping_cursor_free(c);
        t->n += n;
        t->bytes += bytes;
    }
    return NC_NOERR;
}

static int take_from_filetype(pnc_elements_cursor *c, taken_extents *t)
{
    int64_t size = c->of->elem_size, begin = pnc_mapping_address_get(&c->mapping);

    if (!c->is_open) {
        PNC_TRY(pnc_select_run_cursor_init(&c->runs, c->of->filetype));
        pnc_select_run_cursor_seek(&c->runs, c->at);
        c->run.count = 0;
        c->is_open = true;
    }
    while (has_space(t) && c->at < c->end) {
        int64_t most = (t->max_bytes - t->bytes) / size, offset;
        pnc_extent *last = t->n > 0 ? &t->out[t->n - 1] : NULL;

        if (c->run.count == 0 && !pnc_select_run_cursor_next(&c->runs, c->end - c->at, &c->run))
            break;
        if (c->run.stride != size)
            most = 1;
        most = most < c->run.count ? most : c->run.count;
        offset = begin + c->run.offset;
        if (last != NULL && last->offset + last->length == offset)
            last->length += most * size;
        else
            t->out[t->n++] = (pnc_extent){offset, most * size};
        t->bytes += most * size;
        c->at += most;
        c->run.offset += most * c->run.stride;
        c->run.count -= most;
    }
    return NC_NOERR;
}

int pnc_mapping_cursor_take(pnc_elements_cursor *c, int64_t max_bytes, pnc_extent *out, int64_t max_extents, int64_t *n,
                            int64_t *bytes)
{
    taken_extents t = {.out = out, .max_extents = max_extents, .max_bytes = max_bytes};
    int err = NC_NOERR;

    switch ((pnc_elements_form)c->of->form) {
    case PNC_EXTENTS: take_from_extents(c, &t); break;
    case PNC_SLABS: err = take_from_slabs(c, &t); break;
    case PNC_FILETYPE: err = take_from_filetype(c, &t); break;
    }
    *n = t.n;
    *bytes = t.bytes;
    return err;
}
