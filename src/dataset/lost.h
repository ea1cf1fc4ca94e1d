/* Reports of what is lost when a file is not closed, or not as it should be. They are printed in any case. */
#ifndef PNC_DATASET_LOST_H
#define PNC_DATASET_LOST_H

#include "dataset/dataset.h"

/* Cancel pending requests, and report them: NC_EPENDING, or NC_NOERR if there is none. The error of the call in
 * progress stays. Local. */
int pnc_dataset_lost_discard(pnc_dataset *ds);
/* A file is open: report what is lost of open files if MPI_Finalize begins before they are closed. Local. */
void pnc_dataset_lost_watch(void);
/* Collective calls did not match, so that the file is not closed: rank 0 reports that a new file keeps its temporary
 * name. Local. */
void pnc_dataset_lost_report_name(const pnc_dataset *ds);

#endif
