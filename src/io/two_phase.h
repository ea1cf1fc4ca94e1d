/* Two-phase I/O for small interleaved pieces of several ranks.
 *
 * A call proceeds in rounds. Each round covers a window of the file, which is divided into file domains. The ranks put
 * their pieces of the window into shared memory, in portions; the aggregators of the node take those of their domains,
 * and send the others to the aggregators of other nodes. At the end of a round each aggregator writes its blocks, each
 * of them in one access. A get proceeds in reverse.
 *
 * The access phase uses explicit offsets only: the behaviour of MPI libraries for file views with gaps differs too
 * much, up to wrong data (OMPIO of Open MPI 4.1 sieves them without a lock between its aggregators). */
#ifndef PNC_IO_TWO_PHASE_H
#define PNC_IO_TWO_PHASE_H

#include "io/file_order.h"

/* The aggregators of a dataset and their buffers. They are made by the first call that needs them. */
typedef struct pnc_two_phase pnc_two_phase;

/* Collective. If any rank cannot allocate its buffers, all ranks return an error. */
int pnc_io_two_phase_create(pnc_io_context *io, pnc_two_phase **out);
/* Collective; NULL is allowed. */
void pnc_io_two_phase_free(pnc_two_phase *x);

/* Collective. order: this rank's requests, not yet advanced; low and high: the range of the file of all ranks. Returns
 * this rank's own error; the caller must agree on it with the other ranks. */
int pnc_io_two_phase_execute(pnc_two_phase *x, pnc_file_order *order, int64_t low, int64_t high);

#endif
