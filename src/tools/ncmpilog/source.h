/* Logs and marks in files. */
#ifndef PNC_TOOLS_NCMPILOG_SOURCE_H
#define PNC_TOOLS_NCMPILOG_SOURCE_H

#include "log/mark.h"
#include "log/reader.h"

typedef struct log_source {
    char *path;
    int fd; /* -1: not open */
    pnc_log_reader reader;
    pnc_log_summary summary;
} log_source;

/* Open a log for reading. NC_EBADLOG: it is none, or its front is damaged; others: as open. Without a message. */
int log_source_open(const char *path, log_source *out);
void log_source_close(log_source *source);
/* Whether its process still runs, as far as this node knows. */
bool log_source_is_held(const log_source *source);

/* Read the mark at this path. *found is false if there is none. NC_NOERR, or a code after an error message. */
int log_mark_load(const char *path, bool *found, pnc_log_mark *out);
/* The path of the mark of a file, to be freed with pnc_memory_free; NULL without memory, after an error message. */
char *log_mark_locate(const char *file);

#endif
