/* Collective puts that a later call writes: when, and the number of records meanwhile. The program sees it grow with
 * each put, and the file gets it when the records are written. */
#include "dataset/deferred.h"

#include "dataset/access.h"
#include "dataset/logged.h"
#include "file/agree.h"
#include "file/behind.h"
#include "statistics/statistics.h"

void pnc_dataset_deferred_init(pnc_dataset *ds)
{
    bool is_on = ds->hints.defer_puts != 0 && !ds->file.read_only && !ds->share;

    ds->deferred.most = is_on ? ds->hints.deferred_memory : 0;
}

/* The file has no values of the records, nor their number. */
static void restore_numrecs(pnc_dataset *ds)
{
    const pnc_deferred *d = &ds->deferred;

    if (!ds->format->numrecs_dirty)
        return;
    ds->model.numrecs = ds->file.numrecs = d->numrecs;
    ds->format->numrecs_dirty = d->was_dirty;
}

static int fail_write(pnc_dataset *ds, int varid, int err)
{
    restore_numrecs(ds);
    if (varid >= 0)
        pnc_error_add_context(&ds->error, "puts of earlier calls (nc_defer_puts), the first one of variable \"%s\"",
                              ds->model.vars[varid]->name);
    else
        pnc_error_add_context(&ds->error, "puts of earlier calls (nc_defer_puts)");
    return err;
}

/* Those of earlier calls, n on this rank. With delayed writes the number of records follows later. Collective, but
 * after calls that do not match each rank writes its own: it keeps them when they turn out not to match. */
static int write_earlier(pnc_dataset *ds, int64_t n)
{
    pnc_deferred *d = &ds->deferred;
    pnc_request_list list = pnc_io_deferred_get(d, n);
    int varid = n > 0 ? list.at[0]->elements.varid : -1, err;

    list.collective = !pnc_file_is_stopped(&ds->file);
    pnc_statistics_add(ds->file.statistics, PNC_COUNT_DEFERRED_WRITES, 1);
    err = pnc_dataset_list_transfer(ds, &list);
    if (list.collective && pnc_file_is_stopped(&ds->file))
        return err;
    d->calls = 0;
    d->ranges.n = 0;
    pnc_io_deferred_remove(&ds->io, d, 0, n);
    if (err == NC_NOERR && !list.collective)
        err = pnc_file_behind_finish(&ds->file, NC_NOERR);
    if (err != NC_NOERR)
        return fail_write(ds, varid, err);
    if (!list.collective || !ds->format->numrecs_dirty || ds->file.behind != NULL)
        return NC_NOERR;
    return ds->format->ops->flush(ds->format, NC_NOERR, NULL);
}

const char *pnc_dataset_deferred_get_fate(const pnc_dataset *ds)
{
    return pnc_file_log_has_values(&ds->file) ? "are in logs (nc_burst_buf), which ncmpilog --replay writes to the file"
                                              : "(nc_defer_puts) are lost";
}

int pnc_dataset_deferred_write_all(pnc_dataset *ds)
{
    if (pnc_file_log_has_values(&ds->file))
        return pnc_dataset_logged_write(ds);
    return write_earlier(ds, ds->deferred.n);
}

static int keep_puts(pnc_dataset *ds, const pnc_request_list *list, const pnc_deferral *call)
{
    pnc_deferred *d = &ds->deferred;

    if (d->calls == 0) {
        d->numrecs = ds->model.numrecs;
        d->was_dirty = ds->format->numrecs_dirty;
    }
    pnc_io_deferred_keep(d, call);
    pnc_statistics_add(ds->file.statistics, PNC_COUNT_DEFERRED_PUTS, 1);
    pnc_statistics_add(ds->file.statistics, PNC_COUNT_DEFERRED_BYTES, list->summary.bytes);
    return pnc_dataset_lengths_add(ds, list, call->numrecs);
}

/* A new record begins a new step of most programs: with delayed writes, the last one is written while the program
 * computes the next. */
static bool begins_step(const pnc_dataset *ds, const pnc_deferral *call)
{
    return ds->file.behind != NULL && call->numrecs > ds->model.numrecs;
}

static int defer_puts(pnc_dataset *ds, pnc_request_list *list)
{
    pnc_deferred *d = &ds->deferred;
    pnc_deferral call;
    int64_t first;
    int err = NC_NOERR;

    PNC_TRY(pnc_io_deferred_add(&ds->io, d, list, &call));
    if (d->calls > 0 && (call.overlaps || call.writes || begins_step(ds, &call)))
        err = write_earlier(ds, call.first);
    if (err == NC_NOERR && !call.writes)
        return keep_puts(ds, list, &call);
    first = d->calls > 0 ? call.first : 0;
    pnc_io_deferred_remove(&ds->io, d, first, d->n - first);
    if (err != NC_NOERR)
        return err;
    list->out_of_range = NULL;
    list->others = 0;
    return pnc_dataset_list_transfer(ds, list);
}

int pnc_dataset_deferred_transfer(pnc_dataset *ds, pnc_request_list *list)
{
    bool overlaps = false;

    if (list->direction == PNC_PUT)
        return defer_puts(ds, list);
    if (ds->deferred.calls > 0)
        PNC_TRY(pnc_io_deferred_compare(&ds->io, &ds->deferred, list, &overlaps));
    if (overlaps)
        PNC_TRY(pnc_dataset_deferred_write(ds));
    return pnc_dataset_list_transfer(ds, list);
}
