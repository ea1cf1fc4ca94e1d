/* From create or open to close: the dataset struct and everything that is decided once per file. */
#include "dataset/lifecycle.h"

#include <stdatomic.h>

#include "dataset/checksum.h"
#include "dataset/deferred.h"
#include "dataset/hints.h"
#include "dataset/hints_show.h"
#include "dataset/last_error.h"
#include "dataset/lost.h"
#include "dataset/message.h"
#include "dataset/mpi_state.h"
#include "dataset/opening.h"
#include "dataset/patterns.h"
#include "dataset/references_file.h"
#include "dataset/registry.h"
#include "dataset/same_file.h"
#include "dataset/statistics.h"
#include "dataset/storage_hints.h"
#include "file/agree.h"
#include "file/behind.h"
#include "file/log.h"
#include "file/writer.h"
#include "io/chunked/chunked.h"
#include "io/request/queue.h"

static atomic_int default_format = NC_FORMAT_CLASSIC;

int pnc_dataset_default_format_get(void)
{
    return default_format;
}

int pnc_dataset_default_format_set(int format, int *old, pnc_error *error)
{
    int before;

    PNC_TRY(pnc_formats_version_check(format, error));
    before = atomic_exchange(&default_format, format);
    if (old != NULL)
        *old = before;
    return NC_NOERR;
}

static void set_modes(pnc_dataset *ds, const pnc_opening *o)
{
    ds->mode = o->creates ? PNC_DEFINE : PNC_COLLECTIVE;
    ds->file.read_only = !o->creates && (o->mode & NC_WRITE) == 0;
    ds->replaces = (o->mode & NC_NOCLOBBER) == 0;
    ds->share = (o->mode & NC_SHARE) != 0;
}

/* For messages about delayed writes. */
static const char *find_variable_name(const void *of, int64_t offset)
{
    const pnc_dataset *ds = of;

    for (int i = 0; i < ds->model.nvars; i++) {
        const pnc_mapping mapping = pnc_io_context_get_mapping(&ds->io, i);

        if (!pnc_io_chunked_has_var(&ds->io, i) && pnc_mapping_has_address(&mapping, offset))
            return ds->model.vars[i]->name;
    }
    return NULL;
}

/* Delay writes and read ahead as the hints say. The logs of a netCDF-4 file have values, and nothing of them waits in
 * its store. A file that is replaced has no values in older logs. Local. */
static void begin_behind(pnc_dataset *ds, const pnc_opening *o)
{
    bool logs = o->delays && ds->hints.burst_buf != 0, of_values = logs && ds->format->ops->has_storage;
    bool delays = o->delays && ds->hints.write_behind != 0, needs_memory = delays || o->reads_ahead;
    char folder[MPI_MAX_INFO_VAL + 1];
    bool is_given;

    pnc_file_behind_init(&ds->file, delays || (logs && !of_values), o->reads_ahead,
                         needs_memory ? ds->hints.behind_memory : PNC_LARGE_PAGE);
    if (ds->file.rank == 0 && o->creates && ds->suffix == 0 && ds->file.driver->local_path != NULL)
        pnc_file_log_mark_remove(ds->file.path);
    if (!logs || !pnc_file_log_is_possible(&ds->file))
        return;
    is_given = pnc_dataset_hints_get(ds->info, "nc_burst_buf_dirname", folder) && folder[0] != '\0';
    pnc_file_log_init(&ds->file, ds->store_path, is_given ? folder : NULL, ds->hints.burst_buf_size, delays,
                      of_values ? NULL : &ds->model.classic.header_size);
}

static int create_format(pnc_dataset *ds, const pnc_opening *o)
{
    ds->format->asked = o->asked;
    return pnc_formats_file_create(ds->format, o->format);
}

/* Open the file, make or read the definitions, and assign an ncid. Collective; err is the result so far of this rank.
 * After an error on any rank, all ranks have closed the file. */
