/* Small interleaved extents of several ranks, moved together.
 *
 * The file is dealt out to the ranks in stripes. Each rank brings its pieces to their owners (or asks them), in rounds
 * of bounded memory, and an owner turns the pieces of a stripe into few large accesses. Explicit offsets only: what
 * MPI libraries make of file views with gaps differs too much, up to wrong data (Open MPI 4.1's OMPIO sieves them
 * without a lock between its aggregators). */
#ifndef PNC_DATASET_EXCHANGE_H
#define PNC_DATASET_EXCHANGE_H

#include "dataset/request.h"

/* Collective. list: what this rank moves; n = 0: nothing, it serves the others. Returns this rank's own error; the
 * caller settles it with the others. Where requests of one rank overlap, the last one wins. */
int pnc_exchange(pnc_dataset *ds, pnc_direction way, pnc_request **list, int64_t n);

/* The same for one rank by itself, to merge many small requests. Local. */
int pnc_exchange_alone(pnc_dataset *ds, pnc_direction way, pnc_request **list, int64_t n);

#endif
