/* Modes of a dataset: the checks at the start of a call, and the calls that change modes. */
#include "dataset/modes.h"

#include "dataset/deferred.h"
#include "dataset/logged.h"
#include "dataset/united.h"
#include "file/agree.h"
#include "file/behind.h"
#include "file/value_log.h"

int pnc_dataset_mode_check_write(pnc_dataset *ds)
{
    if (ds->file.read_only)
        return pnc_error_set(&ds->error, NC_EPERM, "%s was opened read-only: open it with NC_WRITE to change it",
                             ds->file.path);
    return NC_NOERR;
}

bool pnc_dataset_mode_allows_fill(const pnc_dataset *ds, int varid)
{
    bool is_new = ds->format->before == NULL || varid >= ds->format->before->nvars;

    return is_new || (ds->united.is_on && !ds->format->ops->has_storage);
}

int pnc_dataset_mode_check_define_write(pnc_dataset *ds)
{
    PNC_TRY(pnc_dataset_mode_check_write(ds));
    return pnc_dataset_mode_check_define(ds);
}

int pnc_dataset_mode_check_define(pnc_dataset *ds)
{
    if (ds->mode != PNC_DEFINE)
        return pnc_error_set(&ds->error, NC_ENOTINDEFINE, "%s is in data mode: call ncmpi_redef first", ds->file.path);
    return NC_NOERR;
}

int pnc_dataset_mode_check_data(pnc_dataset *ds)
{
    if (ds->mode == PNC_DEFINE)
        return pnc_error_set(&ds->error, NC_EINDEFINE, "%s is in define mode: call ncmpi_enddef first", ds->file.path);
    return NC_NOERR;
}

int pnc_dataset_mode_check_collective(pnc_dataset *ds)
{
    PNC_TRY(pnc_dataset_mode_check_data(ds));
    if (ds->mode == PNC_INDEPENDENT)
        return pnc_error_set(&ds->error, NC_EINDEP,
                             "%s is in independent data mode: call ncmpi_end_indep_data before "
                             "collective access",
                             ds->file.path);
    return NC_NOERR;
}

int pnc_dataset_mode_check_independent(pnc_dataset *ds)
{
    PNC_TRY(pnc_dataset_mode_check_data(ds));
    if (ds->mode == PNC_COLLECTIVE && !ds->united.is_on)
        return pnc_error_set(&ds->error, NC_ENOTINDEP,
                             "%s is in collective data mode: call ncmpi_begin_indep_data "
                             "first, or the function that ends in _all",
                             ds->file.path);
    return NC_NOERR;
}

/* After calls that do not match, each rank for itself. */
static int finish_puts(pnc_dataset *ds)
{
    return pnc_file_is_stopped(&ds->file) ? pnc_file_behind_finish(&ds->file, NC_NOERR)
                                          : pnc_file_behind_agree(&ds->file, NC_NOERR);
}

/* The file has then what was put, but for the caches of the file system. */
static int flush_puts(pnc_dataset *ds, bool *unsynced)
{
    pnc_file_value_log_set_time(&ds->file);
    PNC_TRY(ds->format->ops->flush(ds->format, NC_NOERR, unsynced));
    pnc_file_change_add(&ds->file);
    ds->same_file.has_put = false;
    pnc_dataset_united_clear(ds);
    return NC_NOERR;
}

/* An error of the last step may be one of this rank alone: the mode is the same on all ranks, so that they take part in
 * the flush of ncmpi_end_indep_data. */
int pnc_dataset_begin_indep_data(pnc_dataset *ds)
{
    int err = NC_NOERR;

    PNC_TRY(pnc_dataset_mode_check_data(ds));
    PNC_TRY(pnc_dataset_deferred_write(ds));
    if (ds->mode == PNC_COLLECTIVE && ds->file.behind != NULL)
        PNC_TRY(finish_puts(ds));
    if (ds->mode == PNC_COLLECTIVE)
        err = ds->format->ops->prepare(ds->format);
    if (!ds->file.call.mismatch)
        ds->mode = PNC_INDEPENDENT;
    return err;
}

