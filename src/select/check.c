/* Checks the bounds of a hyperslab in the documented order of precedence: first all starts, then counts and edges,
 * then strides. No sum or product here can overflow. */
#include "select/selection.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

typedef struct check {
    const pnc_array *array;
    const int64_t *start, *count, *stride;
    pnc_bounds how;
    pnc_error *error;
} check;

static bool is_unlimited(const check *c, int dim)
{
    return c->how.unlimited != NULL ? c->how.unlimited[dim] : dim == 0 && c->array->is_record;
}

static bool is_open(const check *c, int dim)
{
    return c->how.growing && is_unlimited(c, dim);
}

static int64_t length_of_dim(const check *c, int dim)
{
    if (!is_unlimited(c, dim))
        return c->array->shape[dim];
    return dim == 0 ? c->how.numrecs : c->how.lengths[dim];
}

/* The position of a dimension, and an index along it, as the program writes them. */
static int position(const check *c, int dim)
{
    return pnc_error_get_position(c->error, dim, c->array->ndims);
}

static int64_t index_of(const check *c, int64_t index)
{
    return pnc_error_get_index(c->error, index);
}

/* A question about the kind of an array of numbers, if one of them looks wrong: others are then what lies behind the
 * array in memory. */
static const char *ask_kind(const check *c, const int64_t *numbers)
{
    const char *question = "";

    for (int dim = 0; numbers != NULL && dim < c->array->ndims && question[0] == '\0'; dim++)
        question = pnc_error_explain_kind(c->error, numbers == c->start ? index_of(c, numbers[dim]) : numbers[dim]);
    return question;
}

typedef struct subject_text {
    char text[2 * NC_MAX_NAME + 64];
} subject_text;

/* dimension "lat" of variable "tas" */
static subject_text describe_dim(const check *c, int dim)
{
    const pnc_array *a = c->array;
    subject_text s;
    if (a->dim_names != NULL)
        snprintf(s.text, sizeof s.text, "dimension \"%s\" of variable \"%s\"", a->dim_names[dim], a->name);
    else
        snprintf(s.text, sizeof s.text, "dimension %d of variable \"%s\"", position(c, dim), a->name);
    return s;
}

/* dimension "lat" of variable "tas" has length 8 */
static subject_text describe_bound(const check *c, int dim)
{
    int64_t length = length_of_dim(c, dim);
    subject_text s = describe_dim(c, dim);
    size_t used = strlen(s.text);
    if (dim == 0 && c->array->is_record)
        snprintf(s.text + used, sizeof s.text - used, " has %" PRId64 " record%s", length, length == 1 ? "" : "s");
    else
        snprintf(s.text + used, sizeof s.text - used, " has length %" PRId64, length);
    return s;
}

static int fail_start(const check *c, int dim)
{
    if (c->start[dim] < 0)
        return pnc_error_set(c->error, NC_EINVALCOORDS, "start[%d] = %" PRId64 "%s, %s: must be at least %" PRId64,
                             position(c, dim), index_of(c, c->start[dim]), ask_kind(c, c->start),
                             describe_dim(c, dim).text, index_of(c, 0));
    return pnc_error_set(c->error, NC_EINVALCOORDS, "start[%d] = %" PRId64 "%s, but %s", position(c, dim),
                         index_of(c, c->start[dim]), ask_kind(c, c->start), describe_bound(c, dim).text);
}

static int check_starts(const check *c)
{
    if (c->start == NULL)
        return pnc_error_set(c->error, NC_EINVALCOORDS,
                             "start is NULL: variable \"%s\" has %d dimensions and needs a "
                             "start index for each",
                             c->array->name, c->array->ndims);
    for (int dim = 0; dim < c->array->ndims; dim++) {
        int64_t start = c->start[dim], length = length_of_dim(c, dim);
        /* a negative count is an error of the count */
        bool nothing = c->how.relax && c->count != NULL && c->count[dim] <= 0;
        if (start < 0)
            return fail_start(c, dim);
        if (is_open(c, dim) || start < length || (start == length && nothing))
            continue;
        return fail_start(c, dim);
    }
    return NC_NOERR;
}

static int fail_edge(const check *c, int dim, int64_t stride)
{
    int64_t length = length_of_dim(c, dim), first = c->start[dim], count = c->count[dim];
    int64_t space = first < length ? (length - 1 - first) / stride + 1 : 0, start = index_of(c, first);
    int at = position(c, dim);
    subject_text bound = describe_bound(c, dim);
    if (stride == 1)
        return pnc_error_set(c->error, NC_EEDGE,
                             "count[%d] = %" PRId64 "%s from start[%d] = %" PRId64 "%s, but %s: at most %" PRId64
                             " fit",
                             at, count, ask_kind(c, c->count), at, start, ask_kind(c, c->start), bound.text, space);
    return pnc_error_set(c->error, NC_EEDGE,
                         "count[%d] = %" PRId64 "%s from start[%d] = %" PRId64 " with stride[%d] = %" PRId64
                         "%s, but %s: at most %" PRId64 " fit",
                         at, count, ask_kind(c, c->count), at, start, at, stride, ask_kind(c, c->stride), bound.text,
                         space);
}

