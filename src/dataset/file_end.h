/* The end of the file: other tools fail on files that end before their data, even if the data beyond the end was never
 * written. */
#ifndef PNC_DATASET_FILE_END_H
#define PNC_DATASET_FILE_END_H

#include "dataset/dataset.h"

/* Rank 0: NC_EREAD if the file has `size` bytes and is known to have had more: another program has truncated it. */
int pnc_dataset_file_end_check(pnc_dataset *ds, int64_t size);
/* Rank 0 extends the file to the end of its data, after the same check; if it succeeds, all ranks record the size that
 * the file has at least, so that they detect a file that was truncated. Local. */
int pnc_dataset_file_end_write(pnc_dataset *ds);
void pnc_dataset_file_end_update(pnc_dataset *ds);

#endif
