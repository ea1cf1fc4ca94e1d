/* A wrapper driver adds to another driver: it counts accesses, delays them, or makes some of them fail. It
 * implements open and the operations that it changes, and uses the functions below, which forward, for the
 * others. */
#ifndef PNC_DRIVERS_WRAPPER_H
#define PNC_DRIVERS_WRAPPER_H

#include "drivers/store.h"

/* First member of every wrapper's own struct. */
typedef struct pnc_wrapper {
    pnc_store store;
    pnc_store *inner;
} pnc_wrapper;

static inline pnc_store *pnc_wrapper_get_inner(pnc_store *store)
{
    return ((pnc_wrapper *)store)->inner;
}

/* Open the file by the driver `wrapped`, and make *store, which has the memory of the wrapper's struct, its wrapper
 * with the operations `ops`. */
int pnc_wrapper_open(const pnc_store_ops *ops, const pnc_store_ops *wrapped, const pnc_open_call *call,
                     pnc_store *store, pnc_error *error);

int pnc_wrapper_close(pnc_store *store, pnc_error *error);
int pnc_wrapper_write(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error);
int pnc_wrapper_read(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, int64_t *got, pnc_error *error);
bool pnc_wrapper_lock(pnc_store *store, pnc_extent span);
int pnc_wrapper_unlock(pnc_store *store, pnc_extent span, pnc_error *error);
pnc_held pnc_wrapper_hold(pnc_store *store, pnc_hold hold);
int pnc_wrapper_write_all(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error);
int pnc_wrapper_read_all(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, int64_t *got,
                         pnc_error *error);
int pnc_wrapper_sync(pnc_store *store, pnc_error *error);
int pnc_wrapper_get_size(pnc_store *store, int64_t *out, pnc_error *error);
int pnc_wrapper_set_size(pnc_store *store, int64_t size, pnc_error *error);
int pnc_wrapper_get_hints(pnc_store *store, MPI_Info *used, pnc_error *error);

#endif
