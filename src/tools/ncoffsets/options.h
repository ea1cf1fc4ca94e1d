/* The command line of ncoffsets. */
#ifndef PNC_TOOLS_NCOFFSETS_OPTIONS_H
#define PNC_TOOLS_NCOFFSETS_OPTIONS_H

#include "tools/common/names.h"

/* What is printed, instead of the list of offsets. */
typedef enum offsets_form { FORM_LIST, FORM_SVG, FORM_HTML, FORM_KERCHUNK } offsets_form;

typedef struct options {
    const char *path; /* the file, or the first of several */
    char *const *paths;
    int npaths;
    tool_names variables; /* empty: all */
    bool sizes, gaps, records, check_gaps, debug;
    int64_t align; /* size of a stripe in bytes; 0: no report of alignment */
    bool json;
    offsets_form form;
    const char *output; /* file that the form is written to; NULL: stdout */
    bool overwrite;     /* replace a file of another kind */
    int64_t chunk;      /* bytes; 0: the default */
    const char *url;    /* of the folder where the files will be, or NULL: they stay where they are */
} options;

/* Returns -1 if there is a file to describe, else the exit status, after all output. */
int offsets_options_parse(int argc, char **argv, options *out);

#endif
