/* Access to the values of variables, blocking and nonblocking: modes, the number of records, safe mode and NC_SHARE.
 * src/io executes the requests. */
#include "dataset/access.h"

#include "dataset/deferred.h"
#include "dataset/logged.h"
#include "dataset/modes.h"
#include "dataset/same_file.h"
#include "dataset/statistics.h"
#include "dataset/united.h"
#include "file/agree.h"
#include "file/behind.h"
#include "file/value_log.h"
#include "io/request/batch.h"
#include "io/request/bundle.h"
#include "io/request/out_of_range.h"
#include "io/request/queue.h"
#include "io/transfer.h"

enum { KIND_PUT = 1, KIND_GET };

/* After an independent put. After collective calls that did not match, the number of records that the file gets is
 * known: more are lost. */
static int update_records(pnc_dataset *ds, int64_t numrecs)
{
    if (ds->file.mismatch[0] != '\0' && numrecs > ds->file.numrecs)
        return pnc_error_set(&ds->error, NC_EMULTICALL,
                             "%s: earlier collective calls of the ranks did not match, so that records can no longer "
                             "be added: %s",
                             ds->file.path, ds->file.mismatch);
    ds->format->ops->add_length(ds->format, ds->model.recdim, numrecs);
    return NC_NOERR;
}

/* After a put to a file with several unlimited dimensions: the lengths of the others than the first. */
static int update_others(pnc_dataset *ds, const pnc_request_list *list)
{
    for (int i = 0; i < ds->model.ndims; i++) {
        int64_t length;

        if (!ds->model.dims[i]->unlimited || i == ds->model.recdim)
            continue;
        length = pnc_io_list_get_length(&ds->io, list, i);
        if (!list->collective) {
            ds->format->ops->add_length(ds->format, i, length);
            continue;
        }
        PNC_TRY(pnc_file_maxima_agree(&ds->file, &length, 1, "the length of a dimension"));
        PNC_TRY(ds->format->ops->write_length(ds->format, i, length));
    }
    return NC_NOERR;
}

int pnc_dataset_lengths_add(pnc_dataset *ds, const pnc_request_list *list, int64_t numrecs)
{
    if (ds->model.recdim < 0)
        return NC_NOERR;
    ds->format->ops->add_length(ds->format, ds->model.recdim, numrecs);
    return ds->model.nunlimited > 1 ? update_others(ds, list) : NC_NOERR;
}

static int update_lengths(pnc_dataset *ds, const pnc_request_list *list, int64_t numrecs)
{
    if (ds->model.recdim < 0)
        return NC_NOERR;
    if (list->collective)
        PNC_TRY(ds->format->ops->write_length(ds->format, ds->model.recdim, numrecs));
    else
        PNC_TRY(update_records(ds, numrecs));
    return ds->model.nunlimited > 1 ? update_others(ds, list) : NC_NOERR;
}

/* After a put that failed. What it has put into chunks waits for the next flush, which needs the lengths. A put that is
 * refused has put nothing. */
static void keep_lengths(pnc_dataset *ds, const pnc_request_list *list, int64_t numrecs, int err)
{
    int64_t keeps;

    if (!ds->format->ops->has_storage || ds->file.call.mismatch)
        return;
    keeps = err != NC_EFILTER && err != NC_ENOMEM && ds->format->ops->keeps_values(ds->format);
    if (list->collective && pnc_file_maxima_agree(&ds->file, &keeps, 1, "whether values wait") != NC_NOERR)
        return;
    if (keeps != 0)
        (void)update_lengths(ds, list, numrecs); /* the error of the put is returned */
}

/* Of a list that has values; -1: it has none. */
static int find_first_var(const pnc_request_list *list)
{
    for (int64_t i = 0; i < list->n; i++)
        if (list->at[i]->elements.count > 0)
            return list->at[i]->elements.varid;
    return -1;
}

