/* A timeline of the calls of one rank, in the format of Chrome's and Perfetto's trace viewers: an event for each call
 * and, inside it, one for each span of time that goes to one counter. */
#ifndef PNC_STATISTICS_TRACE_H
#define PNC_STATISTICS_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct pnc_trace pnc_trace;

/* Begin a timeline in an empty file, and close `file`. The process of its events is `node`, the first rank of the node;
 * their thread is the rank. NULL: errno has the reason. Nothing is written to a file that the program has replaced or
 * truncated since then, as where it makes a dataset of that name. */
pnc_trace *pnc_trace_create(FILE *file, int node, int rank);
/* Complete and close the file. NULL, or why not all of it could be written, until the next call of strerror. */
const char *pnc_trace_close(pnc_trace *trace);
void pnc_trace_free(pnc_trace *trace); /* the same without a result; NULL: nothing */

/* From `begin` to `end`, in nanoseconds of CLOCK_MONOTONIC. trace may be NULL. */
void pnc_trace_span_add(pnc_trace *trace, const char *name, int64_t begin, int64_t end);
/* The same for the worker of the process (nc_write_behind), whose thread is the rank + PNC_TRACE_WORKER. */
#define PNC_TRACE_WORKER 1000000000
void pnc_trace_worker_add(pnc_trace *trace, const char *name, int64_t begin, int64_t end);

#endif
