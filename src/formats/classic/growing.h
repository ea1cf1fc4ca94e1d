/* The file of a dataset as src/growth accesses it. */
#ifndef PNC_CLASSIC_GROWING_H
#define PNC_CLASSIC_GROWING_H

#include "file/file.h"
#include "growth/growth.h"

/* `file` must outlive the result. */
pnc_growth_io pnc_classic_growing_get_io(pnc_file *file);

/* Rank 0 of an open file: complete a growth that was interrupted. NC_EINTERRUPTED if its program runs, or may run and
 * assumes_dead is not set. Local. */
int pnc_classic_growing_repair(const pnc_file *file, bool assumes_dead);
/* Whether another program changes the file now: then NC_EINTERRUPTED, with a message. Local. */
int pnc_classic_growing_inquire(pnc_file *file);

#endif