/* Delayed writes: the number of records is written to the file when they are. */
static int transfer_behind(pnc_dataset *ds, pnc_request_list *list, int64_t *numrecs)
{
    pnc_behind_range range = pnc_io_list_find_range(&ds->io, list, false);
    bool puts = list->direction == PNC_PUT;
    int err;

    if (puts)
        pnc_file_ahead_discard(&ds->file);
    if (ds->file.behind != NULL)
        PNC_TRY(pnc_file_behind_begin(&ds->file, puts, list->collective, range.low.offset, range.high.offset));
    if (!puts && ds->file.ahead != NULL) {
        range = pnc_io_list_find_range(&ds->io, list, true);
        pnc_file_ahead_begin(&ds->file, find_first_var(list), &range);
    }
    err = pnc_io_requests_transfer(&ds->io, list, numrecs);
    pnc_file_behind_end(&ds->file);
    pnc_file_ahead_end(&ds->file, err, list->collective);
    return err;
}

/* The first variable that this rank puts into, and that has no space in the file; -1: none. */
static int find_without_space(const pnc_dataset *ds, const pnc_request_list *list)
{
    int first = -1;

    for (int64_t i = 0; i < list->n; i++) {
        int varid = list->at[i]->elements.varid;

        if (ds->model.vars[varid]->netcdf4.lacks_space && (first < 0 || varid < first))
            first = varid;
    }
    return first;
}

/* A selection that was made ready has the addresses that its variable had. */
static void forget_selections(pnc_request_list *list)
{
    for (int64_t i = 0; i < list->n; i++)
        list->at[i]->elements.is_ready = false;
}

static int add_space(pnc_dataset *ds, pnc_request_list *list)
{
    bool more = list->collective;

    while (more && ds->format->lacks_space) {
        PNC_TRY(ds->format->ops->add_space(ds->format, find_without_space(ds, list), &more));
        if (more)
            forget_selections(list);
    }
    return NC_NOERR;
}

/* An error of a collective step is the same on all ranks, so that each rank may return it at once. */
int pnc_dataset_list_transfer(pnc_dataset *ds, pnc_request_list *list)
{
    int64_t numrecs = 0;
    int err;

    PNC_TRY(pnc_dataset_united_check(ds, list));
    if (ds->format->ops->has_storage)
        pnc_dataset_same_file_begin(ds, list->direction);
    if (list->direction == PNC_PUT) { /* values could overwrite what a failed enddef needs to be undone */
        pnc_file_value_log_set_time(&ds->file);
        PNC_TRY(ds->format->ops->restore_before_put(ds->format, list->collective));
        PNC_TRY(add_space(ds, list));
    }
    pnc_dataset_statistics_transfer_start(ds, list->direction);
    err = ds->file.behind != NULL || ds->file.ahead != NULL ? transfer_behind(ds, list, &numrecs)
                                                            : pnc_io_requests_transfer(&ds->io, list, &numrecs);
    pnc_dataset_statistics_transfer_finish(ds, list);
    if (list->direction == PNC_GET)
        return err;
    pnc_file_change_add(&ds->file); /* also if it has failed after some bytes */
    if (err != NC_NOERR)
        keep_lengths(ds, list, numrecs, err);
    else
        err = update_lengths(ds, list, numrecs);
    pnc_dataset_united_end(ds, list);
    PNC_TRY(err);
    if (list->collective)
        pnc_file_log_end_call(&ds->file, ds->model.numrecs);
    return list->collective && ds->share ? pnc_file_data_sync(&ds->file) : NC_NOERR;
}

/* --- blocking --- */

/* No agreement is needed after an error: the mode is the same on all ranks. */
static int check_mode(pnc_dataset *ds, pnc_op op, bool collective)
{
    if (pnc_io_op_get_direction(op) == PNC_PUT)
        PNC_TRY(pnc_dataset_mode_check_write(ds));
    return collective ? pnc_dataset_mode_check_collective(ds) : pnc_dataset_mode_check_independent(ds);
}

/* For the first agreement of the call, by which ranks in another kind of call are found. The ranks of a put may use
 * different functions and variables, like those of a get, as each request is complete by itself. varid may be wrong. */
