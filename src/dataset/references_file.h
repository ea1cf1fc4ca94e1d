/* The file of references beside a dataset (nc_references): FILE.json. */
#ifndef PNC_DATASET_REFERENCES_FILE_H
#define PNC_DATASET_REFERENCES_FILE_H

#include "dataset/dataset.h"

/* Local, when the file is open: references to the values that a new file replaces are removed. */
void pnc_dataset_references_begin(pnc_dataset *ds);

/* Local, when the store is closed, with the result so far of this rank. Rank 0 writes the references; after an error it
 * removes those that are there, as they may be wrong. Returns err, or its own error. */
int pnc_dataset_references_write(pnc_dataset *ds, int err);

#endif
