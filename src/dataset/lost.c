/* Reports of what is lost when a file is not closed, or not as it should be. */
#include "dataset/lost.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "dataset/deferred.h"
#include "dataset/last_error.h"
#include "dataset/message.h"
#include "dataset/registry.h"
#include "drivers/driver.h"
#include "file/agree.h"
#include "file/behind.h"
#include "file/finalize.h"
#include "file/log.h"
#include "io/request/queue.h"

static atomic_bool is_watched; /* the function for MPI_Finalize has been added */

/* --- close with pending requests --- */

/* This is reported even if close itself succeeds, or fails with another error. */
int pnc_dataset_lost_discard(pnc_dataset *ds)
{
    pnc_error cause = ds->error;
    int64_t puts, gets;

    pnc_io_queue_clear(ds->io.queue, &puts, &gets);
    if (puts + gets == 0)
        return NC_NOERR;
    pnc_dataset_warning_print(ds,
                              "%lld nonblocking put and %lld get requests still pending on process %d. Cancelling ... "
                              "(call ncmpi_wait_all before ncmpi_close)",
                              (long long)puts, (long long)gets, ds->file.rank);
    pnc_error_clear(&ds->error);
    pnc_error_set(&ds->error, NC_EPENDING,
                  "%s was closed with pending requests: call ncmpi_wait_all before "
                  "ncmpi_close",
                  ds->file.path);
    pnc_dataset_error_report(ds, NC_EPENDING);
    ds->error = cause;
    return NC_EPENDING;
}

/* --- MPI_Finalize before close --- */

/* Only this rank knows its requests. If all ranks of a large program have some, there is a line from each, as from
 * ncmpi_close: a rank cannot find out whether another one prints without waiting for it. */
static int describe_requests(pnc_dataset *ds)
{
    const pnc_queue *queue = ds->io.queue;

    if (queue->pending == 0)
        return NC_NOERR;
    return pnc_error_set(&ds->error, NC_EPENDING,
                         "%lld nonblocking put and %lld get requests pending on process %d are lost: call "
                         "ncmpi_wait_all, and ncmpi_close before MPI_Finalize",
                         (long long)queue->kinds[PNC_PUT].n, (long long)queue->kinds[PNC_GET].n, ds->file.rank);
}

/* In independent mode each rank has a number of its own; otherwise it is in the file. */
static int describe_records(pnc_dataset *ds)
{
    if (!ds->format->numrecs_dirty || ds->mode == PNC_DEFINE)
        return NC_NOERR;
    return pnc_error_set(&ds->error, NC_EPENDING,
                         "the number of records, %lld on process %d, may not be in the file, and later records are "
                         "lost: call ncmpi_close before MPI_Finalize",
                         (long long)ds->model.numrecs, ds->file.rank);
}

/* What all ranks have in common. */
static int describe_file(pnc_dataset *ds)
{
    if (ds->file.rank != 0)
        return NC_NOERR;
    if (ds->mode == PNC_DEFINE)
        return pnc_error_set(&ds->error, NC_EPENDING,
                             ds->format->is_new
                                 ? "it is in define mode, and the definitions since ncmpi_create are lost: call "
                                   "ncmpi_enddef, and ncmpi_close before MPI_Finalize"
                                 : "it is in define mode, and the definitions since ncmpi_redef are lost: call "
                                   "ncmpi_enddef, and ncmpi_close before MPI_Finalize");
    if (ds->suffix == 0)
        return NC_NOERR;
    return pnc_error_set(&ds->error, NC_EPENDING,
                         "the new file keeps its temporary name, with \"%s\" at the end: call ncmpi_close before "
                         "MPI_Finalize",
                         ds->store_path + strlen(ds->file.path));
}

void pnc_dataset_lost_report_name(const pnc_dataset *ds)
{
    if (ds->file.rank == 0 && ds->suffix > 0)
        pnc_dataset_warning_print(ds,
                                  "not closed by all ranks: the new file keeps its temporary name, with \"%s\" at "
                                  "the end",
                                  ds->store_path + strlen(ds->file.path));
}

/* --- delayed writes --- */

/* Seconds that MPI_Finalize waits for the writes of other ranks. A guess: they end their writes first. */
#define FINAL_SECONDS 60

/* Whether the number of records is missing in the file only because it follows the records (nc_write_behind). All
 * ranks of the file have the same answer. */
static bool lacks_number(const pnc_dataset *ds)
{
    return ds->file.behind != NULL && ds->mode == PNC_COLLECTIVE && ds->format->numrecs_dirty &&
           !pnc_file_is_stopped(&ds->file);
}

/* Write what this rank has put. When all ranks have, rank 0 writes the number of records. A rank may have ended
 * otherwise: without it, the number is not written, and no rank blocks. */
