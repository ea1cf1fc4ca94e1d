/* A warning for a rank that waits for long in a collective call: one line on stderr, once for each file.
 *
 * The first step of a call is a blocking reduction, in which nothing can be printed: one that does not block takes a
 * third longer. So a thread looks a few times a minute at what the ranks note before and after that step. It calls no
 * MPI function. Ranks 0, 1, 2, 4, 8 and so on print: any of them may be missing, and 10,000 lines help no user. The
 * other ranks have no thread. In safe mode all ranks print: the one that others wait for may wait in another call. */
#ifndef PNC_FILE_WATCH_H
#define PNC_FILE_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The waits of this rank for the others, in calls on one file. */
typedef struct pnc_watch {
    _Atomic(const char *) call; /* in which it waits; NULL: it does not */
    atomic_uint number;         /* of that wait */
    /* under the lock of the thread */
    unsigned seen;
    double since, seconds; /* the wait that was seen last has lasted at least since then; how long one may */
    bool opens;            /* the file is not open yet */
    bool warned;
    int rank, nprocs;
    struct pnc_watch *next;
    char path[];
} pnc_watch;

#define PNC_WATCH_SECONDS 60     /* unless the program chooses */
#define PNC_WATCH_SAFE_SECONDS 5 /* the same in safe mode. A guess: a user who looks for an error waits for it */

/* For a file that is being opened. NULL on ranks that do not print, unless `always`, on a rank alone, without memory or
 * threads, and in a program without MPI_Finalize, which ends the thread. Local. */
pnc_watch *pnc_file_watch_create(const char *path, int rank, int nprocs, int64_t seconds, bool always);
/* Once all ranks have begun to open the file. */
void pnc_file_watch_set(pnc_watch *watch, int64_t seconds);
/* NULL is allowed. */
void pnc_file_watch_free(pnc_watch *watch);

/* `call` must never become invalid. */
static inline void pnc_file_watch_begin(pnc_watch *watch, const char *call)
{
    unsigned number;

    if (watch == NULL)
        return;
    number = atomic_load_explicit(&watch->number, memory_order_relaxed);
    atomic_store_explicit(&watch->number, number + 1, memory_order_relaxed);
    atomic_store_explicit(&watch->call, call, memory_order_release);
}

static inline void pnc_file_watch_end(pnc_watch *watch)
{
    if (watch != NULL)
        atomic_store_explicit(&watch->call, NULL, memory_order_relaxed);
}

#endif
