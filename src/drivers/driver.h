/* The drivers by name, and what they share. */
#ifndef PNC_DRIVERS_DRIVER_H
#define PNC_DRIVERS_DRIVER_H

#include "drivers/store.h"

extern const pnc_store_ops pnc_store_mpiio;
extern const pnc_store_ops pnc_store_memory;

/* The values of the hint nc_driver, up to a NULL. One driver may have several names: the first one is its own. */
extern const char *const pnc_driver_names[];
/* The driver of a name, by its index. */
const pnc_store_ops *pnc_driver_get(int index);

/* Collective over comm. The most negative code of all ranks, with a message on the ranks that had none. */
int pnc_driver_status_agree(MPI_Comm comm, int status, const char *path, pnc_error *error);

#endif
