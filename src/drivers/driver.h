/* The drivers by name, and functions that all drivers use. */
#ifndef PNC_DRIVERS_DRIVER_H
#define PNC_DRIVERS_DRIVER_H

#include "drivers/store.h"

extern const pnc_store_ops pnc_store_mpiio;
extern const pnc_store_ops pnc_store_memory;

/* The values of the hint nc_driver, terminated by NULL. A driver may have several names; the first one is its own. */
extern const char *const pnc_driver_names[];
/* The driver for pnc_driver_names[index]. */
const pnc_store_ops *pnc_driver_get(int index);

/* Collective over comm. Returns the most negative code of all ranks; sets a message on ranks without an error of
 * their own. */
int pnc_driver_status_agree(MPI_Comm comm, int status, const char *path, pnc_error *error);

#endif
