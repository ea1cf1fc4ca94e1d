/* Threads for parts of a task, and for jobs. */
#include "host/pool.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

/* Threads that had less than half of a processor for this time are not used for a while: guesses. With both, threads
 * that find no processor work for a fortieth of the time. */
#define JUDGED_NS (INT64_C(50) * 1000 * 1000)
#define PAUSE_NS (INT64_C(2) * 1000 * 1000 * 1000)

static pthread_mutex_t users_lock = PTHREAD_MUTEX_INITIALIZER; /* of opening and closing; taken before `lock` */

/* Under this lock, all that follows. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_work = PTHREAD_COND_INITIALIZER, has_left = PTHREAD_COND_INITIALIZER,
                      has_run = PTHREAD_COND_INITIALIZER;
static pthread_once_t at_fork = PTHREAD_ONCE_INIT;
static pthread_t threads[PNC_POOL_THREADS_MOST];
static int nthreads_started, nusers;
static bool must_end;

/* The task that has the threads. */
static struct {
    bool is_open;
    pnc_pool_part part;
    void *own;
    int64_t n, fed, next; /* parts; those that may be done; the first one that no thread has */
    int nthreads;         /* those with numbers up to it may join */
    int wanted, working;  /* threads that may still join; that have joined, and not left */
} task;

/* Jobs that no thread runs yet, in order. */
enum { JOB_WAITS, JOB_RUNS, JOB_DONE, JOB_TAKEN };
static pnc_pool_job *first_job, *last_job;
static int64_t nforks; /* of which this process is the child */

/* Of the last tasks and jobs: time of processors that threads had; time that they took. */
static int64_t used_ns, taken_ns;
static int64_t paused_until; /* on the monotonic clock */

typedef struct span {
    int64_t used, since;
} span;

static int64_t read_nanoseconds(clockid_t clock)
{
    struct timespec t;

    return clock_gettime(clock, &t) == 0 ? (int64_t)t.tv_sec * 1000000000 + t.tv_nsec : 0;
}

/* --- threads --- */

static span begin_span(void)
{
    return (span){read_nanoseconds(CLOCK_THREAD_CPUTIME_ID), read_nanoseconds(CLOCK_MONOTONIC)};
}

/* Threads that have no processor only add work. Returns how long a thread has worked. */
static int64_t judge_threads(span before)
{
    int64_t ns = read_nanoseconds(CLOCK_MONOTONIC) - before.since;

    used_ns += read_nanoseconds(CLOCK_THREAD_CPUTIME_ID) - before.used;
    taken_ns += ns;
    if (taken_ns < JUDGED_NS)
        return ns;
    if (used_ns * 2 < taken_ns)
        paused_until = before.since + ns + PAUSE_NS;
    used_ns = taken_ns = 0;
    return ns;
}

/* Under the lock, which is free while a part is done. */
static void do_parts(int thread)
{
    while (task.next < task.fed) {
        int64_t i = task.next++;

        pthread_mutex_unlock(&lock);
        task.part(task.own, i, thread);
        pthread_mutex_lock(&lock);
    }
}

/* A thread that finds no part which has been fed may come back. */
static void join_task(int thread)
{
    span before = begin_span();

    task.wanted--;
    task.working++;
    do_parts(thread);
    (void)judge_threads(before);
    task.working--;
    task.wanted++;
    if (task.working == 0)
        pthread_cond_signal(&has_left);
}

static void unlink_job(pnc_pool_job *job)
{
    *(job->before != NULL ? &job->before->next : &first_job) = job->next;
    *(job->next != NULL ? &job->next->before : &last_job) = job->before;
}

/* The first job that the thread may run; NULL: there is none. */
static pnc_pool_job *take_job_of(int thread)
{
    pnc_pool_job *job = first_job;

    while (job != NULL && thread > job->nthreads)
        job = job->next;
    if (job != NULL)
        unlink_job(job);
    return job;
}

static void run_job(pnc_pool_job *job, int thread)
{
    span before = begin_span();

    job->state = JOB_RUNS;
    pthread_mutex_unlock(&lock);
    job->run(job, thread);
    pthread_mutex_lock(&lock);
    job->ns = judge_threads(before);
    job->state = JOB_DONE;
    pthread_cond_broadcast(&has_run);
}

