/* Operations of wrapper drivers that forward to the wrapped driver. */
#include "drivers/wrapper.h"

#include <assert.h>

#include "base/memory.h"
#include "drivers/driver.h"

/* An operation of the wrapper, or else its forward if the driver below has the operation. */
#define JOIN(operation, forward)                                \
    do {                                                        \
        out->operation = wrapper->operation;                    \
        if (out->operation == NULL && below->operation != NULL) \
            out->operation = (forward);                         \
    } while (0)

void pnc_wrapper_join(const pnc_store_ops *wrapper, const pnc_store_ops *below, const char *name, pnc_store_ops *out)
{
    assert(wrapper->is_wrapper);
    *out = *wrapper;
    out->name = name;
    out->below = below;
    JOIN(has_dataset, below->has_dataset);
    JOIN(inspect, below->inspect);
    JOIN(open, pnc_wrapper_open);
    JOIN(remove, below->remove);
    JOIN(discard, pnc_wrapper_discard);
    JOIN(publish, pnc_wrapper_publish);
    JOIN(local_path, below->local_path);
    JOIN(close, pnc_wrapper_close);
    JOIN(write, pnc_wrapper_write);
    JOIN(read, pnc_wrapper_read);
    JOIN(lock, pnc_wrapper_lock);
    JOIN(unlock, pnc_wrapper_unlock);
    JOIN(hold, pnc_wrapper_hold);
    if (wrapper->flush == NULL) {
        JOIN(start, pnc_wrapper_start);
        JOIN(is_complete, pnc_wrapper_is_complete);
        JOIN(finish, pnc_wrapper_finish);
    }
    JOIN(write_all, pnc_wrapper_write_all);
    JOIN(read_all, pnc_wrapper_read_all);
    JOIN(sync, pnc_wrapper_sync);
    JOIN(size, pnc_wrapper_get_size);
    JOIN(set_size, pnc_wrapper_set_size);
    JOIN(hints, pnc_wrapper_get_hints);
}

static int flush_kept(pnc_store *store, pnc_error *error)
{
    return store->ops->flush != NULL ? store->ops->flush(store, error) : NC_NOERR;
}

/* --- the file --- */

int pnc_wrapper_open(const pnc_open_call *call, pnc_store *store, pnc_error *error)
{
    pnc_statistics *statistics = store->statistics;
    pnc_open_call below = *call;
    pnc_store *inner = NULL;
    int err;

    below.driver = call->driver->below;
    below.statistics = statistics;
    err = pnc_driver_store_open(&below, &inner, error);
    if (inner != NULL)
        *store = *inner;
    store->ops = call->driver;
    store->has_collective = store->has_collective && call->driver->flush == NULL;
    store->statistics = statistics;
    store->inner = inner;
    return err;
}

static void release_store(pnc_store *store)
{
    if (store->ops->release != NULL)
        store->ops->release(store);
}

/* Without an inner store open has failed. */
int pnc_wrapper_close(pnc_store *store, pnc_error *error)
{
    int err = NC_NOERR, closed = NC_NOERR;

    if (store->inner != NULL)
        err = flush_kept(store, error);
    release_store(store);
    if (store->inner != NULL)
        closed = store->inner->ops->close(store->inner, error);
    pnc_memory_free(store);
    return pnc_error_keep_first(err, closed);
}

int pnc_wrapper_discard(pnc_store *store, MPI_Info info, pnc_error *error)
{
    int err;

    release_store(store);
    err = store->inner->ops->discard(store->inner, info, error);
    pnc_memory_free(store);
    return err;
}

int pnc_wrapper_publish(pnc_store *store, int suffix, bool replaces, pnc_error *error)
{
    PNC_TRY(flush_kept(store, error));
    return store->inner->ops->publish(store->inner, suffix, replaces, error);
}

pnc_held pnc_wrapper_hold(pnc_store *store, pnc_hold hold)
{
    return store->inner->ops->hold(store->inner, hold);
}

/* Collective functions forward even if the flush has failed: the other ranks wait in them. */
int pnc_wrapper_sync(pnc_store *store, pnc_error *error)
{
    int err = flush_kept(store, error), later = store->inner->ops->sync(store->inner, error);

    return pnc_error_keep_first(err, later);
}

int pnc_wrapper_get_size(pnc_store *store, int64_t *out, pnc_error *error)
{
    PNC_TRY(flush_kept(store, error));
    return store->inner->ops->size(store->inner, out, error);
}

int pnc_wrapper_set_size(pnc_store *store, int64_t size, pnc_error *error)
{
    int err = flush_kept(store, error), later = store->inner->ops->set_size(store->inner, size, error);

    return pnc_error_keep_first(err, later);
}

int pnc_wrapper_get_hints(pnc_store *store, MPI_Info *used, pnc_error *error)
{
    return store->inner->ops->hints(store->inner, used, error);
}

/* --- data --- */

/* A wrapper that keeps data writes them by this function, too. */
int pnc_wrapper_write(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error)
{
    return store->inner->ops->write(store->inner, extents, n, buf, error);
}

int pnc_wrapper_read(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, int64_t *got, pnc_error *error)
{
    int err = flush_kept(store, error);

    if (err != NC_NOERR) {
        if (got != NULL)
            *got = 0;
        return err;
    }
    return store->inner->ops->read(store->inner, extents, n, buf, got, error);
}

bool pnc_wrapper_lock(pnc_store *store, pnc_extent span)
{
    return store->inner->ops->lock(store->inner, span);
}

int pnc_wrapper_unlock(pnc_store *store, pnc_extent span, pnc_error *error)
{
    int err = flush_kept(store, error), later = store->inner->ops->unlock(store->inner, span, error);

    return pnc_error_keep_first(err, later);
}

void pnc_wrapper_start(pnc_store *store, bool is_write, pnc_extent extent, void *bytes, pnc_store_transfer *out)
{
    store->inner->ops->start(store->inner, is_write, extent, bytes, out);
}

bool pnc_wrapper_is_complete(const pnc_store *store, const pnc_store_transfer *transfer)
{
    return store->inner->ops->is_complete(store->inner, transfer);
}

int pnc_wrapper_finish(pnc_store *store, pnc_store_transfer *transfer, pnc_error *error)
{
    return store->inner->ops->finish(store->inner, transfer, error);
}

int pnc_wrapper_write_all(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error)
{
    int err = flush_kept(store, error), later = store->inner->ops->write_all(store->inner, extents, n, buf, error);

    return pnc_error_keep_first(err, later);
}

int pnc_wrapper_read_all(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, int64_t *got,
                         pnc_error *error)
{
    int err = flush_kept(store, error), later = store->inner->ops->read_all(store->inner, extents, n, buf, got, error);

    return pnc_error_keep_first(err, later);
}
