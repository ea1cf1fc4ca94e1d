/* Writing fill values: one pattern is written repeatedly, so that memory is bounded whatever the size of a variable. */
#include "dataset/fill.h"

#include <string.h>

#include "base/memory.h"
#include "dataset/agree.h"
#include "dataset/modes.h"
#include "dataset/records.h"
#include "file/agree.h"

#define PATTERN_BYTES (1 << 20)

/* A buffer of `bytes` bytes that repeats the variable's fill value. */
static char *make_pattern(const pnc_var *var, int64_t bytes)
{
    int size = (int)pnc_type_get_size(var->type);
    char *pattern = pnc_memory_alloc(bytes, 1), value[8];

    pnc_format_var_get_fill_value(var, value);
    for (int64_t at = 0; at < bytes && pattern != NULL; at += size)
        memcpy(pattern + at, value, (size_t)size);
    return pattern;
}

/* This rank's share of a fixed-size variable or of a record. */
static pnc_extent share_of(const pnc_file *file, const pnc_var *var)
{
    int size = (int)pnc_type_get_size(var->type);
    int64_t elements = var->size / size, share = elements / file->nprocs, extra = elements % file->nprocs;
    int64_t first = share * file->rank + (file->rank < extra ? file->rank : extra);

    return (pnc_extent){var->begin + first * size, (share + (file->rank < extra)) * size};
}

/* Write a pattern of `length` bytes repeatedly. */
static int write_pattern(pnc_file *file, pnc_extent extent, const char *pattern, int64_t length)
{
    for (int64_t at = 0; at < extent.length; at += length) {
        pnc_extent portion = {extent.offset + at, extent.length - at < length ? extent.length - at : length};

        PNC_TRY(pnc_file_range_write(file, portion, pattern));
    }
    return NC_NOERR;
}

int pnc_dataset_var_fill(pnc_file *file, const pnc_model *model, const pnc_var *var, int64_t first, int64_t n)
{
    pnc_extent share = share_of(file, var);
    int64_t length = share.length < PATTERN_BYTES ? share.length : PATTERN_BYTES;
    int err = NC_NOERR;
    char *pattern;

    if (share.length == 0 || n == 0)
        return NC_NOERR;
    pattern = make_pattern(var, length);
    if (pattern == NULL)
        return pnc_error_set(file->error, NC_ENOMEM, "%s: no memory to fill variable \"%s\"", file->path, var->name);
    for (int64_t r = first; r < first + n && err == NC_NOERR; r++)
        err = write_pattern(file, (pnc_extent){share.offset + r * model->recsize, share.length}, pattern, length);
    pnc_memory_free(pattern);
    return err;
}

/* CDF-1 and CDF-2 store the number of records in 4 bytes; in CDF-5 the bound is the largest file offset. */
static int check_record(pnc_dataset *ds, int64_t recno)
{
    long long named = pnc_error_get_index(&ds->error, recno);
    int64_t end;

    if (recno < 0)
        return pnc_error_set(&ds->error, NC_EINVAL, "recno is %lld: must be at least %lld", named,
                             (long long)pnc_error_get_index(&ds->error, 0));
    if ((ds->model.format < 5 && recno >= INT32_MAX) || recno == INT64_MAX ||
        pnc_size_multiply(recno + 1, ds->model.recsize, &end) != 0 || pnc_size_add(end, ds->model.begin_rec, &end) != 0)
        return pnc_error_set(&ds->error, NC_EINVALCOORDS, "recno is %lld: too large for a CDF-%d file", named,
                             ds->model.format);
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
    int err;

    PNC_TRY(pnc_dataset_mode_check_write(ds));
    PNC_TRY(pnc_dataset_mode_check_collective(ds));
    err = check_fill_var_rec(ds, varid, recno);
    PNC_TRY(pnc_dataset_arguments_agree(ds, err, args, 2, PNC_IS_COLLECTIVE));
    err = pnc_dataset_var_fill(&ds->file, &ds->model, ds->model.vars[varid], recno, 1);
    PNC_TRY(pnc_file_status_agree(&ds->file, err));
    pnc_dataset_numrecs_update(ds, recno + 1);
    return pnc_dataset_numrecs_flush(ds);
}
