/* The thread that writes what was put, and reads what will be got. */
#include "drivers/behind/worker.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "host/host.h"

/* Bytes of a turn: some milliseconds on a fast disk, a few of its seeks on a slow one. A guess. */
#define TURN_BYTES (INT64_C(8) << 20)
#define ATTEMPTS 16 /* at a write of no bytes */
#define PAUSE 50000 /* nanoseconds: a shorter one is no pause of a timeline */

static pthread_mutex_t worker_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_work = PTHREAD_COND_INITIALIZER, has_progress = PTHREAD_COND_INITIALIZER;
static pthread_once_t at_fork = PTHREAD_ONCE_INIT;
static pthread_t worker;
static bool is_running;          /* there is a worker */
static bool is_joinable;         /* there is one, or one that has ended */
static pnc_behind_queue *queues; /* a circle, in which the worker goes on from this one */

/* --- in the worker --- */

static int64_t read_worker_clock(void)
{
    struct timespec now = {0};

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* A system access that has not failed. */
static void count_worker_access(pnc_behind_queue *queue, bool is_write, int64_t offset, int64_t bytes)
{
    pnc_behind_accesses *a = &queue->accesses;

    pthread_mutex_lock(&worker_lock);
    a->n[is_write]++;
    a->by_size[is_write][pnc_counter_class_find(bytes)]++;
    pnc_statistics_heat_add(&a->heat, is_write, offset, bytes);
    pthread_mutex_unlock(&worker_lock);
}

/* The bytes that were written; fewer than `length`, and *number is set: the write has failed. */
static int64_t write_bytes(pnc_behind_queue *queue, const char *bytes, pnc_extent extent, int *number)
{
    int64_t done = 0;

    *number = 0;
    for (int empty = 0; done < extent.length && empty < ATTEMPTS;) {
        ssize_t some = pwrite(queue->fd, bytes + done, (size_t)(extent.length - done), extent.offset + done);

        if (some < 0 && errno != EINTR) {
            *number = errno;
            return done;
        }
        if (some >= 0)
            count_worker_access(queue, true, extent.offset + done, some);
        empty = some > 0 ? 0 : empty + 1;
        done += some > 0 ? some : 0;
    }
    return done;
}

/* The bytes that were read, from the first on. */
static int64_t read_piece(pnc_behind_queue *queue, char *to, pnc_extent extent)
{
    int64_t done = 0;

    while (done < extent.length) {
        ssize_t some = pread(queue->fd, to + done, (size_t)(extent.length - done), extent.offset + done);

        if (some >= 0)
            count_worker_access(queue, false, extent.offset + done, some);
        if (some == 0 || (some < 0 && errno != EINTR))
            break;
        done += some > 0 ? some : 0;
    }
    return done;
}

/* Under the lock. Returns the time. */
static int64_t end_span(pnc_behind_queue *queue, bool is_write, int64_t begin)
{
    int64_t end = read_worker_clock();
    pnc_behind_span *last = queue->nspans > 0 ? &queue->spans[queue->nspans - 1] : NULL;

    if (queue->spans == NULL)
        return end;
    if (last != NULL &&
        ((last->is_write == is_write && begin - last->end < PAUSE) || queue->nspans == PNC_BEHIND_SPANS))
        last->end = end;
    else
        queue->spans[queue->nspans++] = (pnc_behind_span){begin, end, is_write};
    return end;
}

/* Whether all blocks of a lap of the log are in the file, and it is time for the next one. */
static bool must_reset(const pnc_behind_log *log)
{
    return log->n == 0 && !pnc_behind_log_is_empty(log) && !log->is_off && !log->is_kept && !log->is_adding;
}

static bool has_writes(const pnc_behind_queue *queue)
{
    return !pnc_behind_ring_is_empty(&queue->ring) ||
           (queue->log != NULL && (queue->log->n > 0 || must_reset(queue->log)));
}

static bool has_accesses(const pnc_behind_queue *queue)
{
    return has_writes(queue) || queue->line.first != NULL;
}

static bool has_ready(const pnc_behind_queue *queue)
{
    return queue->ready.first != NULL;
}

/* The next queue that has something; NULL: none has. */
static pnc_behind_queue *find_queue(bool (*has)(const pnc_behind_queue *queue))
{
    pnc_behind_queue *first = queues, *queue = first;

    while (queue != NULL && !has(queue))
        queue = queue->next == first ? NULL : queue->next;
    if (queue != NULL)
        queues = queue->next;
    return queue;
}

/* Under the lock. */
static void append_batch(pnc_behind_line *line, pnc_behind_batch *batch)
{
    batch->next = NULL;
    *(line->first == NULL ? &line->first : &line->last->next) = batch;
    line->last = batch;
}

static void unlink_batch(pnc_behind_line *line, pnc_behind_batch *batch)
{
    pnc_behind_batch **at = &line->first, *before = NULL;

    for (; *at != batch; at = &(*at)->next)
        before = *at;
    *at = batch->next;
    if (line->last == batch)
        line->last = before;
}

static void end_reading(pnc_behind_queue *queue, pnc_behind_batch *batch)
{
    unlink_batch(&queue->line, batch);
    batch->is_waiting = false;
}

static void end_preparing(pnc_behind_queue *queue, pnc_behind_batch *batch)
{
    unlink_batch(&queue->ready, batch);
    batch->is_preparing = false;
}

/* A batch was read. */
static void begin_preparing(pnc_behind_queue *queue, pnc_behind_batch *batch)
{
    if (batch->is_discarded || batch->reads == NULL || batch->reads->prepare == NULL)
        return;
    batch->is_preparing = true;
    append_batch(&queue->ready, batch);
}

/* Read a part of the first batch. An error is that of the get, which reads again. Under the lock, but for the read. */
static void take_read_turn(pnc_behind_queue *queue)
{
    pnc_behind_batch *batch = queue->line.first;
    pnc_extent extent = pnc_behind_batch_find_next(batch, TURN_BYTES);
    char *to = batch->bytes + batch->done;
    int64_t begin = read_worker_clock(), done;

    queue->is_reading = true;
    pthread_mutex_unlock(&worker_lock);
    done = read_piece(queue, to, extent);
    pthread_mutex_lock(&worker_lock);
    queue->is_reading = false;
    queue->work.read_busy_ns += end_span(queue, false, begin) - begin;
    batch->done += done;
    if (done < extent.length || batch->done == batch->length || batch->is_discarded)
        end_reading(queue, batch);
    if (batch->done == batch->length)
        begin_preparing(queue, batch);
    pthread_cond_broadcast(&has_progress);
}

/* Prepare a part of the first batch that was read. */
static void take_prepare_turn(pnc_behind_queue *queue)
{
    pnc_behind_batch *batch = queue->ready.first;
    bool more;

    queue->is_preparing = true;
    pthread_mutex_unlock(&worker_lock);
    more = batch->reads->prepare(batch->reads);
    pthread_mutex_lock(&worker_lock);
    queue->is_preparing = false;
    if (!more || batch->is_discarded)
        end_preparing(queue, batch);
    pthread_cond_broadcast(&has_progress);
}

/* What has become of a write of the worker. Under the lock. */
static void count_write(pnc_behind_queue *queue, pnc_extent extent, int64_t done, int number)
{
    if (done < extent.length && queue->failure.extent.length == 0)
        queue->failure = (pnc_behind_failure){{extent.offset + done, extent.length - done}, number};
    if (done < extent.length && queue->log != NULL)
        queue->log->is_kept = true;
    queue->work.bytes += done;
    queue->finished = pnc_max64(queue->finished, done > 0 ? extent.offset + done : 0);
}

/* Write a part of the front block. Under the lock, but for the write. */
static void take_ring_turn(pnc_behind_queue *queue)
{
    pnc_extent extent = queue->ring.front.extent;
    const char *bytes = pnc_behind_ring_get_front(&queue->ring);
    int64_t done;
    int number;

    extent.length = pnc_min64(extent.length, TURN_BYTES);
    pthread_mutex_unlock(&worker_lock);
    done = write_bytes(queue, bytes, extent, &number);
    pthread_mutex_lock(&worker_lock);
    count_write(queue, extent, done, number);
    pnc_behind_ring_remove(&queue->ring, extent.length);
}

/* Write the first blocks of the log. */
static void take_log_turn(pnc_behind_queue *queue)
{
    pnc_behind_log *log = queue->log;
    pnc_behind_pieces pieces;
    int64_t done = 0;
    int number;

    pnc_behind_log_get_first(log, &pieces);
    pthread_mutex_unlock(&worker_lock);
    number = pnc_behind_log_read(log, &pieces);
    if (number == 0)
        done = write_bytes(queue, log->buffer, pieces.extent, &number);
    pthread_mutex_lock(&worker_lock);
    count_write(queue, pieces.extent, done, number);
    pnc_behind_log_update_time(log, queue->fd);
    pnc_behind_log_release(log, pieces.extent.length);
}

/* Begin a lap. What a flush has made permanent in the log must be so in the file before. */
static void take_reset_turn(pnc_behind_queue *queue)
{
    pnc_behind_log *log = queue->log;
    bool syncs = log->is_promised;
    int failed = 0, number = 0;

    log->is_resetting = true;
    pthread_mutex_unlock(&worker_lock);
    if (syncs)
        failed = pnc_host_file_sync_data(queue->fd);
    if (failed == 0)
        number = pnc_behind_log_write_front(log, log->front.lap + 1, log->call);
    pthread_mutex_lock(&worker_lock);
    log->is_resetting = false;
    queue->work.log_laps += failed == 0 && number == 0;
    log->fronts += failed == 0;
    if (failed != 0) {
        count_write(queue, log->hull, 0, failed);
        return;
    }
    log->is_promised = false;
    log->has_moved = log->has_moved || !syncs;
    if (number != 0) { /* without its log a replay stops */
        log->number = number;
        log->is_off = true;
        pnc_behind_log_remove(log);
    }
    pnc_behind_log_clear(log);
}

static void take_write_turn(pnc_behind_queue *queue)
{
    int64_t begin = read_worker_clock();

    queue->is_busy = true;
    if (!pnc_behind_ring_is_empty(&queue->ring))
        take_ring_turn(queue);
    else if (queue->log->n > 0)
        take_log_turn(queue);
    else
        take_reset_turn(queue);
    queue->is_busy = false;
    queue->work.busy_ns += end_span(queue, true, begin) - begin;
    pthread_cond_broadcast(&has_progress);
}

/* Writes and reads of a queue take turns, too. */
static void take_turn(pnc_behind_queue *queue)
{
    queue->has_written = has_writes(queue) && (queue->line.first == NULL || !queue->has_written);
    if (queue->has_written)
        take_write_turn(queue);
    else
        take_read_turn(queue);
}

static void *work(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&worker_lock);
    while (queues != NULL) {
        pnc_behind_queue *queue = find_queue(has_accesses), *ready = queue == NULL ? find_queue(has_ready) : NULL;

        if (queue != NULL)
            take_turn(queue);
        else if (ready != NULL)
            take_prepare_turn(ready);
        else
            pthread_cond_wait(&has_work, &worker_lock);
    }
    is_running = false;
    pthread_cond_broadcast(&has_progress);
    pthread_mutex_unlock(&worker_lock);
    return NULL;
}

