/* A wrapper driver adds something to the driver that it stands in front of: it counts accesses, delays them, keeps them
 * for a while, or makes some of them fail. It is a pnc_store_ops with is_wrapper set and the operations that it
 * changes. Those that are NULL are the functions below, which forward to the inner store; inspect, remove and
 * local_path are the inner driver's own. A wrapper lacks what the inner driver lacks, unless it defines it.
 *
 * The wrapper's own struct begins with a pnc_store, a copy of the inner one: striping, identity, nodes, the end of the
 * file and the statistics are the same. Its open calls pnc_wrapper_open first, then makes its own state and corrects
 * what differs, for example has_collective. Other operations forward at their end in most cases.
 *
 * A wrapper that keeps data has `flush`. The functions below flush before they forward what depends on the content of
 * the file or ends its use: sync, size, reads, unlock, publish, close and others. Such a wrapper has only the
 * background accesses that it defines itself: those of the inner store would bypass what it keeps. For the same reason
 * it has no collective access unless its open sets has_collective again: collective access opens the file once more. */
#ifndef PNC_DRIVERS_WRAPPER_H
#define PNC_DRIVERS_WRAPPER_H

#include "drivers/store.h"

/* The operations of `wrapper` in front of `below`, which must outlive *out. *out has the name `name`. */
void pnc_wrapper_join(const pnc_store_ops *wrapper, const pnc_store_ops *below, const char *name, pnc_store_ops *out);

/* Open the file by the driver below, and make *store, which has the memory of the wrapper's struct, its wrapper. */
int pnc_wrapper_open(const pnc_open_call *call, pnc_store *store, pnc_error *error);

/* The others are as in pnc_store_ops. */
int pnc_wrapper_close(pnc_store *store, pnc_error *error);
int pnc_wrapper_discard(pnc_store *store, MPI_Info info, pnc_error *error);
int pnc_wrapper_publish(pnc_store *store, int suffix, bool replaces, pnc_error *error);
int pnc_wrapper_write(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error);
int pnc_wrapper_read(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, int64_t *got, pnc_error *error);
bool pnc_wrapper_lock(pnc_store *store, pnc_extent span);
int pnc_wrapper_unlock(pnc_store *store, pnc_extent span, pnc_error *error);
pnc_held pnc_wrapper_hold(pnc_store *store, pnc_hold hold);
void pnc_wrapper_start(pnc_store *store, bool is_write, pnc_extent extent, void *bytes, pnc_store_transfer *out);
bool pnc_wrapper_is_complete(const pnc_store *store, const pnc_store_transfer *transfer);
int pnc_wrapper_finish(pnc_store *store, pnc_store_transfer *transfer, pnc_error *error);
int pnc_wrapper_write_all(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error);
int pnc_wrapper_read_all(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, int64_t *got,
                         pnc_error *error);
int pnc_wrapper_sync(pnc_store *store, pnc_error *error);
int pnc_wrapper_get_size(pnc_store *store, int64_t *out, pnc_error *error);
int pnc_wrapper_set_size(pnc_store *store, int64_t size, pnc_error *error);
int pnc_wrapper_get_hints(pnc_store *store, MPI_Info *used, pnc_error *error);

#endif
