/* Checks of ids that callers pass. */
#include "format/model.h"

/* An error about an id that is not in 0..n-1. */
static int reject(pnc_error *error, int code, const char *what, int id, int n)
{
    id = pnc_error_get_id(error, id);
    if (n == 0)
        return pnc_error_set(error, code, "no %s with id %d: the file has no %ss", what, id, what);
    return pnc_error_set(error, code, "no %s with id %d (valid: %d..%d)", what, id, pnc_error_get_id(error, 0),
                         pnc_error_get_id(error, n - 1));
}

int pnc_format_var_reject(const pnc_model *model, int varid, pnc_error *error)
{
    return reject(error, NC_ENOTVAR, "variable", varid, model->nvars);
}

int pnc_format_var_reject_global(const pnc_model *model, int varid, pnc_error *error)
{
    if (varid == NC_GLOBAL)
        return pnc_error_set(error, NC_EGLOBAL, "varid is NC_GLOBAL: must be the id of a variable");
    return pnc_format_var_reject(model, varid, error);
}

int pnc_format_dim_check(const pnc_model *model, int dimid, pnc_error *error)
{
    if (dimid < 0 || dimid >= model->ndims)
        return reject(error, NC_EBADDIM, "dimension", dimid, model->ndims);
    return NC_NOERR;
}
