/* An active source: its next extents in the file, and the position of their values in memory. */
#ifndef PNC_IO_STREAM_H
#define PNC_IO_STREAM_H

#include "io/order/file_order.h"
#include "mapping/cursor.h"

#define PNC_STREAM_AHEAD 32

typedef struct pnc_stream {
    pnc_source source;
    pnc_request *request;
    pnc_elements_cursor cursor;
    pnc_extent ahead[PNC_STREAM_AHEAD]; /* the next extents; none at the end of the source */
    int at, n;
    bool has_packer;
    pnc_packer packer;
    char carry[8]; /* a value that a piece has cut: put: its last `held` bytes, get: its first ones */
    int held;
} pnc_stream;

/* After a failure, too, the stream must be closed. */
int pnc_io_stream_open(pnc_stream *stream, pnc_file_order *order, const pnc_source *source, pnc_request *request);
void pnc_io_stream_close(pnc_stream *stream, pnc_file_order *order);

static inline bool pnc_io_stream_is_at_end(const pnc_stream *stream)
{
    return stream->at == stream->n;
}

/* The next extent; the stream is not at its end. */
static inline pnc_extent *pnc_io_stream_peek(pnc_stream *stream)
{
    return &stream->ahead[stream->at];
}

/* Advance by `length` bytes of the next extent. */
int pnc_io_stream_move(pnc_stream *stream, pnc_file_order *order, int64_t length);
/* Pack the next n bytes of values, or unpack them. */
int pnc_io_stream_convert_values(pnc_stream *stream, pnc_file_order *order, pnc_value_action action, char *bytes,
                                 int64_t n);

#endif
