/* Modes of a dataset: the checks at the start of a call, and the calls that change modes. */
#include "dataset/modes.h"

#include "base/memory.h"
#include "base/name.h"

int pnc_dataset_mode_check_write(pnc_dataset *ds)
{
    if (ds->read_only)
        return pnc_error_set(&ds->error, NC_EPERM, "%s was opened read-only: open it with NC_WRITE to change it",
                             ds->path);
    return NC_NOERR;
}

int pnc_dataset_mode_check_define_write(pnc_dataset *ds)
{
    int err = pnc_dataset_mode_check_write(ds);

    return err != NC_NOERR ? err : pnc_dataset_mode_check_define(ds);
}

int pnc_dataset_mode_check_define(pnc_dataset *ds)
{
    if (ds->mode != PNC_DEFINE)
        return pnc_error_set(&ds->error, NC_ENOTINDEFINE, "%s is in data mode: call ncmpi_redef first", ds->path);
    return NC_NOERR;
}

int pnc_dataset_mode_check_data(pnc_dataset *ds)
{
    if (ds->mode == PNC_DEFINE)
        return pnc_error_set(&ds->error, NC_EINDEFINE, "%s is in define mode: call ncmpi_enddef first", ds->path);
    return NC_NOERR;
}

int pnc_dataset_mode_check_collective(pnc_dataset *ds)
{
    int err = pnc_dataset_mode_check_data(ds);

    if (err == NC_NOERR && ds->mode == PNC_INDEPENDENT)
        err = pnc_error_set(&ds->error, NC_EINDEP,
                            "%s is in independent data mode: call ncmpi_end_indep_data before "
                            "collective access",
                            ds->path);
    return err;
}

int pnc_dataset_mode_check_independent(pnc_dataset *ds)
{
    int err = pnc_dataset_mode_check_data(ds);

    if (err == NC_NOERR && ds->mode == PNC_COLLECTIVE)
        err = pnc_error_set(&ds->error, NC_ENOTINDEP,
                            "%s is in collective data mode: call ncmpi_begin_indep_data "
                            "first, or the function that ends in _all",
                            ds->path);
    return err;
}

/* An error about an id that is not in 0..n-1. */
static int no_such(pnc_dataset *ds, int code, const char *what, int id, int n)
{
    if (n == 0)
        return pnc_error_set(&ds->error, code, "%s: no %s with id %d: the file has no %ss", ds->path, what, id, what);
    return pnc_error_set(&ds->error, code, "%s: no %s with id %d (valid: 0..%d)", ds->path, what, id, n - 1);
}

int pnc_dataset_var_reject(pnc_dataset *ds, int varid)
{
    return no_such(ds, NC_ENOTVAR, "variable", varid, ds->model.nvars);
}

int pnc_dataset_dim_check(pnc_dataset *ds, int dimid)
{
    if (dimid < 0 || dimid >= ds->model.ndims)
        return no_such(ds, NC_EBADDIM, "dimension", dimid, ds->model.ndims);
    return NC_NOERR;
}

int pnc_dataset_var_check(pnc_dataset *ds, int varid)
{
    if (varid == NC_GLOBAL)
        return pnc_error_set(&ds->error, NC_EGLOBAL, "varid is NC_GLOBAL: must be the id of a variable");
    if (varid < 0 || varid >= ds->model.nvars)
        return pnc_dataset_var_reject(ds, varid);
    return NC_NOERR;
}

int pnc_dataset_att_find(pnc_dataset *ds, int varid, const char *name, pnc_atts **atts, int *index)
{
    *atts = pnc_format_atts_get(&ds->model, varid);
    if (*atts == NULL)
        return pnc_dataset_var_reject(ds, varid);
    *index = pnc_format_atts_find(*atts, name);
    if (*index < 0)
        return pnc_error_set(&ds->error, pnc_name_explain_missing(name, NC_ENOTATT), "%s%s%s has no attribute \"%.*s\"",
                             ds->path, varid == NC_GLOBAL ? "" : ", variable ",
                             varid == NC_GLOBAL ? "" : ds->model.vars[varid]->name, NC_MAX_NAME,
                             name == NULL ? "" : name);
    return NC_NOERR;
}

int pnc_dataset_begin_indep_data(pnc_dataset *ds)
{
    int err = pnc_dataset_mode_check_data(ds);

    if (err == NC_NOERR)
        ds->mode = PNC_INDEPENDENT;
    return err;
}

int pnc_dataset_end_indep_data(pnc_dataset *ds)
{
    int err = pnc_dataset_mode_check_data(ds);

    if (err != NC_NOERR || ds->mode == PNC_COLLECTIVE)
        return err;
    ds->mode = PNC_COLLECTIVE;
    return ds->read_only ? NC_NOERR : pnc_dataset_numrecs_flush(ds);
}

int pnc_dataset_redef(pnc_dataset *ds)
{
    int err = pnc_dataset_mode_check_write(ds);

    if (err == NC_NOERR)
        err = pnc_dataset_mode_check_data(ds);
    if (err == NC_NOERR)
        err = pnc_dataset_end_indep_data(ds);
    if (err != NC_NOERR)
        return err;
    ds->before = pnc_memory_alloc_zeroed(1, sizeof *ds->before);
    err = ds->before == NULL ? NC_ENOMEM : pnc_format_model_copy(ds->before, &ds->model);
    if (err != NC_NOERR)
        pnc_error_set(&ds->error, err, "%s: no memory for a copy of the definitions", ds->path);
    err = pnc_dataset_status_agree(ds, err);
    if (err == NC_NOERR) {
        ds->mode = PNC_DEFINE;
    } else {
        if (ds->before != NULL)
            pnc_format_model_free(ds->before);
        pnc_memory_free(ds->before);
        ds->before = NULL;
    }
    return err;
}

int pnc_dataset_numrecs_agree(pnc_dataset *ds)
{
    int64_t mine[2] = {ds->model.numrecs, ds->numrecs_dirty}, all[2] = {mine[0], mine[1]};

    if (ds->nprocs > 1 && MPI_Allreduce(mine, all, 2, MPI_INT64_T, MPI_MAX, ds->comm) != MPI_SUCCESS)
        return pnc_error_set(&ds->error, NC_EMPI, "%s: MPI_Allreduce of the number of records failed", ds->path);
    ds->model.numrecs = all[0];
    ds->numrecs_dirty = all[1] != 0;
    return NC_NOERR;
}

int pnc_dataset_numrecs_flush(pnc_dataset *ds)
{
    int err = pnc_dataset_numrecs_agree(ds);

    return err == NC_NOERR && ds->numrecs_dirty ? pnc_dataset_numrecs_write(ds) : err;
}

int pnc_dataset_sync_numrecs(pnc_dataset *ds)
{
    int err = pnc_dataset_mode_check_data(ds);

    return err != NC_NOERR || ds->read_only ? err : pnc_dataset_numrecs_flush(ds);
}

int pnc_dataset_sync(pnc_dataset *ds)
{
    int err = pnc_dataset_mode_check_data(ds), late;

    if (err != NC_NOERR || ds->read_only)
        return err;
    err = pnc_dataset_numrecs_flush(ds);
    late = ds->store->ops->sync(ds->store, &ds->error);
    return pnc_dataset_status_agree(ds, err != NC_NOERR ? err : late);
}

int pnc_dataset_flush(pnc_dataset *ds)
{
    return ds->read_only ? NC_NOERR : pnc_dataset_status_agree(ds, ds->store->ops->sync(ds->store, &ds->error));
}
