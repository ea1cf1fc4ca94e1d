/* Which MPI library this is. */
#include "drivers/mpiio/mpiio.h"

#include <stdatomic.h>
#include <string.h>

#define NOT_ASKED (-1)

/* The answer of the first call: MPI takes longer, as it makes a text of hundreds of bytes. */
static atomic_int library = NOT_ASKED;

static pnc_mpiio_library ask(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int n;

    if (MPI_Get_library_version(version, &n) != MPI_SUCCESS)
        return PNC_MPIIO_UNKNOWN;
    if (strncmp(version, "Open MPI", 8) == 0)
        return PNC_MPIIO_OPEN_MPI;
    return strstr(version, "MPICH") != NULL ? PNC_MPIIO_MPICH : PNC_MPIIO_UNKNOWN;
}

pnc_mpiio_library pnc_mpiio_library_find(void)
{
    if (library == NOT_ASKED)
        library = (int)ask();
    return (pnc_mpiio_library)library;
}
