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

/* Bytes of a turn: some milliseconds on a fast disk, a few of its seeks on a slow one. A guess. */
#define TURN_BYTES (INT64_C(8) << 20)
#define ATTEMPTS 16 /* at a write of no bytes */

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

/* The bytes that were written; fewer than `length`, and *number is set: the write has failed. */
static int64_t write_bytes(int fd, const char *bytes, pnc_extent extent, int *number, int64_t *nwrites)
{
    int64_t done = 0;

    *number = 0;
    for (int empty = 0; done < extent.length && empty < ATTEMPTS;) {
        ssize_t some = pwrite(fd, bytes + done, (size_t)(extent.length - done), extent.offset + done);

        ++*nwrites;
        if (some < 0 && errno != EINTR) {
            *number = errno;
            return done;
        }
        empty = some > 0 ? 0 : empty + 1;
        done += some > 0 ? some : 0;
    }
    return done;
}

/* The bytes that were read, from the first on. */
static int64_t read_piece(int fd, char *to, pnc_extent extent, int64_t *nreads)
{
    int64_t done = 0;

    while (done < extent.length) {
        ssize_t some = pread(fd, to + done, (size_t)(extent.length - done), extent.offset + done);

        ++*nreads;
        if (some == 0 || (some < 0 && errno != EINTR))
            break;
        done += some > 0 ? some : 0;
    }
    return done;
}

/* The next queue that has a block or a batch; NULL: none has. */
static pnc_behind_queue *find_turn(void)
{
    pnc_behind_queue *first = queues, *queue = first;

    while (queue != NULL && pnc_behind_ring_is_empty(&queue->ring) && queue->line == NULL)
        queue = queue->next == first ? NULL : queue->next;
    if (queue != NULL)
        queues = queue->next;
    return queue;
}

/* Under the lock. */
static void unlink_batch(pnc_behind_queue *queue, pnc_behind_batch *batch)
{
    pnc_behind_batch **at = &queue->line, *before = NULL;

    for (; *at != batch; at = &(*at)->next)
        before = *at;
    *at = batch->next;
    if (queue->line_end == batch)
        queue->line_end = before;
    batch->is_waiting = false;
}

/* Read a part of the first batch. An error is that of the get, which reads again. Under the lock, but for the read. */
static void take_read_turn(pnc_behind_queue *queue)
{
    pnc_behind_batch *batch = queue->line;
    pnc_extent extent = pnc_behind_batch_find_next(batch, TURN_BYTES);
    char *to = batch->bytes + batch->done;
    int64_t done, nreads = 0;

    queue->is_reading = true;
    pthread_mutex_unlock(&worker_lock);
    done = read_piece(queue->fd, to, extent, &nreads);
    pthread_mutex_lock(&worker_lock);
    queue->is_reading = false;
    queue->work.reads += nreads;
    batch->done += done;
    if (done < extent.length || batch->done == batch->length || batch->is_discarded)
        unlink_batch(queue, batch);
    pthread_cond_broadcast(&has_progress);
}

/* Write a part of the front block. Under the lock, but for the write. */
static void take_write_turn(pnc_behind_queue *queue)
{
    pnc_extent extent = queue->ring.front.extent;
    const char *bytes = pnc_behind_ring_get_front(&queue->ring);
    int64_t begin = read_worker_clock(), done, nwrites = 0;
    int number;

    extent.length = pnc_min64(extent.length, TURN_BYTES);
    queue->is_busy = true;
    pthread_mutex_unlock(&worker_lock);
    done = write_bytes(queue->fd, bytes, extent, &number, &nwrites);
    pthread_mutex_lock(&worker_lock);
    queue->is_busy = false;
    if (done < extent.length && queue->failure.extent.length == 0)
        queue->failure = (pnc_behind_failure){{extent.offset + done, extent.length - done}, number};
    queue->work.busy_ns += read_worker_clock() - begin;
    queue->work.writes += nwrites;
    queue->work.bytes += done;
    queue->finished = pnc_max64(queue->finished, done > 0 ? extent.offset + done : 0);
    pnc_behind_ring_remove(&queue->ring, extent.length);
    pthread_cond_broadcast(&has_progress);
}

/* Writes and reads of a queue take turns, too. */
static void take_turn(pnc_behind_queue *queue)
{
    queue->has_written = !pnc_behind_ring_is_empty(&queue->ring) && (queue->line == NULL || !queue->has_written);
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
        pnc_behind_queue *queue = find_turn();

        if (queue != NULL)
            take_turn(queue);
        else
            pthread_cond_wait(&has_work, &worker_lock);
    }
    is_running = false;
    pthread_cond_broadcast(&has_progress);
    pthread_mutex_unlock(&worker_lock);
    return NULL;
}

