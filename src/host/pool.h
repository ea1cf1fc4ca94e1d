/* Threads of this process that take parts of a task from the thread that has it, which works on it, too, until all
 * parts are done; and jobs, which they run while the program goes on. They make no MPI calls, block all signals, and
 * end when the last user closes the pool. One task has them at a time: the parts of another one are all done by its own
 * thread. A child after fork starts its own. */
#ifndef PNC_HOST_POOL_H
#define PNC_HOST_POOL_H

#include <stdbool.h>
#include <stdint.h>

#define PNC_POOL_THREADS_MOST 63

/* A part of a task; `thread` numbers who does it: 0 is the caller of execute, another thread has its own number. */
typedef void (*pnc_pool_part)(void *own, int64_t part, int thread);

/* What a thread does when it finds the time: one of those with the numbers 1 to nthreads. */
typedef struct pnc_pool_job {
    void (*run)(struct pnc_pool_job *job, int thread);
    int nthreads;
    int64_t ns; /* that it has taken */
    /* For pool.c only: */
    struct pnc_pool_job *next, *before;
    int64_t forks; /* at its begin */
    int state;
} pnc_pool_job;

/* Any thread may call these. Begin and end to use the pool: the threads end with the last use. */
void pnc_host_pool_open(void);
void pnc_host_pool_close(void);

/* All parts, 0 to n - 1, each once, in any order, by the caller and at most nthreads others, fewer if the system does
 * not start them, or if they did not get processors before. Returns when all are done. */
void pnc_host_pool_execute(int nthreads, int64_t n, pnc_pool_part part, void *own);
/* The same, but the caller feeds each part before it may be done: all of them, in order, while others do those that
 * have been fed. */
void pnc_host_pool_execute_fed(int nthreads, int64_t n, pnc_pool_part feed, pnc_pool_part part, void *own);
/* As execute, of a thread beside the program, which is one of the nthreads. false: nothing is done, as they did not get
 * processors before. */
bool pnc_host_pool_execute_behind(int nthreads, int64_t n, pnc_pool_part part, void *own);

/* Let threads run a job, after those that were begun before it. false: there are none, or they did not get processors
 * before. Otherwise it must be ended before the pool is closed. */
bool pnc_host_pool_job_begin(pnc_pool_job *job);
/* Whether it has been run. */
bool pnc_host_pool_job_is_done(const pnc_pool_job *job);
/* End it without running it. false: a thread runs it, or has run it. */
bool pnc_host_pool_job_remove(pnc_pool_job *job);
/* The same, but wait for a thread that runs it. Returns whether it has been run. */
bool pnc_host_pool_job_end(pnc_pool_job *job);

#endif
