/* The owner's side of an exchange. */
#include "dataset/stripes.h"

#include <string.h>

#include "base/memory.h"

#define WORDS (PNC_STRIPE / 64)

#define RUNS_AT_A_TIME 512

int pnc_stripe_make(pnc_stripe *stripe, pnc_dataset *ds)
{
    stripe->ds = ds;
    stripe->window = pnc_memory_alloc(PNC_STRIPE, 1);
    stripe->old = pnc_memory_alloc(PNC_STRIPE, 1);
    stripe->covered = pnc_memory_alloc_zeroed(WORDS, sizeof *stripe->covered);
    return stripe->window == NULL || stripe->old == NULL || stripe->covered == NULL ? NC_ENOMEM : NC_NOERR;
}

void pnc_stripe_free(pnc_stripe *stripe)
{
    pnc_memory_free(stripe->window);
    pnc_memory_free(stripe->old);
    pnc_memory_free(stripe->covered);
}

void pnc_stripe_begin(pnc_stripe *stripe, int64_t index)
{
    int64_t word = (stripe->low - stripe->first) / 64, end = (stripe->high - stripe->first + 63) / 64;

    /* only what the last stripe has set: a small piece shall not cost 128 KiB */
    memset(stripe->covered + word, 0, (size_t)(end - word) * sizeof *stripe->covered);
    stripe->first = stripe->low = stripe->high = index * PNC_STRIPE;
}

void pnc_stripe_want(pnc_stripe *stripe, pnc_extent piece)
{
    int64_t end = piece.offset + piece.length;

    if (stripe->low == stripe->high) {
        stripe->low = piece.offset;
        stripe->high = end;
    }
    if (piece.offset < stripe->low)
        stripe->low = piece.offset;
    if (end > stripe->high)
        stripe->high = end;
}

static void cover(uint64_t *bits, int64_t from, int64_t to)
{
    int64_t word = from / 64, last = (to - 1) / 64;
    uint64_t head = ~UINT64_C(0) << (from % 64), tail = ~UINT64_C(0) >> (63 - (to - 1) % 64);

    if (word == last) {
        bits[word] |= head & tail;
        return;
    }
    bits[word++] |= head;
    while (word < last)
        bits[word++] = ~UINT64_C(0);
    bits[last] |= tail;
}

void pnc_stripe_put(pnc_stripe *stripe, pnc_extent piece, const char *bytes)
{
    int64_t at = piece.offset - stripe->first;

    pnc_stripe_want(stripe, piece);
    memcpy(stripe->window + at, bytes, (size_t)piece.length);
    cover(stripe->covered, at, at + piece.length);
}

void pnc_stripe_get(const pnc_stripe *stripe, pnc_extent piece, char *bytes)
{
    memcpy(bytes, stripe->window + (piece.offset - stripe->first), (size_t)piece.length);
}

/* The first position from `at` on whose bit is `set`, or `end`. */
static int64_t find(const uint64_t *bits, int64_t at, int64_t end, bool set)
{
    while (at < end) {
        uint64_t word = (set ? bits[at / 64] : ~bits[at / 64]) >> (at % 64);

        if (word != 0) {
            at += __builtin_ctzll(word);
            return at < end ? at : end;
        }
        at += 64 - at % 64;
    }
    return end;
}

typedef struct gaps {
    int64_t n, bytes;
} gaps;

static gaps count_gaps(const pnc_stripe *stripe)
{
    int64_t at = stripe->low - stripe->first, end = stripe->high - stripe->first;
    gaps g = {0, 0};

    for (;;) {
        int64_t gap = find(stripe->covered, at, end, false);

        if (gap == end)
            return g;
        at = find(stripe->covered, gap, end, true);
        g.n++;
        g.bytes += at - gap;
    }
}

static int write_span(pnc_stripe *stripe, int64_t from, int64_t to)
{
    pnc_dataset *ds = stripe->ds;
    pnc_extent extent = {from, to - from};

    return ds->store->ops->write(ds->store, &extent, 1, stripe->window + (from - stripe->first), &ds->error);
}

/* All covered runs, a list at a time; their bytes move together in the window. */
static int write_runs(pnc_stripe *stripe)
{
    pnc_dataset *ds = stripe->ds;
    int64_t at = stripe->low - stripe->first, end = stripe->high - stripe->first;
    int err = NC_NOERR;

    while (at < end && err == NC_NOERR) {
        pnc_extent runs[RUNS_AT_A_TIME];
        int64_t n = 0, packed = at, begin = at;

        while (at < end && n < RUNS_AT_A_TIME) {
            int64_t gap = find(stripe->covered, at, end, false);

            runs[n++] = (pnc_extent){stripe->first + at, gap - at};
            memmove(stripe->window + packed, stripe->window + at, (size_t)(gap - at));
            packed += gap - at;
            at = find(stripe->covered, gap, end, true);
        }
        err = ds->store->ops->write(ds->store, runs, n, stripe->window + begin, &ds->error);
    }
    return err;
}

/* Nobody else writes to this stripe before the call ends: all ranks bring their pieces to its owner, and those that
 * write on their own did so before. What the gaps hold in the file stays. */
static int fill_gaps(pnc_stripe *stripe)
{
    pnc_dataset *ds = stripe->ds;
    int64_t at = stripe->low - stripe->first, end = stripe->high - stripe->first, size, present;
    int err = ds->store->ops->size(ds->store, &size, &ds->error);

    if (err != NC_NOERR)
        return err;
    present = size < stripe->low ? 0 : size < stripe->high ? size - stripe->low : stripe->high - stripe->low;
    if (present > 0) {
        pnc_extent extent = {stripe->low, present};

        err = ds->store->ops->read(ds->store, &extent, 1, stripe->old + at, NULL, &ds->error);
    }
    memset(stripe->old + at + present, 0, (size_t)(end - at - present));
    while (at < end && err == NC_NOERR) {
        int64_t gap = find(stripe->covered, at, end, false);

        at = find(stripe->covered, gap, end, true);
        memcpy(stripe->window + gap, stripe->old + gap, (size_t)(at - gap));
    }
    return err;
}

int pnc_stripe_write(pnc_stripe *stripe)
{
    gaps g = count_gaps(stripe);
    int err;

    if (stripe->low == stripe->high)
        return NC_NOERR;
    if (!stripe->exclusive || g.n < stripe->ds->store->few_extents || g.bytes / g.n > stripe->ds->store->sieve_gap)
        return write_runs(stripe);
    err = fill_gaps(stripe);
    return err != NC_NOERR ? err : write_span(stripe, stripe->low, stripe->high);
}

int pnc_stripe_read(pnc_stripe *stripe)
{
    pnc_dataset *ds = stripe->ds;
    pnc_extent extent = {stripe->low, stripe->high - stripe->low};

    return ds->store->ops->read(ds->store, &extent, 1, stripe->window + (stripe->low - stripe->first), NULL,
                                &ds->error);
}
