/* Extents and values of one source. */
#include "io/stream.h"

#include <string.h>

/* Larger than any request: the extents alone limit what is taken. */
#define NO_LIMIT (INT64_MAX / 4)

static int no_memory(pnc_file_order *order, int err)
{
    return pnc_error_set(order->io->file->error, err, "%s: no memory for the extents of a request",
                         order->io->file->path);
}

/* --- extents --- */

static void close_slab(pnc_stream *s)
{
    if (s->open && s->request->has_filetype) {
        pnc_select_run_cursor_free(&s->runs);
    } else if (s->open) {
        pnc_select_cursor_free(&s->cursor);
        pnc_select_selection_free(&s->selection);
    }
    s->open = false;
}

static void add_extent(pnc_stream *s, int64_t offset, int64_t length)
{
    if (s->n > 0 && s->ahead[s->n - 1].offset + s->ahead[s->n - 1].length == offset)
        s->ahead[s->n - 1].length += length;
    else
        s->ahead[s->n++] = (pnc_extent){offset, length};
}

static int open_filetype(pnc_stream *s, pnc_file_order *order)
{
    int err = pnc_select_run_cursor_init(&s->runs, s->request->filetype);

    if (err != NC_NOERR)
        return no_memory(order, err);
    pnc_select_run_cursor_seek(&s->runs, s->slab);
    s->open = true;
    return NC_NOERR;
}

static int fill_from_filetype(pnc_stream *s, pnc_file_order *order)
{
    int64_t size = s->request->elem_size, begin = order->io->model->vars[s->request->varid]->begin;
    pnc_memory_run run;

    if (!s->open)
        PNC_TRY(open_filetype(s, order));
    while (s->n < PNC_STREAM_AHEAD && s->slab < s->source.slab_end) {
        int64_t most = s->source.slab_end - s->slab, space = PNC_STREAM_AHEAD - s->n;

        if (!pnc_select_run_cursor_next(&s->runs, most, &run))
            break;
        if (run.stride == size) {
            add_extent(s, begin + run.offset, run.count * size);
            s->slab += run.count;
            continue;
        }
        for (int64_t i = 0; i < run.count && i < space; i++, s->slab++)
            add_extent(s, begin + run.offset + i * run.stride, size);
        if (run.count > space) /* the rest of the run comes next */
            pnc_select_run_cursor_seek(&s->runs, s->slab);
    }
    return NC_NOERR;
}

static int open_slab(pnc_stream *s, pnc_file_order *order)
{
    int err;

    PNC_TRY(pnc_io_request_get_selection(order->io, s->request, s->slab, &s->selection));
    err = pnc_select_cursor_init(&s->cursor, &s->selection);
    if (err != NC_NOERR) {
        pnc_select_selection_free(&s->selection);
        return no_memory(order, err);
    }
    s->open = true;
    s->slab++;
    return NC_NOERR;
}

static void fill_from_extents(pnc_stream *s, pnc_file_order *order)
{
    pnc_io_locator_load(&order->locator, order->io, s->request->varid);
    for (; s->n < PNC_STREAM_AHEAD && s->slab < s->source.slab_end; s->slab++) {
        pnc_extent e = pnc_io_request_get_extent(s->request, s->slab);

        s->ahead[s->n++] = (pnc_extent){pnc_io_offset_locate(&order->locator, e.offset), e.length};
    }
}

static int fill_ahead(pnc_stream *s, pnc_file_order *order)
{
    int64_t bytes;

    s->at = s->n = 0;
    if (s->request->has_filetype)
        return fill_from_filetype(s, order);
    if (pnc_io_request_has_extents(s->request))
        fill_from_extents(s, order);
    while (s->n == 0 && (s->open || s->slab < s->source.slab_end)) {
        if (!s->open)
            PNC_TRY(open_slab(s, order));
        s->n = (int)pnc_select_cursor_take(&s->cursor, NO_LIMIT, s->request->elem_size, s->ahead, PNC_STREAM_AHEAD,
                                           &bytes);
        if (s->n == 0)
            close_slab(s);
    }
    return NC_NOERR;
}

int pnc_io_stream_open(pnc_stream *s, pnc_file_order *order, const pnc_source *source, pnc_request *request)
{
    s->source = *source;
    s->request = request;
    s->slab = source->slab;
    s->open = s->has_packer = false;
    s->held = 0;
    return fill_ahead(s, order);
}

void pnc_io_stream_close(pnc_stream *s, pnc_file_order *order)
{
    close_slab(s);
    if (s->has_packer) {
        pnc_io_request_set_status(order->io, s->request, s->packer.status);
        pnc_convert_packer_free(&s->packer);
    }
    s->has_packer = false;
    s->at = s->n = 0;
}

int pnc_io_stream_move(pnc_stream *s, pnc_file_order *order, int64_t length)
{
    pnc_extent *extent = &s->ahead[s->at];

    extent->offset += length;
    extent->length -= length;
    if (extent->length > 0 || ++s->at < s->n)
        return NC_NOERR;
    return fill_ahead(s, order);
}

/* --- values --- */

static int open_packer(pnc_stream *s, pnc_file_order *order)
{
    int err = pnc_io_request_init_packer(order->io, s->request, &s->packer);

    s->has_packer = true;
    if (err == NC_NOERR && s->source.element > 0)
        pnc_convert_packer_seek(&s->packer, s->source.element);
    return err;
}

static void pack(pnc_stream *s, char *bytes, int64_t n)
{
    int size = s->packer.ext_size, held = s->held < n ? s->held : (int)n;

    memcpy(bytes, s->carry + (size - s->held), (size_t)held);
    s->held -= held;
    bytes += held;
    n -= held;
    pnc_convert_packer_pack(&s->packer, bytes, n / size);
    if (n % size == 0)
        return;
    pnc_convert_packer_pack(&s->packer, s->carry, 1);
    memcpy(bytes + (n - n % size), s->carry, (size_t)(n % size));
    s->held = size - (int)(n % size);
}

static void unpack(pnc_stream *s, const char *bytes, int64_t n)
{
    int size = s->packer.ext_size;

    if (s->held > 0) {
        int more = size - s->held < n ? size - s->held : (int)n;

        memcpy(s->carry + s->held, bytes, (size_t)more);
        s->held += more;
        bytes += more;
        n -= more;
        if (s->held < size)
            return;
        pnc_convert_packer_unpack(&s->packer, s->carry, 1);
    }
    pnc_convert_packer_unpack(&s->packer, bytes, n / size);
    s->held = (int)(n % size);
    memcpy(s->carry, bytes + (n - s->held), (size_t)s->held);
}

int pnc_io_stream_convert_values(pnc_stream *s, pnc_file_order *order, pnc_value_action action, char *bytes, int64_t n)
{
    if (action == PNC_VALUES_KEEP)
        return NC_NOERR;
    if (!s->has_packer)
        PNC_TRY(open_packer(s, order));
    if (action == PNC_VALUES_PACK)
        pack(s, bytes, n);
    else
        unpack(s, bytes, n);
    return NC_NOERR;
}
