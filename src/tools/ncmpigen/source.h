/* What the programs in C and Fortran share: where their text goes, and values to be written as numbers. */
#ifndef PNC_TOOLS_NCMPIGEN_SOURCE_H
#define PNC_TOOLS_NCMPIGEN_SOURCE_H

#include "tools/common/output.h"
#include "tools/ncmpigen/gen.h"

typedef struct gen_source {
    const gen_options *options;
    const pnc_model *model;
    FILE *out;
    tool_output output; /* where out is a file */
    char *path;         /* of the netCDF file that the program creates */
    int64_t *counts;    /* elements that the text has of each variable */
    int blocks;         /* of values so far: each has a function of its own */
    int attributes;     /* of these blocks are values of attributes: in Fortran */
    bool in_block;
    int64_t first; /* element of the block */
} gen_source;

/* The next three return a code, after a word to error. */
int gen_source_open(gen_source *source, const pnc_model *model, const char *name, pnc_error *error);
/* Has everything so far been written? */
int gen_source_check(const gen_source *source, pnc_error *error);
int gen_source_commit(gen_source *source, pnc_error *error);
void gen_source_discard(gen_source *source);

/* One value, from its external bytes. */
typedef struct gen_value {
    uint64_t bits;
    int64_t i; /* of integers; of uint64, its bits */
    double r;  /* of float and double */
} gen_value;
gen_value gen_value_load(int type, const void *bytes);

#endif
