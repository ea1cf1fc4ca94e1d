/* Statistics of an open file: counters, and where the time of its calls goes.
 *
 * All functions accept NULL, which means that statistics are off. Each file has its own, which the rank's calls on that
 * file change: calls on a file do not run concurrently. */
#ifndef PNC_STATISTICS_STATISTICS_H
#define PNC_STATISTICS_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "statistics/counters.h"

struct pnc_trace;

/* Of one variable. */
typedef struct pnc_var_statistics {
    int64_t put_bytes, get_bytes, nanoseconds;
} pnc_var_statistics;
#define PNC_STATISTICS_VARS 4096 /* variables with statistics of their own; the last one has those of all others */

typedef struct pnc_statistics {
    int64_t counts[PNC_COUNTER_N];
    int64_t opened;           /* time; all times are nanoseconds */
    bool in_call;             /* of the program, whose time is counted */
    pnc_counter takes;        /* what takes the time since `since`; only in a call */
    int64_t since, begun;     /* begun: time of the begin of the call */
    bool in_put;              /* a read belongs to a put */
    int64_t ends[2];          /* file offset after the last read, and after the last write */
    int64_t unit;             /* the striping unit */
    pnc_var_statistics *vars; /* NULL until one is accessed */
    struct pnc_trace *trace;  /* NULL: none */
} pnc_statistics;

pnc_statistics *pnc_statistics_create(void); /* NULL: no memory */
void pnc_statistics_free(pnc_statistics *s);

/* Set the counters that are known only now: time_open, peak_memory. */
void pnc_statistics_update(pnc_statistics *s);

static inline void pnc_statistics_add(pnc_statistics *s, pnc_counter counter, int64_t n)
{
    if (s != NULL)
        s->counts[counter] += n;
}

/* A system access; add to the counters of reads or writes. */
void pnc_statistics_access_add(pnc_statistics *s, bool is_write, int64_t offset, int64_t bytes);
/* A call on a variable that took the time since pnc_statistics_call_begin, or its share of it. */
void pnc_statistics_var_add(pnc_statistics *s, int varid, const pnc_var_statistics *more);
int64_t pnc_statistics_call_get_time(const pnc_statistics *s); /* of the call in progress, so far */

/* Around a call of the program: `takes` is TIME_DEFINE or TIME_REQUESTS. The name is that for the trace. A call ends
 * only once; the end without a begin does nothing. */
void pnc_statistics_call_start(pnc_statistics *s, pnc_counter takes);
void pnc_statistics_call_finish(pnc_statistics *s, const char *name);

/* Within a call: time goes to another counter, until the end. Pass what the begin has returned. */
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
