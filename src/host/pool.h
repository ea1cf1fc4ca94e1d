/* Threads of this process that take parts of a task from the thread that has it, which works on it, too, until all
 * parts are done. They make no MPI calls, block all signals, and end when the last user closes the pool. One task has
 * them at a time: the parts of another one are all done by its own thread. A child after fork starts its own. */
#ifndef PNC_HOST_POOL_H
#define PNC_HOST_POOL_H

#include <stdint.h>

#define PNC_POOL_THREADS_MOST 63

/* A part of a task; `thread` numbers who does it, from 0, the caller of execute. */
typedef void (*pnc_pool_part)(void *own, int64_t part, int thread);

/* Any thread may call these. Begin and end to use the pool: the threads end with the last use. */
void pnc_host_pool_open(void);
void pnc_host_pool_close(void);

/* All parts, 0 to n - 1, each once, in any order, by the caller and at most nthreads others, fewer if the system does
 * not start them, or if they did not get processors before. Returns when all are done. */
void pnc_host_pool_execute(int nthreads, int64_t n, pnc_pool_part part, void *own);

#endif
