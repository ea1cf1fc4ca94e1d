/* Merges the sources of a list of requests. */
#include "io/order/file_order.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "io/order/stream.h"

static int fail_no_order(pnc_file_order *o, int64_t bytes)
{
    return pnc_error_set(o->io->file->error, NC_ENOMEM, "%s: no memory for %lld bytes to order the requests",
                         o->io->file->path, (long long)bytes);
}

/* --- sources in the order of the file --- */

static void find_next_single(pnc_file_order *o)
{
    pnc_single next;

    o->has_next = o->at < o->singles.n;
    if (!o->has_next)
        return;
    next = pnc_io_singles_get(&o->singles, o->io, &o->target, o->at++);
    o->next = (pnc_source){.first = next.first, .end = next.first + next.length, .slab_end = 1};
    o->single = o->singles.list[next.index];
}

static int find_next_source(pnc_file_order *o)
{
    if (o->singles.n > 0) {
        find_next_single(o);
        return NC_NOERR;
    }
    if (o->sorter == NULL)
        return pnc_io_source_find_next(&o->finder, &o->next, &o->has_next);
    while (o->stretch != NULL && o->at == o->stretch->n) {
        PNC_TRY(pnc_io_source_stretch_move(o->sorter, &o->stretch));
        o->at = 0;
    }
    o->has_next = o->stretch != NULL;
    if (o->has_next) {
        if (o->at + 2 * PNC_REQUESTS_AHEAD < o->stretch->n)
            pnc_memory_prefetch(pnc_io_source_stretch_get(o->stretch, o->at + 2 * PNC_REQUESTS_AHEAD),
                                (int64_t)sizeof(pnc_source));
        if (o->at + PNC_REQUESTS_AHEAD < o->stretch->n)
            pnc_memory_prefetch(o->list->at[pnc_io_source_stretch_get(o->stretch, o->at + PNC_REQUESTS_AHEAD)->request],
                                (int64_t)sizeof(pnc_request));
        o->next = *pnc_io_source_stretch_get(o->stretch, o->at++);
    }
    return NC_NOERR;
}

/* --- the heap of active streams --- */

static bool is_newer(const pnc_stream *a, const pnc_stream *b)
{
    return a->source.request != b->source.request ? a->source.request > b->source.request
                                                  : a->source.slab > b->source.slab;
}

/* Of streams at the same offset the newer one comes first: of puts, its bytes are written. */
static bool is_stream_before(pnc_stream *a, pnc_stream *b)
{
    int64_t x = pnc_io_stream_peek(a)->offset, y = pnc_io_stream_peek(b)->offset;

    return x != y ? x < y : is_newer(a, b);
}

static void swap_streams(pnc_file_order *o, int64_t i, int64_t k)
{
    pnc_stream *stream = o->heap[i];

    o->heap[i] = o->heap[k];
    o->heap[k] = stream;
}

static void sift_stream_down(pnc_file_order *o, int64_t i)
{
    for (int64_t child; 2 * i + 1 < o->nactive; i = child) {
        child = 2 * i + 1;
        if (child + 1 < o->nactive && is_stream_before(o->heap[child + 1], o->heap[child]))
            child++;
        if (!is_stream_before(o->heap[child], o->heap[i]))
            return;
        swap_streams(o, i, child);
    }
}

static void release_stream(pnc_file_order *o, pnc_stream *stream)
{
    pnc_io_stream_close(stream, o);
    if (o->spare == NULL)
        o->spare = stream;
    else
        pnc_memory_free(stream);
}

/* Restore the heap after stream i has advanced. */
static void restore_heap(pnc_file_order *o, int64_t i)
{
    if (!pnc_io_stream_is_at_end(o->heap[i])) {
        sift_stream_down(o, i);
        return;
    }
    release_stream(o, o->heap[i]);
    o->heap[i] = o->heap[--o->nactive];
    if (i < o->nactive)
        sift_stream_down(o, i);
}

static int reserve_heap(pnc_file_order *o)
{
    if (pnc_memory_grow(&o->heap, &o->capacity, o->nactive + 1, sizeof(pnc_stream *)))
        return NC_NOERR;
    return fail_no_order(o, (o->nactive + 1) * (int64_t)sizeof(pnc_stream *));
}

