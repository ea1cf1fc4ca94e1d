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

#include "io/execution.h"
#include "io/two_phase/node.h"

/* The aggregators of a dataset and their buffers. They are made by the first call that needs them. */
typedef struct pnc_two_phase pnc_two_phase;

/* Collective. buffer: bytes that an aggregator holds. If any rank cannot allocate its buffers, or lacks communicators,
 * all ranks return an error. */
int pnc_io_two_phase_create(pnc_io_context *io, int64_t buffer, pnc_two_phase **out);
/* Collective. The same, unless an earlier call has made them or has failed to. False: no rank has them. */
bool pnc_io_two_phase_make(pnc_io_context *io, int64_t buffer);
/* Collective; NULL is allowed. */
void pnc_io_two_phase_free(pnc_two_phase *x);

/* Collective. Whether all ranks are on one node, and the ranges of the file in which their requests lie are apart: the
 * same answer on all ranks. */
bool pnc_io_two_phase_is_separate(pnc_two_phase *x, const pnc_file_order *order);

const pnc_node *pnc_io_two_phase_get_node(const pnc_two_phase *x);

#endif
