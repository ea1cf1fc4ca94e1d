/* A file to be compared: its header in memory, and a function that reads blocks of its variables. Each program provides
 * its own. */
#ifndef PNC_TOOLS_DIFF_SOURCE_H
#define PNC_TOOLS_DIFF_SOURCE_H

#include <stdint.h>

#include "base/error.h"
#include "base/table.h"
#include "filter/filter.h"
#include "formats/reader.h"

typedef struct diff_dim {
    char *name;
    int64_t length; /* the number of records of the record dimension */
} diff_dim;

typedef struct diff_att {
    char *name;
    int type;
    int64_t length;
    void *values; /* in the memory type that belongs to type */
    /* of an attribute of strings, which are also one text of NC_CHAR: how many, and their lengths, -1 for NULL; else -1
     * and NULL */
    int64_t nstrings, *lengths;
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
    int64_t present; /* elements up to the end of the file; those beyond it are zeros */
    char *storage;   /* how a netCDF-4 file stores it; NULL: a classic file */
    diff_atts atts;
} diff_var;

typedef struct diff_source {
    const char *path;
    int format; /* 1, 2 or 5; 3: netCDF-4, 4: its classic model */
    int ndims, nvars;
    diff_dim *dims;
    diff_var *vars;
    diff_atts atts;
    pnc_table dim_names, var_names;
    /* Reads a block into the memory type of the variable. Collective: processes without data to read pass a count of 0,
     * and an error on one is returned on all. Returns NC_NOERR, or a code after an error message. */
    int (*read)(const struct diff_source *source, int varid, const int64_t *start, const int64_t *count, int64_t length,
                void *values);
    /* The same of a variable of strings, which the caller frees. A process that passes a count of 0 may get some. */
    int (*read_strings)(const struct diff_source *source, int varid, const int64_t *start, const int64_t *count,
                        int64_t length, pnc_reader_strings *strings);
    void *handle; /* data of the program */
} diff_source;

/* Allocate the entries of a header, initialised to 0 and NULL. NC_NOERR or NC_ENOMEM. */
int diff_source_alloc(diff_source *source, int ndims, int nvars);
int diff_var_alloc(diff_var *var, const char *name, int type, int ndims);
int diff_atts_alloc(diff_atts *atts, int n);
int diff_att_alloc(diff_att *att, const char *name, int type, int64_t length);

/* Say that an attribute has n strings; the caller fills in their lengths. */
int diff_att_alloc_lengths(diff_att *att, int64_t n);

/* "chunked 1x4 shuffle deflate:4 little": of a layout, the lengths of chunks (NULL: none), filters and byte order. NULL
 * without memory. */
typedef struct diff_storage {
    int layout, ndims, endian, nfilters;
    const int64_t *chunks;
    const pnc_filter *filters;
} diff_storage;
char *diff_storage_describe(const diff_storage *storage);

/* Complete a source whose dims and vars are set: tables of names, and shapes of all variables. */
int diff_source_finish(diff_source *source);
void diff_source_free(diff_source *source); /* also after an error; does not close the handle */

#endif
