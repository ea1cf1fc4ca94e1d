/* Single requests in the order of the file. */
#include "io/order/singles.h"

#include <assert.h>

#include "base/bits.h"
#include "io/order/radix.h"
#include "io/request/queue.h"

/* What sorting depends on. */
typedef struct findings {
    int64_t longest; /* bytes */
    int64_t varying; /* the bits in which the offsets differ */
} findings;

/* --- lists in order --- */

static pnc_extent locate_single(const pnc_singles *s, pnc_io_context *io, pnc_target *target, int64_t i)
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
        pnc_extent extent = locate_single(s, io, &target, i);

        if (extent.offset < end)
            return false;
        end = extent.offset + extent.length;
    }
    return true;
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

/* In the order of posting. Sets the range. */
static findings fill_singles(pnc_singles *s, pnc_io_context *io)
{
    pnc_target target = {.varid = -1};
    findings f = {0};

    s->low = s->high = locate_single(s, io, &target, 0).offset;
    s->are_alike = true;
    for (int64_t i = 0; i < s->n; i++) {
        const pnc_request *a = s->list[i], *b = s->list[0];
        pnc_extent extent = locate_single(s, io, &target, i);
        int64_t end = extent.offset + extent.length;

        if (i + PNC_REQUESTS_AHEAD < s->n)
            pnc_io_request_prefetch(s->list[i + PNC_REQUESTS_AHEAD]);
        s->at[i] = (pnc_sorted_single){extent.offset, a->memory, (uint32_t)i, (uint32_t)extent.length};
        s->are_alike =
            s->are_alike && a->elements.varid == b->elements.varid && a->mem == b->mem && a->external == b->external;
        f.varying |= extent.offset ^ s->low;
        f.longest = extent.length > f.longest ? extent.length : f.longest;
        s->low = extent.offset < s->low ? extent.offset : s->low;
        s->high = end > s->high ? end : s->high;
    }
    return f;
}

/* The bits that all offsets have in common are not compared. */
static int make_sorted(pnc_singles *s, pnc_io_context *io)
{
    pnc_sorted_single *at = alloc_array(io, s->n), *other = alloc_array(io, s->n);
    int shift = 0;
    findings f;

    s->at = at;
    if (at == NULL || other == NULL) {
        free_array(io, other);
        return pnc_error_set(io->file->error, NC_ENOMEM, "%s: no memory to order %lld requests", io->file->path,
                             (long long)s->n);
    }
    f = fill_singles(s, io);
    while (f.varying != 0 && ((f.varying >> shift) & 1) == 0)
        shift++;
    assert(s->high > s->low); /* no extent is empty */
    if (f.longest <= UINT32_MAX)
        s->at =
            pnc_io_radix_sort(at, other, s->n, sizeof *at, s->low, shift, pnc_bits_count((s->high - s->low) >> shift));
    free_array(io, s->at == at ? other : at);
    if (f.longest > UINT32_MAX || !are_disjoint(s, f.longest))
        pnc_io_singles_free(s, io);
    return NC_NOERR;
}

/* --- interface --- */

int pnc_io_singles_init(pnc_singles *s, pnc_io_context *io, const pnc_request_list *list)
{
    pnc_target target = {.varid = -1};
    pnc_extent last;

    assert(list->summary.n == list->n);
    *s = (pnc_singles){.list = list->at};
    if (!list->summary.are_single || list->n > UINT32_MAX)
        return NC_NOERR;
    s->n = list->n;
    if (!list->summary.is_in_order && !is_in_order(s, io))
        return make_sorted(s, io);
    s->low = locate_single(s, io, &target, 0).offset;
    last = locate_single(s, io, &target, s->n - 1);
    s->high = last.offset + last.length;
    return NC_NOERR;
}

void pnc_io_singles_free(pnc_singles *s, pnc_io_context *io)
{
    free_array(io, s->at);
    *s = (pnc_singles){0};
}
