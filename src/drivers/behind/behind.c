/* The wrapper that completes writes later, and reads before it is asked. */
#include "drivers/behind/behind.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/minmax.h"
#include "base/path.h"
#include "drivers/wrapper.h"
#include "host/host.h"
#include "select/sieving.h"

pnc_behind *pnc_behind_store_find(pnc_store *store)
{
    for (; store != NULL; store = store->inner)
        if (store->ops->flush == pnc_store_behind.flush)
            return (pnc_behind *)store;
    return NULL;
}

void pnc_behind_store_set_capacity(pnc_behind *behind, int64_t queued, int64_t ahead)
{
    behind->capacity = queued;
    behind->ahead.capacity = ahead;
}

/* --- the descriptor --- */

/* It must be of the file that is open: the path may be that of another one since. On NFS, MPI libraries lock what they
 * access, so that the caches of the nodes agree. */
static const char *check_descriptor(const pnc_behind *behind, int fd)
{
    struct statfs system;
    struct stat facts;

    if (fstat(fd, &facts) != 0 || (int64_t)facts.st_ino != behind->store.identity.inode)
        return "the path is that of another file";
    if (!S_ISREG(facts.st_mode))
        return "the file is not a regular one";
    if (fstatfs(fd, &system) != 0 || system.f_type == PNC_HOST_NFS)
        return "the file system is NFS, which needs locks";
    return NULL;
}

static const char *const few_descriptors = "too many files are open: few descriptors are left";

static const char *open_queue(pnc_behind *behind)
{
    const char *path = behind->store.full_path != NULL ? behind->store.full_path : behind->path, *refusal;
    int fd;

    if (behind->store.identity.inode == 0)
        return "only MPI-IO can access the file";
    fd = open(pnc_path_strip(path), (behind->only_reads ? O_RDONLY : O_RDWR) | O_CLOEXEC);
    if (fd < 0)
        return "the system cannot open the file once more";
    refusal = pnc_host_has_descriptors(PNC_BEHIND_SPARE) ? check_descriptor(behind, fd) : few_descriptors;
    if (refusal == NULL && !pnc_behind_queue_open(&behind->queue, fd, behind->capacity))
        refusal = "no memory or no thread for it";
    if (refusal != NULL)
        close(fd);
    return refusal;
}

const char *pnc_behind_store_explain(pnc_behind *behind)
{
    if (behind->state == PNC_BEHIND_UNTRIED) {
        behind->refusal = open_queue(behind);
        behind->state = behind->refusal == NULL ? PNC_BEHIND_OPEN : PNC_BEHIND_REFUSED;
    }
    if (behind->state == PNC_BEHIND_OPEN && pnc_behind_queue_is_released(&behind->queue))
        return few_descriptors;
    return behind->refusal;
}

void pnc_behind_store_begin(pnc_behind *behind, int64_t call)
{
    behind->call = call;
    behind->is_put = true;
    behind->delays =
        pnc_behind_store_explain(behind) == NULL && (!behind->needs_log || pnc_behind_queue_has_log(&behind->queue));
}

/* --- reading ahead --- */

static void remove_batch(pnc_behind *behind, pnc_behind_stream *stream)
{
    pnc_behind_queue_discard(&behind->queue, &stream->batch);
    pnc_behind_batch_remove(&behind->ahead, stream);
}

void pnc_behind_store_discard(pnc_behind *behind)
{
    for (int i = 0; i < PNC_BEHIND_STREAMS && behind->ahead.batches > 0; i++)
        if (behind->ahead.streams[i] != NULL && behind->ahead.streams[i]->batch.length > 0)
            remove_batch(behind, behind->ahead.streams[i]);
}

/* Whether a program has written the file since the batch of the get that begins was read, as far as its time shows. */
static bool has_changed(const pnc_behind *behind)
{
    const pnc_behind_stream *stream = behind->ahead.current;

    return stream != NULL && stream->batch.length > 0 &&
           stream->batch.changed != pnc_host_file_get_change(behind->queue.fd);
}