/* The next source becomes active. */
static int activate_source(pnc_file_order *o)
{
    pnc_stream *stream = o->spare != NULL ? o->spare : pnc_memory_alloc(1, sizeof *stream);
    int64_t i;
    int err;

    o->spare = NULL;
    if (stream == NULL)
        return fail_no_order(o, (int64_t)sizeof *stream);
    err = pnc_io_stream_open(stream, o, &o->next, o->singles.n > 0 ? o->single : o->list->at[o->next.request]);
    if (err == NC_NOERR)
        err = reserve_heap(o);
    if (err != NC_NOERR) {
        release_stream(o, stream);
        return err;
    }
    assert(!pnc_io_stream_is_at_end(stream));
    i = o->nactive++;
    o->heap[i] = stream;
    for (int64_t parent; i > 0; i = parent) {
        parent = (i - 1) / 2;
        if (!is_stream_before(o->heap[i], o->heap[parent]))
            break;
        swap_streams(o, i, parent);
    }
    return find_next_source(o);
}

/* --- overlapping puts --- */

/* Advance stream i by bytes that a newer put overwrites. Their values are still converted: NC_ERANGE is reported. */
static int skip_overwritten(pnc_file_order *o, int64_t i, int64_t length)
{
    pnc_stream *stream = o->heap[i];
    char block[4096];
    int err = NC_NOERR;

    for (int64_t left = length, n; left > 0 && err == NC_NOERR; left -= n) {
        n = left < (int64_t)sizeof block ? left : (int64_t)sizeof block;
        err = pnc_io_stream_convert_values(stream, o, PNC_VALUES_PACK, block, n);
    }
    PNC_TRY(err);
    PNC_TRY(pnc_io_stream_move(stream, o, length));
    restore_heap(o, i);
    return NC_NOERR;
}

/* Ensure that the front stream has the next piece, and set *bound to the offset up to which no other stream has
 * bytes to write. Older puts lose the bytes that overlap the next extent of a newer one. */
static int prepare_front(pnc_file_order *o, int64_t *bound)
{
    for (;;) {
        pnc_extent *front = o->nactive > 0 ? pnc_io_stream_peek(o->heap[0]) : NULL;
        int64_t second, overlap;

        if (o->has_next && (front == NULL || o->next.first < front->offset + front->length)) {
            PNC_TRY(activate_source(o));
            continue;
        }
        *bound = o->has_next ? o->next.first : PNC_END_OF_ORDER;
        if (o->nactive < 2)
            return NC_NOERR;
        second = o->nactive > 2 && is_stream_before(o->heap[2], o->heap[1]) ? 2 : 1;
        *bound = pnc_min64(*bound, pnc_io_stream_peek(o->heap[second])->offset);
        overlap = front->offset + front->length - pnc_io_stream_peek(o->heap[second])->offset;
        if (o->list->direction == PNC_GET || overlap <= 0 || is_newer(o->heap[second], o->heap[0]))
            return NC_NOERR;
        PNC_TRY(skip_overwritten(o, second, pnc_min64(overlap, pnc_io_stream_peek(o->heap[second])->length)));
    }
}

/* --- sources that need no stream --- */

/* Whether the next source is one extent, with contiguous values, that no other source touches. */
static bool is_single(const pnc_file_order *o)
{
    const pnc_request *r;
    int64_t next = INT64_MAX; /* where the source behind it begins, of sorted ones */

    if (o->nactive > 0 && o->next.end > pnc_io_stream_peek(o->heap[0])->offset)
        return false;
    r = o->list->at[o->next.request];
    if (o->sorter != NULL)
        next = o->at < o->stretch->n ? pnc_io_source_stretch_get_first(o->stretch, o->at) : o->stretch->high;
    return r->elements.form == PNC_EXTENTS && o->next.slab_end - o->next.slab == 1 && r->flat == NULL &&
           o->next.end <= next;
}

