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

static int free_and_fail(int err, MPI_Offset n, char **strings)
{
    free_given(n, strings);
    return err;
}

/* The file is read by each rank. */
int pnc_door_strings_get(const pnc_door_file *f, int varid, const MPI_Offset *start, const MPI_Offset *count,
                         const MPI_Offset *stride, char **strings)
{
    int ndims = f->vars[varid].ndims;
    MPI_Offset index[NC_MAX_VAR_DIMS] = {0}, at[NC_MAX_VAR_DIMS], n = 1;

    for (int d = 0; d < ndims; d++)
        n *= count[d];
    if (stride == NULL) {
        PNC_DOOR_TRY(PNC_DOOR_CALL(f, "nc_get_vara_string", ncmpi_get_vara_string, varid, start, count, strings));
        return pnc_door_strings_convert(n, strings);
    }
    for (MPI_Offset i = 0; i < n; i++) {
        int err;

        for (int d = 0; d < ndims; d++)
            at[d] = start[d] + index[d] * stride[d];
        err = PNC_DOOR_CALL(f, "nc_get_vars_string", ncmpi_get_var1_string, varid, at, strings + i);
        if (err == NC_NOERR)
            err = pnc_door_strings_convert(1, strings + i);
        if (err != NC_NOERR)
            return free_and_fail(err, i, strings);
        for (int d = ndims - 1; d >= 0 && ++index[d] == count[d]; d--)
            index[d] = 0;
    }
    return NC_NOERR;
}

/* Without a message if there is none. */
static bool has_fill_value(const pnc_door_file *f, int varid)
{
    char name[NC_MAX_NAME + 1];
    MPI_Offset n = -1;
    int natts = 0;

    (void)ncmpi_inq_varnatts(f->id, varid, &natts);
    for (int i = 0; i < natts; i++)
        if (ncmpi_inq_attname(f->id, varid, i, name) == NC_NOERR && strcmp(name, "_FillValue") == 0)
            return ncmpi_inq_att_string(f->id, varid, name, &n) == NC_NOERR && n == 1;
    return false;
}

int pnc_door_strings_fill(const pnc_door_file *f, int varid, char **fill_value)
{
    if (has_fill_value(f, varid)) {
        PNC_DOOR_TRY(ncmpi_get_att_string(f->id, varid, "_FillValue", fill_value));
        return pnc_door_strings_convert(1, fill_value);
    }
    *fill_value = calloc(1, 1);
    return *fill_value != NULL ? NC_NOERR : NC_ENOMEM;
}