static int open_file(pnc_dataset *ds, const pnc_opening *o, int err)
{
    pnc_open_call call = {.driver = ds->file.driver,
                          .comm = ds->file.comm,
                          .path = ds->store_path,
                          .purpose = ds->suffix > 0 ? PNC_OPEN_NEW : pnc_dataset_opening_get_purpose(o),
                          .info = pnc_dataset_hints_create_passed(ds),
                          .truncation = o->inspected.truncation,
                          .prefix = o->inspected.prefix,
                          .creation = o->inspected.creation,
                          .is_leader = ds->file.nodes != NULL && ds->file.nodes->is_leader,
                          .inherits = ds->hints.inherits_striping != 0,
                          .expected_size = ds->hints.expected_size};
    int opened;

    ds->hints.format.encodes_behind = o->delays && ds->hints.write_behind != 0;
    opened = ds->file.driver->open(&call, ds->file.store, &ds->error);
    if (call.info != MPI_INFO_NULL)
        MPI_Info_free(&call.info);
    err = pnc_error_keep_first(err, opened);
    if (!o->creates)
        err = pnc_formats_file_load(ds->format, err);
    else if (err == NC_NOERR)
        err = create_format(ds, o);
    if (ds->format->ops != NULL)
        ds->io.addressing = ds->format->ops->addressing;
    if (ds->format->ops == NULL || !ds->format->ops->has_one_writer)
        pnc_file_writer_end(&ds->file); /* that of a file which was replaced */
    if (err == NC_NOERR)
        err = pnc_dataset_registry_add(ds, &ds->ncid);
    err = pnc_dataset_opening_end(o, ds, err);
    if (err == NC_NOERR) {
        begin_behind(ds, o);
        pnc_file_behind_set_names(&ds->file, find_variable_name, ds);
        pnc_dataset_deferred_init(ds);
        return NC_NOERR;
    }
    if (ds->ncid >= 0)
        pnc_dataset_registry_remove(ds->ncid);
    ds->file.store->ops->close(ds->file.store, &ds->error);
    ds->file.store = NULL;
    return err;
}

static void report_remark(pnc_dataset *ds)
{
    if (ds->format->ops->remark(ds->format))
        pnc_dataset_remark_report(ds, false);
}

/* Other writers may write names that callers cannot pass. */
static void report_bad_names(pnc_dataset *ds)
{
    if (pnc_format_names_check(&ds->model, &ds->error) == NC_NOERR)
        return;
    ds->error.code = NC_NOERR;
    pnc_dataset_remark_report(ds, false);
}

/* At the end of a successful create or open: report different modes of ranks. */
static int report_mismatch(pnc_dataset *ds, int mismatch)
{
    if (mismatch != NC_NOERR)
        pnc_error_set(&ds->error, mismatch, "rank %d and rank 0 passed different modes: rank 0's mode is used",
                      ds->file.rank);
    return pnc_dataset_error_report(ds, mismatch);
}

static int open_or_create(pnc_opening *o, int *ncidp)
{
    pnc_dataset *ds;
    int late, err;

    PNC_TRY(pnc_dataset_mpi_state_check(o->call, o->path, o->comm));
    if (!o->creates)
        pnc_dataset_same_file_write(o->path);
    if (!pnc_driver_has_threads())
        pnc_behind_queues_release();
    PNC_TRY(pnc_dataset_opening_begin(o, &ds, &late));
    err = pnc_dataset_opening_check_mode(ds, o); /* the same on all ranks, like what rank 0 has found */
    if (err == NC_NOERR)
        err = pnc_error_copy(&ds->error, &o->inspected.error, ds->file.rank != 0);
    if (err == NC_NOERR) {
        set_modes(ds, o);
        err = open_file(ds, o, late);
    }
    if (err != NC_NOERR)
        return pnc_dataset_opening_discard(ds, err);
    *ncidp = ds->ncid;
    pnc_dataset_same_file_find(ds);
    pnc_dataset_patterns_add(ds); /* MPI_Finalize calls what was added last first: other ranks may wait for that */
    pnc_dataset_lost_watch();
    pnc_dataset_opening_report(ds);
    pnc_dataset_references_begin(ds);
    pnc_dataset_statistics_open(ds);
    pnc_dataset_hints_display(ds);
    if (!o->creates) {
        ds->nvars_found = ds->model.nvars;
        pnc_dataset_storage_hints_adopt(ds);
        report_bad_names(ds);
        report_remark(ds);
    }
    pnc_dataset_hints_check(ds); /* ncmpi_inq_last_error returns the last remark: a hint is easier to correct */
    return report_mismatch(ds, o->mismatch);
}