/* --- its life --- */

/* Under the lock. */
static void forget_batches(pnc_behind_queue *queue)
{
    while (queue->line.first != NULL)
        end_reading(queue, queue->line.first);
    while (queue->ready.first != NULL)
        end_preparing(queue, queue->ready.first);
}

static void lock_before_fork(void)
{
    pthread_mutex_lock(&worker_lock);
}

static void unlock_in_parent(void)
{
    pthread_mutex_unlock(&worker_lock);
}

/* The log is the parent's. */
static void abandon_log(pnc_behind_log *log)
{
    log->n = 0;
    pnc_behind_index_clear(&log->index);
    log->is_off = true;
    log->is_adding = log->is_resetting = false;
    log->path[0] = '\0';
}

/* The parent writes what is queued. The child has no worker, and begins none. */
static void forget_in_child(void)
{
    pnc_behind_queue *queue = queues;

    pthread_mutex_init(&worker_lock, NULL);
    pthread_cond_init(&has_work, NULL);
    pthread_cond_init(&has_progress, NULL);
    is_running = is_joinable = false;
    queues = NULL;
    while (queue != NULL) {
        pnc_behind_queue *next = queue->next;

        queue->is_busy = queue->is_reading = queue->is_preparing = false;
        pnc_behind_ring_clear(&queue->ring);
        if (queue->log != NULL)
            abandon_log(queue->log);
        forget_batches(queue);
        queue->next = NULL;
        queue = next;
    }
}

