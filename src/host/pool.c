/* Threads for parts of a task. */
#include "host/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

/* Threads that had less than half of a processor for this time are not used by some tasks: a guess. */
#define JUDGED_NS (INT64_C(50) * 1000 * 1000)
#define PAUSED_TASKS 200

static pthread_mutex_t users_lock = PTHREAD_MUTEX_INITIALIZER; /* of opening and closing; taken before `lock` */

/* Under this lock, all that follows. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_task = PTHREAD_COND_INITIALIZER, has_left = PTHREAD_COND_INITIALIZER;
static pthread_once_t at_fork = PTHREAD_ONCE_INIT;
static pthread_t threads[PNC_POOL_THREADS_MOST];
static int nthreads_started, nusers;
static bool must_end;

/* The task that has the threads. */
static struct {
    bool is_open;
    pnc_pool_part part;
    void *own;
    int64_t n, next;     /* parts; the first one that no thread has */
    int wanted, joined;  /* threads that may still join; that have */
    int working;         /* of those that have joined */
    int64_t used_ns, ns; /* time of processors that threads had; since they have joined */
} task;

/* Of the last tasks. */
static int64_t used_ns, wanted_ns;
static int paused; /* tasks that use no thread */

static int64_t read_nanoseconds(clockid_t clock)
{
    struct timespec t;

    return clock_gettime(clock, &t) == 0 ? (int64_t)t.tv_sec * 1000000000 + t.tv_nsec : 0;
}

/* --- threads --- */

/* Under the lock, which is free while a part is done. */
static void do_parts(int thread)
{
    while (task.next < task.n) {
        int64_t i = task.next++;

        pthread_mutex_unlock(&lock);
        task.part(task.own, i, thread);
        pthread_mutex_lock(&lock);
    }
}

static void join_task(void)
{
    int64_t used = read_nanoseconds(CLOCK_THREAD_CPUTIME_ID), since = read_nanoseconds(CLOCK_MONOTONIC);

    task.wanted--;
    task.working++;
    do_parts(++task.joined);
    task.used_ns += read_nanoseconds(CLOCK_THREAD_CPUTIME_ID) - used;
    task.ns += read_nanoseconds(CLOCK_MONOTONIC) - since;
    task.working--;
    if (task.working == 0)
        pthread_cond_signal(&has_left);
}

static void *work_for_pool(void *unused)
{
    pthread_mutex_lock(&lock);
    while (!must_end) {
        if (task.is_open && task.wanted > 0 && task.next < task.n)
            join_task();
        else
            pthread_cond_wait(&has_task, &lock);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

/* Signals are for threads of the program. */
static void start_threads(int n)
{
    sigset_t all, before;

    sigfillset(&all);
    if (nthreads_started >= n || pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return;
    while (nthreads_started < n && pthread_create(&threads[nthreads_started], NULL, work_for_pool, NULL) == 0)
        nthreads_started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* --- fork --- */

static void hold_pool(void)
{
    pthread_mutex_lock(&users_lock);
    pthread_mutex_lock(&lock);
}

static void release_pool(void)
{
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&users_lock);
}

/* The threads are the parent's, and so is the task. */
static void forget_pool(void)
{
    pthread_mutex_init(&users_lock, NULL);
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&has_task, NULL);
    pthread_cond_init(&has_left, NULL);
    nthreads_started = 0;
    task.is_open = false;
}

static void watch_for_forks(void)
{
    pthread_atfork(hold_pool, release_pool, forget_pool);
}

/* --- tasks --- */

/* Threads that have no processor only add work. */
static void judge_threads(void)
{
    used_ns += task.used_ns;
    wanted_ns += task.ns;
    if (wanted_ns < JUDGED_NS)
        return;
    paused = used_ns * 2 < wanted_ns ? PAUSED_TASKS : 0;
    used_ns = wanted_ns = 0;
}

static void run_with_threads(int nthreads, int64_t n, pnc_pool_part part, void *own)
{
    start_threads(nthreads);
    task.is_open = true;
    task.part = part;
    task.own = own;
    task.n = n;
    task.next = 0;
    task.wanted = nthreads;
    task.joined = task.working = 0;
    task.used_ns = task.ns = 0;
    pthread_cond_broadcast(&has_task);
    do_parts(0);
    while (task.working > 0)
        pthread_cond_wait(&has_left, &lock);
    task.is_open = false;
    judge_threads();
}

void pnc_host_pool_execute(int nthreads, int64_t n, pnc_pool_part part, void *own)
{
    int most = nthreads < PNC_POOL_THREADS_MOST ? nthreads : PNC_POOL_THREADS_MOST;
    bool is_done = false;

    if (most > n - 1)
        most = (int)(n - 1);
    if (most > 0) {
        pthread_mutex_lock(&lock);
        paused -= paused > 0;
        is_done = !task.is_open && nusers > 0 && paused == 0;
        if (is_done)
            run_with_threads(most, n, part, own);
        pthread_mutex_unlock(&lock);
    }
    for (int64_t i = 0; !is_done && i < n; i++)
        part(own, i, 0);
}

/* --- users --- */

void pnc_host_pool_open(void)
{
    pthread_once(&at_fork, watch_for_forks);
    pthread_mutex_lock(&users_lock);
    pthread_mutex_lock(&lock);
    nusers++;
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&users_lock);
}

/* The lock of opening and closing is held until the threads have ended. */
static void end_threads(void)
{
    pthread_cond_broadcast(&has_task);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < nthreads_started; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_lock(&lock);
    nthreads_started = 0;
    must_end = false;
}

void pnc_host_pool_close(void)
{
    pthread_mutex_lock(&users_lock);
    pthread_mutex_lock(&lock);
    must_end = --nusers == 0;
    if (must_end)
        end_threads();
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&users_lock);
}
