/* A hyperslab (start, count, stride) as byte extents of the file, not expanded.
 *
 * A selection is a nest of axes around runs of contiguous bytes. Contiguous trailing dimensions are collapsed: a
 * whole variable is one run, and a block of a million rows costs O(rank). */
#ifndef PNC_SELECT_SELECTION_H
#define PNC_SELECT_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

typedef struct pnc_extent {
    int64_t offset, length;
} pnc_extent; /* bytes in the file */

/* The properties of a variable that a selection depends on. */
typedef struct pnc_array {
    const char *name;             /* for messages */
    const char *const *dim_names; /* for messages; may be NULL */
    int64_t begin;                /* file offset of element 0,0,.. */
    int elem_size;                /* external bytes of one element */
    int ndims;
    const int64_t *shape; /* lengths; entry 0 of a record variable is not used */
    bool is_record;
    int64_t recsize; /* bytes from record to record */
    /* How far dimensions that grow have addresses of their own; NULL: up to the largest file offset. */
    const int64_t *most;
} pnc_array;

typedef struct pnc_axis {
    int64_t count, stride;
} pnc_axis; /* stride in bytes, may exceed the run */

#define PNC_SELECTION_INLINE 8
typedef struct pnc_selection {
    int64_t base; /* file offset of the first run */
    int64_t run;  /* bytes of each run; 0 = nothing selected */
    int64_t nruns;
    int64_t bytes; /* run * nruns */
    int rank;      /* number of axes, outermost first */
    pnc_axis small[PNC_SELECTION_INLINE];
    pnc_axis *large; /* owned; NULL unless rank > PNC_SELECTION_INLINE, so that the struct may be moved and copied */
} pnc_selection;

static inline const pnc_axis *pnc_select_selection_get_axes(const pnc_selection *selection)
{
    return selection->large != NULL ? selection->large : selection->small;
}

/* Check a hyperslab against the array's bounds in the documented order of errors: NC_EINVALCOORDS, then NC_EEDGE or
 * NC_ENEGATIVECNT, then NC_ESTRIDE. `relax`: start == length is allowed with count 0. `growing`: a write may exceed
 * the number of records, up to the largest file offset (beyond it the same codes). `single`: count NULL means all
 * ones (var1). `numrecs`: the current length of the first dimension, if that is unlimited, which bounds a read. Nothing
 * overflows for any arguments. */
typedef struct pnc_bounds {
    bool relax, growing, single;
    int64_t numrecs;
    /* for an array of which another dimension is unlimited, else NULL: which are, and their current lengths */
    const bool *unlimited;
    const int64_t *lengths;
} pnc_bounds;
int pnc_select_hyperslab_check(const pnc_array *array, const int64_t *start, const int64_t *count,
                               const int64_t *stride, pnc_bounds how, pnc_error *error);

/* How many records a record variable may have: those that have addresses of their own, all of them below 2^63. */
int64_t pnc_select_records_get_most(const pnc_array *array);

/* Build the selection of a checked hyperslab. count NULL = ones; start NULL = zeros; stride NULL = ones.
 * NC_EINVALCOORDS if an unchecked one exceeds the range of file offsets; NC_ENOMEM. */
int pnc_select_selection_init(pnc_selection *out, const pnc_array *array, const int64_t *start, const int64_t *count,
                              const int64_t *stride);
void pnc_select_selection_init_empty(pnc_selection *out);
void pnc_select_selection_free(pnc_selection *selection);
/* Index after the last record of the hyperslab; 0 if it selects nothing or the variable is not a record variable. */
int64_t pnc_select_hyperslab_count_records(const pnc_array *array, const int64_t *start, const int64_t *count,
                                           const int64_t *stride);

/* Cursor over the runs in the order of the elements. May be copied; free only one of the copies. */
typedef struct pnc_selection_cursor {
    const pnc_selection *selection;
    int64_t run;                         /* index of the current run */
    int64_t within;                      /* bytes of the current run already taken */
    int64_t offset;                      /* file offset of the current run */
    int64_t small[PNC_SELECTION_INLINE]; /* index along each axis */
    int64_t *large;                      /* the same where the rank is larger, else NULL */
} pnc_selection_cursor;

int pnc_select_cursor_init(pnc_selection_cursor *cursor, const pnc_selection *selection);
void pnc_select_cursor_free(pnc_selection_cursor *cursor);
/* Go to the first byte that is selected at or after a file offset. */
void pnc_select_cursor_seek(pnc_selection_cursor *cursor, int64_t offset);
/* Take the next extents, at most max_extents of them and max_bytes in total. The last run is cut to fit, at a
 * multiple of `grain` bytes, the element size. Adjacent extents are merged. Returns their number (0 = the end, or
 * max_bytes < grain), and their bytes in *bytes. */
int64_t pnc_select_cursor_take(pnc_selection_cursor *cursor, int64_t max_bytes, int grain, pnc_extent *out,
                               int64_t max_extents, int64_t *bytes);
/* Take the next runs along the innermost axis that end at or before the file offset `high`, unexpanded: the offset of
 * the first one is *offset, and the axis has their distance. Returns their number (0 = the end, or the next one ends
 * behind `high`). Only for a selection with axes, of which no run is taken in part. */
int64_t pnc_select_cursor_take_row(pnc_selection_cursor *cursor, int64_t high, int64_t *offset);

#endif
