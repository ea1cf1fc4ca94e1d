/* The thread that writes what the stores of this process have queued, and reads what gets will probably ask for. There
 * is one for all files, which take turns, while any of them has a queue. It makes POSIX calls only, none of MPI, so
 * that programs of any thread level may use it, and blocks all signals. It uses a descriptor that only the queue has.
 *
 * With a log, blocks wait on the disk of the node (log.h), and the worker reads them there. When it has written all of
 * them, it begins a new lap of the log: a replay must not repeat what later puts of other ranks may overwrite.
 *
 * A write that fails is recorded with its bytes and the number of the system's error; the worker goes on with the next
 * block. Nothing here forgets the first failure of a queue. */
#ifndef PNC_DRIVERS_BEHIND_WORKER_H
#define PNC_DRIVERS_BEHIND_WORKER_H

#include "drivers/behind/ahead.h"
#include "drivers/behind/log.h"
#include "drivers/behind/ring.h"
#include "statistics/counters.h"
#include "statistics/heat.h"

/* A write that has failed. */
typedef struct pnc_behind_failure {
    pnc_extent extent; /* length 0: none has */
    int number;        /* errno; 0: the system wrote nothing, and has reported no error */
} pnc_behind_failure;

/* What the worker has done for a queue, and what its program has waited for. */
typedef struct pnc_behind_work {
    int64_t queued;                      /* bytes that were added */
    int64_t bytes;                       /* that were written */
    int64_t busy_ns, delay_ns;           /* time of the writes; time that callers have waited for them */
    int64_t full;                        /* how many times there was no free memory */
    int64_t memory;                      /* the most that was in use at once */
    int64_t log_writes, log_bytes;       /* system writes to the log, and their bytes */
    int64_t log_size, log_laps;          /* the most bytes of it at once; laps that have ended */
    int64_t read_busy_ns, read_delay_ns; /* time of the reads; time that gets have waited for them */
} pnc_behind_work;

/* System accesses of the worker: reads [0] and writes [1], all and by their size, and where they are. */
typedef struct pnc_behind_accesses {
    int64_t n[2], by_size[2][PNC_SIZE_CLASS_N];
    pnc_heat heat;
} pnc_behind_accesses;

/* When the worker has written, or read, without a pause. For timelines. */
typedef struct pnc_behind_span {
    int64_t begin, end; /* nanoseconds of CLOCK_MONOTONIC */
    bool is_write;
} pnc_behind_span;
#define PNC_BEHIND_SPANS 1024 /* that are kept: of more, the last one grows */

/* Batches that wait. */
typedef struct pnc_behind_line {
    pnc_behind_batch *first, *last;
} pnc_behind_line;

/* Of one file. All of it is under the lock of the worker, but for `fd`, which does not change, or becomes -1 when
 * the queue is released. */
typedef struct pnc_behind_queue {
    struct pnc_behind_queue *next; /* of the queues of the process; NULL: it is not open */
    pnc_behind_ring ring;
    char *memory;
    int64_t counted;     /* bytes of it that count as allocated */
    pnc_behind_log *log; /* NULL: blocks wait in memory */
    int fd;
    pnc_behind_line line;  /* to be read: the worker reads for the first batch */
    pnc_behind_line ready; /* that were read: the worker prepares what the first one has */
    bool is_busy;          /* the worker writes the front block */
    bool is_reading;       /* the worker reads for the first batch */
    bool is_preparing;     /* the worker prepares the first of those that are ready */
    bool has_written;      /* the last turn was a write */
    int64_t finished;      /* end of the last byte in the file that the worker has written */
    pnc_behind_failure failure;
    pnc_behind_work work;
    pnc_behind_accesses accesses;
    pnc_behind_span *spans; /* NULL: none are kept */
    int nspans;
} pnc_behind_queue;

/* Begin to use a queue of zeros: `capacity` bytes of memory, and a descriptor, which is the queue's afterwards. False,
 * and nothing has changed, without memory or a thread. */
bool pnc_behind_queue_open(pnc_behind_queue *queue, int fd, int64_t capacity);
/* End its use; what it still has is discarded, and a write in progress is completed. */
void pnc_behind_queue_close(pnc_behind_queue *queue);
static inline bool pnc_behind_queue_is_open(const pnc_behind_queue *queue)
{
    return queue->next != NULL;
}

