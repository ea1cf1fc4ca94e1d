/* The attached buffer: an upper bound on the bytes of pending buffered puts. */
#ifndef PNC_IO_ATTACHED_BUFFER_H
#define PNC_IO_ATTACHED_BUFFER_H

#include "io/context.h"

int pnc_io_buffer_check(const pnc_io_context *io); /* NC_ENULLABUF without an attached buffer */
int pnc_io_buffer_attach(pnc_io_context *io, int64_t size);
int pnc_io_buffer_release(pnc_io_context *io);

#endif
