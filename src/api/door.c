/* What libpnetcdf-netcdf calls beside the functions of pnetcdf.h. */
#include "api/door.h"

#include "api/api.h"
#include "dataset/caller.h"
#include "dataset/united.h"

int pncnc_modes_unite(int ncid)
{
    pnc_dataset *ds = pnc_dataset_registry_find(ncid, __func__);

    return ds == NULL ? NC_EBADID : pnc_dataset_error_report(ds, pnc_dataset_modes_join(ds));
}

bool pncnc_dim_exists(int ncid, const char *name)
{
    const pnc_dataset *ds = pnc_dataset_registry_find(ncid, __func__);

    return ds != NULL && name != NULL && pnc_format_dim_find(&ds->model, name) >= 0;
}

bool pncnc_filter_exists(unsigned id)
{
    const pnc_filter filter = {.id = (int)id};
    pnc_error error = {0};

    return pnc_filter_is_own(filter.id) || (filter.id > 0 && pnc_formats_filter_check(&filter, &error) == NC_NOERR);
}

static _Thread_local pnc_caller call_of_netcdf;

void pncnc_call_begin(const char *name, const char *function, int ncid)
{
    pnc_dataset_caller_begin(&call_of_netcdf, PNC_LANGUAGE_C, name, function, ncid);
}

int pncnc_call_end(int err)
{
    err = pnc_dataset_caller_end(&call_of_netcdf, err);
    switch (err) {
    case NC_ESTRICTCDF2: return NC_EBADTYPE;
    case NC_EINVAL_CMODE: return NC_EINVAL;
    default: return err;
    }
}
