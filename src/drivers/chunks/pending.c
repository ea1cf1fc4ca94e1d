/* Logs of packed boxes, of which adjacent runs become one. */
#include "drivers/chunks/pending.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"

/* The second of two adjacent runs has space for others: up to as much as is used already, or this. */
#define SPARE_BYTES (INT64_C(64) << 10)

static pnc_pending_chunk *find_pending(pnc_pending *pending, const pnc_chunk_item *item, int size)
{
    pnc_pending_chunk *p = (pnc_pending_chunk *)pnc_chunks_map_find(&pending->map, item->array, item->chunk);

    if (p != NULL)
        return p;
    p = pnc_region_alloc(&pending->region, (int64_t)sizeof *p);
    if (p == NULL)
        return NULL;
    *p = (pnc_pending_chunk){.item = *item, .size = size, .segment = -1};
    if (!pnc_chunks_map_add(&pending->map, &p->item))
        return NULL;
    p->item.next = pending->chunks;
    pending->chunks = &p->item;
    return p;
}

/* Behind the others; without values yet. spare: bytes of values that may follow. */
static pnc_pending_box *add_pending_box(pnc_pending *pending, pnc_pending_chunk *p, const pnc_box *box, int64_t spare)
{
    int64_t head = pnc_chunks_head_count(box->naxes), capacity = head + pnc_max64(box->n * p->size, spare);
    pnc_pending_box *added = pnc_region_alloc(&pending->boxes, (int64_t)offsetof(pnc_pending_box, packed) + capacity);

    if (added == NULL)
        return NULL;
    *added = (pnc_pending_box){.end = box->naxes == 0 ? box->at + box->run : -1, .capacity = capacity};
    added->length = pnc_chunks_head_pack(box, added->packed);
    pending->bytes += (int64_t)sizeof *added + capacity;
    if (p->last == NULL)
        p->first = added;
    else
        p->last->next = added;
    p->last = added;
    return added;
}

static void append_values(pnc_pending_box *to, const pnc_box *box, const pnc_chunk_values *values, int size)
{
    pnc_chunks_values_pack(box, values, size, to->packed + to->length);
    to->length += box->n * size;
}

/* A run that follows the last one extends it, as far as that has memory. */
static int64_t extend_last_run(pnc_pending_chunk *p, const pnc_box *box, const pnc_chunk_values *values)
{
    pnc_box more = {.at = box->at, .value = box->value};
    pnc_packed_box head;

    if (p->last == NULL || box->naxes > 0 || p->last->end != box->at)
        return 0;
    more.run = more.n = pnc_min64(box->run, (p->last->capacity - p->last->length) / p->size);
    if (more.n == 0)
        return 0;
    memcpy(&head, p->last->packed, sizeof head);
    head.run += (uint32_t)more.run;
    memcpy(p->last->packed, &head, sizeof head);
    p->last->end += more.run;
    append_values(p->last, &more, values, p->size);
    return more.n;
}

bool pnc_chunks_pending_add(pnc_pending *pending, const pnc_chunk_item *item, int size, const pnc_box *box,
                            const pnc_chunk_values *values)
{
    pnc_pending_chunk *p = find_pending(pending, item, size);
    bool follows = p != NULL && p->last != NULL && box->naxes == 0 && p->last->end == box->at;
    pnc_box rest = *box;
    int64_t done, spare = 0;

    assert(box->n * size <= PNC_BOX_BYTES);
    if (p == NULL)
        return false;
    done = extend_last_run(p, box, values);
    if (done == box->n)
        return true;
    if (box->naxes == 0) {
        rest.at += done;
        rest.value += done;
        rest.run -= done;
        rest.n = rest.run;
    }
    if (follows)
        spare = pnc_min64(2 * p->last->capacity, SPARE_BYTES - PNC_BOX_HEAD);
    if (add_pending_box(pending, p, &rest, spare) == NULL)
        return false;
    append_values(p->last, &rest, values, size);
    return true;
}

/* --- spilled boxes --- */

/* In the file: a head, and the packed boxes. */
typedef struct segment_head {
    int64_t previous, bytes; /* where the segment before it is, or -1; of the boxes */
    int64_t array, chunk;
} segment_head;

enum { BUFFER_BYTES = 256 << 10 };

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

    for (const pnc_pending_box *box = p->first; box != NULL; box = box->next)
        bytes += box->length;
    return bytes;
}

