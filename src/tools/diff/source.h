/* A file as the comparison sees it: its header in memory, and a way to read blocks of its variables. The programs
 * differ in how they fill this in. */
#ifndef PNC_TOOLS_DIFF_SOURCE_H
#define PNC_TOOLS_DIFF_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/table.h"

typedef struct diff_dim {
    char *name;
    int64_t length; /* the number of records of the record dimension */
} diff_dim;

typedef struct diff_att {
    char *name;
    int type;
    int64_t length;
    void *values; /* in the memory type that belongs to type */
} diff_att;

typedef struct diff_atts {
    int n;
    diff_att *at;
    pnc_table names;
} diff_atts;

typedef struct diff_var {
    char *name;
    int type;
    int ndims;
    int *dimids;
    int64_t *shape;
    diff_atts atts;
} diff_var;

typedef struct diff_source {
    const char *path;
    int format; /* 1, 2 or 5 */
    int ndims, nvars;
    diff_dim *dims;
    diff_var *vars;
    diff_atts atts;
    pnc_table dim_names, var_names;
    /* Reads a block into the memory type that belongs to the variable's type. All processes take part, those that have
     * nothing to read with a count of 0, and a failure is one on all of them. Returns NC_NOERR, or a code after a
     * complaint. */
    int (*read)(const struct diff_source *source, int varid, const int64_t *start, const int64_t *count, int64_t length,
                void *values);
    void *handle; /* the program's */
} diff_source;

/* Room for the parts of a header, to be filled in; all 0 and NULL at first. NC_NOERR or NC_ENOMEM. */
int diff_source_alloc(diff_source *source, int ndims, int nvars);
int diff_var_alloc(diff_var *var, const char *name, int type, int ndims);
int diff_atts_alloc(diff_atts *atts, int n);
int diff_att_alloc(diff_att *att, const char *name, int type, int64_t length);

/* When dims and vars are complete: tables of names, and the shapes of all variables. */
int diff_source_finish(diff_source *source);
void diff_source_free(diff_source *source); /* after a failure too; does not close the handle */

#endif