static void finish_writes(pnc_dataset *ds)
{
    int *failed = &ds->file.behind->has_failed; /* MPI may use it until the program ends */
    MPI_Request request = MPI_REQUEST_NULL;
    bool lacks;

    *failed = pnc_file_behind_finish(&ds->file, NC_NOERR) != NC_NOERR;
    if (*failed)
        pnc_dataset_warning_print(ds, "open in MPI_Finalize: %s", ds->error.text);
    pnc_error_clear(&ds->error);
    lacks = lacks_number(ds);
    if (pnc_file_is_stopped(&ds->file)) /* other ranks may have closed it */
        return;
    if (!lacks && !pnc_file_log_is_used(&ds->file))
        return;
    if (ds->file.nprocs > 1 &&
        (MPI_Iallreduce(MPI_IN_PLACE, failed, 1, MPI_INT, MPI_MAX, ds->file.comm, &request) != MPI_SUCCESS ||
         !pnc_file_finalize_wait(&request, FINAL_SECONDS)))
        return;
    if (*failed)
        return;
    if (lacks) {
        ds->format->ops->abandon(ds->format);
        ds->format->numrecs_dirty = false;
    }
    pnc_file_log_remove(&ds->file);
}

/* Deferred puts are written if all ranks are here. */
static void write_deferred(pnc_dataset *ds)
{
    int *is_mine = &ds->deferred.is_last; /* as above */
    MPI_Request request = MPI_REQUEST_NULL;
    int64_t calls = ds->deferred.calls;
    int err = NC_EPENDING;

    *is_mine = 1;
    if (pnc_file_is_stopped(&ds->file) ||
        (MPI_Iallreduce(MPI_IN_PLACE, is_mine, 1, MPI_INT, MPI_MIN, ds->file.comm, &request) == MPI_SUCCESS &&
         pnc_file_finalize_wait(&request, FINAL_SECONDS)))
        err = pnc_dataset_deferred_write(ds);
    if (err != NC_NOERR)
        pnc_dataset_warning_print(ds,
                                  "open in MPI_Finalize: the values of %lld collective puts %s: call ncmpi_close "
                                  "before MPI_Finalize",
                                  (long long)calls, pnc_dataset_deferred_get_fate(ds));
}

static void report(pnc_dataset *ds)
{
    int err;

    pnc_error_clear(&ds->error);
    if (ds->deferred.calls > 0)
        write_deferred(ds);
    if (pnc_file_log_has_values(&ds->file) && ds->deferred.calls == 0)
        pnc_file_log_remove(&ds->file);
    pnc_error_clear(&ds->error);
    if (ds->file.behind != NULL)
        finish_writes(ds);
    pnc_error_clear(&ds->error);
    err = describe_requests(ds);
    if (err == NC_NOERR)
        err = describe_records(ds);
    if (err == NC_NOERR)
        err = describe_file(ds);
    if (err != NC_NOERR)
        pnc_dataset_warning_print(ds, "open in MPI_Finalize: %s", ds->error.text);
}

/* --- ranks that are in another call --- */

/* With a time limit the other ranks have an error in time. Threads may use files of the same ranks at once. */
static bool is_missed(const pnc_dataset *ds)
{
    return ds != NULL && ds->safe && ds->file.nprocs > 1 && ds->file.limit == NULL && !pnc_driver_has_threads() &&
           !pnc_file_is_stopped(&ds->file);
}

/* By ncid. */
typedef struct partings {
    MPI_Request requests[NC_MAX_NFILES]; /* MPI_REQUEST_NULL: the file is not missed */
    int64_t values[NC_MAX_NFILES][PNC_FIRST_VALUES];
} partings;

static void end_parting(pnc_dataset *ds, const int64_t *values)
{
    pnc_error_clear(&ds->error);
    if (pnc_file_parting_end(&ds->file, values) != NC_NOERR && (ds->file.rank == 0 || !ds->error.remote))
        pnc_dataset_warning_print(ds, "open in MPI_Finalize: %s", ds->error.text);
}

/* In safe mode: other ranks may wait for this one in ncmpi_close, or another call. */
static void part(void)
{
    static partings all; /* not allocated: the others wait, also without memory */
    int ncid = 0;

    for (int i = 0; i < NC_MAX_NFILES; i++) {
        pnc_dataset *ds = pnc_dataset_registry_peek(i);

        all.requests[i] = MPI_REQUEST_NULL;
        if (is_missed(ds))
            pnc_file_parting_begin(&ds->file, all.values[i], &all.requests[i]);
    }
    while (MPI_Waitany(NC_MAX_NFILES, all.requests, &ncid, MPI_STATUS_IGNORE) == MPI_SUCCESS && ncid != MPI_UNDEFINED)
        end_parting(pnc_dataset_registry_peek(ncid), all.values[ncid]);
}

static int report_all(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    part();
    for (int ncid = 0; ncid < NC_MAX_NFILES; ncid++) {
        pnc_dataset *ds = pnc_dataset_registry_peek(ncid);

        if (ds != NULL)
            report(ds);
    }
    return MPI_SUCCESS;
}

void pnc_dataset_lost_watch(void)
{
    if (!atomic_exchange(&is_watched, true) && !pnc_file_finalize_add(report_all))
        atomic_store(&is_watched, false);
}