static int write_segment(segment_writer *w, const pnc_pending_chunk *p, pnc_error *error)
{
    const segment_head head = {p->segment, count_segment(p), p->item.array, p->item.chunk};

    PNC_TRY(write_spilled(w, &head, (int64_t)sizeof head, error));
    for (const pnc_pending_box *box = p->first; box != NULL; box = box->next)
        PNC_TRY(write_spilled(w, box->packed, box->length, error));
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
    pnc_region_free(&pending->boxes);
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

/* The next bytes, `least` or more; only these if more cannot be read. */
static int fill_buffer(segment_reader *r, int64_t least, pnc_error *error)
{
    int64_t left = r->filled - r->used, n = pnc_min64(BUFFER_BYTES - left, r->end - r->at);
    char *to = r->pending->buffer + left;

    if (left >= least)
        return NC_NOERR;
    memmove(r->pending->buffer, r->pending->buffer + r->used, (size_t)left);
    r->used = 0;
    r->filled = left;
    if (pnc_chunks_spill_read(&r->pending->spill, r->at, to, n, NULL) != NC_NOERR) {
        n = least - left;
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

/* The lengths of the next packed box: of its head, of all. */
static int measure_box(segment_reader *r, int64_t size, int64_t *head, int64_t *length, pnc_error *error)
{
    pnc_packed_box first;
    pnc_box box;

    PNC_TRY(fill_buffer(r, PNC_BOX_HEAD, error));
    memcpy(&first, r->pending->buffer + r->used, sizeof first);
    *head = pnc_chunks_head_count(first.naxes);
    PNC_TRY(fill_buffer(r, *head, error));
    (void)pnc_chunks_head_unpack(r->pending->buffer + r->used, 0, &box);
    *length = *head + box.n * size;
    return NC_NOERR;
}

/* Behind a box whose head cannot be read nothing is found. */
static int visit_segment(segment_reader *r, int64_t at, int size, pnc_pending_visitor take, void *own, pnc_error *error)
{
    int64_t head, length;
    segment_head first;
    int err = pnc_chunks_spill_read(&r->pending->spill, at, &first, (int64_t)sizeof first, error);

    if (err != NC_NOERR)
        return leave_out(r, err);
    r->at = at + (int64_t)sizeof first;
    r->end = r->at + first.bytes;
    r->used = r->filled = 0;
    while (r->at < r->end || r->used < r->filled) {
        err = measure_box(r, size, &head, &length, error);
        if (err != NC_NOERR)
            return leave_out(r, err);
        err = fill_buffer(r, length, error);
        if (err == NC_NOERR) {
            PNC_TRY(take(own, r->pending->buffer + r->used, head, length, error));
            r->used += length;
        } else {
            PNC_TRY(leave_out(r, err));
            skip_spilled(r, length);
        }
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
static int visit_segments(segment_reader *r, const pnc_pending_chunk *p, pnc_pending_visitor take, void *own,
                          pnc_error *error)
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
        PNC_TRY(visit_segment(r, segments[i], p->size, take, own, error));
    for (int64_t i = first; i < p->nsegments; i++)
        PNC_TRY(visit_segment(r, segments[i], p->size, take, own, error));
    return NC_NOERR;
}

int pnc_chunks_pending_scan(const pnc_pending *pending, const pnc_pending_chunk *p, pnc_pending_visitor take, void *own,
                            int *lost, pnc_error *error)
{
    segment_reader r = {.pending = pending, .lost = lost};

    if (p->nsegments > 0)
        PNC_TRY(visit_segments(&r, p, take, own, error));
    for (const pnc_pending_box *box = p->first; box != NULL; box = box->next) {
        pnc_packed_box head;

        memcpy(&head, box->packed, sizeof head);
        PNC_TRY(take(own, box->packed, pnc_chunks_head_count(head.naxes), box->length, error));
    }
    return NC_NOERR;
}

void pnc_chunks_pending_clear(pnc_pending *pending)
{
    pnc_chunks_map_free(&pending->map);
    pnc_region_free(&pending->region);
    pnc_region_free(&pending->boxes);
    pnc_chunks_spill_close(&pending->spill);
    pnc_memory_free(pending->buffer);
    pnc_memory_free(pending->segments);
    *pending = (pnc_pending){0};
}
