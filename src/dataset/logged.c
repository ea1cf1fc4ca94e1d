/* Collective puts whose values wait in logs. The program sees dimensions grow with each put; the format gets their
 * lengths when it gets the values, so that the file counts no record without them. */
#include "dataset/logged.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "dataset/access.h"
#include "dataset/deferred.h"
#include "file/agree.h"
#include "file/behind.h"
#include "io/chunked/chunked.h"
#include "io/logged.h"

/* --- lengths of unlimited dimensions --- */

static void set_length(pnc_model *model, int dimid, int64_t length)
{
    *(dimid == model->recdim ? &model->numrecs : &model->dims[dimid]->length) = length;
}

static void forget_lengths(pnc_dataset *ds)
{
    pnc_memory_free(ds->logged_lengths);
    ds->logged_lengths = NULL;
}

/* Before the first put that waits: those of the file, of each dimension. As many follow for those of the program. */
static int keep_lengths_of_file(pnc_dataset *ds)
{
    if (ds->deferred.calls > 0)
        return NC_NOERR;
    forget_lengths(ds);
    ds->logged_lengths = pnc_memory_alloc(2 * (int64_t)ds->model.ndims + 1, sizeof *ds->logged_lengths);
    if (ds->logged_lengths == NULL)
        return pnc_error_set(&ds->error, NC_ENOMEM, "no memory for the lengths of %d dimensions", ds->model.ndims);
    for (int i = 0; i < ds->model.ndims; i++)
        ds->logged_lengths[i] = pnc_format_dim_get_length(&ds->model, i);
    return NC_NOERR;
}

static bool has_grown(const pnc_dataset *ds)
{
    for (int i = 0; ds->deferred.calls > 0 && i < ds->model.ndims; i++)
        if (pnc_format_dim_get_length(&ds->model, i) != ds->logged_lengths[i])
            return true;
    return false;
}

/* The model gets the lengths of the file, which grow with the values. */
static void begin_lengths(pnc_dataset *ds)
{
    for (int i = 0; i < ds->model.ndims; i++)
        if (ds->model.dims[i]->unlimited) {
            ds->logged_lengths[ds->model.ndims + i] = pnc_format_dim_get_length(&ds->model, i);
            set_length(&ds->model, i, ds->logged_lengths[i]);
        }
    ds->file.numrecs = ds->model.numrecs;
}

/* Not all values are in the file: the program has seen their lengths. */
static void restore_lengths(pnc_dataset *ds)
{
    for (int i = 0; i < ds->model.ndims; i++)
        if (ds->model.dims[i]->unlimited)
            (void)pnc_format_dim_grow(&ds->model, i, ds->logged_lengths[ds->model.ndims + i]);
    ds->file.numrecs = ds->model.numrecs;
}

/* Collective. */
static int grow_seen_lengths(pnc_dataset *ds, const pnc_request_list *list, int64_t numrecs)
{
    for (int i = 0; ds->model.recdim >= 0 && i < ds->model.ndims; i++) {
        int64_t length = numrecs;

        if (!ds->model.dims[i]->unlimited)
            continue;
        if (i != ds->model.recdim) {
            length = pnc_io_list_get_length(&ds->io, list, i);
            PNC_TRY(pnc_file_maxima_agree(&ds->file, &length, 1, "the length of a dimension"));
        }
        (void)pnc_format_dim_grow(&ds->model, i, length);
    }
    ds->file.numrecs = ds->model.numrecs;
    return NC_NOERR;
}

/* --- from the logs to the file --- */

/* Of the batches that the ranks have: the requests of the first call. *call: INT64_MAX: none has any. */
static int agree_call(pnc_dataset *ds, const pnc_logged_batch *batch, int number, int64_t *call)
{
    int err = number == 0 ? NC_NOERR
                          : pnc_error_set(&ds->error, NC_EREAD, "%s: the log of rank %d cannot be read: %s",
                                          ds->file.path, ds->file.rank, strerror(number));
    int64_t v[2] = {pnc_file_failure_encode(&ds->file, err), batch->call == INT64_MAX ? INT64_MIN : -batch->call};

    PNC_TRY(pnc_file_maxima_agree(&ds->file, v, 2, "the logs of the ranks"));
    if (v[0] != 0)
        return pnc_file_failure_share(&ds->file, err, v[0], "a read of a log");
    *call = v[1] == INT64_MIN ? INT64_MAX : -v[1];
    return NC_NOERR;
}

/* Put all values into the file, in the order of their calls. */
static int put_logged_values(pnc_dataset *ds, pnc_logged_batch *batch)
{
    int number = pnc_io_logged_batch_load(&ds->io, batch);
    int64_t call = 0;

    for (;;) {
        pnc_request_list list = {.direction = PNC_PUT, .collective = true, .is_checked = true};
        bool is_mine;

        PNC_TRY(agree_call(ds, batch, number, &call));
        if (call == INT64_MAX)
            return NC_NOERR;
        is_mine = batch->call == call;
        if (is_mine)
            list = pnc_io_logged_batch_get(batch);
        PNC_TRY(pnc_dataset_list_transfer(ds, &list));
        if (is_mine)
            number = pnc_io_logged_batch_load(&ds->io, batch);
    }
}

