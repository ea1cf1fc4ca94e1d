/* What a program will probably read next. */
#include "drivers/behind/ahead.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"

#define MOST_NEEDED 64 /* then a program of another pattern reads at most one get in 64 ahead, 2% */

/* Of variables whose ids differ by the number of streams, one has its stream. NULL without memory. */
static pnc_behind_stream *find_stream(pnc_behind_ahead *ahead, int varid)
{
    pnc_behind_stream **at = &ahead->streams[varid % PNC_BEHIND_STREAMS];

    if (*at == NULL) {
        *at = pnc_memory_alloc_zeroed(1, sizeof **at);
        if (*at != NULL)
            **at = (pnc_behind_stream){.varid = varid, .needed = 1};
    }
    return *at;
}

/* The last get was of this range, or of none. */
static void set_range(pnc_behind_stream *s, int64_t low, int64_t length)
{
    int64_t step = low - s->low;

    s->steps = length == s->length && step != 0 ? s->steps * (step == s->step) + 1 : 0;
    s->step = length == s->length ? step : 0;
    s->low = low;
    s->length = length;
}

bool pnc_behind_ahead_begin(pnc_behind_ahead *ahead, int varid, int64_t low, int64_t high)
{
    pnc_behind_stream *s = varid >= 0 && low < high ? find_stream(ahead, varid) : NULL;
    bool is_other;

    ahead->current = s;
    ahead->nreads = 0;
    ahead->length = 0;
    if (s == NULL)
        return false;
    is_other = s->varid != varid || low - s->low != s->step || high - low != s->length;
    if (s->varid != varid) {
        s->varid = varid;
        s->length = 0;
    }
    set_range(s, low, high - low);
    return is_other && s->batch.length > 0;
}

void pnc_behind_ahead_add(pnc_behind_ahead *ahead, pnc_extent extent)
{
    pnc_extent *last = ahead->nreads > 0 ? &ahead->reads[ahead->nreads - 1] : NULL;

    if (ahead->current == NULL || ahead->nreads > PNC_BEHIND_EXTENTS || extent.length == 0)
        return;
    ahead->length += extent.length;
    if (last != NULL && last->offset + last->length == extent.offset) {
        last->length += extent.length;
        return;
    }
    if (ahead->nreads < PNC_BEHIND_EXTENTS)
        ahead->reads[ahead->nreads] = extent;
    ahead->nreads++;
}

static void free_bytes(pnc_behind_ahead *ahead, pnc_behind_stream *s)
{
    pnc_memory_free(s->memory);
    s->memory = NULL;
    ahead->allocated -= s->capacity;
    s->capacity = 0;
}

/* Memory of the last batch is used again; that of streams without one only if there is no other. Returns how much there
 * is, at most `length`. */
static int64_t reserve_stream(pnc_behind_ahead *ahead, pnc_behind_stream *s, int64_t length)
{
    if (length <= s->capacity)
        return length;
    free_bytes(ahead, s);
    for (int i = 0; i < PNC_BEHIND_STREAMS && length > ahead->capacity - ahead->allocated; i++)
        if (ahead->streams[i] != NULL && ahead->streams[i]->batch.length == 0)
            free_bytes(ahead, ahead->streams[i]);
    length = pnc_min64(length, ahead->capacity - ahead->allocated);
    s->memory = length > 0 ? pnc_memory_alloc(length, 1) : NULL;
    if (s->memory == NULL)
        return 0;
    s->capacity = length;
    ahead->allocated += length;
    return length;
}

bool pnc_behind_ahead_find_next(const pnc_behind_ahead *ahead, pnc_extent *range)
{
    const pnc_behind_stream *s = ahead->current;

    if (s == NULL || s->steps < s->needed || s->low < -s->step ||
        s->low > INT64_MAX - s->length - pnc_max64(s->step, 0))
        return false;
    *range = (pnc_extent){s->low + s->step, s->length};
    return true;
}