/* Where descriptors are few, queues of this process do their work and end, so that a file can be opened: what is put
 * later does not wait. No other thread uses them. */
void pnc_behind_queues_release(void);
static inline bool pnc_behind_queue_is_released(const pnc_behind_queue *queue)
{
    return queue->fd < 0;
}

/* Let blocks wait in a log from now on, which is the queue's afterwards. */
void pnc_behind_queue_set_log(pnc_behind_queue *queue, pnc_behind_log *log);
/* Whether blocks can wait. */
bool pnc_behind_queue_has_log(pnc_behind_queue *queue);
/* A collective put has ended, after which there are so many records; the log gets that. */
void pnc_behind_queue_end_call(pnc_behind_queue *queue, int64_t call, int64_t numrecs);
/* Make permanent what is in the log. *needs_file: blocks are in the file only, and not synced. */
void pnc_behind_queue_sync_log(pnc_behind_queue *queue, bool *needs_file);
/* The file is to be written without the queue: wait until the log has nothing of the span. False: it keeps that, as a
 * write of the worker has failed, and a replay would write it. */
bool pnc_behind_queue_wait_log(pnc_behind_queue *queue, pnc_extent span);
/* Whether the log keeps bytes of the span after a write that has failed. */
bool pnc_behind_queue_has_kept(pnc_behind_queue *queue, pnc_extent span);
/* The file was written without the queue: the log may get its time. */
void pnc_behind_queue_update_time(pnc_behind_queue *queue);
/* Delete the log, which is of no use after the queue was finished. */
void pnc_behind_queue_remove_log(pnc_behind_queue *queue);
/* The same, and blocks wait in memory again, or in another log. No block waits in this one. */
void pnc_behind_queue_close_log(pnc_behind_queue *queue);
/* errno of what the log could not do; 0: nothing has failed. */
int pnc_behind_queue_get_log_failure(pnc_behind_queue *queue);

/* Copy bytes into the queue, and wait for free memory. False in a process that another one has forked: the queue is of
 * its parent, which writes what it had; or if the log cannot have them, which has then written all others. */
bool pnc_behind_queue_add(pnc_behind_queue *queue, const pnc_behind_block *block, const char *bytes);
/* Wait until nothing of the span is in the queue, or all of it is empty. */
void pnc_behind_queue_wait(pnc_behind_queue *queue, pnc_extent span);
void pnc_behind_queue_finish(pnc_behind_queue *queue);
/* Whether it has bytes of the span. */
bool pnc_behind_queue_has_span(pnc_behind_queue *queue, pnc_extent span);
/* Read a batch, and then prepare what it has, when no other file has reads or writes; until it does not wait, its bytes
 * are the worker's. */
void pnc_behind_queue_read(pnc_behind_queue *queue, pnc_behind_batch *batch);
/* The worker reads and prepares no more for the batch. */
void pnc_behind_queue_discard(pnc_behind_queue *queue, pnc_behind_batch *batch);
/* Copy bytes of the batch, once they are read. False: they will not be. */
bool pnc_behind_queue_take(pnc_behind_queue *queue, pnc_behind_batch *batch, int64_t at, int64_t length, char *to);
/* The call of the first block that is not yet written, or an earlier one; INT64_MAX: there is none. */
int64_t pnc_behind_queue_find_call(pnc_behind_queue *queue);
/* What is known of it now. */
pnc_behind_failure pnc_behind_queue_get_failure(pnc_behind_queue *queue);
/* End of the last byte that the worker has written. */
int64_t pnc_behind_queue_get_end(pnc_behind_queue *queue);
pnc_behind_work pnc_behind_queue_get_work(pnc_behind_queue *queue);
/* Move the accesses of the worker since the last call to *out. */
void pnc_behind_queue_take_accesses(pnc_behind_queue *queue, pnc_behind_accesses *out);
/* Move what the worker has done since the last call to `out`, which has PNC_BEHIND_SPANS; returns how many. They are
 * kept from the first call on, if there is memory for them. */
int pnc_behind_queue_take_spans(pnc_behind_queue *queue, pnc_behind_span *out);

#endif
