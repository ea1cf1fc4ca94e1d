/* Collective gets of the same values by all ranks: few ranks read, and send what they read to the others.
 *
 * A get proceeds in steps of at most PNC_SHARED_BYTES. If one step has all values, or if a rank wants none, the first
 * rank with values reads them and broadcasts them. Else up to PNC_SHARED_READERS aggregators read a part of each step
 * at the same time; the delegates broadcast these to the nodes, and the first rank of each node within it. If only one
 * rank wants values, it reads them. */
#ifndef PNC_IO_SHARED_H
#define PNC_IO_SHARED_H

#include "io/execution.h"

/* A number, greater than 0, that is equal for lists of requests of the same bytes in the same order, wherever their
 * values are in memory; 0 if finding it would take longer. Two others have the same one by chance, in one of 2^62
 * cases. Local. */
int64_t pnc_io_shared_key_compute(const pnc_io_context *io, const pnc_request_list *list);

#endif
