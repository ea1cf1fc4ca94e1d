/* The command line of ncvalidator. */
#ifndef PNC_TOOLS_NCVALIDATOR_OPTIONS_H
#define PNC_TOOLS_NCVALIDATOR_OPTIONS_H

#include <stdbool.h>

typedef struct options {
    const char *path;
    const char *output; /* of --repair; NULL: path with the suffix ".repaired" */
    bool quiet, trace, json, lenient;
    bool padding; /* -x */
    bool repair, in_place;
} options;

/* Returns -1 if there is a file to examine, else the exit status, after all output. */
int validator_options_parse(int argc, char **argv, options *out);

#endif
