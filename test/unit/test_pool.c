/* Threads that do parts of a task, and jobs; the processors that they find. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/cores.h"
#include "host/pool.h"

enum { PARTS = 500, THREADS = 4, TASKS = 300 };

/* Each part is done once, after it was fed, and only one thread has a number at a time. */
typedef struct counted {
    int done[PARTS];
    bool is_fed[PARTS];
    int nfed;
    int busy[PNC_POOL_THREADS_MOST + 1];
    int wrong[PNC_POOL_THREADS_MOST + 1]; /* of each thread its own */
    int work;
} counted;

static void feed_part(void *own, int64_t part, int thread)
{
    counted *c = own;
    volatile unsigned spent = 0;

    c->wrong[0] += thread != 0 || c->nfed++ != part;
    for (int i = 0; i < c->work * (part % 2); i++)
        spent += (unsigned)i;
    c->is_fed[part] = true;
}

static void count_part(void *own, int64_t part, int thread)
{
    counted *c = own;
    volatile unsigned spent = 0;

    c->wrong[thread] += c->busy[thread] != 0 || !c->is_fed[part];
    c->busy[thread] = 1;
    for (int i = 0; i < c->work; i++)
        spent += (unsigned)i;
    c->done[part]++;
    c->busy[thread] = 0;
}

static int run_tasks(int ntasks, int nthreads)
{
    int wrong = 0;

    for (int t = 0; t < ntasks; t++) {
        counted c = {.work = t % 7 * 300};
        int64_t n = t % 5 == 0 ? t % 3 : PARTS - t % 11;

        if (t % 2 == 0) {
            pnc_host_pool_execute_fed(nthreads, n, feed_part, count_part, &c);
        } else {
            memset(c.is_fed, 1, sizeof c.is_fed);
            pnc_host_pool_execute(nthreads, n, count_part, &c);
        }
        for (int64_t i = 0; i < PARTS; i++)
            wrong += c.done[i] != (i < n);
        for (int i = 0; i <= PNC_POOL_THREADS_MOST; i++)
            wrong += c.wrong[i];
    }
    return wrong;
}

static void test_tasks(void **unused)
{
    (void)unused;
    assert_int_equal(run_tasks(3, 2), 0); /* it is not open */
    for (int nthreads = 0; nthreads < 6; nthreads++) {
        pnc_host_pool_open();
        assert_int_equal(run_tasks(TASKS, nthreads), 0);
        pnc_host_pool_close();
    }
}

/* A file of its own in each thread of the program: it opens, and closes, while others use the pool. */
static void *use_pool(void *wrong)
{
    for (int i = 0; i < 20; i++) {
        pnc_host_pool_open();
        *(int *)wrong += run_tasks(10, 3);
        pnc_host_pool_close();
    }
    return NULL;
}

static void test_users(void **unused)
{
    pthread_t threads[THREADS];
    int wrong[THREADS] = {0};

    (void)unused;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_pool, &wrong[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(wrong[i], 0);
    }
}

/* --- jobs --- */

typedef struct counted_job {
    pnc_pool_job job;
    int runs, work;
    bool is_wrong; /* its thread may not run it */
} counted_job;

static void count_run(pnc_pool_job *job, int thread)
{
    counted_job *c = (counted_job *)(void *)job;
    volatile unsigned spent = 0;

    for (int i = 0; i < c->work; i++)
        spent += (unsigned)i;
    c->is_wrong = thread < 1 || thread > job->nthreads;
    c->runs++;
}

static bool begin_job(counted_job *c, int nthreads, int work)
{
    *c = (counted_job){.job = {.run = count_run, .nthreads = nthreads}, .work = work};
    return pnc_host_pool_job_begin(&c->job);
}

