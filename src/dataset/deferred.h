/* Collective puts that a later call writes (hint nc_defer_puts). io/deferred.h has their copies, or logs have their
 * values (logged.h). */
#ifndef PNC_DATASET_DEFERRED_H
#define PNC_DATASET_DEFERRED_H

#include "dataset/dataset.h"

/* When the file is open. Local. */
void pnc_dataset_deferred_init(pnc_dataset *ds);
/* Execute the requests of a collective call, or defer them. Errors as of pnc_dataset_list_transfer. Collective. */
int pnc_dataset_deferred_transfer(pnc_dataset *ds, pnc_request_list *list);
int pnc_dataset_deferred_write_all(pnc_dataset *ds);
/* For messages: what becomes of values that cannot be written. */
const char *pnc_dataset_deferred_get_fate(const pnc_dataset *ds);
/* Write what is deferred. After an error it is lost, and all ranks return the error. Collective, but after calls that
 * do not match each rank writes its own. */
static inline int pnc_dataset_deferred_write(pnc_dataset *ds)
{
    return ds->deferred.calls == 0 ? NC_NOERR : pnc_dataset_deferred_write_all(ds);
}

#endif
