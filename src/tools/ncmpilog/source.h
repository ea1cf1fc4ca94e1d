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
    int time_slot; /* where the next time of the file is written */
} log_source;

/* Open a log for reading. NC_EBADLOG: it is none, or its front is damaged; others: as open. Without a message. */
int log_source_open(const char *path, log_source *out);
void log_source_close(log_source *source);
/* Whether its process still runs, as far as this node knows. */
bool log_source_is_held(const log_source *source);
/* Whether the locks of its process, if it runs, are seen here: those of the log itself or, if `file_shows` the locks of
 * its node, those of the file (pnc_host_logs_hold), which show the maker of a copy, too. */
bool log_source_has_locks(const log_source *source, bool file_shows);
/* Whether the user who runs this program owns it. */
bool log_source_is_own(const log_source *source);
/* The file has this time now, in nanoseconds: for a replay, which may have to be repeated. Returns errno or 0. */
int log_source_write_time(log_source *source, int64_t time);

/* Read the mark at this path. *found is false if there is none. NC_NOERR, or a code after an error message. */
int log_mark_load(const char *path, bool *found, pnc_log_mark *out);
/* The path of the mark of a file, to be freed with pnc_memory_free; NULL without memory, after an error message. */
char *log_mark_locate(const char *file);

#endif
