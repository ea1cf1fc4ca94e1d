/* Small interleaved extents of several ranks, moved together.
 *
 * The file is dealt out to the ranks in stripes. Each rank brings its pieces to their owners (or asks them), in rounds
 * of bounded memory, and an owner turns the pieces of a stripe into few large accesses. Explicit offsets only: what
 * MPI libraries make of file views with gaps differs too much, up to wrong data (Open MPI 4.1's OMPIO sieves them
 * without a lock between its aggregators). */
#ifndef PNC_DATASET_EXCHANGE_H
#define PNC_DATASET_EXCHANGE_H

#include "convert/convert.h"
#include "dataset/dataset.h"
#include "select/selection.h"

/* Collective. selection and pump: what this rank moves; selection NULL: nothing, it serves the others. Adds the bytes
 * to *moved. Returns this rank's own error; the caller settles it with the others. */
int pnc_exchange(pnc_dataset *ds, pnc_direction way, const pnc_selection *selection, pnc_pump *pump, int64_t *moved);

#endif
