/* What programs that change the header of a file for tests have in common. */
#ifndef PNC_TEST_TOOLS_GROW_H
#define PNC_TEST_TOOLS_GROW_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pnetcdf.h"

/* End the program after an error; `program` and `what` say where. */
static inline void grow_check(int err, const char *program, const char *what)
{
    if (err == NC_NOERR)
        return;
    fprintf(stderr, "%s: %s: %s\n", program, what, ncmpi_strerror(err));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* In define mode: add an attribute of `text` characters, a fixed-size variable and a record variable of these lengths;
 * 0: none. */
static inline void grow_define(int ncid, const char *program, int text, int fixed, int record)
{
    char *bytes = malloc((size_t)text + 1);
    int dims[2] = {0, -1}, id;

    memset(bytes, 't', (size_t)text + 1);
    if (text > 0)
        grow_check(ncmpi_put_att_text(ncid, NC_GLOBAL, "text", text, bytes), program, "put_att");
    free(bytes);
    ncmpi_set_fill(ncid, NC_FILL, NULL);
    if (fixed > 0) {
        grow_check(ncmpi_def_dim(ncid, "new_fixed_x", fixed, &dims[1]), program, "def_dim");
        grow_check(ncmpi_def_var(ncid, "new_fixed", NC_SHORT, 1, &dims[1], &id), program, "def_var");
    }
    if (record > 0) {
        grow_check(ncmpi_def_dim(ncid, "new_record_x", record, &dims[1]), program, "def_dim");
        grow_check(ncmpi_def_var(ncid, "new_record", NC_SHORT, 2, dims, &id), program, "def_var");
    }
}

/* Change the attribute "history" to other bytes; returns the code. */
static inline int grow_change_history(int ncid, int length)
{
    char *bytes = malloc((size_t)length);
    int err;

    memset(bytes, 'n', (size_t)length);
    err = ncmpi_put_att_text(ncid, NC_GLOBAL, "history", length, bytes);
    free(bytes);
    return err;
}

#endif