/* Tasks first: a call waits for each. */
static void *work_for_pool(void *number)
{
    int thread = (int)(intptr_t)number;
    pnc_pool_job *job;

    pthread_mutex_lock(&lock);
    while (!must_end) {
        bool joins = task.is_open && task.wanted > 0 && task.next < task.fed && thread <= task.nthreads;

        job = joins ? NULL : take_job_of(thread);
        if (joins)
            join_task(thread);
        else if (job != NULL)
            run_job(job, thread);
        else
            pthread_cond_wait(&has_work, &lock);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static bool start_thread(int thread)
{
    return pthread_create(&threads[thread - 1], NULL, work_for_pool, (void *)(intptr_t)thread) == 0;
}

/* Signals are for threads of the program. */
static void start_threads(int n)
{
    sigset_t all, before;

    sigfillset(&all);
    if (nthreads_started >= n || pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return;
    while (nthreads_started < n && start_thread(nthreads_started + 1))
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

/* The threads are the parent's, and so are the task and the jobs. */
static void forget_pool(void)
{
    pthread_mutex_init(&users_lock, NULL);
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&has_work, NULL);
    pthread_cond_init(&has_left, NULL);
    pthread_cond_init(&has_run, NULL);
    nthreads_started = 0;
    task.is_open = false;
    first_job = last_job = NULL;
    nforks++;
}

static void watch_for_forks(void)
{
    pthread_atfork(hold_pool, release_pool, forget_pool);
}

/* --- tasks --- */

/* Under the lock, which is free meanwhile. Threads sleep only if they have done all that was fed. */
static void feed_parts(pnc_pool_part feed)
{
    while (task.fed < task.n) {
        pthread_mutex_unlock(&lock);
        feed(task.own, task.fed, 0);
        pthread_mutex_lock(&lock);
        if (task.next == task.fed++)
            pthread_cond_broadcast(&has_work);
    }
}

static void run_with_threads(int nthreads, int64_t n, pnc_pool_part feed, pnc_pool_part part, void *own)
{
    start_threads(nthreads);
    task.is_open = true;
    task.part = part;
    task.own = own;
    task.n = n;
    task.fed = feed != NULL ? 0 : n;
    task.next = 0;
    task.nthreads = task.wanted = nthreads;
    task.working = 0;
    if (feed != NULL)
        feed_parts(feed);
    else
        pthread_cond_broadcast(&has_work);
    do_parts(0);
    while (task.working > 0)
        pthread_cond_wait(&has_left, &lock);
    task.is_open = false;
}

/* Threads may be used now. */
static bool may_use_threads(void)
{
    return nusers > 0 && (paused_until == 0 || read_nanoseconds(CLOCK_MONOTONIC) >= paused_until);
}

void pnc_host_pool_execute_fed(int nthreads, int64_t n, pnc_pool_part feed, pnc_pool_part part, void *own)
{
    int most = nthreads < PNC_POOL_THREADS_MOST ? nthreads : PNC_POOL_THREADS_MOST;
    bool is_done = false;

    if (most > n - 1)
        most = (int)(n - 1);
    if (most > 0) {
        pthread_mutex_lock(&lock);
        is_done = may_use_threads() && !task.is_open;
        if (is_done)
            run_with_threads(most, n, feed, part, own);
        pthread_mutex_unlock(&lock);
    }
    for (int64_t i = 0; !is_done && i < n; i++) {
        if (feed != NULL)
            feed(own, i, 0);
        part(own, i, 0);
    }
}

void pnc_host_pool_execute(int nthreads, int64_t n, pnc_pool_part part, void *own)
{
    pnc_host_pool_execute_fed(nthreads, n, NULL, part, own);
}

bool pnc_host_pool_execute_behind(int nthreads, int64_t n, pnc_pool_part part, void *own)
{
    span before = begin_span();
    bool may;

    pthread_mutex_lock(&lock);
    may = may_use_threads();
    pthread_mutex_unlock(&lock);
    if (!may)
        return false;
    pnc_host_pool_execute(nthreads - 1, n, part, own);
    pthread_mutex_lock(&lock);
    (void)judge_threads(before);
    pthread_mutex_unlock(&lock);
    return true;
}

/* --- jobs --- */

bool pnc_host_pool_job_begin(pnc_pool_job *job)
{
    int nthreads = job->nthreads < PNC_POOL_THREADS_MOST ? job->nthreads : PNC_POOL_THREADS_MOST;
    bool may;

    pthread_mutex_lock(&lock);
    may = nthreads > 0 && may_use_threads();
    if (may) {
        start_threads(nthreads);
        may = nthreads_started > 0;
    }
    if (may) {
        job->next = NULL;
        job->before = last_job;
        job->state = JOB_WAITS;
        job->forks = nforks;
        *(last_job != NULL ? &last_job->next : &first_job) = job;
        last_job = job;
        pthread_cond_broadcast(&has_work); /* not every thread may run it */
    }
    pthread_mutex_unlock(&lock);
    return may;
}

bool pnc_host_pool_job_is_done(const pnc_pool_job *job)
{
    bool is_done;

    pthread_mutex_lock(&lock);
    is_done = job->state == JOB_DONE;
    pthread_mutex_unlock(&lock);
    return is_done;
}

bool pnc_host_pool_job_remove(pnc_pool_job *job)
{
    bool is_mine;

    pthread_mutex_lock(&lock);
    is_mine = job->state == JOB_WAITS && job->forks == nforks;
    if (is_mine) {
        unlink_job(job);
        job->state = JOB_TAKEN;
    }
    pthread_mutex_unlock(&lock);
    return is_mine;
}

bool pnc_host_pool_job_end(pnc_pool_job *job)
{
    bool is_done;

    if (pnc_host_pool_job_remove(job))
        return false;
    pthread_mutex_lock(&lock);
    while (job->state == JOB_RUNS && job->forks == nforks)
        pthread_cond_wait(&has_run, &lock);
    is_done = job->state == JOB_DONE;
    pthread_mutex_unlock(&lock);
    return is_done;
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
    pthread_cond_broadcast(&has_work);
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
