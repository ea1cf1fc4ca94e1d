/* The command line of ncvalidator. */
#ifndef PNC_TOOLS_NCVALIDATOR_OPTIONS_H
#define PNC_TOOLS_NCVALIDATOR_OPTIONS_H

#include "tools/common/manifest.h"
#include "tools/ncvalidator/repair.h"

typedef struct options {
    char **paths;
    int npaths;
    const char *path;   /* the one that is examined */
    const char *output; /* of --repair; NULL: path with the suffix ".repaired" */
    bool quiet, trace, json, lenient, strict, checksum;
    const char *manifest;     /* of --checksum; NULL: attributes have the checksums */
    tool_manifests manifests; /* read from it */
    bool padding;             /* -x */
    bool repair, in_place;
    repair_choice choice;
} options;

/* Exit statuses. */
enum { VALIDATOR_VALID = 0, VALIDATOR_INVALID = 1, VALIDATOR_UNCERTAIN = 2 };

/* Returns -1 if there is a file to examine, else the exit status, after all output. */
int validator_options_parse(int argc, char **argv, options *out);

#endif
