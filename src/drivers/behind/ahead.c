/* What a program will probably read next. */
#include "drivers/behind/ahead.h"

#include <assert.h>
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
    pnc_memory_free(s->batch.bytes);
    s->batch.bytes = NULL;
    ahead->allocated -= s->capacity;
    s->capacity = 0;
}

/* Memory of the last batch is used again; that of streams without one only if there is no other. */
static bool find_memory(pnc_behind_ahead *ahead, pnc_behind_stream *s, int64_t length)
{
    if (length <= s->capacity)
        return true;
    free_bytes(ahead, s);
    for (int i = 0; i < PNC_BEHIND_STREAMS && length > ahead->capacity - ahead->allocated; i++)
        if (ahead->streams[i] != NULL && ahead->streams[i]->batch.length == 0)
            free_bytes(ahead, ahead->streams[i]);
    s->batch.bytes = length <= ahead->capacity - ahead->allocated ? pnc_memory_alloc(length, 1) : NULL;
    if (s->batch.bytes == NULL)
        return false;
    s->capacity = length;
    ahead->allocated += length;
    return true;
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

int pnc_behind_ahead_move(const pnc_behind_ahead *ahead, pnc_extent *out)
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
        out[i] = (pnc_extent){ahead->reads[i].offset + step, ahead->reads[i].length};
    }
    return ahead->nreads;
}

pnc_behind_batch *pnc_behind_ahead_end(pnc_behind_ahead *ahead, const pnc_extent *extents, int n)
{
    pnc_behind_stream *s = ahead->current;
    pnc_behind_batch *batch;
    int64_t length = 0;

    ahead->current = NULL;
    if (s == NULL)
        return NULL;
    s->nreads = ahead->nreads;
    memcpy(s->reads, ahead->reads, sizeof *s->reads * (size_t)pnc_min64(s->nreads, PNC_BEHIND_EXTENTS));
    if (n == 0)
        return NULL;
    assert(s->batch.length == 0 && n <= PNC_BEHIND_EXTENTS);
    for (int i = 0; i < n; i++)
        length = pnc_min64(length + extents[i].length, INT64_MAX / 2);
    if (!find_memory(ahead, s, length))
        return NULL;
    batch = &s->batch;
    batch->next = NULL;
    batch->n = n;
    memcpy(batch->extents, extents, sizeof *extents * (size_t)n);
    batch->length = length;
    ahead->batches++;
    batch->done = batch->used = 0;
    batch->is_discarded = false;
    return batch;
}

void pnc_behind_batch_remove(pnc_behind_ahead *ahead, pnc_behind_stream *s)
{
    pnc_behind_batch *batch = &s->batch;

    assert(!batch->is_waiting);
    if (batch->length == 0)
        return;
    ahead->read += batch->done;
    ahead->used += pnc_min64(batch->used, batch->done);
    s->needed = batch->used * 2 >= batch->length ? 1 : (int)pnc_min64(MOST_NEEDED, (int64_t)s->needed * 2);
    s->steps = batch->used * 2 >= batch->length ? s->steps : 0;
    pnc_behind_batch_discard(ahead, s);
}

int64_t pnc_behind_batch_find(const pnc_behind_batch *batch, pnc_extent extent)
{
    int64_t at = 0;

    for (int i = 0; i < batch->n && batch->length > 0; i++) {
        const pnc_extent *e = &batch->extents[i];

        if (extent.offset >= e->offset && extent.offset + extent.length <= e->offset + e->length)
            return at + extent.offset - e->offset;
        at += e->length;
    }
    return -1;
}

pnc_extent pnc_behind_batch_find_next(const pnc_behind_batch *batch, int64_t most)
{
    int64_t left = batch->done;
    int i = 0;

    assert(batch->done < batch->length);
    for (; left >= batch->extents[i].length; i++)
        left -= batch->extents[i].length;
    return (pnc_extent){batch->extents[i].offset + left, pnc_min64(most, batch->extents[i].length - left)};
}

void pnc_behind_ahead_free(pnc_behind_ahead *ahead)
{
    for (int i = 0; i < PNC_BEHIND_STREAMS; i++) {
        if (ahead->streams[i] != NULL)
            pnc_memory_free(ahead->streams[i]->batch.bytes);
        pnc_memory_free(ahead->streams[i]);
    }
    *ahead = (pnc_behind_ahead){0};
}