/* The n bytes of values from `position` on. */
static int convert_extent(pnc_file_order *o, pnc_request *r, int64_t position, pnc_value_action action, char *bytes,
                          int64_t n)
{
    const pnc_elements *e = &r->elements;
    int64_t elements = e->n == 1 ? e->count : n / e->elem_size;
    char *memory = r->memory;

    if (action == PNC_VALUES_KEEP)
        return NC_NOERR;
    if (r->external && !pnc_io_request_is_quantized(o->io, r)) {
        memcpy(bytes, r->memory + position, (size_t)n);
        return NC_NOERR;
    }
    if (o->last == NULL || o->last->elements.varid != e->varid || o->last->mem != r->mem ||
        o->last->external != r->external) {
        pnc_convert_packer_free(&o->packer);
        PNC_TRY(pnc_io_request_init_packer(o->io, r, &o->packer));
    }
    if (position > 0) /* a division for each request would take as long as its copy */
        memory += position / e->elem_size * o->packer.mem_size;
    pnc_convert_packer_set_memory(&o->packer, memory);
    if (position > 0 && pnc_io_request_is_quantized(o->io, r))
        o->packer.packed = position / e->elem_size;
    o->last = r;
    if (action == PNC_VALUES_PACK)
        pnc_convert_packer_pack(&o->packer, bytes, elements);
    else
        pnc_convert_packer_unpack(&o->packer, bytes, elements);
    pnc_io_request_set_status(o->io, r, o->packer.status);
    return NC_NOERR;
}

/* All requests are as the first one, except for their memory. */
static int convert_alike(pnc_file_order *o, const pnc_single *single, pnc_value_action action, char *bytes)
{
    const pnc_request *like = o->singles.list[0];

    if (like->external && !pnc_io_request_is_quantized(o->io, like)) {
        memcpy(bytes, single->memory, (size_t)single->length);
        return NC_NOERR;
    }
    if (o->last == NULL)
        PNC_TRY(pnc_io_request_init_packer(o->io, like, &o->packer));
    o->last = like;
    pnc_convert_packer_set_memory(&o->packer, single->memory);
    if (action == PNC_VALUES_PACK)
        pnc_convert_packer_pack(&o->packer, bytes, single->length / like->elements.elem_size);
    else
        pnc_convert_packer_unpack(&o->packer, bytes, single->length / like->elements.elem_size);
    if (o->packer.status != NC_NOERR) /* only then read the list: its elements are needed in random order */
        pnc_io_request_set_status(o->io, o->singles.list[single->index], o->packer.status);
    return NC_NOERR;
}

static void add_piece(pnc_portion *p, int64_t offset, int64_t length)
{
    pnc_extent *last = p->nextents > 0 ? &p->extents[p->nextents - 1] : NULL;

    if (last != NULL && last->offset + last->length == offset)
        last->length += length;
    else
        p->extents[p->nextents++] = (pnc_extent){offset, length};
}

/* Take the single requests that end below `limit` and fit. */
static int take_singles(pnc_file_order *o, int64_t limit, pnc_value_action action, pnc_portion *p)
{
    const pnc_singles *s = &o->singles;
    int64_t i = o->at - 1; /* the next one */

    for (; i < s->n && p->nextents < p->max_extents; i++) {
        pnc_single single = pnc_io_singles_get(s, o->io, &o->target, i);

        if (single.first + single.length > limit || single.length > p->max_bytes - p->nbytes)
            break;
        if (action != PNC_VALUES_KEEP) {
            char *bytes = p->bytes + p->nbytes;

            pnc_io_single_load(s, i + PNC_REQUESTS_AHEAD);
            if (s->are_alike)
                PNC_TRY(convert_alike(o, &single, action, bytes));
            else
                PNC_TRY(convert_extent(o, s->list[single.index], 0, action, bytes, single.length));
        }
        add_piece(p, single.first, single.length);
        p->nbytes += single.length;
    }
    o->at = i;
    find_next_single(o);
    return NC_NOERR;
}

/* --- interface --- */

/* Sources are sorted unless each one begins after the end of the one before it. */
int pnc_io_file_order_init(pnc_file_order *o, pnc_io_context *io, const pnc_request_list *list)
{
    pnc_source_totals totals;

    *o = (pnc_file_order){.io = io, .list = list, .target = {.varid = -1}};
    pnc_io_source_finder_init(&o->finder, io, list);
    PNC_TRY(pnc_io_singles_init(&o->singles, io, list));
    if (o->singles.n > 0) {
        o->low = o->singles.low;
        o->high = o->singles.high;
        return find_next_source(o);
    }
    PNC_TRY(pnc_io_sources_count(&o->finder, &totals));
    o->low = totals.low;
    o->high = totals.high;
    o->next = totals.first;
    o->has_next = totals.n > 0;
    if (totals.ascend)
        return NC_NOERR;
    PNC_TRY(pnc_io_source_sorter_create(io, list, &totals, &o->sorter, &o->stretch));
    return find_next_source(o);
}

