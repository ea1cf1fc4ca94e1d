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

/* Those that no hint chooses, but what is at the path, or the format of a new dataset. */
#define PNC_DRIVERS_OF_DATASETS(ROW) \
    ROW("folder", pnc_store_folder) \
    ROW("references", pnc_store_kerchunk)
/* clang-format on */

#define PNC_DRIVER_DECLARATION(name, operations) extern const pnc_store_ops operations;
PNC_DRIVERS(PNC_DRIVER_DECLARATION)
PNC_DRIVERS_OF_DATASETS(PNC_DRIVER_DECLARATION)
#undef PNC_DRIVER_DECLARATION
extern const pnc_store_ops pnc_store_behind;

/* The names of all rows of PNC_DRIVERS, terminated by NULL. */
extern const char *const pnc_driver_names[];
/* More drivers, terminated by NULL, of a program that is linked with the objects of the library. It sets them before it
 * opens a file. NULL: there are none. */
extern const pnc_store_ops *const *pnc_driver_more;

/* Wrappers in front of a driver, the outermost one first. Each is wrapper->below of the one before it. */
#define PNC_DRIVER_WRAPPERS 4
typedef struct pnc_driver_stack {
    pnc_store_ops wrappers[PNC_DRIVER_WRAPPERS];
    char name[64]; /* of all drivers, as in the hint; that of an inner wrapper is the end of it */
} pnc_driver_stack;

/* A value of the hint nc_driver as a number: the name of a driver, or those of wrappers, outermost first, and the
 * driver that they wrap, separated by colons. -1: a name is unknown, the last driver is a wrapper, another one is not,
 * or there are too many. */
int pnc_driver_find(const char *names);
/* Such a number for what is at a path: `number`, unless that is the number of a driver of files, and what is there has
 * a driver of its own. Local. */
int pnc_driver_choose(int number, const char *path);
/* The number of a driver of PNC_DRIVERS_OF_DATASETS. */
int pnc_driver_of_dataset_find(const char *name);
/* The driver for such a number. That of a stack is in *stack, which must outlive its use. */
const pnc_store_ops *pnc_driver_get(int number, pnc_driver_stack *stack);

/* The driver behind a wrapper that delays writes (drivers/behind), or the driver itself, if the file may not be one of
 * POSIX, or if it is a stack, whose wrappers the writes would bypass. */
const pnc_store_ops *pnc_driver_behind_add(const pnc_store_ops *driver, pnc_driver_stack *stack);

/* Zeros for the store of any driver, or NULL: the ranks can agree on memory before the driver is known. */
pnc_store *pnc_driver_store_create(void);

/* Whether threads may call MPI at the same time (MPI_THREAD_MULTIPLE), or MPI does not know. */
bool pnc_driver_has_threads(void);
/* The ranks of MPI_COMM_WORLD; 0: the program only uses MPI sessions, and has none. */
int pnc_driver_count_world(void);

/* Collective. Open a store that another one wraps, by call->driver; call->truncation and call->prefix are set. Errors
 * as below. */
int pnc_driver_store_open(const pnc_open_call *call, pnc_store **out, pnc_error *error);

/* Collective. Open a file for its own sake: inspection, open, and agreement; call.driver, call.truncation and
 * call.prefix are set here. An error in call.status of any rank is one of all, and the file is not opened. All ranks
 * have the store open or, after an error of any rank, none has. With an open store, an error is one of MPI on this rank
 * only: the caller must agree on it, and close the store. */
int pnc_driver_file_open(const pnc_store_ops *driver, pnc_open_call call, pnc_store **out, pnc_error *error);

#endif
