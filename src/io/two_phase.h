/* Two-phase I/O for small interleaved extents of several ranks.
 *
 * The file is divided into file domains: every rank is the aggregator of some blocks. Each rank sends its pieces
 * (for a get: their extents) to their aggregators, in rounds of bounded memory. An aggregator merges the pieces of a
 * block into few large accesses. The access phase uses explicit offsets only: the behaviour of MPI libraries for
 * file views with gaps differs too much, up to wrong data (OMPIO of Open MPI 4.1 sieves them without a lock between
 * its aggregators). */
#ifndef PNC_IO_TWO_PHASE_H
#define PNC_IO_TWO_PHASE_H

#include "io/request.h"

/* Collective. list: this rank's requests; with none the rank is only an aggregator. Returns this rank's own error;
 * the caller must agree on it with the other ranks. Where requests of one rank overlap, the last one wins. */
int pnc_io_two_phase_execute(pnc_io_context *io, const pnc_request_list *list);

/* The same for the requests of one rank, to merge many small ones. Local. */
int pnc_io_two_phase_execute_independent(pnc_io_context *io, const pnc_request_list *list);

#endif
