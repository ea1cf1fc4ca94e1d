/* Hyperslabs, and extents of those that are contiguous. */
#include "mapping/elements.h"

#include <assert.h>

/* Of a variable, a record or a request with extents. Larger ones are left to the checks of hyperslabs, which find
 * overflows. */
#define MOST_BYTES (INT64_MAX / 16)

_Static_assert(sizeof(pnc_elements) <= 40, "io/request/request.h says what a request takes");

/* The extent of a hyperslab; false if it is not contiguous, or not valid. count NULL: ones. */
static inline bool make_extent(const pnc_mapping *m, int64_t most_records, const pnc_offset *start,
                               const pnc_offset *count, pnc_extent *out)
{
    const pnc_array *a = &m->array;
    int64_t distance = a->elem_size;
    bool is_whole = true; /* all elements of the inner dimensions */

    *out = (pnc_extent){0, distance};
    for (int i = a->ndims - 1; i >= 0; i--) {
        int64_t n = count != NULL ? count[i] : 1, length = i == 0 && a->is_record ? most_records : a->shape[i];

        if (start[i] < 0 || n <= 0 || start[i] > length - n || (n > 1 && !is_whole))
            return false;
        out->offset += start[i] * distance;
        out->length *= n;
        is_whole = is_whole && n == length;
        distance *= a->shape[i]; /* at most the bytes of a part; the record dimension is the last one here */
    }
    return !a->is_record || count == NULL || count[0] == 1;
}

/* Extents under construction. */
typedef struct extent_list {
    int64_t n, capacity, bytes;
    pnc_extent *last, beyond; /* beyond: the last one, if there is no memory for it */
} extent_list;

/* Adjacent extents become one, unless they are of two parts. */
static void add_slab_extent(const pnc_mapping *m, pnc_elements *e, pnc_extent extent, extent_list *list)
{
    list->bytes += extent.length;
    if (list->n > 0) {
        e->ascends = e->ascends && extent.offset >= list->last->offset + list->last->length;
        if (list->last->offset + list->last->length == extent.offset &&
            (!m->array.is_record || extent.offset % m->part != 0)) {
            list->last->length += extent.length;
            return;
        }
    }
    list->last = list->n < list->capacity ? &e->extents[list->n] : &list->beyond;
    *list->last = extent;
    list->n++;
}

bool pnc_mapping_extents_make(const pnc_mapping *m, const pnc_slab_arguments *given, int64_t most_records,
                              int64_t capacity, pnc_elements *e, int64_t *records)
{
    extent_list list = {.capacity = capacity};
    const pnc_offset *start = given->start, *count = given->count;
    pnc_extent extent;

    *records = 0;
    if (m->part > MOST_BYTES || m->array.recsize > MOST_BYTES)
        return false;
    most_records = most_records < MOST_BYTES / (m->array.recsize + m->part + 1)
                       ? most_records
                       : MOST_BYTES / (m->array.recsize + m->part + 1);
    e->ascends = true;
    for (int64_t i = 0; i < given->n; i++) {
        if (given->is_list) {
            start = given->starts != NULL ? given->starts[i] : NULL;
            count = given->counts != NULL ? given->counts[i] : NULL;
        }
        if ((start == NULL && m->array.ndims > 0) || !make_extent(m, most_records, start, count, &extent) ||
            extent.length > MOST_BYTES / 8 * m->array.elem_size - list.bytes) {
            e->ascends = false;
            return false;
        }
        add_slab_extent(m, e, extent, &list);
        if (m->array.is_record && start[0] >= *records)
            *records = start[0] + 1;
    }
    e->form = PNC_EXTENTS;
    e->count = list.bytes / m->array.elem_size;
    e->in_arrays = list.n > list.capacity;
    e->n = e->in_arrays ? given->n : list.n;
    return true;
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
