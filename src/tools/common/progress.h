/* A line on a terminal with the progress, the rate and the remaining time of long work; on request also elsewhere: the
 * stderr of a rank that mpiexec has started is no terminal. */
#ifndef PNC_TOOLS_COMMON_PROGRESS_H
#define PNC_TOOLS_COMMON_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct tool_progress {
    FILE *out;          /* NULL: nothing is shown */
    bool keeps_lines;   /* each line stays, as it is not known to be on a terminal */
    const char *what;   /* the beginning of the line */
    int64_t total;      /* bytes */
    double begin, next; /* seconds */
} tool_progress;

/* Shows a line only if out is a terminal and the work takes a second or more. */
void tool_progress_begin(FILE *out, const char *what, int64_t total, tool_progress *progress);
/* Show lines on any output, one for a few seconds each, and a last one at the end. */
void tool_progress_keep_lines(FILE *out, tool_progress *progress);
void tool_progress_update(tool_progress *progress, int64_t done);
/* At the end of successful work: the last line, if lines are kept. */
void tool_progress_finish(tool_progress *progress);
/* Erases the line, if any: to be called at the end, and before other output to the terminal. tool_error_print calls
 * it. */
void tool_progress_wipe(void);

/* "what: 45 % of 2048 MiB, 312 MiB/s, 0:03 left" */
void tool_progress_format(const char *what, int64_t done, int64_t total, double seconds, char *line, size_t capacity);

#endif
