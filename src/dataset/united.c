/* Independent and collective calls in the same mode: who sees which values when. */
#include "dataset/united.h"

#include <string.h>

#include "base/memory.h"
#include "dataset/last_error.h"
#include "file/agree.h"
#include "file/behind.h"
#include "file/log.h"
#include "io/chunked/chunked.h"

/* The display of hints has said, when the file was opened, that they are used. */
static void reject_logs(pnc_dataset *ds)
{
    static const char why[] = "an independent call could not write what the logs have into a netCDF-4 file";

    pnc_file_log_reject(&ds->file, why);
    pnc_error_set(&ds->error, NC_NOERR, "%s: nc_burst_buf has no effect: %s", ds->file.path, why);
    pnc_dataset_remark_report(ds, ds->hints.access.display);
}

int pnc_dataset_modes_join(pnc_dataset *ds)
{
    ds->united.is_on = true;
    ds->model.casts = true;
    ds->deferred.most = 0; /* an independent call could not write the puts before it */
    if (ds->file.nprocs > 1 && pnc_file_log_is_for_values(&ds->file))
        reject_logs(ds);
    return NC_NOERR;
}

static bool is_needed(const pnc_dataset *ds)
{
    return ds->united.is_on && ds->file.nprocs > 1 && !ds->file.read_only;
}

/* Collective. If any rank has independent puts that others do not see, all ranks see them afterwards. */
static int publish(pnc_dataset *ds)
{
    int64_t has = ds->united.has_puts;
    int err;

    PNC_TRY(pnc_file_maxima_agree(&ds->file, &has, 1, "whether independent puts wait"));
    if (has == 0)
        return NC_NOERR;
    pnc_file_ahead_discard(&ds->file);
    err = ds->format->ops->has_storage ? ds->format->ops->prepare(ds->format)
                                       : ds->format->ops->flush(ds->format, NC_NOERR, NULL);
    if (err == NC_NOERR)
        pnc_dataset_united_clear(ds);
    return err;
}

static bool may_wait(const pnc_united *u, int varid)
{
    return u->all_wait || (varid < u->nvars && u->waits[varid]);
}

int pnc_dataset_united_begin(pnc_dataset *ds, bool collective)
{
    if (!is_needed(ds))
        return NC_NOERR;
    ds->united.numrecs = ds->model.numrecs;
    return collective ? publish(ds) : NC_NOERR;
}

static int fail_for_waiting(pnc_dataset *ds, int varid)
{
    return pnc_error_set(&ds->error, NC_EINDEP,
                         "%s: variable \"%s\": values of a collective put may wait at other ranks, where independent "
                         "access does not see them: call nc_sync on all ranks before, or access the variable "
                         "collectively",
                         ds->file.path, ds->model.vars[varid]->name);
}

int pnc_dataset_united_check(pnc_dataset *ds, const pnc_request_list *list)
{
    if (!is_needed(ds) || list->collective)
        return NC_NOERR;
    for (int64_t i = 0; i < list->n; i++) {
        int varid = list->at[i]->elements.varid;

        /* a put of chunks takes effect after those before it */
        if (list->direction == PNC_PUT && pnc_io_chunked_has_var(&ds->io, varid))
            continue;
        if (list->at[i]->elements.count > 0 && may_wait(&ds->united, varid))
            return fail_for_waiting(ds, varid);
    }
    return NC_NOERR;
}

int pnc_dataset_united_check_var(pnc_dataset *ds, int varid)
{
    return is_needed(ds) && may_wait(&ds->united, varid) ? fail_for_waiting(ds, varid) : NC_NOERR;
}

/* Without memory, all variables may have values that wait. */
static void mark_waiting(pnc_dataset *ds, int varid)
{
    pnc_united *u = &ds->united;

    if (u->waits == NULL) {
        u->nvars = ds->model.nvars;
        u->waits = pnc_memory_alloc_zeroed(u->nvars, sizeof *u->waits);
        if (u->waits == NULL)
            u->nvars = 0;
    }
    if (varid < u->nvars)
        u->waits[varid] = true;
    else
        u->all_wait = true;
}

/* The ranks of a collective put name the same variable, perhaps without values. */
void pnc_dataset_united_end(pnc_dataset *ds, const pnc_request_list *list)
{
    if (!is_needed(ds))
        return;
    for (int64_t i = 0; i < list->n; i++) {
        int varid = list->at[i]->elements.varid;
        bool is_chunked = pnc_io_chunked_has_var(&ds->io, varid);

        if (!list->collective)
            ds->united.has_puts |= is_chunked || ds->model.numrecs > ds->united.numrecs;
        else if (is_chunked || ds->file.behind != NULL)
            mark_waiting(ds, varid);
    }
    if (list->collective && list->n == 0)
        ds->united.all_wait = true; /* an error in the arguments: its variable is not known */
}

void pnc_dataset_united_add_var(pnc_dataset *ds, bool collective, int varid)
{
    if (!is_needed(ds))
        return;
    if (!collective)
        ds->united.has_puts = true;
    else if (varid >= 0)
        mark_waiting(ds, varid);
    else
        ds->united.all_wait = true;
}

void pnc_dataset_united_free(pnc_dataset *ds)
{
    pnc_memory_free(ds->united.waits);
    ds->united.waits = NULL;
    ds->united.nvars = 0;
}

void pnc_dataset_united_clear(pnc_dataset *ds)
{
    pnc_dataset_united_free(ds);
    ds->united.has_puts = ds->united.all_wait = false;
}
