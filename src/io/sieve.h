/* Data sieving for the puts of a collective call in which each rank has its own range of the file. */
#ifndef PNC_IO_SIEVE_H
#define PNC_IO_SIEVE_H

#include "io/context.h"

/* Read what the file has of the span; bytes beyond its end are zeros. */
int pnc_io_span_read(pnc_io_context *io, pnc_extent span, char *bytes);
/* Write extents; their bytes are contiguous in memory. If io->exclusive is set, small gaps between ascending ones are
 * read and written back. NC_ENOMEM */
int pnc_io_extents_write(pnc_io_context *io, const pnc_extent *extents, int64_t n, const char *bytes);

#endif