void pnc_behind_store_begin_get(pnc_behind *behind, pnc_store *above, int varid, int64_t low, int64_t high)
{
    if (behind->ahead.capacity == 0 || pnc_behind_store_explain(behind) != NULL)
        return;
    above->notes_gets = true;
    if (pnc_behind_ahead_begin(&behind->ahead, varid, low, high) || has_changed(behind))
        remove_batch(behind, behind->ahead.current);
    else if (behind->ahead.current != NULL && behind->ahead.current->batch.reads != NULL)
        behind->ahead.current->batch.reads->is_current = true;
}

/* Of the store that has found them. */
static void discard_reads(void *holder, const pnc_store_reads *reads)
{
    pnc_behind *behind = holder;

    for (int i = 0; i < PNC_BEHIND_STREAMS; i++)
        if (behind->ahead.streams[i] != NULL && behind->ahead.streams[i]->batch.reads == reads)
            remove_batch(behind, behind->ahead.streams[i]);
}

/* Make the batch of the next get; NULL: there is none. */
static pnc_behind_batch *foresee_get(pnc_behind *behind, pnc_store *above, bool collective)
{
    const pnc_store_foreseen next = {.varid = behind->ahead.current->varid,
                                     .step = behind->ahead.current->step,
                                     .collective = collective,
                                     .most = behind->ahead.capacity / PNC_STORE_READ_COST};
    pnc_store_read moved[PNC_BEHIND_EXTENTS];
    pnc_store_reads *found = NULL;
    pnc_behind_batch *batch;
    bool is_known = true;
    int64_t n = 0;
    pnc_extent range;

    if (!pnc_behind_ahead_find_next(&behind->ahead, &range))
        return pnc_behind_ahead_end(&behind->ahead, NULL, 0, NULL);
    if (above->ops->find_reads == NULL || !above->ops->find_reads(above, &next, &found, &is_known)) {
        n = pnc_behind_ahead_move(&behind->ahead, moved);
        is_known = n > 0 || behind->ahead.nreads == 0;
    }
    if (found != NULL) {
        found->holder = behind;
        found->discard = discard_reads;
        batch = pnc_behind_ahead_end(&behind->ahead, found->reads, found->n, found);
        is_known = batch != NULL;
    } else {
        batch = pnc_behind_ahead_end(&behind->ahead, moved, n, NULL);
        is_known = is_known && (batch != NULL || n == 0);
    }
    pnc_statistics_add(behind->store.statistics, PNC_COUNT_AHEAD_FAILED, !is_known);
    return batch;
}

/* The worker reads the file. */
static bool is_in_file(pnc_behind *behind, const pnc_behind_batch *batch)
{
    for (int64_t i = 0; i < batch->n; i++) {
        const pnc_extent *e = &batch->parts[i].extent;
        const pnc_behind_range range = pnc_behind_range_make(e->offset, e->offset + e->length);

        if (pnc_behind_pending_has_range(&behind->pending, &range) || pnc_behind_queue_has_span(&behind->queue, *e))
            return false;
    }
    return true;
}

void pnc_behind_store_end_get(pnc_behind *behind, int status, pnc_store *above, bool collective)
{
    pnc_behind_stream *stream = behind->ahead.current;
    pnc_behind_batch *batch;

    if (stream == NULL)
        return;
    if (stream->batch.length > 0)
        remove_batch(behind, stream);
    if (status == NC_NOERR)
        batch = foresee_get(behind, above, collective);
    else
        batch = pnc_behind_ahead_end(&behind->ahead, NULL, 0, NULL);
    if (batch == NULL)
        return;
    batch->changed = pnc_host_file_get_change(behind->queue.fd);
    if (is_in_file(behind, batch)) {
        pnc_behind_queue_read(&behind->queue, batch);
        return;
    }
    pnc_behind_batch_discard(&behind->ahead, stream);
    pnc_statistics_add(behind->store.statistics, PNC_COUNT_AHEAD_FAILED, 1);
}

