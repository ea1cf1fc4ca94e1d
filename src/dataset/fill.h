/* Writing fill values. */
#ifndef PNC_DATASET_FILL_H
#define PNC_DATASET_FILL_H

#include "dataset/dataset.h"

/* Write fill values to this rank's share of a variable; of a record variable, to n records from `first` on. Local. */
int pnc_dataset_var_fill(pnc_dataset *ds, const pnc_var *var, int64_t first, int64_t n);

#endif
