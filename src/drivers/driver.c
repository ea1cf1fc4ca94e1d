/* The drivers by name, and functions that all drivers use. */
#include "drivers/driver.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/memory.h"

#define NAME(name, operations) name,
const char *const pnc_driver_names[] = {PNC_DRIVERS(NAME) NULL};

#define OPERATIONS(name, operations) &operations,
static const pnc_store_ops *const drivers[] = {PNC_DRIVERS(OPERATIONS)};
#define DRIVERS (sizeof drivers / sizeof *drivers)

const pnc_store_ops *pnc_driver_get(int index)
{
    assert(index >= 0 && (size_t)index < DRIVERS);
    return drivers[index];
}

pnc_store *pnc_driver_store_create(void)
{
    size_t most = 0;

    for (size_t i = 0; i < DRIVERS; i++)
        most = drivers[i]->store_bytes > most ? drivers[i]->store_bytes : most;
    return pnc_memory_alloc_zeroed(1, most);
}

bool pnc_driver_has_threads(void)
{
    int level = MPI_THREAD_MULTIPLE;

    MPI_Query_thread(&level);
    return level == MPI_THREAD_MULTIPLE;
}

/* Returns the most negative code of all ranks. *late: as in file/agree.h, an error of a collective step on this rank
 * that the next agreement passes to the others. */
static int agree(const pnc_open_call *call, int status, int *late, pnc_error *error)
{
    int own = pnc_error_keep_first(status, *late), worst = own;

    *late = NC_NOERR;
    if (MPI_Allreduce(&own, &worst, 1, MPI_INT, MPI_MIN, call->comm) != MPI_SUCCESS)
        *late = pnc_error_set(error, NC_EMPI, "%s: MPI_Allreduce of the status failed", call->path);
    if (own == NC_NOERR && worst != NC_NOERR)
        pnc_error_set_remote(error, worst, "another rank could not open %s: %s", call->path, pnc_error_get_text(worst));
    return worst;
}

/* Inspect the path on rank 0, and adopt what it finds. `prefix` has PNC_PREFIX_BYTES bytes. */
static int inspect(const pnc_store_ops *driver, pnc_open_call *call, char *prefix, int *late, pnc_error *error)
{
    pnc_inspection found;
    int rank;

    memset(&found, 0, sizeof found);
    MPI_Comm_rank(call->comm, &rank);
    if (rank == 0 && driver->inspect != NULL)
        driver->inspect(call->path, call->purpose, &found);
    if (MPI_Bcast(&found, (int)sizeof found, MPI_BYTE, 0, call->comm) != MPI_SUCCESS)
        *late = pnc_error_set(error, NC_EMPI, "%s: MPI_Bcast of rank 0's check of the path failed", call->path);
    call->truncation = found.truncation;
    memcpy(prefix, found.prefix, PNC_PREFIX_BYTES);
    call->prefix = prefix;
    return pnc_error_copy(error, &found.error, rank != 0);
}

int pnc_driver_file_open(const pnc_store_ops *driver, pnc_open_call call, pnc_store **out, pnc_error *error)
{
    char prefix[PNC_PREFIX_BYTES];
    pnc_store *store;
    int err, late = NC_NOERR;

    err = inspect(driver, &call, prefix, &late, error);
    if (err != NC_NOERR)
        return pnc_error_keep_first(call.status, err);
    store = pnc_memory_alloc_zeroed(1, driver->store_bytes);
    err = call.status;
    if (err == NC_NOERR && store == NULL)
        err = pnc_error_set(error, NC_ENOMEM, "no memory to open %s", call.path);
    err = agree(&call, err, &late, error);
    if (err != NC_NOERR) {
        pnc_memory_free(store);
        return err;
    }
    err = driver->open(&call, store, error);
    err = agree(&call, err, &late, error);
    if (err == NC_NOERR)
        *out = store;
    else
        (void)driver->close(store, NULL); /* the first error is the one to report */
    return pnc_error_keep_first(err, late);
}