/* Whether the batch of the get that is executed has all the extents; then *to has their bytes. */
static bool take_extents(pnc_behind *behind, const pnc_extent *extents, int64_t n, char *to, int64_t *got)
{
    pnc_behind_batch *batch = behind->ahead.current != NULL ? &behind->ahead.current->batch : NULL;
    int64_t bytes = 0;

    for (int64_t i = 0; behind->ahead.current != NULL && i < n; i++)
        pnc_behind_ahead_add(&behind->ahead, extents[i]);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = batch != NULL && batch->length > 0 ? pnc_behind_batch_find(batch, extents[i]) : -1;

        if (at < 0 || !pnc_behind_queue_take(&behind->queue, batch, at, extents[i].length, to + bytes))
            return false;
        bytes += extents[i].length;
    }
    if (n == 0)
        return false;
    batch->used += bytes;
    if (got != NULL)
        *got = bytes;
    return true;
}

/* --- failures --- */

static int get_code(int number)
{
    switch (number) {
    case 0:
    case ENOSPC:
    case EFBIG: return NC_ENO_SPACE;
    case EDQUOT: return NC_EQUOTA;
    default: return NC_EWRITE;
    }
}

static int return_failure(pnc_behind *behind, pnc_error *error)
{
    pnc_behind_failure failure = {0};
    const char *name;

    if (behind->state == PNC_BEHIND_OPEN)
        failure = pnc_behind_queue_get_failure(&behind->queue);
    if (failure.extent.length == 0)
        return NC_NOERR;
    behind->is_reported = behind->is_reported || error != NULL;
    name = behind->find_name != NULL ? behind->find_name(behind->names, failure.extent.offset) : NULL;
    return pnc_error_set(
        error, get_code(failure.number),
        "%s: an earlier put returned before its bytes were written (%s), and now bytes "
        "%lld to %lld%s%s%s cannot be written: %s",
        behind->path, pnc_behind_store_has_log(behind) ? "nc_burst_buf; the logs keep them" : "nc_write_behind",
        (long long)failure.extent.offset, (long long)(failure.extent.offset + failure.extent.length - 1),
        name != NULL ? ", from variable \"" : "", name != NULL ? name : "", name != NULL ? "\" on," : "",
        failure.number != 0 ? strerror(failure.number) : "the system writes nothing");
}

int pnc_behind_store_take_failure(pnc_behind *behind, pnc_error *error)
{
    return behind->is_reported ? NC_NOERR : return_failure(behind, error);
}

int pnc_behind_store_check_kept(pnc_behind *behind, pnc_extent span, pnc_error *error)
{
    bool is_kept = behind->state == PNC_BEHIND_OPEN && pnc_behind_queue_has_kept(&behind->queue, span);

    return is_kept ? return_failure(behind, error) : NC_NOERR;
}

/* --- waiting --- */

int pnc_behind_store_finish(pnc_behind *behind, pnc_error *error)
{
    if (behind->state != PNC_BEHIND_OPEN)
        return NC_NOERR;
    pnc_behind_store_discard(behind);
    pnc_behind_queue_finish(&behind->queue);
    behind->store.inner->end->least_size =
        pnc_max64(behind->store.inner->end->least_size, pnc_behind_queue_get_end(&behind->queue));
    return return_failure(behind, error);
}

void pnc_behind_store_clear_pending(pnc_behind *behind)
{
    if (behind->is_put)
        pnc_behind_pending_remove(&behind->pending, behind->call);
    else
        behind->pending.n = 0;
}

int64_t pnc_behind_store_find_call(pnc_behind *behind)
{
    return behind->state == PNC_BEHIND_OPEN ? pnc_behind_queue_find_call(&behind->queue) : INT64_MAX;
}

static void wait_overlaps(pnc_behind *behind, const pnc_extent *extents, int64_t n)
{
    for (int64_t i = 0; behind->state == PNC_BEHIND_OPEN && i < n; i++)
        pnc_behind_queue_wait(&behind->queue, extents[i]);
}

/* The same, before a write that is not delayed: a replay of the log must not undo it. False: it would. */
static bool prepare_write(pnc_behind *behind, const pnc_extent *extents, int64_t n)
{
    wait_overlaps(behind, extents, n);
    behind->direct++;
    for (int64_t i = 0; pnc_behind_store_has_log(behind) && i < n; i++)
        if (!pnc_behind_queue_wait_log(&behind->queue, extents[i]))
            return false;
    return true;
}