int pnc_dataset_create(MPI_Comm comm, const char *path, int cmode, MPI_Info info, int *ncidp)
{
    pnc_opening o = {.call = "ncmpi_create",
                     .creates = true,
                     .comm = comm,
                     .path = path,
                     .info = info,
                     .ncidp = ncidp,
                     .mode = cmode,
                     .format = default_format};

    return open_or_create(&o, ncidp);
}

int pnc_dataset_open(MPI_Comm comm, const char *path, int omode, MPI_Info info, int *ncidp)
{
    pnc_opening o = {.call = "ncmpi_open", .comm = comm, .path = path, .info = info, .ncidp = ncidp, .mode = omode};

    return open_or_create(&o, ncidp);
}

int pnc_dataset_delete(const char *path, MPI_Info info, pnc_error *error)
{
    const pnc_store_ops *driver;
    pnc_driver_stack stack;

    if (path == NULL || path[0] == '\0')
        return pnc_error_set(error, NC_EBAD_FILE, "the file name is empty");
    PNC_TRY(pnc_dataset_hints_choose_driver(path, info, &stack, &driver, error));
    if (driver->local_path == NULL)
        return driver->remove(path, info, error);
    PNC_TRY(driver->remove(path, info, error));
    pnc_file_log_mark_remove(path);
    return NC_NOERR;
}

/* At the end of a close or abort: report the error of this rank, or that of another one, and free the dataset. A file
 * that was only read has lost nothing: a rank that cannot close it is the only one to report it, as another agreement
 * would take a collective step. */
static int finish(pnc_dataset *ds, int err)
{
    if (!ds->file.read_only)
        err = pnc_file_status_agree(&ds->file, err);
    err = pnc_dataset_error_report(ds, err);
    pnc_dataset_registry_remove(ds->ncid);
    pnc_dataset_state_free(ds);
    return err;
}

/* Close the store and free the dataset, even if the call has failed before. */
static int close_file(pnc_dataset *ds, int err)
{
    int own = pnc_io_context_close(&ds->io), closed;

    pnc_file_change_add(&ds->file);
    pnc_dataset_statistics_report(ds);
    closed = ds->file.store->ops->close(ds->file.store, &ds->error);
    pnc_file_writer_end(&ds->file); /* before another rank returns, which may open the file again */
    err = pnc_error_keep_first(err, own);
    err = pnc_error_keep_first(err, closed);
    return finish(ds, pnc_dataset_references_write(ds, err));
}

/* Close and delete a file whose first ncmpi_enddef has not completed. */
static int delete_file(pnc_dataset *ds, int err)
{
    pnc_store *store = ds->file.store; /* perhaps one that the format has put in front of the driver's */
    int closed;

    pnc_dataset_statistics_report(ds);
    if (store->ops->discard != NULL) {
        closed = store->ops->discard(store, ds->info, &ds->error);
        pnc_file_writer_end(&ds->file);
        return finish(ds, pnc_error_keep_first(err, closed));
    }
    closed = store->ops->close(store, &ds->error);
    err = pnc_error_keep_first(err, closed);
    if (ds->file.rank == 0)
        err = pnc_error_keep_first(err, ds->file.driver->remove(ds->file.path, ds->info, &ds->error));
    pnc_file_writer_end(&ds->file);
    return finish(ds, err);
}

/* A new file with a temporary name gets its own, when all of it is on disk. After an error on any rank it keeps the
 * temporary one, and no file is replaced. Collective. */
static int publish_file(pnc_dataset *ds, int err, int pending)
{
    int synced, lost = pnc_error_keep_first(ds->file.lost_put, pending);

    if (ds->suffix == 0)
        return err;
    if (err == NC_NOERR && lost != NC_NOERR)
        err = pnc_error_set(&ds->error, lost, "%s: not all data were written: the new file keeps the name %s",
                            ds->file.path, ds->store_path);
    synced = pnc_file_data_sync(&ds->file);
    PNC_TRY(pnc_file_status_agree(&ds->file, pnc_error_keep_first(err, synced)));
    if (ds->file.rank == 0)
        err = ds->file.store->ops->publish(ds->file.store, ds->suffix, ds->replaces, &ds->error);
    if (ds->file.rank == 0 && err == NC_NOERR)
        pnc_file_log_mark_remove(ds->file.path);
    return pnc_file_status_broadcast(&ds->file, err);
}

