/* Delayed writes of a file that several ranks share. */
#include "file/behind.h"

#include <stdatomic.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "base/path.h"
#include "file/agree.h"
#include "file/log.h"
#include "file/value_log.h"
#include "host/host.h"
#include "statistics/trace.h"

/* Without the hint: an eighth of the memory of the node for all its ranks. That is about what the Linux kernel itself
 * keeps of files before it makes programs wait (vm.dirty_ratio, 20%, after 10% it writes). Not more than 4 GiB. */
#define SHARE 8
#define MOST_BYTES (INT64_C(4) << 30)
#define LEAST_BYTES (INT64_C(16) << 20)

static int64_t compute_share(int nranks)
{
    int64_t pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);

    if (pages <= 0 || bytes <= 0)
        return LEAST_BYTES;
    return pnc_max64(LEAST_BYTES, pnc_min64(MOST_BYTES, pages / SHARE / nranks * bytes));
}

void pnc_file_behind_init(pnc_file *file, bool delays, bool reads_ahead, int64_t bytes)
{
    pnc_behind *store = pnc_behind_store_find(file->store);
    int64_t pages, queued;

    if (store == NULL)
        return;
    if (bytes == 0)
        bytes = compute_share(file->nodes->nranks > 0 ? file->nodes->nranks : 1);
    pages = pnc_max64(bytes / PNC_LARGE_PAGE, 1);
    queued = reads_ahead ? (pages + 1) / 2 : pages;
    if (!delays)
        pnc_behind_store_set_capacity(store, PNC_LARGE_PAGE, pages * PNC_LARGE_PAGE); /* the queue remains empty */
    else
        pnc_behind_store_set_capacity(store, queued * PNC_LARGE_PAGE, (pages - queued) * PNC_LARGE_PAGE);
    file->behind = delays ? store : NULL;
    file->ahead = reads_ahead ? store : NULL;
}

bool pnc_file_behind_is_possible(const pnc_file *file, const char *path)
{
    bool is_mpiio = file->driver->local_path != NULL && (file->ahead != NULL || !file->driver->is_wrapper);

    return is_mpiio && file->store->identity.inode != 0 && !pnc_host_path_is_nfs(pnc_path_strip(path));
}

int pnc_file_behind_agree(pnc_file *file, int err)
{
    err = pnc_file_status_agree(file, pnc_file_behind_finish(file, err));
    if (err == NC_NOERR)
        pnc_file_behind_clear(file);
    return err;
}

int pnc_file_behind_wait(pnc_file *file)
{
    if (pnc_file_log_is_used(file))
        return pnc_file_behind_agree(file, NC_NOERR);
    (void)pnc_behind_store_finish(file->behind, NULL);
    PNC_TRY(pnc_file_status_agree(file, pnc_behind_store_take_failure(file->behind, file->error)));
    pnc_file_behind_clear(file);
    return NC_NOERR;
}

/* *all gets the range of all ranks. */
static int agree_range(pnc_file *file, pnc_behind_range *all)
{
    pnc_behind *behind = file->behind;
    bool is_empty = pnc_behind_range_is_empty(all);
    int err = pnc_behind_store_take_failure(behind, file->error), mismatch;
    /* failure, range, first call that is not written: the maximum of each */
    int64_t v[4] = {0, is_empty ? INT64_MIN : -all->low.offset, is_empty ? 0 : all->high.offset,
                    -pnc_behind_store_find_call(behind)};

    err = pnc_file_late_take(file, err);
    v[0] = err != NC_NOERR;
    mismatch = pnc_file_maxima_agree(file, v, 4, "the range of a collective call");
    if (mismatch != NC_NOERR)
        return pnc_error_keep_first(err, mismatch);
    if (v[0] != 0)
        return pnc_file_status_agree(file, err);
    pnc_behind_pending_remove(&behind->pending, -v[3]);
    *all = v[2] > 0 ? pnc_behind_range_make(-v[1], v[2]) : (pnc_behind_range){0};
    if (pnc_behind_pending_has_range(&behind->pending, all))
        PNC_TRY(pnc_file_behind_wait(file));
    return NC_NOERR;
}

/* The same of one rank. */
static int check_range(pnc_file *file, const pnc_behind_range *range)
{
    PNC_TRY(pnc_behind_store_take_failure(file->behind, file->error));
    if (pnc_behind_range_is_empty(range))
        return NC_NOERR;
    return pnc_behind_store_check_kept(
        file->behind, (pnc_extent){range->low.offset, range->high.offset - range->low.offset}, file->error);
}

/* An independent put is written before it returns: another rank may put to the same place when it knows of that. Logs
 * have an order of collective calls only. */
static bool may_delay(const pnc_file *file, bool collective)
{
    return collective || (file->nprocs == 1 && !pnc_file_log_is_used(file));
}

