/* The number of records. Only records.c changes model.numrecs and numrecs_dirty of an open dataset, except that reading
 * a header sets model.numrecs. In independent data mode each rank counts the records that it has written itself. */
#ifndef PNC_DATASET_RECORDS_H
#define PNC_DATASET_RECORDS_H

#include "dataset/dataset.h"

/* Collective. All ranks adopt the largest number of records, unless one of them passes an error: then all return
 * one. */
int pnc_dataset_numrecs_agree(pnc_dataset *ds, int err);
/* The same, before a header is written: all ranks adopt the number in the file, if that is larger, as other handles may
 * have added records. */
int pnc_dataset_numrecs_merge(pnc_dataset *ds, int err);
/* As numrecs_agree, and rank 0 extends the file to the end of its data and writes the number if it grew, unless the
 * file has a larger one. NC_EREAD if another program has truncated the file. */
int pnc_dataset_numrecs_flush(pnc_dataset *ds, int err);
/* As numrecs_flush; *unsynced, the same on all ranks: whether any rank has changed the file since the last flush. It is
 * unchanged after an error of the agreement. */
int pnc_dataset_numrecs_flush_before_sync(pnc_dataset *ds, bool *unsynced);
/* Local. Adopt numrecs if it is larger; it is written to the file later. */
void pnc_dataset_numrecs_update(pnc_dataset *ds, int64_t numrecs);
/* Collective; all ranks pass the same number. The same, but rank 0 writes the number at once if it grew. */
int pnc_dataset_numrecs_write(pnc_dataset *ds, int64_t numrecs);
/* Local, for a file that can only be closed, as the call has failed already: rank 0 writes the largest number that it
 * knows of, if it can. */
void pnc_dataset_numrecs_write_last(pnc_dataset *ds);
/* Local. To be called when a header with the number was written. */
void pnc_dataset_numrecs_commit(pnc_dataset *ds);

#endif
