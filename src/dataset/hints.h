/* Hints: from MPI_Info and the environment into the dataset, and back as a report. */
#ifndef PNC_DATASET_HINTS_H
#define PNC_DATASET_HINTS_H

#include "dataset/dataset.h"

/* Gather the user's info and PNETCDF_HINTS (which outranks it) into ds->info, and read our own hints from it. */
int pnc_hints_load(pnc_dataset *ds, MPI_Info user);
/* What is in use: the MPI library's own report and our hints. The caller frees *out. */
int pnc_hints_report(pnc_dataset *ds, MPI_Info *out);
/* The integer that a hint holds, or `otherwise` where it is absent or no integer. */
int64_t pnc_hints_integer(MPI_Info info, const char *key, int64_t otherwise);

#endif
