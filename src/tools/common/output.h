/* An output file that gets its name when it is complete: it is written under a temporary name in the same folder, and
 * renamed at the end. After an error or a signal that ends the program, the temporary file is removed; a signal leaves
 * a temporary folder. */
#ifndef PNC_TOOLS_COMMON_OUTPUT_H
#define PNC_TOOLS_COMMON_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* The output of a tool, and which existing file it may replace. An empty file has nothing to lose: it is replaced in
 * any case. */
typedef struct tool_output_request {
    const char *path;          /* with or without a prefix of MPI-IO */
    const char *const *inputs; /* the output must be none of these files, under any name */
    int ninputs;
    bool overwrite; /* replace any file */
    bool is_folder; /* as a Zarr store; of existing ones only a Zarr store is replaced */
    bool streams;   /* written from start to end: it can go to a device or a pipe, which has no temporary name */
    /* Without overwrite, only a file of this kind is replaced, which is recognised by its first bytes. NULL: none. */
    bool (*is_kind)(const char *head, size_t n);
    const char *kind;   /* the kind in messages: "a netCDF file" */
    const char *option; /* the option for overwrite in messages, or NULL */
} tool_output_request;

typedef struct tool_output {
    char *path;      /* name of the output without the prefix; if that is a symbolic link, its target */
    char *temporary; /* name to write to until commit: an empty file, or folder */
    bool is_folder;
    bool replaces; /* a file of this name, which was there at the start */
    bool direct;   /* a device or a pipe: temporary is its own name */
} tool_output;

/* A process writes at most one file at a time. Returns NC_NOERR, or a code with a message that names the file:
 * NC_EEXIST if it exists and may not be replaced, NC_EINVAL if it is an input, NC_EACCESS ... After an error there is
 * nothing to discard. */
int tool_output_begin(const tool_output_request *request, tool_output *output, pnc_error *error);

/* The same checks of an existing file, in advance. */
int tool_output_check(const tool_output_request *request, pnc_error *error);

/* For is_kind above: a netCDF file of any format. */
bool tool_netcdf_is_head(const char *head, size_t n);

/* Whether a file is one of others, under any name: a symbolic or hard link is the same file. */
bool tool_path_is_among(const char *path, const char *const *others, int n);
/* The file of standard output under any name, such as /dev/stdout. */
bool tool_path_is_stdout(const char *path);

/* Renames the file; on failure it is discarded. */
int tool_output_commit(tool_output *output, pnc_error *error);
void tool_output_discard(tool_output *output);

/* For the other ranks of an MPI program, with the output->temporary of rank 0: a signal may end any rank first. NULL
 * ends the watch. */
void tool_output_watch(const char *temporary);

/* True, after an error message, if the tool would print to the regular file that it reads: `tool file >> file`. */
bool tool_input_is_stdout(const char *path);

/* Signals that end the program are held between these calls, which can be nested. In an MPI program all ranks hold them
 * from before tool_output_begin until all ranks watch and have opened the file: a signal on one rank ends all ranks,
 * and a rank that opens the file later could create it again. */
void tool_signals_hold(void);
void tool_signals_release(void);

#endif
