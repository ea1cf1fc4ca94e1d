/* The number of records. Only records.c changes model.numrecs and numrecs_dirty of an open dataset, except that reading
 * a header sets model.numrecs. In independent data mode each rank counts the records that it has written itself. */
#ifndef PNC_DATASET_RECORDS_H
#define PNC_DATASET_RECORDS_H

#include "dataset/dataset.h"

/* Collective: all ranks adopt the largest number of records; flush: and rank 0 writes it if it grew. */
int pnc_dataset_numrecs_agree(pnc_dataset *ds);
int pnc_dataset_numrecs_flush(pnc_dataset *ds);
/* The file has at least numrecs records now. The number is written later. Local. */
void pnc_dataset_numrecs_update(pnc_dataset *ds, int64_t numrecs);
/* The same, and rank 0 writes the number if it grew. Collective: all ranks pass the same number. */
int pnc_dataset_numrecs_write(pnc_dataset *ds, int64_t numrecs);
/* The header in the file has the number. Local. */
void pnc_dataset_numrecs_commit(pnc_dataset *ds);

#endif
