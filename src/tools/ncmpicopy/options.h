/* The command line of ncmpicopy. */
#ifndef PNC_TOOLS_NCMPICOPY_OPTIONS_H
#define PNC_TOOLS_NCMPICOPY_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "convert/quantize.h"
#include "tools/common/names.h"

/* Exit status. COPY_LOSSY: values did not fit their new type, or an input is truncated. */
enum { COPY_DONE = 0, COPY_FAILED = 1, COPY_LOSSY = 2 };

/* -d: part of a dimension. Negative indices count from its end. */
typedef struct copy_slab {
    char *name;
    int64_t first, last, stride; /* last is included */
} copy_slab;

/* -t: another type for a variable. */
typedef struct copy_retype {
    char *name;
    int type;
} copy_retype;

/* --quantize; without names it is for all variables of floating point types that are no coordinates. */
typedef struct copy_quantize {
    tool_names variables;
    pnc_quantization mode;
    int number;
} copy_quantize;

typedef struct copy_options {
    char **inputs;
    int ninputs;
    const char *output;
    int format; /* 1, 2, 5; 0: that of the first input */
    tool_names variables;
    copy_slab *slabs;
    int nslabs;
    copy_retype *retypes;
    int nretypes;
    copy_quantize *quantizes;
    int nquantizes;
    const char *record; /* dimension to become the record dimension, or NULL */
    bool fixed;         /* no record dimension in the output */
    bool overwrite, verify, strict, progress, no_coordinates, no_history, allow_short;
    char *command;               /* the command line, for the attribute history */
    int64_t align, record_align; /* bytes; 0: not given */
    int64_t reserve;             /* bytes; -1: not given */
} copy_options;

/* Returns -1 if there are files to copy, else the exit status, after all output. */
int copy_options_parse(int argc, char **argv, void *options);
void copy_options_free(copy_options *options);

#endif
