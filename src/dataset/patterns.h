/* Patterns of PNETCDF_HINTS that match no file. */
#ifndef PNC_DATASET_PATTERNS_H
#define PNC_DATASET_PATTERNS_H

#include "dataset/dataset.h"

/* With PNETCDF_HINTS_DISPLAY: a file is open. When MPI_Finalize begins, rank 0 prints the patterns that match no such
 * file of any rank. Local. */
void pnc_dataset_patterns_add(const pnc_dataset *ds);

#endif
