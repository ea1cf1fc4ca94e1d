/* Which MPI library this is. */
#include "drivers/mpiio/mpiio.h"

#include <stdatomic.h>
#include <string.h>

#define NOT_ASKED (-1)

static atomic_int library = NOT_ASKED; /* kept, as MPI writes a text of hundreds of bytes in each call */

pnc_mpiio_library pnc_mpiio_library_get(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int n;

    if (library != NOT_ASKED)
        return (pnc_mpiio_library)library;
    if (MPI_Get_library_version(version, &n) != MPI_SUCCESS)
        return PNC_MPIIO_UNKNOWN;
    if (strncmp(version, "Open MPI", 8) == 0)
        library = PNC_MPIIO_OPEN_MPI;
    else
        library = strstr(version, "MPICH") != NULL ? PNC_MPIIO_MPICH : PNC_MPIIO_UNKNOWN;
    return (pnc_mpiio_library)library;
}
