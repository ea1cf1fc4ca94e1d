/* The log of this process for one file: where blocks wait on the disk of the node, in place of memory (ring.h). It has
 * the bytes, and memory only where they are. Callers hold a lock where they change or read the entries; bytes are
 * written and read without it. Positions are offsets in the log. */
#ifndef PNC_DRIVERS_BEHIND_LOG_H
#define PNC_DRIVERS_BEHIND_LOG_H

#include "drivers/behind/index.h"
#include "log/record.h"

/* A block, or the rest of one. */
typedef struct pnc_behind_entry {
    pnc_extent extent; /* of the file */
    int64_t call, at;  /* the call that put it; position of its first byte */
    int64_t nplaces;   /* in the index */
} pnc_behind_entry;

typedef struct pnc_behind_log {
    int fd;
    char *path;
    int number;                /* errno of what has failed; 0: nothing */
    pnc_log_front front;       /* that of the file */
    int slot, time_slot;       /* where the next one, and the next time of the file, are written */
    int64_t timed_ns;          /* of the clock, when the last one was */
    int64_t capacity;          /* bytes of the log */
    int64_t tail;              /* position behind the last record */
    pnc_behind_entry *entries; /* a circle */
    int64_t first, n;
    pnc_behind_index index; /* of all blocks but the first */
    int64_t first_call;     /* the first one that has a block in this lap; INT64_MAX: none has */
    pnc_extent hull;        /* of all blocks of this lap; length 0: it has none */
    int64_t call, numrecs;  /* the last call that has ended, and the records after it */
    char *buffer;           /* PNC_BEHIND_LOG_PORTION bytes, of the worker */
    int64_t fronts;         /* that were written */
    int64_t records, bytes; /* that were appended */
    int64_t most;           /* bytes of the log at once */
    bool is_listed;         /* its folder has it, also after the death of the node */
    bool is_off;            /* nothing is logged any more */
    bool is_kept;           /* a write of the worker has failed: the log remains as it is */
    bool is_adding;         /* the program writes to the log */
    bool is_resetting;      /* the worker begins a lap */
    bool is_promised;       /* this lap has blocks that a flush has made permanent */
    bool has_moved;         /* the file has blocks that are no longer in the log, and not synced */
} pnc_behind_log;

#define PNC_BEHIND_LOG_PORTION (INT64_C(8) << 20)
#define PNC_BEHIND_SPARE 8 /* descriptors that a queue or a log leaves to the program. Opening a file takes up to 4 */
#define PNC_BEHIND_LOG_LEAST (INT64_C(1) << 20) /* bytes below which a log is of no use */

/* Create a log in a new file of the folder; fd: of the file whose blocks will wait. NULL: *number is errno, 0 without
 * memory. */
pnc_behind_log *pnc_behind_log_create(const char *folder, const char *file, int fd, const pnc_log_front *front,
                                      int64_t capacity, int *number);
/* removes: delete its file. */
void pnc_behind_log_free(pnc_behind_log *log, bool removes);
void pnc_behind_log_remove(pnc_behind_log *log);

/* Whether nothing was appended since the lap began. */
static inline bool pnc_behind_log_is_empty(const pnc_behind_log *log)
{
    return log->tail == PNC_LOG_FRONT_BYTES;
}
/* Bytes of a block of `length` bytes that can be appended now, from its first one; 0: none. */
int64_t pnc_behind_log_reserve(const pnc_behind_log *log, int64_t length);
/* Write a record behind the tail: a block and its bytes, or an end. Returns errno or 0; then the caller adds it. */
int pnc_behind_log_append(const pnc_behind_log *log, const pnc_log_record *record, const char *bytes);
void pnc_behind_log_add(pnc_behind_log *log, const pnc_log_record *record);

/* The first blocks, as far as they follow each other in the file: their extent, at most PNC_BEHIND_LOG_PORTION bytes,
 * and where they are. */
enum { PNC_BEHIND_LOG_PIECES = 64 };
typedef struct pnc_behind_pieces {
    pnc_extent extent;
    int n;
    struct {
        int64_t at, length;
    } piece[PNC_BEHIND_LOG_PIECES];
} pnc_behind_pieces;
void pnc_behind_log_get_first(const pnc_behind_log *log, pnc_behind_pieces *out);
/* Read them into the buffer. Returns errno or 0. */
int pnc_behind_log_read(const pnc_behind_log *log, const pnc_behind_pieces *pieces);
/* They are in the file. */
void pnc_behind_log_release(pnc_behind_log *log, int64_t length);

/* Whether a block that is not in the file yet has bytes of the span. */
bool pnc_behind_log_has_span(const pnc_behind_log *log, pnc_extent span);
/* Whether one of this lap has. */
bool pnc_behind_log_has_had_span(const pnc_behind_log *log, pnc_extent span);

/* Write a front: of this lap, or of a new one, which is then empty. Returns errno or 0. */
int pnc_behind_log_write_front(pnc_behind_log *log, int64_t lap, int64_t call);
/* The lap that it has begun has nothing. */
void pnc_behind_log_clear(pnc_behind_log *log);
/* Another write to the file of a descriptor has ended: record its time if PNC_LOG_TIME_INTERVAL has passed since the
 * last one. */
void pnc_behind_log_update_time(pnc_behind_log *log, int fd);
/* The same before a write, as of now. */
void pnc_behind_log_set_time(pnc_behind_log *log);
/* What was appended survives the death of the node. Returns errno or 0. */
int pnc_behind_log_sync(pnc_behind_log *log);

#endif
