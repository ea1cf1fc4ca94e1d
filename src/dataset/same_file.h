/* Several handles of this process on one netCDF-4 file. What one of them puts waits in its chunks, and the others would
 * read fill values: here it is written first, where that needs no other ranks. In classic files the values are in the
 * file at once. Local functions. Nothing is done with MPI_THREAD_MULTIPLE, where another thread may use the other
 * handle. */
#ifndef PNC_DATASET_SAME_FILE_H
#define PNC_DATASET_SAME_FILE_H

#include "dataset/dataset.h"

/* Before a file is opened that exists: write what other handles on it have. */
void pnc_dataset_same_file_write(const char *path);
/* After that: find whether there are others. */
void pnc_dataset_same_file_find(pnc_dataset *ds);
/* Before a put or get. */
void pnc_dataset_same_file_begin(pnc_dataset *ds, pnc_direction direction);

#endif
