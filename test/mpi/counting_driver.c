/* A wrapper that counts accesses and bytes, and makes some of them fail. */
#include "counting_driver.h"

#include "drivers/wrapper.h"

typedef struct counting_store {
    pnc_store store;
    counting_counts counts;
} counting_store;

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

counting_faults counting_next_faults;

/* An access that fails is made without extents, so that those of the other ranks can complete. */
static int counting_write_all(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error)
{
    counting_counts *counts = &((counting_store *)store)->counts;
    int fault = counting_next_faults.write_all;

    counts->collective_writes++;
    counts->bytes_written += bytes_of(extents, n);
    if (fault == NC_NOERR)
        return pnc_wrapper_write_all(store, extents, n, buf, error);
    pnc_wrapper_write_all(store, extents, 0, buf, NULL);
    return pnc_error_set(error, fault, "a write that fails by intent");
}

static int counting_read_all(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, int64_t *got,
                             pnc_error *error)
{
    counting_counts *counts = &((counting_store *)store)->counts;
    int fault = counting_next_faults.read_all;

    counts->collective_reads++;
    counts->bytes_read += bytes_of(extents, n);
    if (fault == NC_NOERR)
        return pnc_wrapper_read_all(store, extents, n, buf, got, error);
    pnc_wrapper_read_all(store, extents, 0, buf, got, NULL);
    return pnc_error_set(error, fault, "a read that fails by intent");
}

const counting_counts *counting_counts_of(const pnc_store *store)
{
    return &((const counting_store *)store)->counts;
}

const pnc_store_ops counting_wrapper = {
    .name = "counting",
    .store_bytes = sizeof(counting_store),
    .is_wrapper = true,
    .write = counting_write,
    .read = counting_read,
    .write_all = counting_write_all,
    .read_all = counting_read_all,
};
