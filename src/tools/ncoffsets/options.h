/* The command line of ncoffsets. */
#ifndef PNC_TOOLS_NCOFFSETS_OPTIONS_H
#define PNC_TOOLS_NCOFFSETS_OPTIONS_H

#include "tools/common/names.h"

typedef struct options {
    const char *path;
    tool_names variables; /* none: all */
    bool sizes, gaps, records, check_gaps, debug;
    int64_t align; /* bytes of a stripe; 0: no report of alignment */
    bool picture;
    const char *svg; /* the file for it; NULL: stdout */
} options;

/* Returns -1 when there is a file to be looked at, else the exit status: all is said. */
int offsets_options_parse(int argc, char **argv, options *out);

#endif
