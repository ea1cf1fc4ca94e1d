/* Extents and values of one source. */
#include "io/order/stream.h"

#include <string.h>

/* Larger than any request: the extents alone limit what is taken. */
#define NO_LIMIT (INT64_MAX / 4)

/* --- extents --- */

static int fill_ahead(pnc_stream *s, pnc_file_order *order)
{
    int64_t n, bytes;
    int err = pnc_mapping_cursor_take(&s->cursor, NO_LIMIT, s->ahead, PNC_STREAM_AHEAD, &n, &bytes);

    if (err != NC_NOERR)
        return pnc_io_request_fail(order->io, s->request->elements.varid, err);
    s->at = 0;
    s->n = (int)n;
    return NC_NOERR;
}

int pnc_io_stream_open(pnc_stream *s, pnc_file_order *order, const pnc_source *source, pnc_request *request)
{
    s->source = *source;
    s->request = request;
    s->has_packer = false;
    s->held = s->at = s->n = 0;
    pnc_io_target_load(&order->target, order->io, request->elements.varid);
    pnc_mapping_cursor_init(&s->cursor, &order->target.mapping, &request->elements, source->slab, source->slab_end);
    return fill_ahead(s, order);
}

void pnc_io_stream_close(pnc_stream *s, pnc_file_order *order)
{
    pnc_mapping_cursor_free(&s->cursor);
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

static void pack_stream(pnc_stream *s, char *bytes, int64_t n)
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

static void unpack_stream(pnc_stream *s, const char *bytes, int64_t n)
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
    if (!s->has_packer) {
        s->has_packer = true; /* to be freed, also after an error */
        PNC_TRY(pnc_io_request_init_packer(order->io, s->request, &s->packer));
        if (s->source.position > 0)
            pnc_convert_packer_seek(&s->packer, s->source.position / s->request->elements.elem_size);
    }
    if (action == PNC_VALUES_PACK)
        pack_stream(s, bytes, n);
    else
        unpack_stream(s, bytes, n);
    return NC_NOERR;
}
