/* Operations of wrapper drivers that forward to the wrapped driver. */
#include "drivers/wrapper.h"

#include "base/memory.h"
#include "drivers/driver.h"

int pnc_wrapper_init(const pnc_store_ops *ops, size_t size, pnc_store *inner, const char *path, pnc_store **out,
                     pnc_error *error)
{
    pnc_wrapper *wrapper = pnc_memory_alloc_zeroed(1, size);
    int err = NC_NOERR;

    if (wrapper == NULL)
        err = pnc_error_set(error, NC_ENOMEM, "no memory to open %s", path);
    err = pnc_driver_status_agree(inner->comm, err, path, error);
    if (err != NC_NOERR) {
        (void)inner->ops->close(inner, NULL); /* the first error is the one to report */
        pnc_memory_free(wrapper);
        return err;
    }
    wrapper->store = *inner;
    wrapper->store.ops = ops;
    wrapper->inner = inner;
    *out = &wrapper->store;
    return NC_NOERR;
}

int pnc_wrapper_close(pnc_store *store, pnc_error *error)
{
    pnc_store *inner = pnc_wrapper_get_inner(store);
    int err = inner->ops->close(inner, error);

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
