/* A line on a terminal with the progress, the rate and the remaining time of long work. */
#ifndef PNC_TOOLS_COMMON_PROGRESS_H
#define PNC_TOOLS_COMMON_PROGRESS_H

#include <stdint.h>
#include <stdio.h>

typedef struct tool_progress {
    FILE *out;          /* NULL: nothing is shown */
    const char *what;   /* the beginning of the line */
    int64_t total;      /* bytes */
    double begin, next; /* seconds */
} tool_progress;

/* Shows a line only if out is a terminal and the work takes a second or more. */
void tool_progress_begin(FILE *out, const char *what, int64_t total, tool_progress *progress);
void tool_progress_update(tool_progress *progress, int64_t done);
/* Erases the line, if any: to be called at the end, and before other output to the terminal. tool_error_print calls
 * it. */
void tool_progress_wipe(void);

/* "what: 45 % of 2048 MiB, 312 MiB/s, 0:03 left" */
void tool_progress_format(const char *what, int64_t done, int64_t total, double seconds, char *line, size_t capacity);

#endif
