/* Collective puts into a netCDF-4 file whose values wait in logs of the nodes (hint nc_burst_buf). Calls that wait are
 * counted as deferred ones: what writes those writes these, too. */
#ifndef PNC_DATASET_LOGGED_H
#define PNC_DATASET_LOGGED_H

#include "dataset/dataset.h"
#include "file/log.h"

/* Execute the requests of a collective call of a file whose log takes values, or leave their values in the logs. Errors
 * as of pnc_dataset_list_transfer. Collective. */
int pnc_dataset_logged_transfer(pnc_dataset *ds, pnc_request_list *list);
/* Put all that waits into the file, and commit it. After an error it waits still, and all ranks return the error.
 * Collective; after calls that do not match it waits for a replay. */
int pnc_dataset_logged_write(pnc_dataset *ds);
/* ncmpi_flush: what waits survives the death of the nodes. Collective. */
int pnc_dataset_logged_sync(pnc_dataset *ds);

#endif