int pnc_behind_ahead_move(const pnc_behind_ahead *ahead, pnc_store_read *out)
{
    const pnc_behind_stream *s = ahead->current;
    const int64_t step = s->step;

    if (ahead->nreads > PNC_BEHIND_EXTENTS || ahead->nreads != s->nreads)
        return 0;
    for (int i = 0; i < ahead->nreads; i++) {
        if (ahead->reads[i].offset < -step ||
            ahead->reads[i].offset > INT64_MAX - ahead->reads[i].length - pnc_max64(step, 0) ||
            ahead->reads[i].offset - s->reads[i].offset != step || ahead->reads[i].length != s->reads[i].length)
            return 0;
        out[i] = (pnc_store_read){{ahead->reads[i].offset + step, ahead->reads[i].length}, NULL};
    }
    return ahead->nreads;
}

/* --- a batch --- */

/* What a read takes, limited so that sums do not overflow. */
static int64_t count_read_memory(const pnc_store_read *read)
{
    return pnc_min64(read->extent.length, INT64_MAX / 4) + PNC_STORE_READ_COST;
}

static int64_t sum_read_memory(const pnc_store_read *reads, int64_t n)
{
    int64_t sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum = pnc_min64(sum + count_read_memory(&reads[i]), INT64_MAX / 4);
    return sum;
}

/* How many of the reads fit. */
static int64_t count_fitting_reads(pnc_behind_ahead *ahead, const pnc_store_read *reads, int64_t n, int64_t space)
{
    int64_t fit = 0;

    while (fit < n && count_read_memory(&reads[fit]) <= space)
        space -= count_read_memory(&reads[fit++]);
    for (int64_t i = fit; i < n; i++)
        ahead->lacking += reads[i].extent.length;
    return fit;
}

static int compare_batch_parts(const void *a, const void *b)
{
    const pnc_behind_part *x = a, *y = b;

    return (x->extent.offset > y->extent.offset) - (x->extent.offset < y->extent.offset);
}

/* In the order of the file, which takes the fewest accesses. */
static void make_batch_parts(pnc_behind_batch *batch, const pnc_store_read *reads, int64_t n)
{
    pnc_behind_part *last = NULL;

    for (int64_t i = 0; i < n; i++)
        batch->parts[i].extent = reads[i].extent;
    qsort(batch->parts, (size_t)n, sizeof *batch->parts, compare_batch_parts);
    batch->n = batch->length = 0;
    for (int64_t i = 0; i < n; i++) {
        const pnc_extent extent = batch->parts[i].extent;

        if (last != NULL && last->extent.offset + last->extent.length == extent.offset) {
            last->extent.length += extent.length;
        } else {
            last = &batch->parts[batch->n++];
            *last = (pnc_behind_part){extent, batch->length};
        }
        batch->length += extent.length;
    }
}

/* Where the reads have their bytes, and what preparation has: what is left. */
static void set_read_memory(pnc_behind_stream *s, int64_t space, int64_t n, pnc_store_reads *of)
{
    const pnc_behind_batch *batch = &s->batch;
    int64_t end;

    for (int64_t i = 0; i < of->n; i++) {
        int64_t at =
            i < n ? pnc_behind_batch_find(batch, of->reads[i].extent) : -1; /* in a damaged file they overlap */

        of->reads[i].bytes = at >= 0 ? batch->bytes + at : NULL;
    }
    end = (batch->bytes - s->memory + batch->length + 15) / 16 * 16; /* as memory that is allocated */
    of->memory = s->memory + end;
    of->spare = pnc_max64(0, space - end);
}

/* Preparation gets at most half of what is left: other variables may follow. A guess. */
static int64_t add_spare_memory(const pnc_behind_ahead *ahead, const pnc_behind_stream *s, int64_t needed,
                                const pnc_store_reads *of)
{
    int64_t left = (ahead->capacity - ahead->allocated + s->capacity - needed) / 2;

    return of != NULL && left > 0 ? needed + pnc_min64(of->wanted, left) : needed;
}