int pnc_file_behind_begin(pnc_file *file, bool is_put, bool collective, int64_t low, int64_t high)
{
    pnc_behind *behind = file->behind;
    pnc_behind_range range = pnc_behind_range_make(low, high);

    pnc_file_behind_trace_update(file);
    if (collective && file->nprocs > 1)
        PNC_TRY(agree_range(file, &range));
    else
        PNC_TRY(check_range(file, &range));
    if (!is_put)
        return NC_NOERR;
    if (collective && file->log.state == PNC_LOG_WANTED && file->log.header_size != NULL)
        pnc_file_log_begin(file);
    if (file->behind == NULL || !may_delay(file, collective))
        return NC_NOERR;
    if (collective && file->nprocs > 1) {
        range.call = behind->call + 1;
        pnc_behind_pending_add(&behind->pending, range);
    }
    pnc_behind_store_begin(behind, behind->call + collective);
    return NC_NOERR;
}

/* --- other handles --- */

/* Of the files whose inodes have this remainder. Another rank may write what this one puts, so that writes would not
 * show all changes by this process. */
#define FILES 256
static atomic_uint changes[FILES];

static atomic_uint *find_changes(const pnc_file *file)
{
    return &changes[(uint64_t)file->store->identity.inode % FILES];
}

void pnc_file_change_add(const pnc_file *file)
{
    atomic_fetch_add(find_changes(file), 1);
}

void pnc_file_ahead_update(pnc_file *file)
{
    unsigned now = atomic_load(find_changes(file));

    if (now != file->changes)
        pnc_behind_store_discard(file->ahead);
    file->changes = now;
}

/* --- statistics --- */

static pnc_behind *find_store(const pnc_file *file)
{
    return file->behind != NULL ? file->behind : file->ahead;
}

void pnc_file_behind_trace_add(pnc_file *file)
{
    pnc_behind *store = find_store(file);
    pnc_behind_span spans[PNC_BEHIND_SPANS];
    int n = pnc_behind_queue_take_spans(&store->queue, spans);

    for (int i = 0; i < n; i++)
        pnc_trace_worker_add(file->statistics->trace, spans[i].is_write ? "worker_write" : "worker_read",
                             spans[i].begin, spans[i].end);
}

static void add_worker_accesses(pnc_statistics *s, pnc_behind *store)
{
    pnc_behind_accesses a;

    pnc_behind_queue_take_accesses(&store->queue, &a);
    s->counts[PNC_COUNT_AHEAD_READS] += a.n[0];
    s->counts[PNC_COUNT_BEHIND_WRITES] += a.n[1];
    for (int i = 0; i < PNC_SIZE_CLASS_N; i++) {
        s->counts[PNC_COUNT_AHEAD_READS_100 + i] += a.by_size[0][i];
        s->counts[PNC_COUNT_BEHIND_WRITES_100 + i] += a.by_size[1][i];
    }
    pnc_statistics_heat_join(&s->heat, &a.heat);
}

static int64_t count_worker(pnc_file *file, pnc_behind *store)
{
    pnc_statistics *s = file->statistics;
    pnc_behind_work work;

    pnc_file_behind_trace_update(file);
    work = pnc_behind_queue_get_work(&store->queue);
    add_worker_accesses(s, store);
    s->counts[PNC_COUNT_AHEAD_BYTES] = store->ahead.read;
    s->counts[PNC_COUNT_AHEAD_USED] = store->ahead.used;
    s->counts[PNC_COUNT_AHEAD_LACKING] = store->ahead.lacking;
    s->counts[PNC_COUNT_AHEAD_BUSY] = work.read_busy_ns;
    s->counts[PNC_COUNT_AHEAD_DELAY] = work.read_delay_ns;
    s->counts[PNC_COUNT_AHEAD_HIDDEN] = pnc_max64(0, work.read_busy_ns - work.read_delay_ns);
    s->counts[PNC_COUNT_BEHIND_QUEUED] = work.queued;
    s->counts[PNC_COUNT_BEHIND_BYTES] = work.bytes;
    s->counts[PNC_COUNT_BEHIND_BUSY] = work.busy_ns;
    s->counts[PNC_COUNT_BEHIND_DELAY] = work.delay_ns;
    s->counts[PNC_COUNT_BEHIND_HIDDEN] = pnc_max64(0, work.busy_ns - work.delay_ns);
    s->counts[PNC_COUNT_BEHIND_FULL] = work.full;
    s->counts[PNC_COUNT_BEHIND_MEMORY] = work.memory;
    s->counts[PNC_COUNT_LOG_WRITES] = work.log_writes;
    s->counts[PNC_COUNT_LOG_BYTES] = work.log_bytes;
    s->counts[PNC_COUNT_LOG_SIZE] = work.log_size;
    s->counts[PNC_COUNT_LOG_LAPS] = work.log_laps;
    return work.queued;
}

void pnc_file_behind_count(pnc_file *file)
{
    pnc_behind *store = find_store(file);
    int64_t queued = 0;

    if (file->statistics == NULL)
        return;
    if (store != NULL)
        queued = count_worker(file, store);
    pnc_file_value_log_count(file, queued);
}
