/* The variables that belong to others: coordinate variables of their dimensions, and those that their attributes name
 * (CF conventions, 5, 5.6, 7.1 and 7.4). */
#include "tools/ncmpicopy/coordinates.h"

#include <string.h>

#include "base/memory.h"
#include "base/types.h"
#include "format/coordinates.h"

/* A variable that has the name of a dimension, and only this dimension. */
static int add_of_dimension(int ncid, int dimid, bool *wanted)
{
    char name[NC_MAX_NAME + 1];
    int varid, ndims, own;
    PNC_TRY(ncmpi_inq_dimname(ncid, dimid, name));
    if (ncmpi_inq_varid(ncid, name, &varid) != NC_NOERR)
        return NC_NOERR;
    PNC_TRY(ncmpi_inq_varndims(ncid, varid, &ndims));
    if (ndims != 1)
        return NC_NOERR;
    PNC_TRY(ncmpi_inq_vardimid(ncid, varid, &own));
    wanted[varid] = wanted[varid] || own == dimid;
    return NC_NOERR;
}

static int add_of_dimensions(int ncid, int varid, bool *wanted)
{
    int ndims;
    PNC_TRY(ncmpi_inq_varndims(ncid, varid, &ndims));
    int *dimids = pnc_memory_alloc(ndims, sizeof *dimids);
    if (dimids == NULL)
        return NC_ENOMEM;
    int err = ncmpi_inq_vardimid(ncid, varid, dimids);
    for (int d = 0; err == NC_NOERR && d < ndims; d++)
        err = add_of_dimension(ncid, dimids[d], wanted);
    pnc_memory_free(dimids);
    return err;
}

/* The names in an attribute; one that is not the name of a variable is skipped. */
static int add_named(int ncid, int varid, const char *attribute, bool *wanted)
{
    nc_type type;
    MPI_Offset length;
    char *rest;
    int id;
    if (ncmpi_inq_att(ncid, varid, attribute, &type, &length) != NC_NOERR || type != NC_CHAR)
        return NC_NOERR;
    char *text = pnc_memory_alloc_zeroed((int64_t)length + 1, 1);
    if (text == NULL)
        return NC_ENOMEM;
    int err = length > 0 ? ncmpi_get_att_text(ncid, varid, attribute, text) : NC_NOERR;
    for (char *word = strtok_r(text, " \t\n", &rest); err == NC_NOERR && word != NULL;
         word = strtok_r(NULL, " \t\n", &rest)) {
        size_t n = strlen(word);
        if (word[n - 1] == ':') /* "crs: x y" */
            word[n - 1] = '\0';
        if (ncmpi_inq_varid(ncid, word, &id) == NC_NOERR)
            wanted[id] = true;
    }
    pnc_memory_free(text);
    return err;
}

static int add_of_variable(int ncid, int varid, bool *wanted)
{
    static const char *const attributes[] = PNC_COORDINATE_ATTRIBUTES;
    int err = add_of_dimensions(ncid, varid, wanted);
    for (size_t i = 0; err == NC_NOERR && i < sizeof attributes / sizeof *attributes; i++)
        err = add_named(ncid, varid, attributes[i], wanted);
    return err;
}

int copy_coordinates_add(int ncid, int nvars, bool *wanted)
{
    bool *done = pnc_memory_alloc_zeroed(nvars, sizeof *done);
    int err = done != NULL ? NC_NOERR : NC_ENOMEM;
    bool more = true;
    while (err == NC_NOERR && more) { /* what is added has coordinates too */
        more = false;
        for (int i = 0; err == NC_NOERR && i < nvars; i++) {
            if (!wanted[i] || done[i])
                continue;
            done[i] = more = true;
            err = add_of_variable(ncid, i, wanted);
        }
    }
    pnc_memory_free(done);
    return err;
}

int copy_coordinates_find(int ncid, int nvars, bool *found)
{
    int err = NC_NOERR;
    for (int i = 0; err == NC_NOERR && i < nvars; i++)
        err = add_of_variable(ncid, i, found);
    return err;
}
