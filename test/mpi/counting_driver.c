/* A driver that counts the accesses and bytes of the MPI-IO driver: the smallest useful wrapper. */
#include "counting_driver.h"

#include "drivers/driver.h"
#include "drivers/wrapper.h"

typedef struct counting_store {
    pnc_wrapper wrapper;
    counting_counts counts;
} counting_store;

static int wrap(int err, pnc_store *inner, const char *path, pnc_store **out, pnc_error *error)
{
    return err != NC_NOERR ? err : pnc_wrapper_init(&counting_driver, sizeof(counting_store), inner, path, out, error);
}

static int counting_create(MPI_Comm comm, const char *path, int mode, MPI_Info info, pnc_store **out, pnc_error *error)
{
    pnc_store *inner = NULL;
    int err = pnc_store_mpiio.create(comm, path, mode, info, &inner, error);

    return wrap(err, inner, path, out, error);
}

static int counting_open(MPI_Comm comm, const char *path, int mode, MPI_Info info, pnc_store **out, pnc_error *error)
{
    pnc_store *inner = NULL;
    int err = pnc_store_mpiio.open(comm, path, mode, info, &inner, error);

    return wrap(err, inner, path, out, error);
}

static int64_t bytes_of(const pnc_extent *extents, int64_t n)
{
    int64_t bytes = 0;

    for (int64_t i = 0; i < n; i++)
        bytes += extents[i].length;
    return bytes;
}

static int counting_write(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error)
{
    counting_counts *counts = &((counting_store *)store)->counts;

    counts->writes++;
    counts->bytes_written += bytes_of(extents, n);
    return pnc_wrapper_write(store, extents, n, buf, error);
}

static int counting_read(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, int64_t *got,
                         pnc_error *error)
{
    counting_counts *counts = &((counting_store *)store)->counts;

    counts->reads++;
    counts->bytes_read += bytes_of(extents, n);
    return pnc_wrapper_read(store, extents, n, buf, got, error);
}

const counting_counts *counting_counts_of(const pnc_store *store)
{
    return &((const counting_store *)store)->counts;
}

static int counting_remove(const char *path, MPI_Info info, pnc_error *error)
{
    return pnc_store_mpiio.remove(path, info, error);
}

const pnc_store_ops counting_driver = {
    .name = "counting",
    .create = counting_create,
    .open = counting_open,
    .remove = counting_remove,
    .close = pnc_wrapper_close,
    .write = counting_write,
    .read = counting_read,
    .sync = pnc_wrapper_sync,
    .size = pnc_wrapper_get_size,
    .set_size = pnc_wrapper_set_size,
    .hints = pnc_wrapper_get_hints,
};
