/* A wrapper that completes writes later: the caller continues, and a thread of the process writes what it has put
 * (worker.h). Writes are delayed only between begin and end, and only if the file is one of POSIX: the worker has a
 * descriptor of its own. All others are complete when they return, and first wait for what they overlap. And it reads
 * before it is asked, what gets that follow each other at equal distances will probably need next (ahead.h).
 *
 * A store sees what it has put itself. What the stores of other ranks have queued is the callers' business: they wait
 * for it (pnc_behind_store_finish) before they let another rank read or overwrite it. For that, the store keeps the
 * ranges that calls of all ranks have put (pending.h).
 *
 *       write, start          worker
 *   complete <----- idle <-------------- queued      An error of the worker is returned by each flush, sync and close
 *                     |  begin .. end      ^         that follows; a call asks for it once (take_failure).
 *                     +--------------------+ */
#ifndef PNC_DRIVERS_BEHIND_BEHIND_H
#define PNC_DRIVERS_BEHIND_BEHIND_H

#include "drivers/behind/pending.h"
#include "drivers/behind/worker.h"
#include "drivers/store.h"

typedef enum pnc_behind_state { PNC_BEHIND_UNTRIED, PNC_BEHIND_OPEN, PNC_BEHIND_REFUSED } pnc_behind_state;

typedef struct pnc_behind {
    pnc_store store;
    pnc_store_end end; /* with what is queued; that of the inner store is without */
    pnc_behind_queue queue;
    pnc_behind_pending pending;                                  /* of all ranks */
    const char *path;                                            /* as in the call of open */
    const char *(*find_name)(const void *names, int64_t offset); /* of the variable that has this byte, or NULL */
    const void *names;
    const char *refusal;    /* why no writes are delayed, once that is known; NULL: they are */
    pnc_behind_ahead ahead; /* of this rank */
    int64_t capacity;       /* bytes of the queue */
    int64_t call;           /* number of the last call that put */
    int64_t direct;         /* writes that were not delayed */
    pnc_behind_state state;
    bool only_reads;
    bool is_put;      /* between begin and end */
    bool delays;      /* the same, where writes can be delayed */
    bool needs_log;   /* writes are delayed in a log only */
    bool is_reported; /* the failure, to a call */
    int has_failed;   /* for the caller, in MPI_Finalize: 1: on any rank */
} pnc_behind;

extern const pnc_store_ops pnc_store_behind;

/* The store in a stack that is one; NULL: there is none. */
pnc_behind *pnc_behind_store_find(pnc_store *store);
/* Set the memory before the first write is delayed, or the first get begins: of the queue, at least
 * PNC_BEHIND_RING_LEAST bytes, and of what is read ahead. */
void pnc_behind_store_set_capacity(pnc_behind *behind, int64_t queued, int64_t ahead);
/* Why no writes are delayed, and nothing is read ahead; NULL: they are. Opens the queue. */
const char *pnc_behind_store_explain(pnc_behind *behind);

/* Delay writes, which are of the call with this number, until end. */
void pnc_behind_store_begin(pnc_behind *behind, int64_t call);
static inline void pnc_behind_store_end(pnc_behind *behind)
{
    behind->is_put = behind->delays = false;
}

/* A get of values of the variable, in this range of `above`, the store in front of all others, begins; it has ended. */
void pnc_behind_store_begin_get(pnc_behind *behind, pnc_store *above, int varid, int64_t low, int64_t high);
void pnc_behind_store_end_get(pnc_behind *behind, int status, pnc_store *above, bool collective);
/* Discard what was read ahead, as the file may change: for example, another rank puts values. */
void pnc_behind_store_discard(pnc_behind *behind);

/* Wait until all is written, and discard what was read ahead. Returns the failure of the worker, each time. */
int pnc_behind_store_finish(pnc_behind *behind, pnc_error *error);
/* A failure that no call has reported yet. */
int pnc_behind_store_take_failure(pnc_behind *behind, pnc_error *error);
/* The failure, each time, if the log keeps bytes of the span: the file lacks them, and a replay writes them. */
int pnc_behind_store_check_kept(pnc_behind *behind, pnc_extent span, pnc_error *error);
/* All ranks have finished, and agreed on it. Between begin and end the range of that put remains: more may come. */
void pnc_behind_store_clear_pending(pnc_behind *behind);
/* Of all earlier calls this rank has written everything; INT64_MAX: of all. */
int64_t pnc_behind_store_find_call(pnc_behind *behind);

/* --- a log on the disk of the node, in place of memory --- */

/* Create the log of this rank, by which front and capacity; `file`: the name of the file. False: *number is errno, or 0
 * without memory. */
bool pnc_behind_store_open_log(pnc_behind *behind, const char *folder, const char *file, const pnc_log_front *front,
                               int64_t capacity, int *number);
static inline bool pnc_behind_store_has_log(const pnc_behind *behind)
{
    return behind->queue.log != NULL;
}
/* Make permanent what was put. *needs_file: the file must be synced for it. Returns the failure of the worker. */
int pnc_behind_store_sync_log(pnc_behind *behind, bool *needs_file, pnc_error *error);

#endif
