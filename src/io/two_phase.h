/* Small interleaved extents of several ranks, moved together.
 *
 * The file is divided into file domains: every rank is an aggregator of blocks. Each rank sends its pieces to their
 * aggregators (or asks them), in rounds of bounded memory, and an aggregator turns the pieces of a block into few large
 * accesses. Explicit offsets only: what MPI libraries make of file views with gaps differs too much, up to wrong data
 * (Open MPI 4.1's OMPIO sieves them without a lock between its aggregators). */
#ifndef PNC_IO_TWO_PHASE_H
#define PNC_IO_TWO_PHASE_H

#include "io/request.h"

/* Collective. list: what this rank moves; n = 0: nothing, it only is an aggregator. Returns this rank's own error; the
 * caller agrees on it with the others. Where requests of one rank overlap, the last one wins. */
int pnc_io_two_phase_execute(pnc_dataset *ds, pnc_direction way, pnc_request **list, int64_t n);

/* The same for one rank by itself, to merge many small requests. Local. */
int pnc_io_two_phase_execute_independent(pnc_dataset *ds, pnc_direction way, pnc_request **list, int64_t n);

#endif