/* After an error of one rank no rank has logs any more; the file has all that was in them. */
static int end_logs(pnc_dataset *ds, int number)
{
    int err = pnc_file_log_end(&ds->file, NC_NOERR);

    ds->file.log.state = PNC_LOG_REFUSED;
    snprintf(ds->file.log.why, sizeof ds->file.log.why, "a log can no longer be written: %.80s", strerror(number));
    return err;
}

/* All is in the file, but for its metadata. */
static int commit_values(pnc_dataset *ds)
{
    int64_t number;
    int synced;

    pnc_file_value_log_set_time(&ds->file);
    PNC_TRY(ds->format->ops->flush(ds->format, NC_NOERR, NULL));
    if (ds->file.log.is_promised) {
        synced = pnc_file_data_sync(&ds->file);
        PNC_TRY(pnc_file_status_agree(&ds->file, synced));
    }
    number = pnc_file_value_log_begin_lap(&ds->file, ds->model.numrecs);
    PNC_TRY(pnc_file_maxima_agree(&ds->file, &number, 1, "the logs of the ranks"));
    ds->deferred.calls = 0;
    ds->deferred.ranges.n = 0;
    forget_lengths(ds);
    return number == 0 ? NC_NOERR : end_logs(ds, (int)number);
}

/* Collective, with memory on all ranks. */
static int write_logged(pnc_dataset *ds, pnc_logged_batch *batch)
{
    int err;

    begin_lengths(ds);
    err = put_logged_values(ds, batch);
    if (err == NC_NOERR)
        err = commit_values(ds);
    if (err == NC_NOERR || ds->deferred.calls == 0)
        return err;
    restore_lengths(ds);
    pnc_error_add_context(&ds->error, "puts of earlier calls, whose values remain in logs (nc_burst_buf)");
    return err;
}

int pnc_dataset_logged_write(pnc_dataset *ds)
{
    pnc_logged_batch *batch;
    int err = NC_NOERR;

    if (pnc_file_is_stopped(&ds->file))
        return pnc_error_set(&ds->error, NC_EMULTICALL,
                             "%s: collective calls of the ranks did not match: what was put waits in the logs",
                             ds->file.path);
    batch = pnc_memory_alloc_zeroed(1, sizeof *batch);
    if (batch == NULL)
        err = pnc_error_set(&ds->error, NC_ENOMEM, "no memory for requests of the log");
    err = pnc_file_status_agree(&ds->file, err);
    if (err == NC_NOERR) {
        batch->at = PNC_LOG_FRONT_BYTES;
        err = write_logged(ds, batch);
    }
    pnc_memory_free(batch);
    return err;
}

/* What cannot be permanent in the logs is in the file. */
int pnc_dataset_logged_sync(pnc_dataset *ds)
{
    int64_t number = pnc_file_value_log_sync(&ds->file);
    int synced;

    PNC_TRY(pnc_file_maxima_agree(&ds->file, &number, 1, "the logs of the ranks"));
    if (number != 0) {
        PNC_TRY(pnc_dataset_logged_write(ds));
        PNC_TRY(pnc_file_log_has_values(&ds->file) ? end_logs(ds, (int)number) : NC_NOERR);
    } else if (!pnc_file_value_log_take_moved(&ds->file)) {
        return NC_NOERR;
    }
    synced = pnc_file_data_sync(&ds->file);
    return pnc_file_status_agree(&ds->file, synced);
}

/* --- from a put to the logs --- */

/* What the ranks agree on before anything is logged: maxima. */
typedef struct logged_agreement {
    int64_t failure, numrecs;
    int64_t is_short, is_large; /* the log of a rank has no space; not even when it is empty */
    int64_t has_values;
    int64_t failed; /* errno of a log */
} logged_agreement;
enum { LOGGED_VALUES = sizeof(logged_agreement) / sizeof(int64_t) };
_Static_assert(LOGGED_VALUES <= PNC_AGREED_VALUES, "one reduction has them");

static int agree_puts(pnc_dataset *ds, const pnc_request_list *list, logged_agreement *v)
{
    int64_t bytes = pnc_io_logged_count(&ds->io, list);
    int status = pnc_file_late_take(&ds->file, list->error == NC_ENOMEM ? NC_ENOMEM : NC_NOERR), mismatch;

    if (status == NC_NOERR)
        status = pnc_io_chunked_puts_check(&ds->io, list);
    if (status == NC_NOERR)
        status = keep_lengths_of_file(ds);
    *v = (logged_agreement){.failure = pnc_file_failure_encode(&ds->file, status),
                            .numrecs = list->summary.numrecs,
                            .is_short = bytes > pnc_file_value_log_get_space(&ds->file),
                            .is_large = bytes > pnc_file_value_log_get_most(&ds->file),
                            .has_values = list->n > 0,
                            .failed = pnc_file_value_log_get_failure(&ds->file)};
    mismatch = pnc_file_maxima_agree(&ds->file, (int64_t *)(void *)v, LOGGED_VALUES, "the values of a collective put");
    if (mismatch != NC_NOERR)
        return pnc_error_keep_first(status, mismatch);
    return pnc_file_failure_share(&ds->file, status, v->failure, "a collective write");
}