static void describe_call(pnc_dataset *ds, pnc_op op, int varid)
{
    pnc_file_call *call = &ds->file.call;

    if (ds->file.nprocs == 1)
        return;
    if (varid >= 0 && varid < ds->model.nvars)
        call->object = ds->model.vars[varid]->name;
    call->kind = pnc_io_op_get_direction(op) == PNC_PUT ? KIND_PUT : KIND_GET;
}

static int transfer_collectively(pnc_dataset *ds, pnc_request_list *list)
{
    if (pnc_file_log_is_for_values(&ds->file))
        return pnc_dataset_logged_transfer(ds, list);
    return ds->deferred.most > 0 ? pnc_dataset_deferred_transfer(ds, list) : pnc_dataset_list_transfer(ds, list);
}

/* Execute the requests of a call, and free them. err is an error in the arguments of this rank. */
static int execute(pnc_dataset *ds, pnc_bundle *bundle, int err)
{
    pnc_request_list *list = &bundle->list;
    bool leaves = !list->collective && list->n == 0; /* nothing to do, and no rank depends on it */
    int transferred;

    pnc_dataset_statistics_call_add(ds, list);
    list->error = err;
    if (list->collective && ds->safe) {
        err = pnc_file_status_agree(&ds->file, err);
        leaves = err != NC_NOERR;
    }
    if (!leaves) {
        transferred = list->collective ? transfer_collectively(ds, list) : pnc_dataset_list_transfer(ds, list);
        err = pnc_error_keep_first(err, transferred);
    }
    if (err == NC_NOERR)
        err = pnc_io_requests_report_status(&ds->io, list);
    pnc_io_bundle_free(bundle);
    return err;
}

int pnc_dataset_call_execute(pnc_dataset *ds, const pnc_call *call)
{
    pnc_bundle bundle;
    int err;

    pnc_dataset_statistics_call_start(ds);
    PNC_TRY(check_mode(ds, call->op, call->collective));
    describe_call(ds, call->op, call->varid);
    PNC_TRY(pnc_dataset_united_begin(ds, call->collective));
    err = pnc_io_bundle_init_call(&bundle, &ds->io, call);
    return execute(ds, &bundle, err);
}

int pnc_dataset_multi_execute(pnc_dataset *ds, const pnc_multi *multi)
{
    pnc_bundle bundle;
    int err;

    pnc_dataset_statistics_call_start(ds);
    PNC_TRY(check_mode(ds, multi->op, multi->collective));
    describe_call(ds, multi->op, -1);
    PNC_TRY(pnc_dataset_united_begin(ds, multi->collective));
    err = pnc_io_bundle_init_multi(&bundle, &ds->io, multi);
    return execute(ds, &bundle, err);
}

int pnc_dataset_vard_execute(pnc_dataset *ds, const pnc_vard *vard)
{
    pnc_bundle bundle;
    int err;

    pnc_dataset_statistics_call_start(ds);
    PNC_TRY(check_mode(ds, vard->op, vard->collective));
    describe_call(ds, vard->op, vard->varid);
    PNC_TRY(pnc_dataset_united_begin(ds, vard->collective));
    err = pnc_io_bundle_init_vard(&bundle, &ds->io, vard);
    return execute(ds, &bundle, err);
}

/* --- nonblocking --- */

int pnc_dataset_call_post(pnc_dataset *ds, const pnc_call *call)
{
    pnc_statistics_add(ds->file.statistics, PNC_COUNT_POSTED, 1);
    if (call->reqid != NULL)
        *call->reqid = NC_REQ_NULL;
    if (pnc_io_op_get_direction(call->op) == PNC_PUT)
        PNC_TRY(pnc_dataset_mode_check_write(ds));
    ds->io.defines = ds->mode == PNC_DEFINE;
    return pnc_io_call_post(&ds->io, call);
}

/* Those of a wait call are not deferred in memory. */
static int transfer_batch(pnc_dataset *ds, pnc_request_list *list)
{
    bool logs = list->collective && pnc_file_log_is_for_values(&ds->file);

    return logs ? pnc_dataset_logged_transfer(ds, list) : pnc_dataset_list_transfer(ds, list);
}

/* Puts are executed before gets. An error of the puts does not prevent the gets. After an earlier error, which all
 * ranks have, the requests stay pending. */
