/* Strings: netCDF-C frees them by free(). */
#include <stdlib.h>
#include <string.h>

#include "binding/netcdf/door.h"

static void free_given(MPI_Offset n, char **strings)
{
    for (MPI_Offset i = 0; i < n; i++) {
        free(strings[i]);
        strings[i] = NULL;
    }
}

int pnc_door_strings_convert(MPI_Offset n, char **strings)
{
    for (MPI_Offset i = 0; i < n; i++) {
        char *own = strings[i] != NULL ? strdup(strings[i]) : NULL;

        if (strings[i] != NULL && own == NULL) {
            ncmpi_free_string(n - i, strings + i);
            free_given(i, strings);
            return NC_ENOMEM;
        }
        ncmpi_free_string(1, strings + i);
        strings[i] = own;
    }
    return NC_NOERR;
}
