/* The drivers by name, and functions that all drivers use. */
#include "drivers/driver.h"

#include <assert.h>
#include <stddef.h>

#define NAME(name, operations) name,
const char *const pnc_driver_names[] = {PNC_DRIVERS(NAME) NULL};

const pnc_store_ops *pnc_driver_get(int index)
{
#define OPERATIONS(name, operations) &operations,
    static const pnc_store_ops *const drivers[] = {PNC_DRIVERS(OPERATIONS)};

    assert(index >= 0 && (size_t)index < sizeof drivers / sizeof *drivers);
    return drivers[index];
}

int pnc_driver_status_agree(MPI_Comm comm, int status, const char *path, pnc_error *error)
{
    int worst = status;

    if (MPI_Allreduce(&status, &worst, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS)
        return pnc_error_set(error, NC_EMPI, "%s: MPI_Allreduce of the status failed", path);
    if (status == NC_NOERR && worst != NC_NOERR)
        pnc_error_set_remote(error, worst, "another rank could not open %s: %s", path, pnc_error_get_text(worst));
    return worst;
}
