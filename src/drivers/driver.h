/* The drivers by name, and what they share. */
#ifndef PNC_DRIVERS_DRIVER_H
#define PNC_DRIVERS_DRIVER_H

#include "drivers/store.h"

extern const pnc_store_ops pnc_store_mpiio;
extern const pnc_store_ops pnc_store_memory;

/* A value of the hint nc_driver. One driver may have several names: the first one is its own. */
typedef struct pnc_driver {
    const char *name;
    const pnc_store_ops *ops;
} pnc_driver;

extern const pnc_driver pnc_driver_table[];
extern const int pnc_driver_count;

/* Index of a name in the table, or -1. */
int pnc_driver_find(const char *name);
/* The name in the table that a wrong one is nearest to, or NULL. */
const char *pnc_driver_suggest(const char *name);

/* Collective over comm. The most negative code of all ranks, with a message on the ranks that had none. */
int pnc_driver_agree(MPI_Comm comm, int status, const char *path, pnc_error *error);

#endif
