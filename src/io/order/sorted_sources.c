/* Stretchs of sources, each of which is sorted at once. */
#include "io/order/sorted_sources.h"

#include <assert.h>

#include "base/bits.h"
#include "base/memory.h"
#include "base/minmax.h"
#include "io/order/radix.h"

#define BUCKETS 4096
#define BLOCKS 2048
/* For the stretches of a list, of which a get has two at a time. While a stretch is made, a source takes 64 bytes. */
#define MEMORY (5 << 19)
#define SOURCE_BYTES (int64_t)(sizeof(pnc_source) + 2 * sizeof(uint64_t))
/* More for long lists of requests, by request: it is small beside the memory of the requests, and bounds the number of
 * scans. */
#define REQUEST_BYTES 8

/* The number of sources that begin in each part of a range. */
typedef struct histogram {
    int64_t low, high;
    int shift; /* the width of a part is 1 << shift bytes */
    int64_t counts[BUCKETS];
} histogram;

/* Consecutive sources. A scan passes over blocks without sources in its range. */
typedef struct block {
    pnc_source_position at;
    int64_t first, last; /* the lowest and the highest offset at which a source begins */
} block;

/* What several stretches take. */
typedef struct statistics {
    histogram histogram;
    int64_t block_size, nblocks;
    block blocks[BLOCKS];
} statistics;

struct pnc_source_sorter {
    pnc_source_finder finder;
    pnc_source_totals totals;
    int64_t most;           /* sources in a stretch */
    statistics *statistics; /* NULL: one stretch has all sources */
    int64_t block;          /* of a scan */
};

static int fail_no_sources(const pnc_source_sorter *s, int64_t bytes)
{
    return pnc_error_set(s->finder.io->file->error, NC_ENOMEM, "%s: no memory for %lld bytes to order the requests",
                         s->finder.io->file->path, (long long)bytes);
}

/* --- scans of the list --- */

/* Begin a scan of the sources that begin in [low, high). */
static void start_scan(pnc_source_sorter *s, int64_t low, int64_t high)
{
    pnc_io_source_finder_start(&s->finder);
    s->finder.low = low;
    s->finder.high = high;
    s->block = 0;
    if (s->statistics != NULL && s->statistics->nblocks > 0)
        s->finder.end = s->finder.at;
}

/* Let the finder find the sources of the next block that has some; false: there is none. */
static bool start_block(pnc_source_sorter *s)
{
    const statistics *t = s->statistics;

    if (t == NULL)
        return false;
    while (s->block < t->nblocks &&
           (t->blocks[s->block].last < s->finder.low || t->blocks[s->block].first >= s->finder.high))
        s->block++;
    if (s->block >= t->nblocks)
        return false;
    s->finder.at = t->blocks[s->block++].at;
    s->finder.end = (pnc_source_position){.request = s->finder.list->n};
    if (s->block < t->nblocks)
        s->finder.end = t->blocks[s->block].at;
    return true;
}

static int scan_next(pnc_source_sorter *s, pnc_source *source, bool *found)
{
    int err = pnc_io_source_find_next(&s->finder, source, found);

    while (err == NC_NOERR && !*found && start_block(s))
        err = pnc_io_source_find_next(&s->finder, source, found);
    return err;
}

/* --- the range of a stretch --- */

static int64_t find_bucket(const histogram *h, int64_t offset)
{
    return (offset - h->low) >> h->shift;
}

/* Count the sources that begin in [low, high). The first scan has all sources, and makes blocks of them. */
static int count_sources(pnc_source_sorter *s, int64_t low, int64_t high)
{
    statistics *t = s->statistics;
    bool found = true, is_first = t->nblocks == 0;
    pnc_source_position at;
    pnc_source source;

    t->histogram = (histogram){.low = low, .high = high};
    while ((high - 1 - low) >> t->histogram.shift >= BUCKETS)
        t->histogram.shift++;
    start_scan(s, low, high);
    for (int64_t n = 0; found; n++) {
        block *b = is_first ? &t->blocks[n / t->block_size] : NULL;

        at = s->finder.at;
        PNC_TRY(scan_next(s, &source, &found));
        if (found)
            t->histogram.counts[find_bucket(&t->histogram, source.first)]++;
        if (!found || !is_first)
            continue;
        if (n % t->block_size == 0)
            *b = (block){at, source.first, source.first};
        b->first = pnc_min64(b->first, source.first);
        b->last = pnc_max64(b->last, source.first);
    }
    if (is_first)
        t->nblocks = (s->totals.n + t->block_size - 1) / t->block_size;
    return NC_NOERR;
}

/* Find the end of the stretch that begins at `low`, and the number of its sources: at most s->most, unless all begin at
 * the same byte. */
static int find_end(pnc_source_sorter *s, int64_t low, int64_t *high, int64_t *n)
{
    histogram *h = &s->statistics->histogram;

    if (low >= h->high)
        PNC_TRY(count_sources(s, low, s->totals.high));
    for (;;) {
        int64_t first = find_bucket(h, low), last = find_bucket(h, h->high - 1), k = first;

        for (*n = 0; k <= last && (*n + h->counts[k] <= s->most || (k == first && h->shift == 0)); k++)
            *n += h->counts[k];
        *high = k > last ? h->high : h->low + (k << h->shift);
        if (k > first)
            return NC_NOERR;
        k = h->low + ((first + 1) << h->shift);
        PNC_TRY(count_sources(s, low, k < h->high ? k : h->high));
    }
}

