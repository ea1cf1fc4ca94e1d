/* The table of drivers, and functions that all drivers use. */
#ifndef PNC_DRIVERS_DRIVER_H
#define PNC_DRIVERS_DRIVER_H

#include "drivers/store.h"

/* One row for each value of the hint nc_driver: ROW(value, operations). The first row of a driver has its own name, the
 * others are aliases. */
/* clang-format off */
#define PNC_DRIVERS(ROW) \
    ROW("mpiio", pnc_store_mpiio) \
    ROW("gio", pnc_store_mpiio) \
    ROW("memory", pnc_store_memory)
/* clang-format on */

#define PNC_DRIVER_DECLARATION(name, operations) extern const pnc_store_ops operations;
PNC_DRIVERS(PNC_DRIVER_DECLARATION)
#undef PNC_DRIVER_DECLARATION

/* The names of all rows, terminated by NULL. */
extern const char *const pnc_driver_names[];
/* The driver for pnc_driver_names[index]. */
const pnc_store_ops *pnc_driver_get(int index);

/* Zeros for the store of any driver, or NULL: the ranks can agree on memory before the driver is known. */
pnc_store *pnc_driver_store_create(void);

/* Whether threads may call MPI at the same time (MPI_THREAD_MULTIPLE), or MPI does not know. */
bool pnc_driver_has_threads(void);

/* Collective. Open a file for its own sake: inspection, open, and agreement; call.truncation and call.prefix are set
 * here. An error in call.status of any rank is one of all, and the file is not opened. All ranks have the store open
 * or, after an error of any rank, none has. With an open store, an error is one of MPI on this rank only: the caller
 * must agree on it, and close the store. */
int pnc_driver_file_open(const pnc_store_ops *driver, pnc_open_call call, pnc_store **out, pnc_error *error);

#endif
