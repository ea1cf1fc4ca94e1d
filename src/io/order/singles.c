/* Sorts single requests by digits of the offset, the lowest digit first. A long list is first divided by its highest
 * digit. */
#include "io/order/singles.h"

#include <assert.h>

#include "base/bits.h"
#include "io/request/queue.h"

/* Of a digit, at most. With more, the counters of a pass cost more than the requests of a short list, and a pass over a
 * long list writes to more pages than the processor has TLB entries (1,000,000 requests: 19 ns each in 3 passes, 23 in
 * 2). */
#define MOST_BITS 8

/* A longer list is divided by its highest digit, and each part is sorted in the cache. Below, the counters of the parts
 * cost more than the cache misses of a pass over the whole list. A wait for 1,000,000 iputs that are scattered in the
 * file took 76 ns each with 3 passes over the whole list, and 71 with parts. */
#define MOST_WHOLE (1 << 16)

/* What sorting depends on. */
typedef struct findings {
    int64_t longest; /* bytes */
    int64_t varying; /* the bits in which the offsets differ */
} findings;

/* --- lists in order --- */

static pnc_extent locate(const pnc_singles *s, pnc_io_context *io, pnc_target *target, int64_t i)
{
    const pnc_elements *e = &s->list[i]->elements;

    pnc_io_target_load(target, io, e->varid);
    return (pnc_extent){pnc_mapping_offset_locate(&target->locator, e->extents->offset), e->extents->length};
}

/* Whether each one begins after the end of the one before it. */
static bool is_in_order(const pnc_singles *s, pnc_io_context *io)
{
    pnc_target target = {.varid = -1};
    int64_t end = 0;

    for (int64_t i = 0; i < s->n; i++) {
        pnc_extent extent = locate(s, io, &target, i);

        if (extent.offset < end)
            return false;
        end = extent.offset + extent.length;
    }
    return true;
}

static void set_range(pnc_singles *s, pnc_io_context *io)
{
    pnc_target target = {.varid = -1};
    pnc_extent last = locate(s, io, &target, s->n - 1);

    s->low = locate(s, io, &target, 0).offset;
    s->high = last.offset + last.length;
}

/* --- sorting --- */

/* In the arena of the requests: the next call uses it again, unless it exceeds a chunk. Clearing new pages of a list of
 * 100,000 took as long as sorting. */
static pnc_sorted_single *alloc_array(pnc_io_context *io, int64_t n)
{
    return pnc_arena_alloc(&io->queue->arena, n * (int64_t)sizeof(pnc_sorted_single));
}

static void free_array(pnc_io_context *io, pnc_sorted_single *array)
{
    if (array != NULL)
        pnc_arena_free(&io->queue->arena, array);
}

/* How offsets are divided into digits of `width` bits, from bit `shift` on. */
typedef struct digits {
    int64_t low; /* the offset where all bits are 0 */
    int shift, width;
} digits;

static int64_t digit_of(const digits *d, const pnc_sorted_single *single, int number)
{
    return ((single->first - d->low) >> (d->shift + number * d->width)) & ((INT64_C(1) << d->width) - 1);
}

/* One pass. Sets the end of the part of each value of the digit. */
static void sort_by_digit(const digits *d, int number, const pnc_sorted_single *from, pnc_sorted_single *to, int64_t n,
                          int64_t *ends)
{
    int64_t sum = 0;

    for (int64_t i = 0; i < INT64_C(1) << d->width; i++)
        ends[i] = 0;
    for (int64_t i = 0; i < n; i++)
        ends[digit_of(d, &from[i], number)]++;
    for (int64_t i = 0; i < INT64_C(1) << d->width; i++) {
        int64_t count = ends[i];

        ends[i] = sum; /* of the part before this one, until this one is filled */
        sum += count;
    }
    for (int64_t i = 0; i < n; i++)
        to[ends[digit_of(d, &from[i], number)]++] = from[i];
}

/* Sort by the lowest digits. If `count` is odd, the result is in `other`. */
static void sort_by_digits(const digits *d, int count, pnc_sorted_single *at, pnc_sorted_single *other, int64_t n)
{
    int64_t ends[1 << MOST_BITS];

    for (int number = 0; number < count; number++) {
        pnc_sorted_single *from = at;

        sort_by_digit(d, number, from, other, n, ends);
        at = other;
        other = from;
    }
}

