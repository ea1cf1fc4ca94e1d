/* The attached buffer. Its memory is not allocated: a pending request holds its own bytes. */
#include "io/request/attached_buffer.h"

#include "io/request/queue.h"

int pnc_io_buffer_check(const pnc_io_context *io)
{
    if (io->queue->buffer_size >= 0)
        return NC_NOERR;
    return pnc_error_set(io->file->error, NC_ENULLABUF, "no buffer is attached: call ncmpi_buffer_attach first");
}

int pnc_io_buffer_attach(pnc_io_context *io, int64_t size)
{
    if (size <= 0)
        return pnc_error_set(io->file->error, NC_ENULLBUF, "bufsize is %lld: must be at least 1", (long long)size);
    if (io->queue->buffer_size >= 0)
        return pnc_error_set(io->file->error, NC_EPREVATTACHBUF,
                             "a buffer of %lld bytes is already attached: detach it first",
                             (long long)io->queue->buffer_size);
    io->queue->buffer_size = size;
    io->queue->buffer_used = 0;
    return NC_NOERR;
}

int pnc_io_buffer_release(pnc_io_context *io)
{
    PNC_TRY(pnc_io_buffer_check(io));
    if (io->queue->buffer_used > 0)
        return pnc_error_set(io->file->error, NC_EPENDINGBPUT,
                             "buffered puts of %lld bytes are pending: wait for them first",
                             (long long)io->queue->buffer_used);
    io->queue->buffer_size = -1;
    return NC_NOERR;
}
