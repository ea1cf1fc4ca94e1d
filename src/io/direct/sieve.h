/* Data sieving of one rank: it reads a range of the file with the gaps between its values, or, if no other rank writes
 * to the range, reads, modifies and writes it. Which gaps are worth it: select/sieving.h.
 *
 * Two other places sieve, as they know their extents in another way: a driver reads a list of extents in this manner
 * (drivers/mpiio/sieve.c); an aggregator has the pieces of many ranks in its collective buffer, and finds the gaps in
 * its bits (two_phase/collective_buffer.c). */
#ifndef PNC_IO_SIEVE_H
#define PNC_IO_SIEVE_H

#include "io/request/request.h"

/* Write extents; their bytes are contiguous in memory. If no other rank writes between them, because of the call
 * (io->exclusive) or because the driver has locked the range, small gaps between ascending ones are read and written
 * back. */
int pnc_io_extents_write(pnc_io_context *io, const pnc_extent *extents, int64_t n, const char *bytes);
/* Execute a request for single values at equal distances, such as every second element, without a list of extents: a
 * get, or a put of a rank that is the only one to write to its range. *done says whether it was such a request. */
int pnc_io_strided_execute(pnc_io_context *io, pnc_request *request, bool *done);

#endif
