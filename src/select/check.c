/* Checks the bounds of a hyperslab in the documented order of precedence: first all starts, then counts and edges,
 * then strides. No sum or product here can overflow. */
#include "select/selection.h"

#include <inttypes.h>

#include "base/memory.h"

typedef struct check {
    const pnc_array *array;
    const int64_t *start, *count, *stride;
    pnc_bounds how;
    pnc_error *error;
} check;

static bool check_is_open(const check *c, int dim)
{
    return dim == 0 && c->array->is_record && c->how.growing;
}

/* A record dimension is reported by its number of records, any other dimension by its length. */
static int check_start_fail(const check *c, int dim)
{
    const char *name = c->array->name;
    int64_t start = c->start[dim], length = c->array->shape[dim];
    if (start < 0)
        return pnc_error_set(c->error, NC_EINVALCOORDS, "start[%d] = %" PRId64 " is negative: variable \"%s\"", dim,
                             start, name);
    if (dim == 0 && c->array->is_record) {
        if (length == 0)
            return pnc_error_set(c->error, NC_EINVALCOORDS,
                                 "start[0] = %" PRId64
                                 " is out of bounds: variable \"%s\" "
                                 "has no records yet",
                                 start, name);
        return pnc_error_set(c->error, NC_EINVALCOORDS,
                             "start[0] = %" PRId64 " is out of bounds: variable \"%s\" has %" PRId64
                             " records (valid: 0..%" PRId64 ")",
                             start, name, length, length - 1);
    }
    if (length == 0)
        return pnc_error_set(c->error, NC_EINVALCOORDS,
                             "start[%d] = %" PRId64
                             " is out of bounds: variable \"%s\" has "
                             "length 0 along dimension %d",
                             dim, start, name, dim);
    return pnc_error_set(c->error, NC_EINVALCOORDS,
                         "start[%d] = %" PRId64
                         " is out of bounds: variable \"%s\" has "
                         "length %" PRId64 " along dimension %d (valid: 0..%" PRId64 ")",
                         dim, start, name, length, dim, length - 1);
}

static int check_starts(const check *c)
{
    if (!c->start)
        return pnc_error_set(c->error, NC_EINVALCOORDS,
                             "start is NULL: variable \"%s\" has %d dimensions and needs a "
                             "start index for each",
                             c->array->name, c->array->ndims);
    for (int dim = 0; dim < c->array->ndims; dim++) {
        int64_t start = c->start[dim], length = c->array->shape[dim];
        bool nothing = c->how.relax && c->count && c->count[dim] == 0;
        if (start < 0)
            return check_start_fail(c, dim);
        if (check_is_open(c, dim) || start < length || (start == length && nothing))
            continue;
        return check_start_fail(c, dim);
    }
    return NC_NOERR;
}

static int check_edge_fail(const check *c, int dim, int64_t stride)
{
    const char *what = dim == 0 && c->array->is_record ? "records" : "elements";
    int64_t length = c->array->shape[dim], start = c->start[dim], count = c->count[dim];
    int64_t space = start < length ? (length - 1 - start) / stride + 1 : 0;
    if (stride == 1)
        return pnc_error_set(c->error, NC_EEDGE,
                             "count[%d] = %" PRId64 " is too large: variable \"%s\" has %" PRId64
                             " %s along dimension %d, so that from start[%d] = %" PRId64 " at most %" PRId64
                             " are left",
                             dim, count, c->array->name, length, what, dim, dim, start, space);
    return pnc_error_set(c->error, NC_EEDGE,
                         "count[%d] = %" PRId64 " is too large: variable \"%s\" has %" PRId64
                         " %s along dimension %d, so that from start[%d] = %" PRId64 " with stride %" PRId64
                         " at most %" PRId64 " are left",
                         dim, count, c->array->name, length, what, dim, dim, start, stride, space);
}

static int check_counts(const check *c)
{
    if (!c->count) {
        if (c->how.single)
            return NC_NOERR;
        return pnc_error_set(c->error, NC_EEDGE,
                             "count is NULL: variable \"%s\" has %d dimensions and needs a count "
                             "for each",
                             c->array->name, c->array->ndims);
    }
    for (int dim = 0; dim < c->array->ndims; dim++) {
        int64_t count = c->count[dim], stride = c->stride && c->stride[dim] > 0 ? c->stride[dim] : 1;
        if (count < 0)
            return pnc_error_set(c->error, NC_ENEGATIVECNT, "count[%d] = %" PRId64 " is negative: variable \"%s\"", dim,
                                 count, c->array->name);
        if (count == 0 || check_is_open(c, dim))
            continue;
        if (count - 1 > (c->array->shape[dim] - 1 - c->start[dim]) / stride)
            return check_edge_fail(c, dim, stride);
    }
    return NC_NOERR;
}

static int check_strides(const check *c)
{
    for (int dim = 0; c->stride && dim < c->array->ndims; dim++)
        if (c->stride[dim] <= 0)
            return pnc_error_set(c->error, NC_ESTRIDE, "stride[%d] = %" PRId64 " is not positive: variable \"%s\"", dim,
                                 c->stride[dim], c->array->name);
    return NC_NOERR;
}

/* Maximum number of records: the last byte of each has a file offset below 2^63. */
static int64_t check_record_limit(const pnc_array *array)
{
    int64_t row = array->elem_size;
    for (int dim = 1; dim < array->ndims; dim++)
        if (pnc_size_multiply(row, array->shape[dim], &row))
            return 0;
    if (row > INT64_MAX - array->begin)
        return 0;
    return array->recsize > 0 ? (INT64_MAX - array->begin - row) / array->recsize + 1 : INT64_MAX;
}

/* A record dimension that a put may extend has no length to check against; its offsets must stay below 2^63. */
static int check_growth(const check *c)
{
    if (c->array->ndims == 0 || !check_is_open(c, 0) || (c->count && c->count[0] == 0))
        return NC_NOERR;
    int64_t limit = check_record_limit(c->array), stride = c->stride ? c->stride[0] : 1;
    if (c->start[0] >= limit)
        return pnc_error_set(c->error, NC_EINVALCOORDS,
                             "start[0] = %" PRId64
                             " is out of bounds: a file can hold at "
                             "most %" PRId64 " records of variable \"%s\"",
                             c->start[0], limit, c->array->name);
    if (c->count && c->count[0] - 1 > (limit - 1 - c->start[0]) / stride)
        return pnc_error_set(c->error, NC_EEDGE,
                             "count[0] = %" PRId64 " is too large: a file can hold at most %" PRId64
                             " records of variable \"%s\"",
                             c->count[0], limit, c->array->name);
    return NC_NOERR;
}

int pnc_select_hyperslab_check(const pnc_array *array, const int64_t *start, const int64_t *count,
                               const int64_t *stride, pnc_bounds how, pnc_error *error)
{
    const check c = {array, start, count, stride, how, error};
    int status;
    if (array->ndims == 0)
        return NC_NOERR;
    if ((status = check_starts(&c)) || (status = check_counts(&c)) || (status = check_strides(&c)))
        return status;
    return check_growth(&c);
}
