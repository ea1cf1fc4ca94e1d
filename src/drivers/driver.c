/* The table of drivers, and functions that all drivers use. */
#include "drivers/driver.h"

#include <stddef.h>

const char *const pnc_driver_names[] = {"mpiio", "gio", "memory", NULL};
static const pnc_store_ops *const drivers[] = {&pnc_store_mpiio, &pnc_store_mpiio, &pnc_store_memory};
_Static_assert(sizeof pnc_driver_names == sizeof drivers + sizeof(char *), "each name has a driver");

const pnc_store_ops *pnc_driver_get(int index)
{
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
