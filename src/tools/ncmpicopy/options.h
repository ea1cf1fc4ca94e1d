/* The command line of ncmpicopy. */
#ifndef PNC_TOOLS_NCMPICOPY_OPTIONS_H
#define PNC_TOOLS_NCMPICOPY_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "convert/quantize.h"
#include "filter/text.h"
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

/* --quantize, --error; without names it is for all variables of floating point types that are no coordinates. */
typedef struct copy_quantize {
    tool_names variables;
    pnc_quantization mode;
    int number;
    double bound; /* --error */
} copy_quantize;

/* A chunk of --chunks: its length along a dimension, or along the next one if that has no name. */
typedef struct copy_chunk {
    const char *dim; /* in the text of the option, or NULL */
    int64_t length;
} copy_chunk;

/* --deflate, --zstd, --compression or --chunks; without names it is for all variables. */
typedef struct copy_storage_option {
    tool_names variables; /* or patterns of names */
    bool is_chunks, is_contiguous;
    pnc_filter_text filter; /* of a compression */
    char *text;
    copy_chunk *chunks; /* none: the library chooses */
    int nchunks;
} copy_storage_option;

/* --where: the indices of a dimension whose coordinate is in a range, or nearest to a value. */
typedef struct copy_where {
    char *name;
    const char *range; /* in the same memory */
    bool nearest;
} copy_where;

/* --set-att and --del-att: an attribute of variables, by a pattern, or of the file. */
typedef struct copy_edit {
    char *text;
    const char *var, *att, *value; /* in that text; var NULL: the file; value NULL: none */
} copy_edit;

/* --rename: of a variable, and the dimension of its name. */
typedef struct copy_rename {
    char *from;
    const char *to; /* in the same memory */
} copy_rename;

typedef struct copy_options {
    char **inputs;
    int ninputs;
    const char *output;
    int format;    /* NC_FORMAT_CLASSIC ..; 0: that of the first input */
    bool is_store; /* a Zarr store, with definitions of netCDF-4 */
    tool_names variables;
    copy_slab *slabs;
    int nslabs;
    copy_retype *retypes;
    int nretypes;
    copy_quantize *quantizes;
    int nquantizes;
    copy_storage_option *storages;
    int nstorages;
    copy_where *wheres;
    int nwheres;
    copy_edit *edits;
    int nedits;
    copy_rename *renames;
    int nrenames;
    int shuffle;          /* 1: also what is compressed already; -1: no; 0: what is compressed anew */
    const char *record;   /* dimension to become the record dimension, or NULL */
    bool fixed;           /* no record dimension in the output */
    bool checksum;        /* of each variable, as an attribute */
    const char *manifest; /* or in this file; NULL: no */
    bool overwrite, verify, strict, progress, no_coordinates, no_history, allow_short, salvage;
    char *command;               /* the command line, for the attribute history */
    int64_t align, record_align; /* bytes; 0: not given */
    int64_t reserve;             /* bytes; -1: not given */
} copy_options;

/* Returns -1 if there are files to copy, else the exit status, after all output. */
int copy_options_parse(int argc, char **argv, void *options);
void copy_options_free(copy_options *options);

#endif
