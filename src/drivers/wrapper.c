/* Operations of wrapper drivers that forward to the wrapped driver. */
#include "drivers/wrapper.h"

#include "base/memory.h"
#include "drivers/driver.h"

int pnc_wrapper_open(const pnc_store_ops *ops, const pnc_store_ops *wrapped, const pnc_open_call *call,
                     pnc_store *store, pnc_error *error)
{
    pnc_wrapper *wrapper = (pnc_wrapper *)store;

    PNC_TRY(pnc_driver_file_open(wrapped, *call, &wrapper->inner, error));
    *store = *wrapper->inner;
    store->ops = ops;
    return NC_NOERR;
}

int pnc_wrapper_close(pnc_store *store, pnc_error *error)
{
    pnc_store *inner = pnc_wrapper_get_inner(store);
    int err = inner != NULL ? inner->ops->close(inner, error) : NC_NOERR; /* NULL: open has failed */

    pnc_memory_free(store);
    return err;
}

int pnc_wrapper_write(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error)
{
    pnc_store *inner = pnc_wrapper_get_inner(store);

    return inner->ops->write(inner, extents, n, buf, error);
}

int pnc_wrapper_read(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, int64_t *got, pnc_error *error)
{
    pnc_store *inner = pnc_wrapper_get_inner(store);

    return inner->ops->read(inner, extents, n, buf, got, error);
}

bool pnc_wrapper_lock(pnc_store *store, pnc_extent span)
{
    pnc_store *inner = pnc_wrapper_get_inner(store);

    return inner->ops->lock != NULL && inner->ops->lock(inner, span);
}

int pnc_wrapper_unlock(pnc_store *store, pnc_extent span, pnc_error *error)
{
    pnc_store *inner = pnc_wrapper_get_inner(store);

    return inner->ops->unlock(inner, span, error);
}

/* Ranks learn the identity of the file after it was opened. */
pnc_held pnc_wrapper_hold(pnc_store *store, pnc_hold hold)
{
    pnc_store *inner = pnc_wrapper_get_inner(store);

    inner->identity = store->identity;
    return inner->ops->hold == NULL ? PNC_HELD_UNKNOWN : inner->ops->hold(inner, hold);
}

int pnc_wrapper_write_all(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error)
{
    pnc_store *inner = pnc_wrapper_get_inner(store);

    return inner->ops->write_all(inner, extents, n, buf, error);
}

int pnc_wrapper_read_all(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, int64_t *got,
                         pnc_error *error)
{
    pnc_store *inner = pnc_wrapper_get_inner(store);

    return inner->ops->read_all(inner, extents, n, buf, got, error);
}

int pnc_wrapper_sync(pnc_store *store, pnc_error *error)
{
    pnc_store *inner = pnc_wrapper_get_inner(store);

    return inner->ops->sync(inner, error);
}

int pnc_wrapper_get_size(pnc_store *store, int64_t *out, pnc_error *error)
{
    pnc_store *inner = pnc_wrapper_get_inner(store);

    return inner->ops->size(inner, out, error);
}

int pnc_wrapper_set_size(pnc_store *store, int64_t size, pnc_error *error)
{
    pnc_store *inner = pnc_wrapper_get_inner(store);

    return inner->ops->set_size(inner, size, error);
}

int pnc_wrapper_get_hints(pnc_store *store, MPI_Info *used, pnc_error *error)
{
    pnc_store *inner = pnc_wrapper_get_inner(store);

    return inner->ops->hints(inner, used, error);
}
