/* Shared by the generators of C and Fortran programs: the output file, and values for literals. */
#ifndef PNC_TOOLS_NCMPIGEN_SOURCE_H
#define PNC_TOOLS_NCMPIGEN_SOURCE_H

#include <stdbool.h>
#include <stdio.h>

#include "tools/ncmpigen/gen.h"

typedef struct gen_source {
    const gen_options *options;
    const pnc_model *model;
    FILE *out;
    tool_output output; /* if out is a file */
    char *path;         /* of the netCDF file that the program creates */
    int64_t *counts;    /* elements with values in the text, for each variable */
    int blocks;         /* blocks of values written so far; the program has a function for each */
    int attributes;     /* Fortran: the first blocks are values of attributes; their number */
    bool in_block;
    int64_t first; /* first element of the block */
} gen_source;

/* The next three return NC_NOERR, or a code after setting error. */
int gen_source_open(gen_source *source, const pnc_model *model, const char *name, pnc_error *error);
/* Flush the output and check it for write errors. */
int gen_source_check(const gen_source *source, pnc_error *error);
int gen_source_commit(gen_source *source, pnc_error *error);
void gen_source_discard(gen_source *source);

/* A value loaded from its external bytes. */
typedef struct gen_value {
    uint64_t bits;
    int64_t i; /* integer types; for uint64, the bits */
    double r;  /* float and double */
} gen_value;
gen_value gen_value_load(int type, const void *bytes);

#endif
