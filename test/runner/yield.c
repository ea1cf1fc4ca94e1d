/* Preloaded into MPI test programs: more ranks than cores do not starve each other, and leaks have names.
 *
 * A rank that waits polls without end, and on a machine with fewer cores than ranks it burns the time slice of the very
 * rank that it waits for: a barrier of 4 ranks on 2 cores takes 8 ms, with this library 10 us. MPICH's loop of device
 * ch4:ucx polls through ucp_worker_progress, an ordinary function of libucp, which returns how many events it has
 * handled. This library stands before it and gives the core up when nothing was handled for a while: first by
 * sched_yield, which costs nothing when no one else wants to run, then by sleeps, so that a long wait leaves the
 * machine to others. A sleep is at most an eighth of those before it: ranks that wait for one that writes would
 * otherwise take most of the cores (64 ranks on 2 cores, a put of 128 MiB through 8 aggregators: 250 ms, with this rule
 * 110 ms).
 *
 * The MPI library opens and closes plugins. Memory that a closed plugin leaks is reported as from an "<unknown
 * module>", which no suppression can name; therefore nothing is unloaded.
 *
 * Open MPI needs no help to yield: it does so itself when it knows of more ranks than cores (mpi_yield_when_idle). With
 * other devices of MPICH the function is never called. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sched.h>
#include <time.h>

unsigned ucp_worker_progress(void *worker);

enum {
    POLLS_AT_FULL_SPEED = 20, /* an answer that is on its way arrives within these */
    POLLS_BEFORE_SLEEP = 300,
    LEAST_SLEEP = 20000, /* nanoseconds; the kernel adds its slack of about 50 us */
    MOST_SLEEP = 2000000
};

static unsigned (*real_progress)(void *);

__attribute__((constructor)) static void find_real_progress(void)
{
    /* POSIX wants the address of a function moved through an object pointer like this. */
    *(void **)&real_progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
}

static void sleep_longer(long *slept)
{
    long next = *slept / 8;

    next = next < LEAST_SLEEP ? LEAST_SLEEP : next;
    next = next > MOST_SLEEP ? MOST_SLEEP : next;
    nanosleep(&(struct timespec){.tv_nsec = next}, NULL);
    *slept += next;
}

unsigned ucp_worker_progress(void *worker)
{
    static __thread unsigned idle;
    static __thread long slept; /* nanoseconds since the last event */
    if (!real_progress) {
        fprintf(stderr, "yield: libucp was loaded after start; run without the preload (PNC_TEST_YIELD=no)\n");
        abort();
    }
    unsigned events = real_progress(worker);
    if (events > 0) {
        idle = 0;
        slept = 0;
        return events;
    }
    if (idle < POLLS_BEFORE_SLEEP)
        idle++;
    if (idle >= POLLS_BEFORE_SLEEP)
        sleep_longer(&slept);
    else if (idle > POLLS_AT_FULL_SPEED)
        sched_yield();
    return 0;
}

int dlclose(void *handle)
{
    (void)handle;
    return 0;
}