/* Jobs are run once, or are taken back; tasks go on between them. */
static void test_jobs(void **unused)
{
    static counted_job jobs[PARTS];
    int begun = 0, wrong = 0;

    (void)unused;
    assert_false(begin_job(&jobs[0], 2, 0)); /* it is not open */
    pnc_host_pool_open();
    assert_false(begin_job(&jobs[0], 0, 0));
    for (int i = 0; i < 200 && begun == 0; i++) { /* threads that lacked a processor in a test before this one rest */
        begun = begin_job(&jobs[0], 1, 0);
        if (begun > 0)
            (void)pnc_host_pool_job_end(&jobs[0].job);
        else
            usleep(50000);
    }
    for (int round = 0; round < 30; round++) {
        bool has[PARTS];

        for (int i = 0; i < PARTS; i++)
            begun += has[i] = begin_job(&jobs[i], 1 + (i + round) % 3, round * 20);
        wrong += run_tasks(round % 3, 2);
        for (int i = PARTS - 1; i >= 0; i--) {
            bool is_done = has[i] && pnc_host_pool_job_is_done(&jobs[i].job),
                 is_run = has[i] &&
                          (i % 2 == 0 ? pnc_host_pool_job_end(&jobs[i].job) : !pnc_host_pool_job_remove(&jobs[i].job));

            if (is_run)
                is_run = pnc_host_pool_job_end(&jobs[i].job); /* also one that was not taken back: it waits */
            wrong += jobs[i].runs != is_run || (is_done && !is_run) || jobs[i].is_wrong;
        }
    }
    assert_int_equal(wrong, 0);
    assert_true(begun > 0);
    pnc_host_pool_close();
}

/* The child has no threads, and starts some when it needs them. */
static void test_fork(void **unused)
{
    static counted_job jobs[8];
    bool has[8];
    int status = -1;
    pid_t child;

    (void)unused;
#ifdef __SANITIZE_THREAD__
    skip(); /* it forbids the child to start threads */
#endif
    pnc_host_pool_open();
    assert_int_equal(run_tasks(10, 3), 0);
    for (int i = 0; i < 8; i++)
        has[i] = begin_job(&jobs[i], 1, 3000000);
    child = fork();
    if (child == 0) {
        int wrong = run_tasks(10, 3);

        for (int i = 0; i < 8; i++) /* they are the parent's, which may have run some */
            if (has[i])
                (void)pnc_host_pool_job_end(&jobs[i].job);
        has[0] = begin_job(&jobs[0], 1, 10);
        if (has[0])
            wrong += pnc_host_pool_job_end(&jobs[0].job) != (jobs[0].runs == 1);
        pnc_host_pool_close();
        _exit(wrong != 0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(run_tasks(10, 3), 0);
    for (int i = 0; i < 8; i++) {
        bool is_run = has[i] && pnc_host_pool_job_end(&jobs[i].job);

        assert_int_equal(is_run, jobs[i].runs);
    }
    pnc_host_pool_close();
}

/* Of ranks that have these processors, `ranks` of them the same. */
static int count_idle(int ncores, int first, int n, int ranks, int listed, int nprocesses)
{
    uint16_t is_mine[PNC_HOST_CORES_MOST] = {0}, users[PNC_HOST_CORES_MOST] = {0};

    for (int i = first; i < first + n; i++) {
        is_mine[i] = 1;
        users[i] = (uint16_t)ranks;
    }
    return pnc_host_cores_count_idle(is_mine, users, listed, nprocesses, ncores);
}

static void test_idle(void **unused)
{
    (void)unused;
    assert_int_equal(count_idle(2, 0, 2, 1, 1, 1), 1);     /* one rank, two processors */
    assert_int_equal(count_idle(2, 0, 2, 2, 2, 2), 0);     /* two ranks */
    assert_int_equal(count_idle(64, 0, 64, 4, 4, 4), 15);  /* a rank for each GPU, not bound */
    assert_int_equal(count_idle(64, 16, 16, 1, 4, 4), 15); /* bound to a quarter each */
    assert_int_equal(count_idle(64, 7, 1, 1, 64, 64), 0);  /* bound to one */
    assert_int_equal(count_idle(64, 0, 32, 4, 8, 8), 7);   /* bound to sockets */
    assert_int_equal(count_idle(64, 0, 8, 8, 8, 8), 0);    /* a job has 8 of 64 processors */
    assert_int_equal(count_idle(64, 0, 64, 1, 1, 64), 0);  /* a file of one rank of a full node */
    assert_int_equal(count_idle(64, 0, 64, 1, 1, 8), 7);   /* of a node with 8 ranks */
    assert_int_equal(count_idle(64, 8, 8, 1, 1, 8), 7);    /* the same, bound */
    assert_int_equal(count_idle(64, 0, 64, 3, 3, 3), 20);  /* 21 and a third for each */
    assert_int_equal(count_idle(64, 0, 64, 1, 1, 2147483647), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tasks), cmocka_unit_test(test_users),
                                       cmocka_unit_test(test_jobs), cmocka_unit_test(test_fork),
                                       cmocka_unit_test(test_idle)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
