/* Filling a record. */
#include "dataset/agree.h"
#include "dataset/deferred.h"
#include "dataset/modes.h"
#include "file/behind.h"

static int check_recno(pnc_dataset *ds, int64_t recno)
{
    long long named = pnc_error_get_index(&ds->error, recno);

    if (recno >= 0)
        return ds->format->ops->check_record(ds->format, recno);
    return pnc_error_set(&ds->error, NC_EINVAL, "recno is %lld%s: must be at least %lld", named,
                         pnc_error_explain_kind(&ds->error, named), (long long)pnc_error_get_index(&ds->error, 0));
}

/* The attribute _FillValue suffices, although it does not make ncmpi_enddef fill the variable. */
static bool can_be_filled(const pnc_var *var)
{
    return !var->no_fill || pnc_format_atts_find(&var->atts, NC_FillValue) >= 0;
}

static int check_fill_var_rec(pnc_dataset *ds, int varid, int64_t recno)
{
    const pnc_var *var;

    PNC_TRY(pnc_format_var_check(&ds->model, varid, &ds->error));
    var = ds->model.vars[varid];
    if (!var->is_record)
        return pnc_error_set(&ds->error, NC_ENOTRECVAR, "variable \"%s\" has no record dimension", var->name);
    if (!can_be_filled(var))
        return pnc_error_set(&ds->error, NC_ENOTFILL,
                             "variable \"%s\" is in no-fill mode and has no _FillValue: call "
                             "ncmpi_def_var_fill in define mode",
                             var->name);
    return check_recno(ds, recno);
}

int pnc_dataset_fill_var_rec(pnc_dataset *ds, int varid, MPI_Offset recno)
{
    pnc_argument args[] = {{NC_EMULTIDEFINE_FNC_ARGS, &varid, sizeof varid},
                           {NC_EMULTIDEFINE_FNC_ARGS, &recno, sizeof recno}};
    int err;

    PNC_TRY(pnc_dataset_mode_check_write(ds));
    PNC_TRY(pnc_dataset_mode_check_collective(ds));
    err = check_fill_var_rec(ds, varid, recno);
    PNC_TRY(pnc_dataset_arguments_agree(ds, err, args, 2, PNC_IS_COLLECTIVE));
    PNC_TRY(pnc_dataset_deferred_write(ds));
    pnc_file_ahead_discard(&ds->file);
    if (ds->file.behind != NULL)
        PNC_TRY(pnc_file_behind_agree(&ds->file, NC_NOERR));
    return ds->format->ops->fill_record(ds->format, varid, recno);
}