/* Those of this rank, after calls that do not match, whose message stays that of the dataset. */
static void write_own_deferred(pnc_dataset *ds)
{
    int64_t calls = ds->deferred.calls;
    pnc_error mismatch = ds->error;

    pnc_error_clear(&ds->error);
    if (pnc_dataset_deferred_write(ds) != NC_NOERR)
        pnc_dataset_warning_print(ds, "the values of %lld collective puts %s: %s", (long long)calls,
                                  pnc_dataset_deferred_get_fate(ds), ds->error.text);
    ds->error = mismatch;
}

/* Other ranks made other calls, or none: what is collective could block. MPI keeps the file and its communicators. */
static int abandon(pnc_dataset *ds, int err)
{
    write_own_deferred(ds);
    ds->format->ops->abandon(ds->format);
    pnc_file_writer_end(&ds->file);
    pnc_dataset_lost_report_name(ds);
    pnc_dataset_statistics_discard(ds);
    pnc_file_watch_free(ds->file.watch);
    ds->file.watch = NULL;
    err = pnc_dataset_error_report(ds, err);
    pnc_dataset_registry_discard(ds);
    return err;
}

/* The first agreement finds ranks that are in another call. If deferred puts are lost, what was put before is not. */
static int begin_close(pnc_dataset *ds)
{
    int err, deferred;

    if (ds->file.read_only)
        return pnc_file_status_agree(&ds->file, NC_NOERR);
    deferred = pnc_dataset_deferred_write(ds);
    if (deferred != NC_NOERR && (pnc_file_is_stopped(&ds->file) || pnc_file_log_has_values(&ds->file)))
        return deferred;
    err = ds->format->ops->flush(ds->format, NC_NOERR, NULL);
    if (err == NC_NOERR)
        err = ds->format->ops->restore(ds->format);
    return pnc_error_keep_first(deferred, err);
}

/* An error of enddef in data mode is one in the definitions of this rank. */
static int complete(pnc_dataset *ds)
{
    int err, summed;

    if (ds->mode != PNC_DEFINE) {
        PNC_TRY(begin_close(ds));
        return pnc_dataset_checksums_write(ds);
    }
    err = pnc_dataset_enddef(ds);
    if (ds->mode == PNC_DEFINE)
        return err;
    summed = pnc_dataset_checksums_write(ds);
    return pnc_error_keep_first(err, summed);
}

static void end_time_limit(pnc_dataset *ds)
{
    if (ds->file.limit != NULL)
        pnc_file_time_limit_end(&ds->file);
}

int pnc_dataset_close(pnc_dataset *ds)
{
    int err = complete(ds), pending = pnc_dataset_lost_discard(ds);

    if (pnc_file_is_stopped(&ds->file))
        return abandon(ds, err);
    end_time_limit(ds);
    err = pnc_file_log_end(&ds->file, err);
    err = close_file(ds, publish_file(ds, err, pending));
    return pnc_error_keep_first(err, pending);
}

/* Pending requests are cancelled without an error. */
int pnc_dataset_abort(pnc_dataset *ds)
{
    bool defines = ds->mode == PNC_DEFINE, removes = (defines && ds->format->is_new) || ds->suffix > 0;
    int64_t puts, gets;
    int err = defines ? pnc_file_status_agree(&ds->file, NC_NOERR) : begin_close(ds);

    if (err == NC_NOERR)
        err = ds->format->ops->restore(ds->format);
    pnc_io_queue_clear(ds->io.queue, &puts, &gets);
    if (err == NC_NOERR && !removes) {
        pnc_formats_before_restore(ds->format);
        err = pnc_dataset_checksums_write(ds);
    }
    if (pnc_file_is_stopped(&ds->file))
        return abandon(ds, err);
    end_time_limit(ds);
    if (removes)
        pnc_file_log_remove(&ds->file);
    else
        err = pnc_file_log_end(&ds->file, err);
    return removes ? delete_file(ds, err) : close_file(ds, err);
}