static void end_write(pnc_behind *behind)
{
    if (pnc_behind_store_has_log(behind))
        pnc_behind_queue_update_time(&behind->queue);
}

/* --- the log --- */

bool pnc_behind_store_open_log(pnc_behind *behind, const char *folder, const char *file, const pnc_log_front *front,
                               int64_t capacity, int *number)
{
    pnc_behind_log *log = pnc_behind_log_create(folder, file, behind->queue.fd, front, capacity, number);

    if (log != NULL)
        pnc_behind_queue_set_log(&behind->queue, log);
    return log != NULL;
}

int pnc_behind_store_sync_log(pnc_behind *behind, bool *needs_file, pnc_error *error)
{
    pnc_behind_queue_sync_log(&behind->queue, needs_file);
    *needs_file = *needs_file || behind->direct > 0;
    behind->direct = 0;
    return return_failure(behind, error);
}

/* --- operations --- */

/* Collective. The end of the file is known twice: a read beyond it must not take what is queued for what was lost. */
static int open_behind(const pnc_open_call *call, pnc_store *store, pnc_error *error)
{
    pnc_behind *behind = (pnc_behind *)store;
    int err = pnc_wrapper_open(call, store, error);

    behind->path = call->path;
    behind->only_reads = call->purpose == PNC_OPEN_READ;
    if (store->inner != NULL)
        behind->end = *store->inner->end;
    store->end = &behind->end;
    return err;
}

static int flush_behind(pnc_store *store, pnc_error *error)
{
    return pnc_behind_store_finish((pnc_behind *)store, error);
}

static void release_behind(pnc_store *store)
{
    pnc_behind *behind = (pnc_behind *)store;

    pnc_behind_store_discard(behind);
    pnc_behind_queue_close(&behind->queue);
    pnc_behind_ahead_free(&behind->ahead);
}

/* False if the process was forked, and has no worker. */
static bool queue_extents(pnc_behind *behind, const pnc_extent *extents, int64_t n, const char *from)
{
    for (int64_t i = 0; i < n; i++) {
        const pnc_behind_block block = {.extent = extents[i], .call = behind->call};

        if (!pnc_behind_queue_add(&behind->queue, &block, from))
            return false;
        from += extents[i].length;
    }
    return true;
}

/* The worker would make an access for each block. */
static bool is_for_sieving(const pnc_behind *behind, const pnc_extent *extents, int64_t n)
{
    const pnc_store *store = &behind->store;
    const pnc_sieve_limits most = pnc_select_sieve_get_limits(store->sieve_write_gap, PNC_STORE_BYTES_MAX);
    int64_t nblocks = 1;

    if (!store->sieves_writes || n <= store->few_extents)
        return false;
    for (int64_t i = 1; i < n; i++)
        nblocks += extents[i].offset != extents[i - 1].offset + extents[i - 1].length;
    return nblocks > store->few_extents && pnc_select_extents_is_dense(extents, n, &most);
}

/* Data sieving of the driver writes the gaps, too: what waits there must be in the file. */
static int write_behind(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error)
{
    pnc_behind *behind = (pnc_behind *)store;
    bool sieves = is_for_sieving(behind, extents, n), is_ready;

    pnc_behind_store_discard(behind);
    if (!sieves && behind->delays && queue_extents(behind, extents, n, buf))
        return NC_NOERR;
    if (sieves) {
        pnc_extent span = pnc_select_extents_get_span(extents, n);

        is_ready = prepare_write(behind, &span, 1);
    } else {
        is_ready = prepare_write(behind, extents, n);
    }
    if (!is_ready)
        return return_failure(behind, error);
    PNC_TRY(store->inner->ops->write(store->inner, extents, n, buf, error));
    end_write(behind);
    for (int64_t i = 0; i < n; i++)
        store->inner->end->least_size =
            pnc_max64(store->inner->end->least_size, extents[i].length > 0 ? extents[i].offset + extents[i].length : 0);
    return NC_NOERR;
}