/* Without logs, and the file has them at once, as what was logged would survive the program. */
static int put_at_once(pnc_dataset *ds, pnc_request_list *list)
{
    list->out_of_range = NULL;
    pnc_file_value_log_set_moved(&ds->file);
    forget_lengths(ds);
    PNC_TRY(pnc_dataset_list_transfer(ds, list));
    return ds->format->ops->flush(ds->format, NC_NOERR, NULL);
}

/* The ranges of the calls that wait: of what gets may need. Local ranges become that of all ranks. */
static int add_range(pnc_dataset *ds, const pnc_request_list *list)
{
    pnc_behind_range range;

    PNC_TRY(pnc_io_deferred_agree_range(&ds->io, list, &range));
    range.call = ++ds->deferred.calls;
    pnc_behind_pending_join(&ds->deferred.ranges, range);
    return NC_NOERR;
}

/* Collective. number: errno of the log of a rank. */
static int log_call(pnc_dataset *ds, pnc_request_list *list, int64_t numrecs, int64_t *number)
{
    int64_t tail = pnc_file_value_log_get_tail(&ds->file);

    *number = pnc_io_logged_append(&ds->io, list);
    if (*number == 0)
        *number = pnc_file_value_log_end_call(&ds->file, pnc_max64(numrecs, ds->model.numrecs));
    PNC_TRY(pnc_file_maxima_agree(&ds->file, number, 1, "the logs of the ranks"));
    if (*number != 0) {
        ds->file.log.failed = (int)*number;
        pnc_file_value_log_set_tail(&ds->file, tail);
        return NC_NOERR;
    }
    pnc_file_value_log_adopt_call(&ds->file);
    PNC_TRY(add_range(ds, list));
    return grow_seen_lengths(ds, list, numrecs);
}

/* A log that cannot be written ends; so do those of the other ranks. */
static int give_up_logs(pnc_dataset *ds, pnc_request_list *list, int number)
{
    if (ds->deferred.calls > 0)
        PNC_TRY(pnc_dataset_logged_write(ds));
    if (pnc_file_log_has_values(&ds->file))
        PNC_TRY(end_logs(ds, number));
    return put_at_once(ds, list);
}

static int log_puts(pnc_dataset *ds, pnc_request_list *list)
{
    logged_agreement v;
    int64_t number = 0;

    PNC_TRY(agree_puts(ds, list, &v));
    if (v.has_values == 0)
        return NC_NOERR;
    if (v.failed != 0)
        return give_up_logs(ds, list, (int)v.failed);
    if (v.is_short != 0 && ds->deferred.calls > 0) {
        PNC_TRY(pnc_dataset_logged_write(ds));
        PNC_TRY(pnc_file_status_agree(&ds->file, keep_lengths_of_file(ds)));
    }
    if (v.is_large != 0 || !pnc_file_log_has_values(&ds->file))
        return put_at_once(ds, list);
    PNC_TRY(log_call(ds, list, v.numrecs, &number));
    return number == 0 ? NC_NOERR : give_up_logs(ds, list, (int)number);
}

/* Collective. Before the first put. A reader may give variables of groups other ids, by which a replay finds them. */
static int begin_logs(pnc_dataset *ds)
{
    if (ds->model.groups.exist || ds->hints.format.groups == PNC_FORMAT_ROOT_GROUP) {
        pnc_file_log_reject(&ds->file, "the file may have groups");
        return NC_NOERR;
    }
    PNC_TRY(pnc_file_status_agree(&ds->file, NC_NOERR));
    ds->file.log.definitions = pnc_format_model_get_digest(&ds->model);
    pnc_file_log_begin(&ds->file);
    return NC_NOERR;
}

int pnc_dataset_logged_transfer(pnc_dataset *ds, pnc_request_list *list)
{
    bool overlaps = false;

    if (list->direction == PNC_GET) {
        if (ds->deferred.calls > 0)
            PNC_TRY(pnc_io_deferred_compare(&ds->io, &ds->deferred, list, &overlaps));
        if (overlaps || has_grown(ds))
            PNC_TRY(pnc_dataset_logged_write(ds));
        return pnc_dataset_list_transfer(ds, list);
    }
    if (ds->file.log.state == PNC_LOG_WANTED)
        PNC_TRY(begin_logs(ds));
    return pnc_file_log_has_values(&ds->file) ? log_puts(ds, list) : pnc_dataset_list_transfer(ds, list);
}