static void watch_forks(void)
{
    pthread_atfork(lock_before_fork, unlock_in_parent, forget_in_child);
}

/* Under the lock, which a worker that has ended no longer needs. */
static void join_worker(void)
{
    if (is_joinable)
        pthread_join(worker, NULL);
    is_joinable = false;
}

/* Under the lock. Signals are for threads of the program. */
static bool start_worker(void)
{
    sigset_t all, before;
    bool is_started;

    if (is_running)
        return true;
    join_worker();
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return false;
    is_started = pthread_create(&worker, NULL, work, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    is_running = is_joinable = is_started;
    return is_started;
}

static void add_queue(pnc_behind_queue *queue)
{
    if (queues == NULL) {
        queue->next = queues = queue;
        return;
    }
    queue->next = queues->next;
    queues->next = queue;
}

static void remove_queue(pnc_behind_queue *queue)
{
    pnc_behind_queue *before = queue;

    while (before->next != queue)
        before = before->next;
    before->next = queue->next;
    queues = before == queue ? NULL : before;
    queue->next = NULL;
}

/* --- queues --- */

bool pnc_behind_queue_open(pnc_behind_queue *queue, int fd, int64_t capacity)
{
    char *memory = pnc_memory_reserve(capacity);
    bool is_open;

    if (memory == NULL)
        return false;
    pthread_once(&at_fork, watch_forks);
    pthread_mutex_lock(&worker_lock);
    add_queue(queue);
    is_open = start_worker();
    if (is_open) {
        pnc_behind_ring_init(&queue->ring, memory, capacity);
        queue->memory = memory;
        queue->fd = fd;
        pnc_statistics_heat_init(&queue->accesses.heat);
    } else {
        remove_queue(queue);
    }
    pthread_mutex_unlock(&worker_lock);
    if (!is_open)
        pnc_memory_pages_free(memory);
    return is_open;
}

/* Under the lock. Wait for the end of the worker, unless another thread opens a queue meanwhile. */
static void end_worker(void)
{
    pthread_cond_signal(&has_work);
    while (is_running && queues == NULL)
        pthread_cond_wait(&has_progress, &worker_lock);
    if (!is_running)
        join_worker();
}

void pnc_behind_queue_close(pnc_behind_queue *queue)
{
    pthread_mutex_lock(&worker_lock);
    while (queue->is_busy || queue->is_reading || queue->is_preparing)
        pthread_cond_wait(&has_progress, &worker_lock);
    if (pnc_behind_queue_is_open(queue)) {
        remove_queue(queue);
        if (queues == NULL && is_running)
            end_worker();
    }
    pthread_mutex_unlock(&worker_lock);
    if (queue->memory != NULL && !pnc_behind_queue_is_released(queue))
        close(queue->fd);
    pnc_memory_count(-queue->counted);
    pnc_memory_pages_free(queue->memory);
    pnc_behind_ring_free(&queue->ring);
    if (queue->log != NULL)
        pnc_behind_log_free(queue->log, false);
    pnc_memory_free(queue->spans);
    memset(queue, 0, sizeof *queue);
}

/* Under the lock. */
static void wait_progress(pnc_behind_queue *queue)
{
    int64_t begin = read_worker_clock();

    pthread_cond_wait(&has_progress, &worker_lock);
    queue->work.delay_ns += read_worker_clock() - begin;
}

/* Under the lock. What the ring has not reached is only reserved. */
static void count_reached(pnc_behind_queue *queue)
{
    int64_t pages = (queue->ring.reached + PNC_LARGE_PAGE - 1) / PNC_LARGE_PAGE * PNC_LARGE_PAGE;

    if (pages == queue->counted)
        return;
    pnc_memory_count(pages - queue->counted);
    queue->counted = pages;
}

/* Under the lock: where the next bytes go. NULL: the queue is not open. */
static char *reserve_memory(pnc_behind_queue *queue, const pnc_behind_block *block, int64_t *length)
{
    char *to = pnc_behind_ring_reserve(&queue->ring, block, length);

    if (*length == 0)
        queue->work.full++;
    while (*length == 0 && pnc_behind_queue_is_open(queue)) {
        wait_progress(queue);
        to = pnc_behind_ring_reserve(&queue->ring, block, length);
    }
    return pnc_behind_queue_is_open(queue) ? to : NULL;
}

/* --- with a log --- */

static bool is_logging(const pnc_behind_queue *queue)
{
    return pnc_behind_queue_is_open(queue) && !queue->log->is_off && !queue->log->is_kept;
}

/* The same, when the worker has begun its lap. */
static bool wait_lap(pnc_behind_queue *queue)
{
    while (queue->log->is_resetting)
        wait_progress(queue);
    return is_logging(queue);
}

/* Under the lock, but for the sync: the worker begins no lap meanwhile. What a flush has made permanent in the log is
 * permanent in the file; if that fails, the log keeps it. */
static void sync_promised(pnc_behind_queue *queue)
{
    pnc_behind_log *log = queue->log;
    int failed;

    pthread_mutex_unlock(&worker_lock);
    failed = pnc_host_file_sync_data(queue->fd);
    pthread_mutex_lock(&worker_lock);
    log->is_promised = failed != 0;
    if (failed != 0)
        count_write(queue, log->hull, 0, failed);
}

/* Under the lock. Nothing more is logged: what is in the log is written first, and then the log says so. After a failed
 * write it remains as it is. */
static void end_log(pnc_behind_queue *queue, int number)
{
    pnc_behind_log *log = queue->log;

    log->is_off = true;
    log->number = number;
    while (log->n > 0 || log->is_resetting)
        wait_progress(queue);
    if (log->is_promised && !log->is_kept)
        sync_promised(queue);
    log->has_moved = true;
    log->fronts += !log->is_kept;
    if (!log->is_kept && pnc_behind_log_write_front(log, log->front.lap + 1, PNC_LOG_EVERYTHING) != 0)
        pnc_behind_log_remove(log);
    if (!log->is_kept)
        pnc_behind_log_clear(log);
}

/* Under the lock, but for the write: the worker begins no lap meanwhile. False: the log has ended. */
static bool append_to_log(pnc_behind_queue *queue, const pnc_log_record *record, const char *bytes)
{
    pnc_behind_log *log = queue->log;
    int number;

    log->is_adding = true;
    pthread_mutex_unlock(&worker_lock);
    number = pnc_behind_log_append(log, record, bytes);
    pthread_mutex_lock(&worker_lock);
    log->is_adding = false;
    if (number == 0)
        pnc_behind_log_add(log, record);
    else
        end_log(queue, number);
    pthread_cond_signal(&has_work);
    return number == 0;
}

static bool add_to_log(pnc_behind_queue *queue, pnc_behind_block rest, const char *bytes)
{
    bool was_full = false;

    pthread_mutex_lock(&worker_lock);
    while (rest.extent.length > 0 && is_logging(queue)) {
        pnc_log_record record = {.kind = PNC_LOG_BLOCK, .call = rest.call, .extent = rest.extent};

        record.extent.length = queue->log->is_resetting ? 0 : pnc_behind_log_reserve(queue->log, rest.extent.length);
        if (record.extent.length == 0) {
            queue->work.full += !was_full;
            was_full = true;
            wait_progress(queue);
            continue;
        }
        if (!append_to_log(queue, &record, bytes))
            break;
        queue->work.queued += record.extent.length;
        bytes += record.extent.length;
        rest.extent.offset += record.extent.length;
        rest.extent.length -= record.extent.length;
    }
    pthread_mutex_unlock(&worker_lock);
    return rest.extent.length == 0;
}

/* Under the lock. Also after a failed write: the log and the file together have what a call that succeeds has put. */
static bool can_end_call(pnc_behind_queue *queue)
{
    const pnc_behind_log *log = queue->log;

    if (wait_lap(queue))
        return true;
    return pnc_behind_queue_is_open(queue) && !log->is_off && log->tail < log->capacity;
}

/* A log without blocks says in its front what it has: it does not grow by the calls of other ranks. */
void pnc_behind_queue_end_call(pnc_behind_queue *queue, int64_t call, int64_t numrecs)
{
    const pnc_log_record record = {.kind = PNC_LOG_END, .call = call, .numrecs = numrecs};
    pnc_behind_log *log = queue->log;
    int number;

    pthread_mutex_lock(&worker_lock);
    if (can_end_call(queue)) {
        log->call = call;
        log->numrecs = numrecs;
        if (!pnc_behind_log_is_empty(log)) {
            (void)append_to_log(queue, &record, "");
        } else {
            number = pnc_behind_log_write_front(log, log->front.lap, call);
            log->fronts++;
            if (number != 0)
                end_log(queue, number);
        }
    }
    pthread_mutex_unlock(&worker_lock);
}

void pnc_behind_queue_sync_log(pnc_behind_queue *queue, bool *needs_file)
{
    pnc_behind_log *log = queue->log;
    int number;

    pthread_mutex_lock(&worker_lock);
    if (wait_lap(queue)) {
        log->is_promised = log->is_adding = true;
        pthread_mutex_unlock(&worker_lock);
        number = pnc_behind_log_sync(log);
        pthread_mutex_lock(&worker_lock);
        log->is_adding = false;
        if (number != 0)
            end_log(queue, number);
        pthread_cond_signal(&has_work);
    }
    *needs_file = log->has_moved || !is_logging(queue);
    log->has_moved = false;
    pthread_mutex_unlock(&worker_lock);
}

/* Under the lock. */
static bool keeps_span(const pnc_behind_queue *queue, pnc_extent span)
{
    return queue->log != NULL && queue->log->is_kept && pnc_behind_log_has_had_span(queue->log, span);
}

void pnc_behind_queue_update_time(pnc_behind_queue *queue)
{
    pthread_mutex_lock(&worker_lock);
    pnc_behind_log_update_time(queue->log, queue->fd);
    pthread_mutex_unlock(&worker_lock);
}

bool pnc_behind_queue_wait_log(pnc_behind_queue *queue, pnc_extent span)
{
    pnc_behind_log *log = queue->log;
    bool is_free;

    pthread_mutex_lock(&worker_lock);
    if (pnc_behind_log_has_had_span(log, span))
        while (has_writes(queue) || log->is_resetting)
            wait_progress(queue);
    is_free = !keeps_span(queue, span);
    pthread_mutex_unlock(&worker_lock);
    return is_free;
}

bool pnc_behind_queue_has_kept(pnc_behind_queue *queue, pnc_extent span)
{
    bool keeps;

    pthread_mutex_lock(&worker_lock);
    keeps = keeps_span(queue, span);
    pthread_mutex_unlock(&worker_lock);
    return keeps;
}

void pnc_behind_queue_remove_log(pnc_behind_queue *queue)
{
    pthread_mutex_lock(&worker_lock);
    queue->log->is_off = true;
    pnc_behind_log_remove(queue->log);
    pthread_mutex_unlock(&worker_lock);
}

/* What a log has cost. */
static void add_log_work(const pnc_behind_log *log, pnc_behind_work *work)
{
    work->log_writes += log->fronts + log->records;
    work->log_bytes += log->fronts * PNC_LOG_SLOT_BYTES + log->bytes;
    work->log_size = pnc_max64(work->log_size, log->most);
}

void pnc_behind_queue_close_log(pnc_behind_queue *queue)
{
    pnc_behind_log *log;

    pthread_mutex_lock(&worker_lock);
    log = queue->log;
    if (log != NULL)
        add_log_work(log, &queue->work);
    queue->log = NULL;
    pthread_mutex_unlock(&worker_lock);
    if (log == NULL)
        return;
    pnc_behind_log_free(log, true);
    (void)pnc_host_logs_hold(queue->fd, PNC_HOLD_NOTHING);
}

void pnc_behind_queue_set_log(pnc_behind_queue *queue, pnc_behind_log *log)
{
    pthread_mutex_lock(&worker_lock);
    queue->log = log;
    pthread_mutex_unlock(&worker_lock);
}

/* Under the lock: the queue has done its work, and needs no descriptor any more. A log that a replay needs remains. */
static void release_queue(pnc_behind_queue *queue)
{
    pnc_behind_log *log = queue->log;

    if (log != NULL && is_logging(queue))
        end_log(queue, EMFILE);
    while (has_writes(queue) || queue->is_busy || queue->is_reading || queue->is_preparing)
        wait_progress(queue);
    forget_batches(queue);
    if (log != NULL && !log->is_kept && log->fd >= 0) {
        close(log->fd);
        log->fd = -1;
    }
    close(queue->fd);
    queue->fd = -1;
    remove_queue(queue);
}

void pnc_behind_queues_release(void)
{
    pthread_mutex_lock(&worker_lock);
    while (queues != NULL && !pnc_host_has_descriptors(PNC_BEHIND_SPARE))
        release_queue(queues);
    if (queues == NULL && is_running)
        end_worker();
    pthread_mutex_unlock(&worker_lock);
}

bool pnc_behind_queue_has_log(pnc_behind_queue *queue)
{
    bool has_log;

    pthread_mutex_lock(&worker_lock);
    has_log = queue->log != NULL && is_logging(queue);
    pthread_mutex_unlock(&worker_lock);
    return has_log;
}

int pnc_behind_queue_get_log_failure(pnc_behind_queue *queue)
{
    int number;

    pthread_mutex_lock(&worker_lock);
    number = queue->log != NULL ? queue->log->number : 0;
    pthread_mutex_unlock(&worker_lock);
    return number;
}

/* --- blocks --- */

/* The worker does not see the bytes before they are published. */
bool pnc_behind_queue_add(pnc_behind_queue *queue, const pnc_behind_block *block, const char *bytes)
{
    pnc_behind_block rest = *block;
    int64_t length;
    char *to;

    if (queue->log != NULL)
        return add_to_log(queue, rest, bytes);
    pthread_mutex_lock(&worker_lock);
    while (rest.extent.length > 0) {
        to = reserve_memory(queue, &rest, &length);
        if (to == NULL)
            break;
        pthread_mutex_unlock(&worker_lock);
        memcpy(to, bytes, (size_t)length);
        pthread_mutex_lock(&worker_lock);
        pnc_behind_ring_publish(&queue->ring, &rest, length);
        count_reached(queue);
        queue->work.queued += length;
        pthread_cond_signal(&has_work);
        bytes += length;
        rest.extent.offset += length;
        rest.extent.length -= length;
    }
    pthread_mutex_unlock(&worker_lock);
    return rest.extent.length == 0;
}

static bool has_block_of(const pnc_behind_queue *queue, pnc_extent span)
{
    return pnc_behind_ring_has_span(&queue->ring, span) ||
           (queue->log != NULL && pnc_behind_log_has_span(queue->log, span));
}

void pnc_behind_queue_wait(pnc_behind_queue *queue, pnc_extent span)
{
    pthread_mutex_lock(&worker_lock);
    while (has_block_of(queue, span))
        wait_progress(queue);
    pthread_mutex_unlock(&worker_lock);
}

bool pnc_behind_queue_has_span(pnc_behind_queue *queue, pnc_extent span)
{
    bool has_span;

    pthread_mutex_lock(&worker_lock);
    has_span = has_block_of(queue, span);
    pthread_mutex_unlock(&worker_lock);
    return has_span;
}

void pnc_behind_queue_finish(pnc_behind_queue *queue)
{
    pthread_mutex_lock(&worker_lock);
    while (has_writes(queue) || (queue->log != NULL && queue->log->is_resetting))
        wait_progress(queue);
    pthread_mutex_unlock(&worker_lock);
}

void pnc_behind_queue_read(pnc_behind_queue *queue, pnc_behind_batch *batch)
{
    pthread_mutex_lock(&worker_lock);
    if (pnc_behind_queue_is_open(queue)) {
        batch->is_waiting = true;
        append_batch(&queue->line, batch);
        pthread_cond_signal(&has_work);
    }
    pthread_mutex_unlock(&worker_lock);
}

void pnc_behind_queue_discard(pnc_behind_queue *queue, pnc_behind_batch *batch)
{
    pthread_mutex_lock(&worker_lock);
    batch->is_discarded = true;
    while ((batch->is_waiting && queue->is_reading && queue->line.first == batch) ||
           (batch->is_preparing && queue->is_preparing && queue->ready.first == batch))
        pthread_cond_wait(&has_progress, &worker_lock);
    if (batch->is_waiting)
        end_reading(queue, batch);
    if (batch->is_preparing)
        end_preparing(queue, batch);
    pthread_mutex_unlock(&worker_lock);
}

bool pnc_behind_queue_take(pnc_behind_queue *queue, pnc_behind_batch *batch, int64_t at, int64_t length, char *to)
{
    int64_t begin;
    bool is_read;

    pthread_mutex_lock(&worker_lock);
    if (batch->done < at + length && batch->is_waiting) {
        begin = read_worker_clock();
        while (batch->done < at + length && batch->is_waiting)
            pthread_cond_wait(&has_progress, &worker_lock);
        queue->work.read_delay_ns += read_worker_clock() - begin;
    }
    is_read = batch->done >= at + length;
    pthread_mutex_unlock(&worker_lock);
    if (is_read)
        memcpy(to, batch->bytes + at, (size_t)length);
    return is_read;
}

int64_t pnc_behind_queue_find_call(pnc_behind_queue *queue)
{
    int64_t call;

    pthread_mutex_lock(&worker_lock);
    call = pnc_behind_ring_is_empty(&queue->ring) ? INT64_MAX : queue->ring.front.call;
    if (queue->log != NULL && (!queue->log->is_off || queue->log->is_kept)) /* a replay repeats what is in the log */
        call = pnc_min64(call, queue->log->first_call);
    pthread_mutex_unlock(&worker_lock);
    return call;
}

pnc_behind_failure pnc_behind_queue_get_failure(pnc_behind_queue *queue)
{
    pnc_behind_failure failure;

    pthread_mutex_lock(&worker_lock);
    failure = queue->failure;
    pthread_mutex_unlock(&worker_lock);
    return failure;
}

int64_t pnc_behind_queue_get_end(pnc_behind_queue *queue)
{
    int64_t end;

    pthread_mutex_lock(&worker_lock);
    end = queue->finished;
    pthread_mutex_unlock(&worker_lock);
    return end;
}

pnc_behind_work pnc_behind_queue_get_work(pnc_behind_queue *queue)
{
    pnc_behind_work all;

    pthread_mutex_lock(&worker_lock);
    all = queue->work;
    all.memory = queue->ring.most;
    if (queue->log != NULL)
        add_log_work(queue->log, &all);
    pthread_mutex_unlock(&worker_lock);
    return all;
}

void pnc_behind_queue_take_accesses(pnc_behind_queue *queue, pnc_behind_accesses *out)
{
    pthread_mutex_lock(&worker_lock);
    *out = queue->accesses;
    memset(&queue->accesses, 0, sizeof queue->accesses);
    pnc_statistics_heat_init(&queue->accesses.heat);
    pthread_mutex_unlock(&worker_lock);
}

int pnc_behind_queue_take_spans(pnc_behind_queue *queue, pnc_behind_span *out)
{
    int n;

    pthread_mutex_lock(&worker_lock);
    if (queue->spans == NULL)
        queue->spans = pnc_memory_alloc(PNC_BEHIND_SPANS, sizeof *queue->spans);
    n = queue->nspans;
    if (n > 0)
        memcpy(out, queue->spans, sizeof *out * (size_t)n);
    queue->nspans = 0;
    pthread_mutex_unlock(&worker_lock);
    return n;
}
