/* Checksums of the values of variables (convert/checksum.h), which close writes (nc_checksum). */
#ifndef PNC_DATASET_CHECKSUM_H
#define PNC_DATASET_CHECKSUM_H

#include "dataset/dataset.h"

/* Local. Why the hint has no effect, if it is given; NULL: it has. */
const char *pnc_dataset_checksum_explain(const pnc_dataset *ds);

/* In define mode: each variable that lacks it gets the attribute, whose value follows. Local, the same on all ranks. */
int pnc_dataset_checksums_define(pnc_dataset *ds);

/* Collective, in data mode, when all values are in the file and no change of its definitions is to be undone: compute
 * the checksums, and write those that changed. Variables without the attribute are left out, with one warning for the
 * file. An error is one of all ranks. The mode becomes the collective one. */
int pnc_dataset_checksums_write(pnc_dataset *ds);

#endif
