/* Values for chunks of other aggregators: logs of runs, of which adjacent ones become one. */
#include "drivers/chunks/pending.h"

#include <stddef.h>
#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "drivers/chunks/packing.h"

/* The second of two adjacent runs has space for others: up to as much as is used already, or this. */
#define SPARE_BYTES (INT64_C(64) << 10)

static pnc_pending_chunk *find_pending(pnc_pending *pending, const pnc_chunk_item *item)
{
    pnc_pending_chunk *p = (pnc_pending_chunk *)pnc_chunks_map_find(&pending->map, item->array, item->chunk);

    if (p != NULL)
        return p;
    p = pnc_region_alloc(&pending->region, (int64_t)sizeof *p);
    if (p == NULL)
        return NULL;
    *p = (pnc_pending_chunk){.item = *item, .segment = -1};
    if (!pnc_chunks_map_add(&pending->map, &p->item))
        return NULL;
    p->item.next = pending->chunks;
    pending->chunks = &p->item;
    return p;
}

static pnc_pending_run *add_run(pnc_pending *pending, pnc_pending_chunk *p, int64_t within, int64_t capacity)
{
    pnc_pending_run *run = pnc_region_alloc(&pending->runs, (int64_t)offsetof(pnc_pending_run, bytes) + capacity);

    if (run == NULL)
        return NULL;
    *run = (pnc_pending_run){.within = within, .capacity = capacity};
    pending->bytes += (int64_t)sizeof *run + capacity;
    if (p->last == NULL)
        p->first = run;
    else
        p->last->next = run;
    p->last = run;
    return run;
}

static void append_bytes(pnc_pending_run *run, const char *bytes, int64_t length)
{
    memcpy(run->bytes + run->length, bytes, (size_t)length);
    run->length += length;
}

bool pnc_chunks_pending_add(pnc_pending *pending, const pnc_chunk_item *item, int64_t within, const void *bytes,
                            int64_t length)
{
    pnc_pending_chunk *p = find_pending(pending, item);
    const char *from = bytes;
    int64_t capacity = length, some;

    if (p == NULL)
        return false;
    if (p->last != NULL && p->last->within + p->last->length == within) {
        some = pnc_min64(length, p->last->capacity - p->last->length);
        append_bytes(p->last, from, some);
        if (some == length)
            return true;
        from += some;
        within += some;
        length -= some;
        capacity = pnc_max64(length, pnc_min64(2 * p->last->capacity, SPARE_BYTES));
    }
    if (add_run(pending, p, within, capacity) == NULL)
        return false;
    append_bytes(p->last, from, length);
    return true;
}

/* --- spilled runs --- */

/* In the file: a head, and the runs, each with its packed_run. */
typedef struct segment_head {
    int64_t previous, bytes; /* where the segment before it is, or -1; of the runs */
    int64_t array, chunk;
} segment_head;

enum { BUFFER_BYTES = 256 << 10 };
enum { STEP_BYTES = 4096 }; /* at a time, where a part of the file cannot be read */

/* What is to be written, through the buffer. */
typedef struct segment_writer {
    pnc_pending *pending;
    const char *folder;
    int64_t used;
} segment_writer;

static int write_buffered(segment_writer *w, pnc_error *error)
{
    int64_t n = w->used;

    w->used = 0;
    return n == 0 ? NC_NOERR : pnc_chunks_spill_write(&w->pending->spill, w->folder, w->pending->buffer, n, error);
}

static int write_spilled(segment_writer *w, const void *bytes, int64_t n, pnc_error *error)
{
    if (n > BUFFER_BYTES - w->used)
        PNC_TRY(write_buffered(w, error));
    if (n > BUFFER_BYTES)
        return pnc_chunks_spill_write(&w->pending->spill, w->folder, bytes, n, error);
    memcpy(w->pending->buffer + w->used, bytes, (size_t)n);
    w->used += n;
    return NC_NOERR;
}

static int64_t count_segment(const pnc_pending_chunk *p)
{
    int64_t bytes = 0;

    for (const pnc_pending_run *run = p->first; run != NULL; run = run->next)
        bytes += PNC_RUN_HEAD + run->length;
    return bytes;
}

