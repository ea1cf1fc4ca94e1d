/* Builds a selection from a checked hyperslab. Adjacent dimensions are combined if their bytes allow it. */
#include "select/selection.h"

#include <assert.h>

#include "base/memory.h"

void pnc_select_selection_init_empty(pnc_selection *out)
{
    *out = (pnc_selection){0};
}

void pnc_select_selection_free(pnc_selection *selection)
{
    pnc_memory_free(selection->large);
    selection->large = NULL;
}

static int64_t count_along(const int64_t *count, int dim)
{
    return count != NULL ? count[dim] : 1;
}

static bool selects_nothing(const pnc_array *array, const int64_t *count)
{
    for (int dim = 0; dim < array->ndims; dim++)
        if (count_along(count, dim) <= 0)
            return true;
    return false;
}

/* A selection under construction, from the innermost dimension outwards; axes are innermost first. */
typedef struct builder {
    pnc_selection *out;
    pnc_axis *axis;
} builder;

static void add_axis(builder *b, int64_t count, int64_t step)
{
    pnc_selection *out = b->out;
    pnc_axis *last = out->rank > 0 ? &b->axis[out->rank - 1] : NULL;
    int64_t extent;
    if (last == NULL && step == out->run)
        out->run *= count;
    else if (last != NULL && pnc_size_multiply(last->stride, last->count, &extent) == 0 && step == extent)
        last->count *= count;
    else
        b->axis[out->rank++] = (pnc_axis){count, step};
}

/* Add a dimension whose neighbouring elements are `distance` bytes apart. `last` is the end of the last element so
 * far, relative to the first one: it bounds the run of add_axis. */
static int add_dimension(builder *b, int64_t start, int64_t count, int64_t stride, int64_t distance, int64_t *last)
{
    int64_t shift, step, span;
    if (pnc_size_multiply(start, distance, &shift) != 0 || pnc_size_add(b->out->base, shift, &b->out->base) != 0)
        return NC_EINVALCOORDS;
    if (count == 1)
        return NC_NOERR;
    if (pnc_size_multiply(stride, distance, &step) != 0 || pnc_size_multiply(count - 1, step, &span) != 0 ||
        pnc_size_add(*last, span, last) != 0)
        return NC_EINVALCOORDS;
    add_axis(b, count, step);
    return NC_NOERR;
}

static int add_dimensions(builder *b, const pnc_array *array, const int64_t *start, const int64_t *count,
                          const int64_t *stride)
{
    int64_t distance = array->elem_size, last = array->elem_size;
    for (int dim = array->ndims - 1; dim >= 0; dim--) {
        bool records = dim == 0 && array->is_record;
        int status = add_dimension(b, start != NULL ? start[dim] : 0, count_along(count, dim),
                                   stride != NULL ? stride[dim] : 1, records ? array->recsize : distance, &last);
        if (status != NC_NOERR)
            return status;
        if (dim > 0 && pnc_size_multiply(distance, array->shape[dim], &distance) != 0)
            return NC_EINVALCOORDS;
    }
    return pnc_size_add(b->out->base, last, &last) != 0 ? NC_EINVALCOORDS : NC_NOERR;
}

static void reverse_axes(pnc_axis *axis, int rank)
{
    for (int low = 0, high = rank - 1; low < high; low++, high--) {
        pnc_axis swap = axis[low];
        axis[low] = axis[high];
        axis[high] = swap;
    }
}

/* After collapsing, even a variable of high rank usually fits into the inline axes. */
static void finish_axes(pnc_selection *out)
{
    if (out->large == NULL || out->rank > PNC_SELECTION_INLINE)
        return;
    for (int i = 0; i < out->rank; i++)
        out->small[i] = out->large[i];
    pnc_memory_free(out->large);
    out->large = NULL;
}

int pnc_select_selection_init(pnc_selection *out, const pnc_array *array, const int64_t *start, const int64_t *count,
                              const int64_t *stride)
{
    assert(array->ndims >= 0 && array->elem_size > 0);
    pnc_select_selection_init_empty(out);
    if (selects_nothing(array, count))
        return NC_NOERR;
    if (array->ndims > PNC_SELECTION_INLINE) {
        out->large = pnc_memory_alloc(array->ndims, sizeof *out->large);
        if (out->large == NULL)
            return NC_ENOMEM;
    }
    out->base = array->begin;
    out->run = array->elem_size;
    builder b = {out, out->large != NULL ? out->large : out->small};
    int status = add_dimensions(&b, array, start, count, stride);
    if (status != NC_NOERR) {
        pnc_select_selection_free(out);
        return status;
    }
    reverse_axes(b.axis, out->rank);
    finish_axes(out);
    out->nruns = 1;
    for (int i = 0; i < out->rank; i++)
        out->nruns *= pnc_select_selection_get_axes(out)[i].count;
    out->bytes = out->nruns * out->run;
    assert(out->rank <= array->ndims && out->nruns > 0 && out->run > 0 && out->run % array->elem_size == 0);
    return NC_NOERR;
}

int64_t pnc_select_hyperslab_count_records(const pnc_array *array, const int64_t *start, const int64_t *count,
                                           const int64_t *stride)
{
    if (array->ndims == 0 || !array->is_record || selects_nothing(array, count))
        return 0;
    return (start != NULL ? start[0] : 0) + (count_along(count, 0) - 1) * (stride != NULL ? stride[0] : 1) + 1;
}
