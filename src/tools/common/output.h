/* A file that appears under its name only when it is complete: it is written under another name in the same folder, and
 * renamed at the end. What ends early, by an error or by a signal that asks to end, leaves nothing behind. */
#ifndef PNC_TOOLS_COMMON_OUTPUT_H
#define PNC_TOOLS_COMMON_OUTPUT_H

#include <stdbool.h>

#include "base/error.h"

typedef struct tool_output {
    char *path;      /* where the file shall be; if that is a symbolic link, what it leads to */
    char *temporary; /* where to write until then: an empty file */
    bool overwrite;
} tool_output;

/* One process at a time writes one file. Returns NC_NOERR, or a code with a sentence that names the file: NC_EEXIST
 * where there is one already and overwrite is not given, NC_EACCESS ... Then nothing is left to be discarded. */
int tool_output_begin(const char *path, bool overwrite, tool_output *output, pnc_error *error);

/* Gives the file its name; on failure it is discarded. */
int tool_output_commit(tool_output *output, pnc_error *error);
void tool_output_discard(tool_output *output);

/* For the other ranks of an MPI program, after rank 0 told them output->temporary: it may be any rank that a signal
 * ends first. NULL ends the watch. */
void tool_output_watch(const char *temporary);

/* Between these, which can be nested, signals that ask to end wait. In an MPI program all ranks hold them from before
 * tool_output_begin until all watch and have the file open: a rank that a signal ends takes the others with it, at
 * once, and one that had not opened the file could bring it back. */
void tool_signals_hold(void);
void tool_signals_release(void);

#endif
