/* The command line of ncoffsets. */
#ifndef PNC_TOOLS_NCOFFSETS_OPTIONS_H
#define PNC_TOOLS_NCOFFSETS_OPTIONS_H

#include "tools/common/names.h"

typedef struct options {
    const char *path;
    tool_names variables; /* empty: all */
    bool sizes, gaps, records, check_gaps, debug;
    int64_t align; /* size of a stripe in bytes; 0: no report of alignment */
    bool json;
    bool picture;
    bool overwrite;  /* replace a file that is not a picture */
    const char *svg; /* file that the picture is written to; NULL: stdout */
} options;

/* Returns -1 if there is a file to describe, else the exit status, after all output. */
int offsets_options_parse(int argc, char **argv, options *out);

#endif
