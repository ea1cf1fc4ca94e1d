/* The table of drivers, and what they share. */
#include "drivers/driver.h"

#include <string.h>

#include "base/suggest.h"

const pnc_driver pnc_driver_table[] = {
    {"mpiio", &pnc_store_mpiio},
    {"gio", &pnc_store_mpiio},
    {"memory", &pnc_store_memory},
};
#define DRIVERS (sizeof pnc_driver_table / sizeof pnc_driver_table[0])
const int pnc_driver_count = DRIVERS;

int pnc_driver_find(const char *name)
{
    for (int i = 0; i < pnc_driver_count; i++)
        if (strcmp(pnc_driver_table[i].name, name) == 0)
            return i;
    return -1;
}

const char *pnc_driver_suggest(const char *name)
{
    const char *names[DRIVERS];

    for (size_t i = 0; i < DRIVERS; i++)
        names[i] = pnc_driver_table[i].name;
    return pnc_suggest(name, DRIVERS, names);
}

int pnc_driver_agree(MPI_Comm comm, int status, const char *path, pnc_error *error)
{
    int worst = status;

    if (MPI_Allreduce(&status, &worst, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS)
        return pnc_fail(error, NC_EMPI, "%s: MPI_Allreduce of the ranks' results failed", path);
    if (status == NC_NOERR && worst != NC_NOERR)
        pnc_hear(error, worst, "another rank could not open %s: %s", path, pnc_code_text(worst));
    return worst;
}