static int wait_for(pnc_dataset *ds, bool collective, const pnc_request_ids *named, int earlier)
{
    pnc_batch batch;
    int err = pnc_io_batch_init(&batch, &ds->io, collective, named), put_err = NC_NOERR, get_err = NC_NOERR, placed;

    if (earlier != NC_NOERR) {
        pnc_io_batch_return(&batch, &ds->io, named, earlier);
        pnc_io_batch_free(&batch, &ds->io);
        return earlier;
    }

    placed = pnc_io_batch_check_places(&batch, &ds->io);
    err = pnc_error_keep_first(err, placed);
    pnc_dataset_statistics_call_start(ds);
    pnc_dataset_statistics_wait_add(ds, collective, batch.puts.n + batch.gets.n);
    if (collective)
        put_err = get_err = pnc_io_batch_agree(&batch, &ds->io, err);
    if (ds->file.call.mismatch)
        pnc_io_batch_return(&batch, &ds->io, named, put_err);
    if (put_err == NC_NOERR) {
        if (batch.any_puts)
            put_err = transfer_batch(ds, &batch.puts);
        if (batch.any_gets)
            get_err = transfer_batch(ds, &batch.gets);
    }
    pnc_io_batch_report(&batch, named, put_err, get_err);
    err = pnc_error_keep_first(err, pnc_error_keep_first(put_err, get_err));
    if (err == NC_NOERR)
        err = pnc_io_requests_report_status(&ds->io, &batch.gets);
    pnc_io_batch_free(&batch, &ds->io);
    return err;
}

int pnc_dataset_wait(pnc_dataset *ds, int count, int *array_of_requests, int *array_of_statuses)
{
    const pnc_request_ids named = {count, array_of_requests, array_of_statuses};

    PNC_TRY(pnc_dataset_mode_check_independent(ds));
    return wait_for(ds, false, &named, NC_NOERR);
}

int pnc_dataset_wait_all(pnc_dataset *ds, int count, int *array_of_requests, int *array_of_statuses)
{
    const pnc_request_ids named = {count, array_of_requests, array_of_statuses};
    int err = NC_NOERR;

    PNC_TRY(pnc_dataset_mode_check_collective(ds));
    PNC_TRY(pnc_dataset_united_begin(ds, true));
    if (!pnc_file_log_is_for_values(&ds->file))
        err = pnc_dataset_deferred_write(ds);
    return wait_for(ds, true, &named, err);
}

int pnc_dataset_cancel(pnc_dataset *ds, int num, int *reqs, int *statuses)
{
    const pnc_request_ids named = {num, reqs, statuses};
    pnc_batch batch;
    int err = pnc_io_batch_init(&batch, &ds->io, false, &named);

    pnc_io_batch_report(&batch, &named, NC_NOERR, NC_NOERR);
    pnc_io_batch_free(&batch, &ds->io);
    return err;
}

int pnc_dataset_inq_nreqs(pnc_dataset *ds, int *nreqs)
{
    if (nreqs != NULL)
        *nreqs = (int)ds->io.queue->pending;
    return NC_NOERR;
}

int pnc_dataset_buffer_attach(pnc_dataset *ds, MPI_Offset bufsize)
{
    return pnc_io_buffer_attach(&ds->io, bufsize);
}

int pnc_dataset_buffer_detach(pnc_dataset *ds)
{
    return pnc_io_buffer_release(&ds->io);
}

/* measured: with a NULL argument only ncid is checked */
int pnc_dataset_inq_buffer_usage(pnc_dataset *ds, MPI_Offset *usage)
{
    if (usage == NULL)
        return NC_NOERR;
    PNC_TRY(pnc_io_buffer_check(&ds->io));
    *usage = ds->io.queue->buffer_used;
    return NC_NOERR;
}

int pnc_dataset_inq_buffer_size(pnc_dataset *ds, MPI_Offset *buf_size)
{
    if (buf_size == NULL)
        return NC_NOERR;
    PNC_TRY(pnc_io_buffer_check(&ds->io));
    *buf_size = ds->io.queue->buffer_size;
    return NC_NOERR;
}
