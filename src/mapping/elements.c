/* Hyperslabs, and extents of those that are contiguous. */
#include "mapping/elements.h"

#include "base/minmax.h"

#include <assert.h>

/* Of a variable, a record or a request with extents. Larger ones are left to the checks of hyperslabs, which find
 * overflows. */
#define MOST_BYTES (INT64_MAX / 16)

_Static_assert(sizeof(pnc_elements) <= 40, "io/request/request.h says what a request takes");

/* The extent of a hyperslab, in elements; false if it is not contiguous, or not valid. count NULL: ones. */
static inline bool make_extent(const pnc_array *a, int64_t most_records, const pnc_offset *start,
                               const pnc_offset *count, pnc_extent *out)
{
    int64_t offset = 0, length = 1, whole = 1; /* whole: elements of the inner dimensions */

    if (start == NULL && a->ndims > 0)
        return false;
    for (int i = a->ndims - 1; i >= (a->is_record ? 1 : 0); i--) {
        int64_t n = count != NULL ? count[i] : 1;

        if (start[i] < 0 || n <= 0 || start[i] > a->shape[i] - n || (n > 1 && length != whole))
            return false;
        offset += start[i] * whole;
        length *= n;
        whole *= a->shape[i];
    }
    if (a->is_record) {
        if (start[0] < 0 || start[0] >= most_records || (count != NULL && count[0] != 1))
            return false;
        offset += start[0] * whole;
    }
    *out = (pnc_extent){offset, length};
    return length <= MOST_BYTES / 8;
}

/* Extents under construction. */
typedef struct extent_list {
    int64_t n, capacity, elements;
    int64_t end; /* of the last one */
    bool ascends;
    pnc_extent *last, beyond; /* beyond: the last one, if there is no memory for it */
} extent_list;

/* Adjacent extents become one, unless they are of two parts. */
static inline void add_slab_extent(const pnc_mapping *m, pnc_elements *e, pnc_extent extent, extent_list *list)
{
    bool is_adjacent = list->n > 0 && extent.offset == list->end;

    if (extent.offset < list->end)
        list->ascends = false;
    list->end = extent.offset + extent.length;
    if (is_adjacent && (!m->array.is_record || extent.offset % m->part != 0)) {
        list->last->length += extent.length;
        return;
    }
    list->last = list->n < list->capacity ? &e->extents[list->n] : &list->beyond;
    *list->last = extent;
    list->n++;
}

static bool make_extent_list(const pnc_mapping *m, const pnc_slab_arguments *given, int64_t most_records,
                             int64_t capacity, pnc_elements *e, int64_t *records)
{
    extent_list list = {.capacity = capacity, .ascends = true};
    int64_t size = m->array.elem_size;

    for (int64_t i = 0; i < given->n; i++) {
        const pnc_offset *start = given->starts != NULL ? given->starts[i] : NULL;
        const pnc_offset *count = given->counts != NULL ? given->counts[i] : NULL;
        pnc_extent extent;

        if (!make_extent(&m->array, most_records, start, count, &extent) ||
            extent.length > MOST_BYTES / 8 - list.elements)
            return false;
        list.elements += extent.length;
        add_slab_extent(m, e, (pnc_extent){extent.offset * size, extent.length * size}, &list);
        if (m->array.is_record && start[0] >= *records)
            *records = start[0] + 1;
    }
    e->form = PNC_EXTENTS;
    e->ascends = list.ascends;
    e->count = list.elements;
    e->in_arrays = list.n > list.capacity;
    e->n = e->in_arrays ? given->n : list.n;
    return true;
}

/* Of a call with one hyperslab, the usual case. */
static bool make_only_extent(const pnc_mapping *m, const pnc_slab_arguments *given, int64_t most_records,
                             pnc_elements *e, int64_t *records)
{
    int64_t size = m->array.elem_size;
    pnc_extent extent;

    if (!make_extent(&m->array, most_records, given->start, given->count, &extent))
        return false;
    e->form = PNC_EXTENTS;
    e->ascends = true;
    e->count = extent.length;
    *e->extents = (pnc_extent){extent.offset * size, extent.length * size};
    *records = m->array.is_record ? given->start[0] + 1 : 0;
    return true;
}

/* Within which no address overflows. */
static int64_t limit_records(const pnc_mapping *m, int64_t most_records)
{
    int64_t step = m->array.recsize + m->part + 1, bytes;

    if (m->array.most != NULL)
        most_records = pnc_min64(most_records, m->array.most[0]);
    if (!__builtin_mul_overflow(most_records, step, &bytes) && bytes <= MOST_BYTES)
        return most_records;
    return MOST_BYTES / step;
}