/* When nothing waits on any rank, the whole file is there, and a read beyond it takes what was lost. */
static void prepare_read(pnc_behind *behind, const pnc_extent *extents, int64_t n)
{
    pnc_store_end *end = behind->store.inner->end;

    wait_overlaps(behind, extents, n);
    end->refuses_short = behind->end.refuses_short;
    if (behind->pending.n == 0 && pnc_behind_store_find_call(behind) == INT64_MAX)
        end->least_size = pnc_max64(end->least_size, behind->end.least_size);
}

static int read_behind(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, int64_t *got,
                       pnc_error *error)
{
    pnc_behind *behind = (pnc_behind *)store;

    if (take_extents(behind, extents, n, buf, got))
        return NC_NOERR;
    prepare_read(behind, extents, n);
    return store->inner->ops->read(store->inner, extents, n, buf, got, error);
}

/* What was read, modified and written is in the file. */
static int unlock_behind(pnc_store *store, pnc_extent span, pnc_error *error)
{
    wait_overlaps((pnc_behind *)store, &span, 1);
    return store->inner->ops->unlock(store->inner, span, error);
}

static void start_behind(pnc_store *store, bool is_write, pnc_extent extent, void *bytes, pnc_store_transfer *out)
{
    pnc_behind *behind = (pnc_behind *)store;
    bool is_complete;

    if (is_write)
        pnc_behind_store_discard(behind);
    is_complete = is_write ? behind->delays && queue_extents(behind, &extent, 1, bytes)
                           : take_extents(behind, &extent, 1, bytes, NULL);
    if (is_complete) {
        *out = (pnc_store_transfer){.is_write = is_write, .extent = extent, .bytes = bytes, .own = &behind->queue};
        return;
    }
    if (is_write && !prepare_write(behind, &extent, 1)) {
        *out = (pnc_store_transfer){.is_write = true, .extent = extent, .bytes = bytes, .own = behind};
        return;
    }
    if (!is_write)
        prepare_read(behind, &extent, 1);
    store->inner->ops->start(store->inner, is_write, extent, bytes, out);
}

/* A transfer that is not one of the inner store: `own` is the queue, which has the bytes; or the store, which refuses
 * them. */
static bool is_queued(const pnc_store *store, const pnc_store_transfer *transfer)
{
    return transfer->own == &((const pnc_behind *)store)->queue;
}
static bool has_refused(const pnc_store *store, const pnc_store_transfer *transfer)
{
    return transfer->own == store;
}

static bool is_behind_complete(const pnc_store *store, const pnc_store_transfer *transfer)
{
    return is_queued(store, transfer) || has_refused(store, transfer) ||
           store->inner->ops->is_complete(store->inner, transfer);
}

static int finish_behind(pnc_store *store, pnc_store_transfer *transfer, pnc_error *error)
{
    bool is_write = transfer->is_write;
    int err;

    if (is_queued(store, transfer))
        return NC_NOERR;
    if (has_refused(store, transfer))
        return return_failure((pnc_behind *)store, error);
    err = store->inner->ops->finish(store->inner, transfer, error);
    if (is_write && err == NC_NOERR)
        end_write((pnc_behind *)store);
    return err;
}

/* A failure of the worker is that of sync and close. */
static int get_behind_size(pnc_store *store, int64_t *out, pnc_error *error)
{
    (void)pnc_behind_store_finish((pnc_behind *)store, NULL);
    return store->inner->ops->size(store->inner, out, error);
}

static int set_behind_size(pnc_store *store, int64_t size, pnc_error *error)
{
    int err = flush_behind(store, error), later = store->inner->ops->set_size(store->inner, size, error);

    store->end->least_size = store->inner->end->least_size;
    return pnc_error_keep_first(err, later);
}

const pnc_store_ops pnc_store_behind = {
    .name = "behind",
    .store_bytes = sizeof(pnc_behind),
    .is_wrapper = true,
    .open = open_behind,
    .write = write_behind,
    .read = read_behind,
    .unlock = unlock_behind,
    .start = start_behind,
    .is_complete = is_behind_complete,
    .finish = finish_behind,
    .size = get_behind_size,
    .set_size = set_behind_size,
    .flush = flush_behind,
    .release = release_behind,
};
