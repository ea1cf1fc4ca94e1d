/* A warning for a rank that waits for long in a collective call. */
#include "file/watch.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/text.h"
#include "file/finalize.h"

#define LOOKS 6 /* in the time that a rank may wait: the warning comes at most a sixth later */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a file has less than the usual seconds; or the thread is to end */
    pthread_t thread;
    bool is_prepared, runs, ends;
    pnc_watch *first;
} watcher = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- the thread --- */

static double get_time(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void warn_of_wait(const pnc_watch *w, const char *call, double seconds)
{
    fprintf(stderr,
            "PnetCDF warning: %s: rank %d of %d has waited for %.0f s in %s for ranks that have not made %s. "
            "PNETCDF_TIMEOUT=600 ends such a wait after 600 s with an error that names them\n",
            w->path, w->rank, w->nprocs, seconds, call,
            w->opens ? "this call with the same communicator" : "a collective call on this file");
}

static void look_at(pnc_watch *w, double now)
{
    const char *call = atomic_load_explicit(&w->call, memory_order_acquire);
    unsigned number = atomic_load_explicit(&w->number, memory_order_relaxed);

    if (call == NULL || number != w->seen) {
        w->seen = number;
        w->since = now;
    } else if (!w->warned && now - w->since >= w->seconds) {
        warn_of_wait(w, call, now - w->since);
        w->warned = true;
    }
}

/* Until the next look: with or without files at least so often that opening one need not wake the thread. */
static void pause_thread(void)
{
    double least = PNC_WATCH_SECONDS;
    struct timespec end;

    for (const pnc_watch *w = watcher.first; w != NULL; w = w->next)
        if (!w->warned && w->seconds < least)
            least = w->seconds;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += (long)(1e9 / LOOKS * least) % 1000000000;
    end.tv_sec += (time_t)(least / LOOKS) + end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&watcher.changed, &watcher.lock, &end);
}

static void *watch_all(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&watcher.lock);
    while (!watcher.ends) {
        double now = get_time();

        for (pnc_watch *w = watcher.first; w != NULL; w = w->next)
            look_at(w, now);
        pause_thread();
    }
    pthread_mutex_unlock(&watcher.lock);
    return NULL;
}

/* When MPI_Finalize begins. */
static int end_thread(MPI_Comm comm, int key, void *value, void *extra)
{
    bool runs;

    (void)comm, (void)key, (void)value, (void)extra;
    pthread_mutex_lock(&watcher.lock);
    watcher.ends = true;
    runs = watcher.runs;
    watcher.runs = false;
    pthread_cond_signal(&watcher.changed);
    pthread_mutex_unlock(&watcher.lock);
    if (runs)
        pthread_join(watcher.thread, NULL);
    return MPI_SUCCESS;
}

static bool prepare_watcher(void)
{
    pthread_condattr_t attributes;
    bool is_ready;

    if (pthread_condattr_init(&attributes) != 0)
        return false;
    is_ready = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
               pthread_cond_init(&watcher.changed, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    if (is_ready && !pnc_file_finalize_add(end_thread)) { /* the next file tries both again */
        pthread_cond_destroy(&watcher.changed);
        is_ready = false;
    }
    return is_ready;
}

/* Signals are for the program's threads. */
static bool start(void)
{
    sigset_t all, before;

    if (watcher.ends || watcher.runs)
        return watcher.runs;
    if (!watcher.is_prepared)
        watcher.is_prepared = prepare_watcher();
    if (!watcher.is_prepared)
        return false;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return false;
    watcher.runs = pthread_create(&watcher.thread, NULL, watch_all, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return watcher.runs;
}

/* --- the files --- */

static bool is_to_print(int rank)
{
    return (rank & (rank - 1)) == 0;
}

static void set_seconds(pnc_watch *w, int64_t seconds)
{
    w->seconds = (double)seconds;
    if (seconds < PNC_WATCH_SECONDS)
        pthread_cond_signal(&watcher.changed);
}

static void add(pnc_watch *w, int64_t seconds)
{
    w->next = watcher.first;
    watcher.first = w;
    set_seconds(w, seconds);
}

pnc_watch *pnc_file_watch_create(const char *path, int rank, int nprocs, int64_t seconds, bool always)
{
    size_t size = strlen(path) + 1;
    pnc_watch *w;
    bool is_watched;

    if (nprocs == 1 || !(always || is_to_print(rank)))
        return NULL;
    w = pnc_memory_alloc_zeroed(1, (int64_t)(sizeof *w + size));
    if (w == NULL)
        return NULL;
    memcpy(w->path, path, size);
    pnc_text_make_plain(w->path);
    w->rank = rank;
    w->nprocs = nprocs;
    w->opens = true;
    pthread_mutex_lock(&watcher.lock);
    is_watched = start();
    if (is_watched)
        add(w, seconds);
    pthread_mutex_unlock(&watcher.lock);
    if (is_watched)
        return w;
    pnc_memory_free(w);
    return NULL;
}

void pnc_file_watch_set(pnc_watch *watch, int64_t seconds)
{
    if (watch == NULL)
        return;
    pthread_mutex_lock(&watcher.lock);
    set_seconds(watch, seconds);
    watch->opens = false;
    pthread_mutex_unlock(&watcher.lock);
}

void pnc_file_watch_free(pnc_watch *watch)
{
    if (watch == NULL)
        return;
    pthread_mutex_lock(&watcher.lock);
    for (pnc_watch **at = &watcher.first; *at != NULL; at = &(*at)->next)
        if (*at == watch) {
            *at = watch->next;
            break;
        }
    pthread_mutex_unlock(&watcher.lock);
    pnc_memory_free(watch);
}
