/* Sorts single requests by digits of the offset, the lowest digit first. */
#include "io/singles.h"

#include "base/memory.h"

#define MOST_DIGITS (1 << 11)
/* Shorter lists are sorted by fewer digits: the counters of a pass would cost more than its requests. */
#define FEW_DIGITS (1 << 8)
#define FEW_REQUESTS 4096

/* What one pass over a list finds. */
typedef struct findings {
    bool are_single; /* all requests */
    bool ascend;     /* and are disjoint */
    bool are_alike;  /* they differ in their extents and memory only */
    int64_t longest; /* bytes */
    int64_t varying; /* the bits in which the offsets differ */
} findings;

/* --- what a list is --- */

static void add_extent(pnc_singles *s, findings *f, int64_t offset, int64_t length)
{
    bool is_first = s->n++ == 0;

    if (is_first)
        s->low = s->high = offset;
    f->ascend = f->ascend && offset >= s->high;
    f->varying |= offset ^ s->low;
    f->longest = length > f->longest ? length : f->longest;
    s->low = offset < s->low ? offset : s->low;
    s->high = offset + length > s->high ? offset + length : s->high;
}

static bool are_alike(const pnc_request *a, const pnc_request *b)
{
    return a->varid == b->varid && a->mem == b->mem && a->external == b->external;
}

/* Set the number of requests and the range, in one pass over the list. */
static findings inspect(pnc_singles *s, pnc_io_context *io, const pnc_request_list *list)
{
    findings f = {.are_single = true, .ascend = true, .are_alike = true};
    pnc_locator locator = {.varid = -1};

    for (int64_t i = 0; i < list->n; i++) {
        const pnc_request *r = list->at[i];

        f.are_single = pnc_io_request_is_single(r);
        if (!f.are_single)
            return f;
        f.are_alike = f.are_alike && are_alike(r, list->at[0]);
        pnc_io_locator_load(&locator, io, r->varid);
        add_extent(s, &f, pnc_io_offset_locate(&locator, r->extents->offset), r->extents->length);
    }
    return f;
}

/* The same for a list that was posted in order: its ends are enough. */
static void inspect_ends(pnc_singles *s, pnc_io_context *io, const pnc_request_list *list)
{
    const pnc_request *last = list->at[list->n - 1];
    pnc_locator locator;

    pnc_io_locator_init(&locator, io, last->varid);
    s->n = list->n;
    s->low = pnc_io_offset_locate(&locator, list->at[0]->extents->offset);
    s->high = pnc_io_offset_locate(&locator, last->extents->offset) + last->extents->length;
}

/* --- sorting --- */

static int64_t digit_of(const pnc_singles *s, int64_t i, int shift, int64_t digits)
{
    return ((s->at[i].first - s->low) >> shift) & (digits - 1);
}

/* One pass: `digits` is a power of 2. */
static void sort_by_digit(const pnc_singles *s, pnc_sorted_single *to, int shift, int64_t digits)
{
    int64_t at[MOST_DIGITS + 1], sum = 0;

    for (int64_t i = 0; i < digits; i++)
        at[i] = 0;
    for (int64_t i = 0; i < s->n; i++)
        at[digit_of(s, i, shift, digits)]++;
    for (int64_t i = 0; i < digits; i++) {
        int64_t count = at[i];

        at[i] = sum;
        sum += count;
    }
    for (int64_t i = 0; i < s->n; i++)
        to[at[digit_of(s, i, shift, digits)]++] = s->at[i];
}

static int count_bits(int64_t number)
{
    int bits = 0;

    for (; number > 0; number >>= 1)
        bits++;
    return bits;
}

/* The bits that all offsets have in common are not compared. `other` has the same capacity. */
static void sort(pnc_singles *s, int64_t varying, pnc_sorted_single *other)
{
    int most = count_bits((s->n < FEW_REQUESTS ? FEW_DIGITS : MOST_DIGITS) - 1), shift = 0, bits, width;

    while (varying != 0 && ((varying >> shift) & 1) == 0)
        shift++;
    bits = count_bits((s->high - s->low) >> shift);
    width = (bits + most - 1) / most;                   /* passes */
    width = width > 0 ? (bits + width - 1) / width : 1; /* bits of each */
    for (int end = shift + bits; shift < end; shift += width) {
        pnc_sorted_single *sorted = other;

        sort_by_digit(s, sorted, shift, INT64_C(1) << width);
        other = s->at;
        s->at = sorted;
    }
    pnc_memory_free(other);
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

static int make_sorted(pnc_singles *s, pnc_io_context *io, const findings *f)
{
    pnc_sorted_single *other = pnc_memory_alloc(s->n, sizeof *other), *at = pnc_memory_alloc(s->n, sizeof *at);
    char **memory = f->are_alike ? pnc_memory_alloc(s->n, sizeof *memory) : NULL;
    pnc_locator locator = {.varid = -1};

    if (at == NULL || other == NULL || (f->are_alike && memory == NULL)) {
        pnc_memory_free(at);
        pnc_memory_free(other);
        pnc_memory_free(memory);
        return pnc_error_set(io->file->error, NC_ENOMEM, "%s: no memory to order %lld requests", io->file->path,
                             (long long)s->n);
    }
    for (int64_t i = 0; i < s->n; i++) {
        pnc_single single = pnc_io_singles_get(s, io, &locator, i);

        at[i] = (pnc_sorted_single){single.first, (uint32_t)i, (uint32_t)single.length};
        if (memory != NULL)
            memory[i] = s->list[i]->memory;
    }
    s->at = at;
    s->memory = memory;
    sort(s, f->varying, other);
    if (!are_disjoint(s, f->longest))
        pnc_io_singles_free(s);
    return NC_NOERR;
}

/* --- interface --- */

int pnc_io_singles_init(pnc_singles *s, pnc_io_context *io, const pnc_request_list *list)
{
    findings f;

    *s = (pnc_singles){.list = list->at};
    if (list->n == 0)
        return NC_NOERR;
    if (list->summary.is_in_order) {
        inspect_ends(s, io, list);
        return NC_NOERR;
    }
    f = inspect(s, io, list);
    if (f.are_single && f.ascend)
        return NC_NOERR;
    if (f.are_single && f.longest <= UINT32_MAX && s->n <= UINT32_MAX)
        return make_sorted(s, io, &f);
    s->n = 0;
    return NC_NOERR;
}

void pnc_io_singles_free(pnc_singles *s)
{
    pnc_memory_free(s->at);
    pnc_memory_free(s->memory);
    *s = (pnc_singles){0};
}
