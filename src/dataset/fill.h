/* Writing fill values. */
#ifndef PNC_DATASET_FILL_H
#define PNC_DATASET_FILL_H

#include "file/file.h"
#include "format/model.h"

/* Write this rank's part of the fill values of the variables from varid on that are filled, in all records. Local. */
int pnc_dataset_vars_fill(pnc_file *file, const pnc_model *model, int varid);

#endif
