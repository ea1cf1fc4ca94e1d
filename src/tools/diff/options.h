/* The command line of ncmpidiff and cdfdiff. */
#ifndef PNC_TOOLS_DIFF_OPTIONS_H
#define PNC_TOOLS_DIFF_OPTIONS_H

#include <stdbool.h>

#include "tools/common/names.h"
#include "tools/diff/compare.h"

/* Exit status. One name twice is DIFF_DIFFERENT, which clients test. */
enum { DIFF_SAME = 0, DIFF_DIFFERENT = 1, DIFF_TROUBLE = 2 };

typedef struct diff_options {
    const char *program;
    const char *paths[2];
    bool verbose, quiet, header_only, progress, json;
    bool checksum;    /* only the checksums of values are compared */
    bool unwritten;   /* values that may be unwritten in one file do not count */
    bool storage;     /* how the files store the same is compared, too */
    tool_names names; /* of variables; none: all */
    diff_tolerance tolerance;
} diff_options;

/* Returns -1 if there are files to compare, else the exit status, after all output. */
int diff_options_parse(const char *program, int argc, char **argv, diff_options *options);
void diff_options_free(diff_options *options);

#endif