/* --- its life --- */

static void lock_before_fork(void)
{
    pthread_mutex_lock(&worker_lock);
}

static void unlock_in_parent(void)
{
    pthread_mutex_unlock(&worker_lock);
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

        queue->is_busy = queue->is_reading = false;
        pnc_behind_ring_clear(&queue->ring);
        while (queue->line != NULL)
            unlink_batch(queue, queue->line);
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
    char *memory = pnc_memory_alloc_large(capacity);
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
    } else {
        remove_queue(queue);
    }
    pthread_mutex_unlock(&worker_lock);
    if (!is_open)
        pnc_memory_free(memory);
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
    while (queue->is_busy || queue->is_reading)
        pthread_cond_wait(&has_progress, &worker_lock);
    if (pnc_behind_queue_is_open(queue)) {
        remove_queue(queue);
        if (queues == NULL && is_running)
            end_worker();
    }
    pthread_mutex_unlock(&worker_lock);
    if (queue->memory != NULL) {
        pnc_memory_free(queue->memory);
        close(queue->fd);
    }
    memset(queue, 0, sizeof *queue);
}

/* Under the lock. */
static void wait_progress(pnc_behind_queue *queue)
{
    int64_t begin = read_worker_clock();

    pthread_cond_wait(&has_progress, &worker_lock);
    queue->work.delay_ns += read_worker_clock() - begin;
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

/* The worker does not see the bytes before they are published. */
bool pnc_behind_queue_add(pnc_behind_queue *queue, const pnc_behind_block *block, const char *bytes)
{
    pnc_behind_block rest = *block;
    int64_t length;
    char *to;

    pthread_mutex_lock(&worker_lock);
    while (rest.extent.length > 0) {
        to = reserve_memory(queue, &rest, &length);
        if (to == NULL)
            break;
        pthread_mutex_unlock(&worker_lock);
        memcpy(to, bytes, (size_t)length);
        pthread_mutex_lock(&worker_lock);
        pnc_behind_ring_publish(&queue->ring, &rest, length);
        pthread_cond_signal(&has_work);
        bytes += length;
        rest.extent.offset += length;
        rest.extent.length -= length;
    }
    pthread_mutex_unlock(&worker_lock);
    return rest.extent.length == 0;
}

void pnc_behind_queue_wait(pnc_behind_queue *queue, pnc_extent span)
{
    pthread_mutex_lock(&worker_lock);
    while (pnc_behind_ring_has_span(&queue->ring, span))
        wait_progress(queue);
    pthread_mutex_unlock(&worker_lock);
}

bool pnc_behind_queue_has_span(pnc_behind_queue *queue, pnc_extent span)
{
    bool has_span;

    pthread_mutex_lock(&worker_lock);
    has_span = pnc_behind_ring_has_span(&queue->ring, span);
    pthread_mutex_unlock(&worker_lock);
    return has_span;
}

void pnc_behind_queue_finish(pnc_behind_queue *queue)
{
    pthread_mutex_lock(&worker_lock);
    while (!pnc_behind_ring_is_empty(&queue->ring))
        wait_progress(queue);
    pthread_mutex_unlock(&worker_lock);
}

void pnc_behind_queue_read(pnc_behind_queue *queue, pnc_behind_batch *batch)
{
    pthread_mutex_lock(&worker_lock);
    if (pnc_behind_queue_is_open(queue)) {
        batch->is_waiting = true;
        *(queue->line == NULL ? &queue->line : &queue->line_end->next) = batch;
        queue->line_end = batch;
        pthread_cond_signal(&has_work);
    }
    pthread_mutex_unlock(&worker_lock);
}

void pnc_behind_queue_discard(pnc_behind_queue *queue, pnc_behind_batch *batch)
{
    pthread_mutex_lock(&worker_lock);
    batch->is_discarded = true;
    while (batch->is_waiting && queue->is_reading && queue->line == batch)
        pthread_cond_wait(&has_progress, &worker_lock);
    if (batch->is_waiting)
        unlink_batch(queue, batch);
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

pnc_behind_work pnc_behind_queue_get_work(pnc_behind_queue *queue, int64_t *most, int64_t *blocks)
{
    pnc_behind_work all;

    pthread_mutex_lock(&worker_lock);
    all = queue->work;
    *most = queue->ring.most;
    *blocks = queue->ring.blocks;
    pthread_mutex_unlock(&worker_lock);
    return all;
}