bool pnc_mapping_extents_make(const pnc_mapping *m, const pnc_slab_arguments *given, int64_t most_records,
                              int64_t capacity, pnc_elements *e, int64_t *records)
{
    *records = 0;
    if (m->part > MOST_BYTES || m->array.recsize > MOST_BYTES)
        return false;
    if (m->array.is_record)
        most_records = limit_records(m, most_records);
    return given->is_list ? make_extent_list(m, given, most_records, capacity, e, records)
                          : make_only_extent(m, given, most_records, e, records);
}

bool pnc_mapping_extent_make_whole(const pnc_mapping *m, pnc_elements *e)
{
    if (m->array.is_record || m->part > MOST_BYTES)
        return false;
    e->form = PNC_EXTENTS;
    e->extents[0] = (pnc_extent){0, m->part};
    e->ascends = true;
    e->count = m->part / m->array.elem_size;
    return true;
}

pnc_extent pnc_mapping_extent_compute(const pnc_mapping *m, const pnc_elements *e, int64_t i)
{
    const pnc_slab_arguments *given = &e->arrays->given;
    const pnc_offset *start = given->starts[i], *count = given->counts != NULL ? given->counts[i] : NULL;
    int64_t distance = m->array.elem_size;
    pnc_extent extent = {0, distance};

    for (int k = m->array.ndims - 1; k >= 0; k--) {
        extent.offset += start[k] * distance;
        extent.length *= count != NULL ? count[k] : 1;
        distance *= m->array.shape[k];
    }
    return extent;
}

/* --- hyperslabs --- */

static void copy_numbers(int64_t *to, const pnc_offset *from, int64_t otherwise, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = from == NULL ? otherwise : from[i];
}

static pnc_slab get_slab_place(const pnc_elements *e, int ndims, int64_t i)
{
    int64_t *start = e->in_arrays ? e->arrays->numbers : e->numbers + i * pnc_mapping_slab_count_numbers(e, ndims);

    return (pnc_slab){start, start + ndims, e->strided ? start + 2 * ndims : NULL};
}

pnc_slab pnc_mapping_slab_take(const pnc_elements *e, const pnc_slab_arguments *given, int ndims, int64_t i)
{
    pnc_slab s = get_slab_place(e, ndims, i);
    const pnc_offset *start = given->start, *count = given->count;

    if (given->is_list) {
        start = given->starts != NULL ? given->starts[i] : NULL;
        count = given->counts != NULL ? given->counts[i] : NULL;
    }
    copy_numbers(s.start, start, 0, ndims);
    copy_numbers(s.count, count, 1, ndims);
    if (e->strided)
        copy_numbers(s.stride, given->stride, 1, ndims);
    return s;
}

pnc_slab pnc_mapping_slab_get(const pnc_elements *e, int ndims, int64_t i)
{
    return e->in_arrays ? pnc_mapping_slab_take(e, &e->arrays->given, ndims, i) : get_slab_place(e, ndims, i);
}

int pnc_mapping_selection_get(const pnc_mapping *m, const pnc_elements *e, int64_t i, pnc_selection *own,
                              const pnc_selection **out)
{
    pnc_slab s;

    assert(e->form == PNC_SLABS && i < e->n);
    *out = e->is_ready ? e->selection : own;
    if (e->is_ready)
        return NC_NOERR;
    s = pnc_mapping_slab_get(e, m->array.ndims, i);
    return pnc_select_selection_init(own, &m->array, s.start, s.count, s.stride);
}

/* --- spans --- */

static pnc_span find_slab_span(const pnc_array *a, const pnc_slab *s)
{
    int64_t distance = a->elem_size;
    pnc_span span = {a->begin, a->begin, distance};

    for (int i = a->ndims - 1; i >= 0; i--) {
        int64_t step = i == 0 && a->is_record ? a->recsize : distance, stride = s->stride != NULL ? s->stride[i] : 1;

        if (s->count[i] <= 0)
            return (pnc_span){0, 0, 0};
        span.first += s->start[i] * step;
        span.end += (s->start[i] + (s->count[i] - 1) * stride) * step;
        span.bytes *= s->count[i];
        distance *= a->shape[i];
    }
    span.end += a->elem_size;
    return span;
}

pnc_span pnc_mapping_span_get(const pnc_mapping *m, pnc_locator *locator, const pnc_elements *e, int64_t i)
{
    pnc_extent extent;
    pnc_slab slab;

    if (e->form == PNC_SLABS) {
        slab = pnc_mapping_slab_get(e, m->array.ndims, i);
        return find_slab_span(&m->array, &slab);
    }
    extent = pnc_mapping_extent_get(m, e, i);
    extent.offset = pnc_mapping_offset_locate(locator, extent.offset);
    return (pnc_span){extent.offset, extent.offset + extent.length, extent.length};
}