static int check_counts(const check *c)
{
    if (c->count == NULL) {
        if (c->how.single)
            return NC_NOERR;
        return pnc_error_set(c->error, NC_EEDGE,
                             "count is NULL: variable \"%s\" has %d dimensions and needs a count "
                             "for each",
                             c->array->name, c->array->ndims);
    }
    for (int dim = 0; dim < c->array->ndims; dim++) {
        int64_t count = c->count[dim], stride = c->stride != NULL && c->stride[dim] > 0 ? c->stride[dim] : 1;
        if (count < 0)
            return pnc_error_set(c->error, NC_ENEGATIVECNT, "count[%d] = %" PRId64 "%s, %s: must not be negative",
                                 position(c, dim), count, ask_kind(c, c->count), describe_dim(c, dim).text);
        if (count == 0 || is_open(c, dim))
            continue;
        if (count - 1 > (length_of_dim(c, dim) - 1 - c->start[dim]) / stride)
            return fail_edge(c, dim, stride);
    }
    return NC_NOERR;
}

static int check_strides(const check *c)
{
    for (int dim = 0; c->stride != NULL && dim < c->array->ndims; dim++)
        if (c->stride[dim] <= 0)
            return pnc_error_set(c->error, NC_ESTRIDE, "stride[%d] = %" PRId64 "%s, %s: must be positive",
                                 position(c, dim), c->stride[dim], ask_kind(c, c->stride), describe_dim(c, dim).text);
    return NC_NOERR;
}

int64_t pnc_select_records_get_most(const pnc_array *array)
{
    int64_t row = array->elem_size;

    if (array->most != NULL)
        return array->most[0];
    for (int dim = 1; dim < array->ndims; dim++)
        if (pnc_size_multiply(row, array->shape[dim], &row) != 0)
            return 0;
    if (row > INT64_MAX - array->begin)
        return 0;
    return array->recsize > 0 ? (INT64_MAX - array->begin - row) / array->recsize + 1 : INT64_MAX;
}

/* A dimension that a put may extend has no length to check against; offsets must stay below 2^63. */
static int check_growth_of(const check *c, int dim, int64_t limit)
{
    int64_t stride = c->stride != NULL ? c->stride[dim] : 1;

    if (c->start[dim] >= limit)
        return pnc_error_set(
            c->error, NC_EINVALCOORDS, "start[%d] = %" PRId64 "%s, but a file can hold at most %" PRId64 " records: %s",
            position(c, dim), index_of(c, c->start[dim]), ask_kind(c, c->start), limit, describe_dim(c, dim).text);
    if (c->count != NULL && c->count[dim] - 1 > (limit - 1 - c->start[dim]) / stride)
        return pnc_error_set(c->error, NC_EEDGE,
                             "count[%d] = %" PRId64 "%s from start[%d] = %" PRId64
                             "%s, but a file can hold at most %" PRId64 " records: %s",
                             position(c, dim), c->count[dim], ask_kind(c, c->count), position(c, dim),
                             index_of(c, c->start[dim]), ask_kind(c, c->start), limit, describe_dim(c, dim).text);
    return NC_NOERR;
}

static int64_t find_growth_limit(const check *c, int dim)
{
    if (c->array->most != NULL)
        return c->array->most[dim];
    return c->how.unlimited != NULL ? INT64_MAX : pnc_select_records_get_most(c->array);
}

static int check_growth(const check *c)
{
    int ndims = c->how.unlimited != NULL ? c->array->ndims : 1;

    for (int dim = 0; dim < ndims; dim++)
        if (is_open(c, dim) && (c->count == NULL || c->count[dim] != 0))
            PNC_TRY(check_growth_of(c, dim, find_growth_limit(c, dim)));
    return NC_NOERR;
}

int pnc_select_hyperslab_check(const pnc_array *array, const int64_t *start, const int64_t *count,
                               const int64_t *stride, pnc_bounds how, pnc_error *error)
{
    const check c = {array, start, count, stride, how, error};
    if (array->ndims == 0)
        return NC_NOERR;
    PNC_TRY(check_starts(&c));
    PNC_TRY(check_counts(&c));
    PNC_TRY(check_strides(&c));
    return check_growth(&c);
}
