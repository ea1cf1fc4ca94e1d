/* Data sieving of puts: a rank reads, modifies and writes a range of the file to which no other rank writes. */
#ifndef PNC_IO_SIEVE_H
#define PNC_IO_SIEVE_H

#include "io/context.h"

/* Whether no other rank writes to the span until pnc_io_span_unlock, which must follow: because of the call
 * (io->exclusive), or because the driver has locked it. */
bool pnc_io_span_lock(pnc_io_context *io, pnc_extent span);
int pnc_io_span_unlock(pnc_io_context *io, pnc_extent span);
/* Read what the file has of the span; bytes beyond its end are zeros. */
int pnc_io_span_read(pnc_io_context *io, pnc_extent span, char *bytes);
/* Write extents; their bytes are contiguous in memory. If no other rank writes between them, small gaps between
 * ascending ones are read and written back. */
int pnc_io_extents_write(pnc_io_context *io, const pnc_extent *extents, int64_t n, const char *bytes);

#endif