static pnc_behind_batch *create_batch(pnc_behind_ahead *ahead, pnc_behind_stream *s, const pnc_store_read *reads,
                                      int64_t n, pnc_store_reads *of)
{
    int64_t space = reserve_stream(ahead, s, add_spare_memory(ahead, s, sum_read_memory(reads, n), of));
    int64_t fit = count_fitting_reads(ahead, reads, n, space);
    pnc_behind_batch *batch = &s->batch;

    if (fit == 0)
        return NULL;
    *batch = (pnc_behind_batch){.parts = (pnc_behind_part *)(void *)s->memory,
                                .bytes = s->memory + fit * (int64_t)sizeof *batch->parts,
                                .reads = of};
    make_batch_parts(batch, reads, fit);
    if (of != NULL)
        set_read_memory(s, space, fit, of);
    ahead->batches++;
    return batch;
}

pnc_behind_batch *pnc_behind_ahead_end(pnc_behind_ahead *ahead, pnc_store_read *reads, int64_t n, pnc_store_reads *of)
{
    pnc_behind_stream *s = ahead->current;
    pnc_behind_batch *batch = NULL;

    ahead->current = NULL;
    if (s != NULL) {
        assert(s->batch.length == 0);
        s->nreads = ahead->nreads;
        memcpy(s->reads, ahead->reads, sizeof *s->reads * (size_t)pnc_min64(s->nreads, PNC_BEHIND_EXTENTS));
        batch = n > 0 ? create_batch(ahead, s, reads, n, of) : NULL;
    }
    if (batch == NULL && of != NULL)
        of->free(of);
    return batch;
}

void pnc_behind_batch_discard(pnc_behind_ahead *ahead, pnc_behind_stream *s)
{
    pnc_store_reads *reads = s->batch.reads;

    ahead->batches--;
    s->batch.length = 0;
    s->batch.reads = NULL;
    if (reads != NULL)
        reads->free(reads);
}

void pnc_behind_batch_remove(pnc_behind_ahead *ahead, pnc_behind_stream *s)
{
    pnc_behind_batch *batch = &s->batch;

    assert(!batch->is_waiting && !batch->is_preparing);
    if (batch->length == 0)
        return;
    batch->used += batch->reads != NULL ? batch->reads->used : 0;
    ahead->read += batch->done;
    ahead->used += pnc_min64(batch->used, batch->done);
    s->needed = batch->used * 2 >= batch->length ? 1 : (int)pnc_min64(MOST_NEEDED, (int64_t)s->needed * 2);
    s->steps = batch->used * 2 >= batch->length ? s->steps : 0;
    pnc_behind_batch_discard(ahead, s);
}

int64_t pnc_behind_batch_find(const pnc_behind_batch *batch, pnc_extent extent)
{
    int64_t low = 0, high = batch->length > 0 ? batch->n : 0;
    const pnc_behind_part *part;

    while (low < high) { /* the first part behind the beginning of the extent */
        int64_t middle = low + (high - low) / 2;

        if (batch->parts[middle].extent.offset <= extent.offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return -1;
    part = &batch->parts[low - 1];
    if (extent.offset - part->extent.offset > part->extent.length - extent.length)
        return -1;
    return part->at + extent.offset - part->extent.offset;
}

pnc_extent pnc_behind_batch_find_next(pnc_behind_batch *batch, int64_t most)
{
    const pnc_behind_part *part;
    int64_t done;

    assert(batch->done < batch->length);
    while (batch->done >= batch->parts[batch->current].at + batch->parts[batch->current].extent.length)
        batch->current++;
    part = &batch->parts[batch->current];
    done = batch->done - part->at;
    return (pnc_extent){part->extent.offset + done, pnc_min64(most, part->extent.length - done)};
}

void pnc_behind_ahead_free(pnc_behind_ahead *ahead)
{
    for (int i = 0; i < PNC_BEHIND_STREAMS; i++) {
        if (ahead->streams[i] != NULL)
            pnc_memory_free(ahead->streams[i]->memory);
        pnc_memory_free(ahead->streams[i]);
    }
    *ahead = (pnc_behind_ahead){0};
}
