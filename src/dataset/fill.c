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

int pnc_dataset_var_fill(pnc_dataset *ds, const pnc_var *var, int64_t first, int64_t n)
{
    int size = (int)pnc_type_get_size(var->type);
    int64_t elements = var->size / size, share = elements / ds->file.nprocs, extra = elements % ds->file.nprocs;
    int64_t begin = var->begin + (share * ds->file.rank + (ds->file.rank < extra ? ds->file.rank : extra)) * size;
    int64_t mine = (share + (ds->file.rank < extra)) * size;
    int64_t piece = mine < PATTERN_BYTES ? mine : PATTERN_BYTES;
    int err = NC_NOERR;
    char *pattern;

    if (mine == 0 || n == 0)
        return NC_NOERR;
    pattern = make_pattern(var, piece);
    if (pattern == NULL)
        return pnc_error_set(&ds->error, NC_ENOMEM, "%s: no memory to fill variable \"%s\"", ds->file.path, var->name);
    for (int64_t r = first; r < first + n; r++)
        for (int64_t at = 0; at < mine && err == NC_NOERR; at += piece) {
            pnc_extent extent = {begin + r * ds->model.recsize + at, mine - at < piece ? mine - at : piece};

            err = pnc_file_extents_write(&ds->file, &extent, 1, pattern);
            ds->file.put_size += extent.length;
        }
    pnc_memory_free(pattern);
    return err;
}

/* CDF-1 and CDF-2 store the number of records in 4 bytes; in CDF-5 the bound is the largest file offset. */
static int check_record(pnc_dataset *ds, int64_t recno)
{
    int64_t end;

    if (recno < 0)
        return pnc_error_set(&ds->error, NC_EINVAL, "recno is %lld: must not be negative", (long long)recno);
    if ((ds->model.format < 5 && recno >= INT32_MAX) || recno == INT64_MAX ||
        pnc_size_multiply(recno + 1, ds->model.recsize, &end) != 0 || pnc_size_add(end, ds->model.begin_rec, &end) != 0)
        return pnc_error_set(&ds->error, NC_EINVALCOORDS, "recno is %lld: too large for a CDF-%d file",
                             (long long)recno, ds->model.format);
    return NC_NOERR;
}

/* The attribute _FillValue suffices, although it does not make ncmpi_enddef fill the variable. */
static bool can_be_filled(const pnc_var *var)
{
    return !var->no_fill || pnc_format_atts_find(&var->atts, NC_FillValue) >= 0;
}

int pnc_dataset_fill_var_rec(pnc_dataset *ds, int varid, MPI_Offset recno)
{
    const pnc_var *var;
    int err = pnc_dataset_mode_check_write(ds);

    if (err == NC_NOERR)
        err = pnc_dataset_mode_check_collective(ds);
    if (err != NC_NOERR)
        return err;
    err = pnc_format_var_check(&ds->model, varid, &ds->error);
    if (err == NC_NOERR && !ds->model.vars[varid]->is_record)
        err = pnc_error_set(&ds->error, NC_ENOTRECVAR, "variable \"%s\" has no record dimension",
                            ds->model.vars[varid]->name);
    if (err == NC_NOERR && !can_be_filled(ds->model.vars[varid]))
        err = pnc_error_set(&ds->error, NC_ENOTFILL,
                            "variable \"%s\" is in no-fill mode and has no _FillValue: call "
                            "ncmpi_def_var_fill in define mode",
                            ds->model.vars[varid]->name);
    if (err == NC_NOERR)
        err = check_record(ds, recno);
    pnc_argument args[] = {{NC_EMULTIDEFINE_FNC_ARGS, &varid, sizeof varid},
                           {NC_EMULTIDEFINE_FNC_ARGS, &recno, sizeof recno}};
    err = pnc_dataset_arguments_agree(ds, err, args, 2, PNC_IS_COLLECTIVE);
    if (err != NC_NOERR)
        return err;

    var = ds->model.vars[varid];
    err = pnc_file_status_agree(&ds->file, pnc_dataset_var_fill(ds, var, recno, 1));
    if (err != NC_NOERR)
        return err;
    pnc_dataset_numrecs_update(ds, recno + 1);
    return pnc_dataset_numrecs_flush(ds);
}