static int write_segment(segment_writer *w, const pnc_pending_chunk *p, pnc_error *error)
{
    const segment_head head = {p->segment, count_segment(p), p->item.array, p->item.chunk};

    PNC_TRY(write_spilled(w, &head, (int64_t)sizeof head, error));
    for (const pnc_pending_run *run = p->first; run != NULL; run = run->next) {
        const pnc_packed_run packed = {(uint32_t)run->within, (uint32_t)run->length};

        PNC_TRY(write_spilled(w, &packed, (int64_t)sizeof packed, error));
        PNC_TRY(write_spilled(w, run->bytes, run->length, error));
    }
    return NC_NOERR;
}

static int write_segments(segment_writer *w, pnc_error *error)
{
    for (pnc_chunk_item *item = w->pending->chunks; item != NULL; item = item->next) {
        const pnc_pending_chunk *p = (const pnc_pending_chunk *)item;

        if (p->first != NULL)
            PNC_TRY(write_segment(w, p, error));
    }
    return write_buffered(w, error);
}

/* The segments are in the file, from `at` on, in the order of the list. */
static void adopt_segments(pnc_pending *pending, int64_t at)
{
    for (pnc_chunk_item *item = pending->chunks; item != NULL; item = item->next) {
        pnc_pending_chunk *p = (pnc_pending_chunk *)item;

        if (p->first == NULL)
            continue;
        p->segment = at;
        p->nsegments++;
        at += (int64_t)sizeof(segment_head) + count_segment(p);
        p->first = p->last = NULL;
    }
    pnc_region_free(&pending->runs);
    pending->bytes = 0;
    pending->nstores++;
}

/* What is needed to read them again, too. */
static bool reserve_segments(pnc_pending *pending)
{
    if (pending->buffer == NULL)
        pending->buffer = pnc_memory_alloc(BUFFER_BYTES, 1);
    return pending->buffer != NULL &&
           pnc_memory_grow(&pending->segments, &pending->capacity, pending->nstores + 1, sizeof *pending->segments);
}

int pnc_chunks_pending_store(pnc_pending *pending, const char *folder, pnc_error *error)
{
    segment_writer w = {pending, folder, 0};
    int64_t begin = pending->spill.end;
    int err;

    if (!reserve_segments(pending))
        return pnc_error_set(error, NC_ENOMEM, "no memory to write values of chunks to a temporary file");
    err = write_segments(&w, error);
    if (err == NC_NOERR)
        adopt_segments(pending, begin);
    else
        pending->spill.end = begin;
    return err;
}

/* A segment that is read through the buffer. */
typedef struct segment_reader {
    const pnc_pending *pending;
    int64_t at, end;      /* what is not read */
    int64_t used, filled; /* of the buffer */
    int *lost;            /* NULL: what cannot be read ends the scan */
} segment_reader;

/* What cannot be read is left out, if the caller of the scan wants the rest. */
static int leave_out(const segment_reader *r, int err)
{
    if (r->lost == NULL)
        return err;
    *r->lost = pnc_error_keep_first(*r->lost, err);
    return NC_NOERR;
}

/* The next bytes, `least` or more if the segment has them. */
static int fill_buffer(segment_reader *r, int64_t least, pnc_error *error)
{
    int64_t left = r->filled - r->used, n = pnc_min64(BUFFER_BYTES - left, r->end - r->at);
    char *to = r->pending->buffer + left;

    if (left >= least)
        return NC_NOERR;
    memmove(r->pending->buffer, r->pending->buffer + r->used, (size_t)left);
    r->used = 0;
    r->filled = left;
    if (n <= STEP_BYTES || pnc_chunks_spill_read(&r->pending->spill, r->at, to, n, NULL) != NC_NOERR) {
        n = pnc_min64(n, STEP_BYTES);
        PNC_TRY(pnc_chunks_spill_read(&r->pending->spill, r->at, to, n, error));
    }
    r->at += n;
    r->filled += n;
    return NC_NOERR;
}

static void skip_spilled(segment_reader *r, int64_t n)
{
    r->at += n - (r->filled - r->used);
    r->used = r->filled = 0;
}

typedef int (*run_visitor)(void *own, int64_t within, const char *bytes, int64_t length, pnc_error *error);

/* As much of a run as one step has. The cut is at a multiple of 8. */
static int64_t cut_run(int64_t within, int64_t left, int64_t most)
{
    return left <= most ? left : (within + most) / 8 * 8 - within;
}

