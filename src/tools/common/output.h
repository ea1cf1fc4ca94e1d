/* An output file that gets its name when it is complete: it is written under a temporary name in the same folder, and
 * renamed at the end. After an error or a signal that ends the program, the temporary file is removed. */
#ifndef PNC_TOOLS_COMMON_OUTPUT_H
#define PNC_TOOLS_COMMON_OUTPUT_H

#include <stdbool.h>

#include "base/error.h"

typedef struct tool_output {
    char *path;      /* name of the output; if that is a symbolic link, its target */
    char *temporary; /* name to write to until commit: an empty file */
    bool overwrite;
} tool_output;

/* A process writes at most one file at a time. Returns NC_NOERR, or a code with a message that names the file:
 * NC_EEXIST if it exists and overwrite is not set, NC_EACCESS ... After an error there is nothing to discard. */
int tool_output_begin(const char *path, bool overwrite, tool_output *output, pnc_error *error);

/* Renames the file; on failure it is discarded. */
int tool_output_commit(tool_output *output, pnc_error *error);
void tool_output_discard(tool_output *output);

/* For the other ranks of an MPI program, with the output->temporary of rank 0: a signal may end any rank first. NULL
 * ends the watch. */
void tool_output_watch(const char *temporary);

/* Signals that end the program are held between these calls, which can be nested. In an MPI program all ranks hold them
 * from before tool_output_begin until all ranks watch and have opened the file: a signal on one rank ends all ranks,
 * and a rank that opens the file later could create it again. */
void tool_signals_hold(void);
void tool_signals_release(void);

#endif