/* Divide by the highest digit, then sort each part. The result is where sort_by_digits leaves it. */
static void sort_parts(const digits *d, int count, pnc_sorted_single *at, pnc_sorted_single *other, int64_t n)
{
    int64_t ends[1 << MOST_BITS], begin = 0;

    sort_by_digit(d, count - 1, at, other, n, ends);
    for (int64_t i = 0; i < INT64_C(1) << d->width; i++) {
        sort_by_digits(d, count - 1, other + begin, at + begin, ends[i] - begin);
        begin = ends[i];
    }
}

/* The bits that all offsets have in common are not compared. `other` has the same capacity. */
static void sort(pnc_singles *s, pnc_io_context *io, int64_t varying, pnc_sorted_single *other)
{
    digits d = {.low = s->low};
    int bits, count;

    while (varying != 0 && ((varying >> d.shift) & 1) == 0)
        d.shift++;
    bits = pnc_bits_count((s->high - s->low) >> d.shift);
    count = (bits + MOST_BITS - 1) / MOST_BITS;
    assert(count > 0); /* no extent is empty: high > low, and the shift is at most that of a difference of offsets */
    d.width = (bits + count - 1) / count;
    if (s->n > MOST_WHOLE)
        sort_parts(&d, count, s->at, other, s->n);
    else
        sort_by_digits(&d, count, s->at, other, s->n);
    if (count % 2 == 1) {
        pnc_sorted_single *sorted = other;

        other = s->at;
        s->at = sorted;
    }
    free_array(io, other);
}

/* Of sorted ones. */
static bool are_disjoint(const pnc_singles *s, int64_t longest)
{
    for (int64_t i = 1; i < s->n; i++) {
        int64_t space = s->at[i].first - s->at[i - 1].first;

        if (space < longest && space < s->at[i - 1].length)
            return false;
    }
    return true;
}

static bool is_alike(const pnc_request *a, const pnc_request *b)
{
    return a->elements.varid == b->elements.varid && a->mem == b->mem && a->external == b->external;
}

/* In the order of posting. Sets the range. */
static findings fill(pnc_singles *s, pnc_io_context *io)
{
    pnc_target target = {.varid = -1};
    findings f = {0};

    s->low = s->high = locate(s, io, &target, 0).offset;
    s->are_alike = true;
    for (int64_t i = 0; i < s->n; i++) {
        pnc_extent extent = locate(s, io, &target, i);
        int64_t end = extent.offset + extent.length;

        if (i + PNC_REQUESTS_AHEAD < s->n)
            pnc_io_request_prefetch(s->list[i + PNC_REQUESTS_AHEAD]);
        s->at[i] = (pnc_sorted_single){extent.offset, s->list[i]->memory, (uint32_t)i, (uint32_t)extent.length};
        s->are_alike = s->are_alike && is_alike(s->list[i], s->list[0]);
        f.varying |= extent.offset ^ s->low;
        f.longest = extent.length > f.longest ? extent.length : f.longest;
        s->low = extent.offset < s->low ? extent.offset : s->low;
        s->high = end > s->high ? end : s->high;
    }
    return f;
}

static int make_sorted(pnc_singles *s, pnc_io_context *io)
{
    pnc_sorted_single *other = alloc_array(io, s->n);
    findings f;

    s->at = alloc_array(io, s->n);
    if (s->at == NULL || other == NULL) {
        free_array(io, other);
        return pnc_error_set(io->file->error, NC_ENOMEM, "%s: no memory to order %lld requests", io->file->path,
                             (long long)s->n);
    }
    f = fill(s, io);
    if (f.longest <= UINT32_MAX)
        sort(s, io, f.varying, other);
    else
        free_array(io, other);
    if (f.longest > UINT32_MAX || !are_disjoint(s, f.longest))
        pnc_io_singles_free(s, io);
    return NC_NOERR;
}

/* --- interface --- */

int pnc_io_singles_init(pnc_singles *s, pnc_io_context *io, const pnc_request_list *list)
{
    assert(list->summary.n == list->n);
    *s = (pnc_singles){.list = list->at};
    if (!list->summary.are_single || list->n > UINT32_MAX)
        return NC_NOERR;
    s->n = list->n;
    if (!list->summary.is_in_order && !is_in_order(s, io))
        return make_sorted(s, io);
    set_range(s, io);
    return NC_NOERR;
}

void pnc_io_singles_free(pnc_singles *s, pnc_io_context *io)
{
    free_array(io, s->at);
    *s = (pnc_singles){0};
}