/* --- a stretch --- */

/* Take the sources of the stretch; capacity: the number of sources that begin in it, or more. A key has the offset in
 * its highest bits, and is not negative. */
static int fill_stretch(pnc_source_sorter *s, pnc_source_stretch *w, int64_t capacity)
{
    uint64_t *keys, *other;
    pnc_source source;
    bool found = true;

    w->sources = pnc_memory_alloc(capacity, sizeof *w->sources);
    w->keys = pnc_memory_alloc(capacity, sizeof *w->keys);
    if (w->sources == NULL || w->keys == NULL)
        return fail_no_sources(s, capacity * SOURCE_BYTES);
    start_scan(s, w->low, w->high);
    PNC_TRY(scan_next(s, &source, &found));
    while (found) {
        assert(w->n < capacity);
        w->sources[w->n] = source;
        w->keys[w->n] = (uint64_t)(source.first - w->low) << w->shift | (uint64_t)w->n;
        w->n++;
        PNC_TRY(scan_next(s, &source, &found));
    }
    keys = w->keys;
    other = pnc_memory_alloc(w->n, sizeof *other);
    if (other == NULL)
        return fail_no_sources(s, capacity * SOURCE_BYTES);
    w->keys = pnc_io_radix_sort(keys, other, w->n, sizeof *keys, 0, w->shift, pnc_bits_count(w->high - 1 - w->low));
    pnc_memory_free(w->keys == keys ? other : keys);
    return NC_NOERR;
}

/* The stretch that begins at `low`; the caller is its user. */
static int create_stretch(pnc_source_sorter *s, int64_t low, pnc_source_stretch **out)
{
    pnc_source_stretch *w = pnc_memory_alloc_zeroed(1, sizeof *w);
    int64_t capacity = s->totals.n;
    int err = NC_NOERR;

    if (w == NULL)
        return fail_no_sources(s, (int64_t)sizeof *w);
    *w = (pnc_source_stretch){.low = low, .high = s->totals.high, .users = 1};
    if (s->statistics != NULL)
        err = find_end(s, low, &w->high, &capacity);
    while (capacity > INT64_C(1) << w->shift)
        w->shift++;
    if (w->high - low > INT64_MAX >> w->shift) /* a key has 64 bits */
        w->high = low + (INT64_MAX >> w->shift);
    if (err == NC_NOERR)
        err = fill_stretch(s, w, capacity);
    if (err != NC_NOERR) {
        pnc_io_source_stretch_release(w);
        return err;
    }
    *out = w;
    return NC_NOERR;
}

/* --- interface --- */

int pnc_io_source_sorter_create(pnc_io_context *io, const pnc_request_list *list, const pnc_source_totals *totals,
                                pnc_source_sorter **out, pnc_source_stretch **first)
{
    pnc_source_sorter *s = pnc_memory_alloc_zeroed(1, sizeof *s);
    int64_t memory = pnc_max64(MEMORY, list->n * REQUEST_BYTES);
    int err = NC_NOERR;

    if (s == NULL)
        return pnc_error_set(io->file->error, NC_ENOMEM, "%s: no memory to order the requests", io->file->path);
    pnc_io_source_finder_init(&s->finder, io, list);
    s->finder.least_run = totals->least_run;
    s->totals = *totals;
    s->most = memory / SOURCE_BYTES / (list->direction == PNC_GET ? 2 : 1);
    if (totals->n > s->most) {
        s->statistics = pnc_memory_alloc_zeroed(1, sizeof *s->statistics);
        if (s->statistics == NULL)
            err = fail_no_sources(s, (int64_t)sizeof *s->statistics);
        else
            s->statistics->block_size = totals->n / BLOCKS + 1;
    }
    if (err == NC_NOERR)
        err = create_stretch(s, totals->low, first);
    if (err != NC_NOERR) {
        pnc_io_source_sorter_free(s);
        return err;
    }
    *out = s;
    return NC_NOERR;
}

void pnc_io_source_sorter_free(pnc_source_sorter *s)
{
    if (s == NULL)
        return;
    pnc_memory_free(s->statistics);
    pnc_memory_free(s);
}

int pnc_io_source_stretch_move(pnc_source_sorter *s, pnc_source_stretch **stretch)
{
    pnc_source_stretch *w = *stretch;
    int64_t end = w->high;

    if (w->next != NULL) {
        *stretch = w->next;
        w->next->users++;
        pnc_io_source_stretch_release(w);
        return NC_NOERR;
    }
    *stretch = NULL;
    if (w->users == 1) { /* its memory is free for the next one */
        pnc_io_source_stretch_release(w);
        return end < s->totals.high ? create_stretch(s, end, stretch) : NC_NOERR;
    }
    w->users--;
    if (end < s->totals.high)
        PNC_TRY(create_stretch(s, end, &w->next));
    *stretch = w->next;
    if (w->next != NULL)
        w->next->users++;
    return NC_NOERR;
}

void pnc_io_source_stretch_release(pnc_source_stretch *w)
{
    while (w != NULL && --w->users == 0) {
        pnc_source_stretch *next = w->next;

        pnc_memory_free(w->sources);
        pnc_memory_free(w->keys);
        pnc_memory_free(w);
        w = next;
    }
}
