/* Statistics of an open file: counters, and where the time of its calls goes.
 *
 * Functions that count accept NULL, which means that statistics are off. Each file has its own, which the rank's calls
 * on that file change: calls on a file do not run concurrently. */
#ifndef PNC_STATISTICS_STATISTICS_H
#define PNC_STATISTICS_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "statistics/counters.h"
#include "statistics/heat.h"

struct pnc_trace;

/* Of one variable. */
typedef struct pnc_var_statistics {
    int64_t put_bytes, get_bytes, nanoseconds;
} pnc_var_statistics;
#define PNC_STATISTICS_VARS 4096 /* variables with statistics of their own; the last one has those of all others */

/* Of the chunks of one variable. */
typedef struct pnc_chunk_counts {
    int64_t written, written_again, bytes_written, stored_written, read, read_again, bytes_read;
    int64_t bytes_used; /* by gets */
} pnc_chunk_counts;
#define PNC_STATISTICS_DIMS 8
typedef struct pnc_chunk_statistics {
    pnc_chunk_counts counts;
    int64_t lengths[2][PNC_STATISTICS_DIMS]; /* elements along each dimension that the last get [0] and put [1] of the
                                              * rank had; 0: unknown */
} pnc_chunk_statistics;
#define PNC_STATISTICS_CHUNKED 512 /* variables with statistics of their chunks: the first ones */

/* Of the last call that used aggregators. */
typedef struct pnc_aggregation {
    int64_t n, window; /* number of aggregators of all nodes, 0: no call used them; bytes of a round */
    int64_t number;    /* of this rank among them; -1: it is none */
    int64_t low, high; /* its file domain in the first round */
} pnc_aggregation;

typedef struct pnc_statistics {
    int64_t counts[PNC_COUNTER_N];
    int64_t opened;       /* time; all times are nanoseconds */
    bool in_call;         /* of the program, whose time is counted */
    pnc_counter takes;    /* what takes the time since `since`; only in a call */
    int64_t since, begun; /* begun: when the clock was started in this call; 0: not yet */
    bool in_put;          /* a read belongs to a put */
    int64_t ends[2];      /* file offset after the last read, and after the last write */
    int64_t unit;         /* the striping unit */
    int number;           /* of this file among those of the process */
    pnc_heat heat;        /* of system accesses */
    pnc_aggregation aggregation;
    pnc_var_statistics *vars;     /* NULL until one is accessed */
    pnc_chunk_statistics *chunks; /* NULL until a variable in chunks is accessed */
    struct pnc_trace *trace;      /* NULL: none */
} pnc_statistics;

pnc_statistics *pnc_statistics_create(void); /* NULL: no memory */
void pnc_statistics_free(pnc_statistics *s);

/* Set the counters that are known only now: time_open and those of memory. */
void pnc_statistics_update(pnc_statistics *s);

static inline void pnc_statistics_add(pnc_statistics *s, pnc_counter counter, int64_t n)
{
    if (s != NULL)
        s->counts[counter] += n;
}

/* A system access; add to the counters of reads or writes. */
void pnc_statistics_access_count(pnc_statistics *s, bool is_write, int64_t offset, int64_t bytes);
static inline void pnc_statistics_access_add(pnc_statistics *s, bool is_write, int64_t offset, int64_t bytes)
{
    if (s != NULL)
        pnc_statistics_access_count(s, is_write, offset, bytes);
}

/* A call, or its share, on a variable. */
void pnc_statistics_var_add(pnc_statistics *s, int varid, const pnc_var_statistics *more);
/* Those of a variable in chunks. NULL: it has none. */
pnc_chunk_statistics *pnc_statistics_chunks_find(pnc_statistics *s, int varid);
/* A chunk that was written or read, of so many bytes before and after filters. */
void pnc_statistics_chunk_add(pnc_statistics *s, int varid, bool is_write, int64_t bytes, int64_t stored, bool again);
/* Of the call in progress, up to the last change of the clock: without another reading of it. */
int64_t pnc_statistics_call_get_time(const pnc_statistics *s);

/* Around a call of the program. The clock starts with the first pnc_statistics_begin: calls without one, such as
 * inquiries and posts, cost nothing and are not timed. The name is that for the trace. A second end does nothing. */
static inline void pnc_statistics_call_start(pnc_statistics *s)
{
    if (s == NULL)
        return;
    s->in_call = true;
    s->takes = PNC_COUNT_TIME_DEFINE; /* unless the call says that it accesses values */
    s->begun = 0;
}
void pnc_statistics_call_finish(pnc_statistics *s, const char *name);

/* Within a call: time goes to another counter, until the end, which is given what the begin has
 * returned. */
pnc_counter pnc_statistics_clock_set(pnc_statistics *s, pnc_counter takes);

static inline pnc_counter pnc_statistics_begin(pnc_statistics *s, pnc_counter takes)
{
    return s != NULL && s->in_call ? pnc_statistics_clock_set(s, takes) : takes;
}

static inline void pnc_statistics_end(pnc_statistics *s, pnc_counter before)
{
    if (s != NULL && s->in_call)
        pnc_statistics_clock_set(s, before);
}

#endif