int pnc_io_file_order_init_copy(pnc_file_order *o, const pnc_file_order *from)
{
    assert(from->nactive == 0 && from->at <= 1);
    *o = *from;
    o->is_copy = true;
    o->heap = NULL;
    o->capacity = 0;
    o->spare = NULL;
    o->packer = (pnc_packer){0};
    o->last = NULL;
    if (o->stretch != NULL)
        o->stretch->users++;
    return NC_NOERR;
}

void pnc_io_file_order_free(pnc_file_order *o)
{
    for (int64_t i = 0; i < o->nactive; i++)
        release_stream(o, o->heap[i]);
    pnc_memory_free(o->spare);
    pnc_memory_free(o->heap);
    pnc_io_source_stretch_release(o->stretch);
    if (!o->is_copy) {
        pnc_io_source_sorter_free(o->sorter);
        pnc_io_singles_free(&o->singles, o->io);
    }
    pnc_convert_packer_free(&o->packer);
    o->nactive = 0;
    o->spare = NULL;
    o->heap = NULL;
    o->stretch = NULL;
    o->sorter = NULL;
    o->singles = (pnc_singles){0};
    o->has_next = false;
}

int64_t pnc_io_file_order_get_next(const pnc_file_order *o)
{
    int64_t next = o->has_next ? o->next.first : PNC_END_OF_ORDER;

    return o->nactive > 0 ? pnc_min64(next, pnc_io_stream_peek(o->heap[0])->offset) : next;
}

/* Take pieces of the front stream below `bound`, at least one, and below `limit`. */
static int take_front(pnc_file_order *o, int64_t bound, int64_t limit, pnc_value_action action, pnc_portion *p)
{
    pnc_stream *stream = o->heap[0];
    int64_t bytes = 0, space = p->max_bytes - p->nbytes;
    int err = NC_NOERR;
    bool first = true;

    while (err == NC_NOERR && !pnc_io_stream_is_at_end(stream) && p->nextents < p->max_extents && bytes < space) {
        pnc_extent extent = *pnc_io_stream_peek(stream);
        int64_t length = pnc_min64(extent.length, space - bytes);

        if (extent.offset >= limit || (extent.offset >= bound && !first))
            break;
        length = pnc_min64(length, limit - extent.offset);
        if (o->list->direction == PNC_PUT)
            length = pnc_min64(length, bound - extent.offset);
        assert(length > 0);
        add_piece(p, extent.offset, length);
        bytes += length;
        first = false;
        err = pnc_io_stream_move(stream, o, length);
    }
    if (err == NC_NOERR)
        err = pnc_io_stream_convert_values(stream, o, action, p->bytes + p->nbytes, bytes);
    p->nbytes += bytes;
    restore_heap(o, 0);
    return err;
}

static int take_order(pnc_file_order *o, int64_t limit, pnc_value_action action, pnc_portion *p)
{
    while (p->nextents < p->max_extents && p->nbytes < p->max_bytes) {
        int64_t bound, length = o->next.end - o->next.first;
        bool is_whole = o->has_next && o->next.end <= limit && length <= p->max_bytes - p->nbytes;

        if (pnc_io_file_order_get_next(o) >= limit)
            return NC_NOERR;
        if (is_whole && o->singles.n > 0 && o->nactive == 0) {
            PNC_TRY(take_singles(o, limit, action, p));
        } else if (is_whole && o->singles.n == 0 && is_single(o)) {
            PNC_TRY(convert_extent(o, o->list->at[o->next.request], o->next.position, action, p->bytes + p->nbytes,
                                   length));
            add_piece(p, o->next.first, length);
            p->nbytes += length;
            PNC_TRY(find_next_source(o));
        } else {
            PNC_TRY(prepare_front(o, &bound));
            if (o->nactive == 0 || pnc_io_stream_peek(o->heap[0])->offset >= limit)
                return NC_NOERR;
            PNC_TRY(take_front(o, bound, limit, action, p));
        }
    }
    return NC_NOERR;
}

int pnc_io_file_order_take(pnc_file_order *o, int64_t limit, pnc_value_action action, pnc_portion *p)
{
    pnc_statistics *statistics = o->io->file->statistics;
    pnc_counter before = pnc_statistics_begin(statistics, PNC_COUNT_TIME_CONVERT);
    int err;

    p->nextents = p->nbytes = 0;
    err = take_order(o, limit, action, p);
    if (action != PNC_VALUES_KEEP)
        pnc_statistics_add(statistics, PNC_COUNT_CONVERTED_BYTES, p->nbytes);
    pnc_statistics_end(statistics, before);
    return err;
}