int pnc_dataset_end_indep_data(pnc_dataset *ds)
{
    int err = NC_NOERR;

    PNC_TRY(pnc_dataset_mode_check_data(ds));
    if (ds->mode == PNC_COLLECTIVE)
        return NC_NOERR;
    pnc_file_ahead_discard(&ds->file);
    if (!ds->file.read_only)
        err = flush_puts(ds, NULL);
    if (!ds->file.call.mismatch)
        ds->mode = PNC_COLLECTIVE;
    return err;
}

/* The ranks agree on the number of records, of which each has its own in independent mode. */
int pnc_dataset_redef(pnc_dataset *ds)
{
    int err;

    PNC_TRY(pnc_dataset_mode_check_write(ds));
    PNC_TRY(pnc_dataset_mode_check_data(ds));
    PNC_TRY(pnc_dataset_deferred_write(ds));
    pnc_file_ahead_discard(&ds->file);
    err = pnc_formats_before_keep(ds->format);
    err = ds->format->ops->redef(ds->format, err);
    if (err == NC_NOERR) {
        ds->mode = PNC_DEFINE;
        ds->same_file.has_put = false;
        pnc_dataset_united_clear(ds);
    } else {
        pnc_formats_before_restore(ds->format);
    }
    return err;
}

/* If no rank has changed the file since the last flush there is nothing to flush. */
int pnc_dataset_sync(pnc_dataset *ds)
{
    bool unsynced = true;
    int err, synced;

    PNC_TRY(pnc_dataset_mode_check_data(ds));
    PNC_TRY(pnc_dataset_deferred_write(ds));
    pnc_file_ahead_discard(&ds->file);
    if (ds->file.read_only)
        return NC_NOERR;
    PNC_TRY(ds->format->ops->restore(ds->format));
    err = flush_puts(ds, &unsynced);
    if (ds->file.call.mismatch || !unsynced)
        return err;
    synced = pnc_file_data_sync(&ds->file);
    return pnc_file_status_agree(&ds->file, pnc_error_keep_first(err, synced));
}

static int sync_numrecs(pnc_dataset *ds)
{
    PNC_TRY(pnc_dataset_mode_check_data(ds));
    PNC_TRY(pnc_dataset_deferred_write(ds));
    pnc_file_ahead_discard(&ds->file);
    return ds->file.read_only ? NC_NOERR : flush_puts(ds, NULL);
}

/* In collective mode each call that changes the number of records agrees on it and writes it: all ranks know that there
 * is nothing to do. In safe mode they compare their calls. */
int pnc_dataset_sync_numrecs(pnc_dataset *ds)
{
    bool is_synced = ds->mode == PNC_COLLECTIVE && !ds->united.is_on && !ds->format->numrecs_dirty && !ds->safe;

    return is_synced ? NC_NOERR : sync_numrecs(ds);
}

/* Collective. Independent puts of values that a format keeps at the rank that put them take effect before later ones of
 * other ranks. */
static int publish_puts(pnc_dataset *ds)
{
    bool may_wait = (ds->mode == PNC_INDEPENDENT || ds->united.is_on) && ds->format->ops->has_storage;

    return may_wait ? ds->format->ops->prepare(ds->format) : NC_NOERR;
}

/* MPI_File_sync is collective: the first agreement finds ranks that are in another call. */
int pnc_dataset_flush(pnc_dataset *ds)
{
    int err;

    pnc_file_ahead_discard(&ds->file);
    if (ds->file.read_only)
        return NC_NOERR;
    if (pnc_file_log_has_values(&ds->file) && ds->deferred.calls > 0)
        return pnc_dataset_logged_sync(ds);
    PNC_TRY(pnc_dataset_deferred_write(ds));
    if (pnc_file_log_is_used(&ds->file))
        return pnc_file_log_sync(&ds->file);
    PNC_TRY(pnc_file_status_agree(&ds->file, NC_NOERR));
    PNC_TRY(publish_puts(ds));
    err = pnc_file_data_sync(&ds->file);
    return pnc_file_status_agree(&ds->file, err);
}
