/* Writing fill values. */
#ifndef PNC_DATASET_FILL_H
#define PNC_DATASET_FILL_H

#include "file/file.h"
#include "format/model.h"

/* Write fill values to this rank's share of a variable; of a record variable, to n records from `first` on. Local. */
int pnc_dataset_var_fill(pnc_file *file, const pnc_model *model, const pnc_var *var, int64_t first, int64_t n);

#endif
