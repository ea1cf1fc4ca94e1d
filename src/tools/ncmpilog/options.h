/* The command line of ncmpilog. */
#ifndef PNC_TOOLS_NCMPILOG_OPTIONS_H
#define PNC_TOOLS_NCMPILOG_OPTIONS_H

#include <stdbool.h>

typedef struct log_options {
    char **paths;
    int npaths;
    const char *folder;                                  /* of --replay; NULL: list what the files have */
    bool partial, assumes_dead, assumes_same, takes_any; /* of logs: of any owner */
} log_options;

/* Exit statuses. LOG_WAITS: there are values that the file does not have, or a replay could not have all of them. */
enum { LOG_DONE = 0, LOG_FAILED = 1, LOG_WAITS = 2 };

/* Returns -1 if there is something to do, else the exit status, after all output. */
int log_options_parse(int argc, char **argv, void *options);

#endif
