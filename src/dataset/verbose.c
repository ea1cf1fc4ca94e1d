/* What went wrong, for a person: the sentence behind an error code, printed where PNETCDF_VERBOSE asks for it. */
#include "dataset/dataset.h"

#include <stdio.h>

int pnc_told(const pnc_dataset *ds, const char *call, int err)
{
    if (err != NC_NOERR && ds->verbose)
        fprintf(stderr, "PnetCDF: %s on rank %d: %s (%s)\n", call, ds->rank,
                ds->error.text[0] != '\0' ? ds->error.text : pnc_code_text(err), pnc_code_name(err));
    return err;
}
