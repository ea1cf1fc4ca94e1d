/* PNETCDF_HINTS_DISPLAY, and hints that cannot be used. */
#ifndef PNC_DATASET_HINTS_SHOW_H
#define PNC_DATASET_HINTS_SHOW_H

#include "dataset/dataset.h"

/* Print every hint with its value, origin and effect, on rank 0 if PNETCDF_HINTS_DISPLAY is on. Local. */
void pnc_dataset_hints_display(pnc_dataset *ds);
/* Report the given hints whose values cannot be used, by one remark. Local. */
void pnc_dataset_hints_check(pnc_dataset *ds);

#endif