static int visit_spilled_run(segment_reader *r, run_visitor take, void *own, pnc_error *error)
{
    pnc_packed_run run;

    memcpy(&run, r->pending->buffer + r->used, sizeof run);
    r->used += PNC_RUN_HEAD;
    for (int64_t within = run.within, left = run.length, n; left > 0; within += n, left -= n) {
        int err = fill_buffer(r, pnc_min64(left, 8), error);

        if (err == NC_NOERR) {
            n = cut_run(within, left, r->filled - r->used);
            PNC_TRY(take(own, within, r->pending->buffer + r->used, n, error));
            r->used += n;
        } else {
            n = cut_run(within, left, STEP_BYTES);
            PNC_TRY(leave_out(r, err));
            skip_spilled(r, n);
        }
    }
    return NC_NOERR;
}

/* Behind a run whose head cannot be read nothing is found. */
static int visit_segment(segment_reader *r, int64_t at, run_visitor take, void *own, pnc_error *error)
{
    segment_head head;
    int err = pnc_chunks_spill_read(&r->pending->spill, at, &head, (int64_t)sizeof head, error);

    if (err != NC_NOERR)
        return leave_out(r, err);
    r->at = at + (int64_t)sizeof head;
    r->end = r->at + head.bytes;
    r->used = r->filled = 0;
    while (r->at < r->end || r->used < r->filled) {
        err = fill_buffer(r, PNC_RUN_HEAD, error);
        if (err != NC_NOERR)
            return leave_out(r, err);
        PNC_TRY(visit_spilled_run(r, take, own, error));
    }
    return NC_NOERR;
}

/* The segments of a chunk before `end`, from the beginning of the file, up to a head that cannot be read. Returns their
 * number. */
static int64_t find_segments(const pnc_pending *pending, const pnc_pending_chunk *p, int64_t end)
{
    segment_head head;
    int64_t n = 0;

    for (int64_t at = 0; at < end; at += (int64_t)sizeof head + head.bytes) {
        if (pnc_chunks_spill_read(&pending->spill, at, &head, (int64_t)sizeof head, NULL) != NC_NOERR)
            break;
        if (head.array == p->item.array && head.chunk == p->item.chunk)
            pending->segments[n++] = at;
    }
    return n;
}

/* The oldest segment first. Each leads to the one before it; where that cannot be read, older ones are searched. */
static int visit_segments(segment_reader *r, const pnc_pending_chunk *p, run_visitor take, void *own, pnc_error *error)
{
    int64_t *segments = r->pending->segments, first = p->nsegments - 1, nolder = 0;
    segment_head head;
    int err = NC_NOERR;

    segments[first] = p->segment;
    while (first > 0 && err == NC_NOERR) {
        err = pnc_chunks_spill_read(&r->pending->spill, segments[first], &head, (int64_t)sizeof head, error);
        if (err == NC_NOERR)
            segments[--first] = head.previous;
    }
    if (err != NC_NOERR) {
        PNC_TRY(leave_out(r, err));
        nolder = find_segments(r->pending, p, segments[first++]);
    }
    for (int64_t i = 0; i < nolder; i++)
        PNC_TRY(visit_segment(r, segments[i], take, own, error));
    for (int64_t i = first; i < p->nsegments; i++)
        PNC_TRY(visit_segment(r, segments[i], take, own, error));
    return NC_NOERR;
}

int pnc_chunks_pending_scan(const pnc_pending *pending, const pnc_pending_chunk *p,
                            int (*take)(void *own, int64_t within, const char *bytes, int64_t length, pnc_error *error),
                            void *own, int *lost, pnc_error *error)
{
    segment_reader r = {.pending = pending, .lost = lost};

    if (p->nsegments > 0)
        PNC_TRY(visit_segments(&r, p, take, own, error));
    for (const pnc_pending_run *run = p->first; run != NULL; run = run->next)
        PNC_TRY(take(own, run->within, (const char *)run->bytes, run->length, error));
    return NC_NOERR;
}

void pnc_chunks_pending_clear(pnc_pending *pending)
{
    pnc_chunks_map_free(&pending->map);
    pnc_region_free(&pending->region);
    pnc_region_free(&pending->runs);
    pnc_chunks_spill_close(&pending->spill);
    pnc_memory_free(pending->buffer);
    pnc_memory_free(pending->segments);
    *pending = (pnc_pending){0};
}
