/* The number of records. Only records.c changes model.numrecs and numrecs_dirty of an open dataset, except that reading
 * a header sets model.numrecs. In independent data mode each rank counts the records that it has written itself. */
#ifndef PNC_CLASSIC_RECORDS_H
#define PNC_CLASSIC_RECORDS_H

#include "formats/format.h"

/* Collective. All ranks adopt the largest number of records, unless one of them passes an error: then all return
 * one. */
int pnc_classic_numrecs_agree(pnc_format *f, int err);
/* The same, before a header is written: all ranks adopt the number in the file, if that is larger, as other handles may
 * have added records. */
int pnc_classic_numrecs_merge(pnc_format *f, int err);
/* The operation `flush`: as numrecs_agree, and rank 0 extends the file to the end of its data and writes the number if
 * it grew, unless the file has a larger one. NC_EREAD if another program has truncated the file. */
int pnc_classic_numrecs_flush(pnc_format *f, int err, bool *unsynced);
/* Local. Adopt numrecs if it is larger; it is written to the file later. */
void pnc_classic_numrecs_update(pnc_format *f, int64_t numrecs);
/* Collective; all ranks pass the same number. The same, but rank 0 writes the number at once if it grew. */
int pnc_classic_numrecs_write(pnc_format *f, int64_t numrecs);
/* The operation `prepare`: rank 0 writes the number if delayed writes have kept it back, as the records are in the file
 * now. From here each rank has its own number, and a program that ends without close would lose this one. */
int pnc_classic_numrecs_write_late(pnc_format *f);
/* Local, for a file that can only be closed, as the call has failed already: rank 0 writes the largest number that it
 * knows of, if it can. */
void pnc_classic_numrecs_write_last(pnc_format *f);
/* Local. To be called when a header with the number was written. */
void pnc_classic_numrecs_commit(pnc_format *f);

#endif
