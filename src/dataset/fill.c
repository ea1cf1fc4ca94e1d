/* Filling a record. */
#include "base/memory.h"
#include "dataset/agree.h"
#include "dataset/growing.h"
#include "dataset/header_change.h"
#include "dataset/modes.h"
#include "dataset/records.h"
#include "file/agree.h"
#include "growth/fill.h"

/* CDF-1 and CDF-2 store the number of records in 4 bytes; in CDF-5 the bound is the largest file offset. */
static int check_record(pnc_dataset *ds, int64_t recno)
{
    long long named = pnc_error_get_index(&ds->error, recno);
    int64_t end;

    if (recno < 0)
        return pnc_error_set(&ds->error, NC_EINVAL, "recno is %lld%s: must be at least %lld", named,
                             pnc_error_explain_kind(&ds->error, named), (long long)pnc_error_get_index(&ds->error, 0));
    if ((ds->model.format < 5 && recno >= INT32_MAX) || recno == INT64_MAX ||
        pnc_size_multiply(recno + 1, ds->model.recsize, &end) != 0 || pnc_size_add(end, ds->model.begin_rec, &end) != 0)
        return pnc_error_set(&ds->error, NC_EINVALCOORDS, "recno is %lld%s: too large for a CDF-%d file", named,
                             pnc_error_explain_kind(&ds->error, named), ds->model.format);
    return NC_NOERR;
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
    return check_record(ds, recno);
}

int pnc_dataset_fill_var_rec(pnc_dataset *ds, int varid, MPI_Offset recno)
{
    pnc_argument args[] = {{NC_EMULTIDEFINE_FNC_ARGS, &varid, sizeof varid},
                           {NC_EMULTIDEFINE_FNC_ARGS, &recno, sizeof recno}};
    pnc_growth_io io = pnc_dataset_growing_get_io(&ds->file);
    int err;

    PNC_TRY(pnc_dataset_mode_check_write(ds));
    PNC_TRY(pnc_dataset_mode_check_collective(ds));
    err = check_fill_var_rec(ds, varid, recno);
    PNC_TRY(pnc_dataset_arguments_agree(ds, err, args, 2, PNC_IS_COLLECTIVE));
    PNC_TRY(pnc_dataset_header_restore_before_put(ds, true));
    err = pnc_growth_record_fill(&io, &ds->model, ds->model.vars[varid], recno);
    PNC_TRY(pnc_file_status_agree(&ds->file, err));
    pnc_dataset_numrecs_update(ds, recno + 1);
    return pnc_dataset_numrecs_flush(ds, NC_NOERR);
}
