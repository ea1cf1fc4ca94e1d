/* Pending nonblocking requests, in the order of posting. */
#include "io/queue.h"

#include <assert.h>
#include <limits.h>

#include "base/memory.h"

int pnc_io_queue_create(pnc_queue **out)
{
    pnc_queue *q = pnc_memory_alloc_zeroed(1, sizeof *q);

    if (q == NULL)
        return NC_ENOMEM;
    q->buffer_size = -1;
    *out = q;
    return NC_NOERR;
}

void pnc_io_queue_free(pnc_queue *q)
{
    int64_t puts, gets;

    if (q == NULL)
        return;
    pnc_io_queue_clear(q, &puts, &gets);
    pnc_arena_destroy(&q->arena);
    pnc_memory_free(q->entries);
    pnc_memory_free(q);
}

/* Remove the entries of completed requests. */
static void compact(pnc_queue *q)
{
    int64_t kept = 0;

    for (int64_t i = 0; i < q->n; i++)
        if (q->entries[i].request != NULL)
            q->entries[kept++] = q->entries[i];
    q->n = kept;
    assert(q->n == q->pending);
}

/* Ids restart at 0 when no request is pending. */
int pnc_io_queue_reserve(pnc_queue *q, pnc_error *error)
{
    pnc_queue_entry *larger;
    int64_t capacity;

    if (q->pending == 0)
        q->n = q->next_id = 0;
    if (q->next_id == INT_MAX)
        return pnc_error_set(error, NC_EINTOVERFLOW,
                             "all %d request ids are in use: complete all pending "
                             "requests, then ids restart at 0",
                             INT_MAX);
    if (q->n < q->capacity)
        return NC_NOERR;
    compact(q);
    if (q->n <= q->capacity / 2 && q->capacity > 0)
        return NC_NOERR;
    capacity = q->capacity == 0 ? 64 : 2 * q->capacity;
    larger = pnc_memory_resize(q->entries, capacity, sizeof *larger);
    if (larger == NULL)
        return pnc_error_set(error, NC_ENOMEM, "no memory to post a request");
    q->entries = larger;
    q->capacity = capacity;
    return NC_NOERR;
}

void pnc_io_queue_add(pnc_queue *q, pnc_request *r)
{
    pnc_queue_kind *kind = &q->kinds[r->direction];

    assert(q->n < q->capacity);
    r->id = q->next_id++;
    assert(q->n == 0 || q->entries[q->n - 1].id < r->id);
    q->entries[q->n++] = (pnc_queue_entry){r->id, r};
    q->pending++;
    if (kind->n++ == 0) {
        kind->summary = (pnc_request_summary){0};
        kind->is_reduced = false;
    }
    pnc_io_request_summary_add(&kind->summary, r);
}

pnc_request *pnc_io_queue_remove(pnc_queue *q, pnc_queue_entry *entry)
{
    pnc_request *r = entry->request;

    entry->request = NULL;
    q->pending--;
    q->kinds[r->direction].n--;
    q->kinds[r->direction].is_reduced = true;
    assert(q->pending == q->kinds[PNC_PUT].n + q->kinds[PNC_GET].n);
    return r;
}

void pnc_io_queue_kind_remove(pnc_queue *q, pnc_direction direction)
{
    q->pending -= q->kinds[direction].n;
    q->kinds[direction].n = 0;
    assert(q->pending == q->kinds[PNC_PUT].n + q->kinds[PNC_GET].n);
}

/* Where an id is, or would be. */
static int64_t search(const pnc_queue *q, int id)
{
    int64_t low = 0, high = q->n;

    if (q->next < q->n && q->entries[q->next].id == id)
        return q->next;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (q->entries[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

pnc_queue_entry *pnc_io_queue_find(pnc_queue *q, int id)
{
    int64_t at = search(q, id);

    if (at == q->n || q->entries[at].id != id || q->entries[at].request == NULL)
        return NULL;
    q->next = at + 1;
    return &q->entries[at];
}

/* Its entry is still there: only posting a request removes entries. */
void pnc_io_queue_return(pnc_queue *q, pnc_request *r)
{
    int64_t at = search(q, r->id);

    q->next = at + 1;
    assert(at < q->n && q->entries[at].id == r->id && q->entries[at].request == NULL);
    q->entries[at].request = r;
    q->pending++;
    q->kinds[r->direction].n++;
    q->kinds[r->direction].is_reduced = true;
    assert(q->pending == q->kinds[PNC_PUT].n + q->kinds[PNC_GET].n);
}

static void free_request(pnc_queue *q, pnc_request *r)
{
    pnc_io_request_free(r);
    pnc_arena_free(&q->arena, r);
}

void pnc_io_queue_all_release(pnc_queue *q)
{
    assert(q->pending == 0);
    pnc_arena_clear(&q->arena);
    q->n = q->buffer_used = q->kept = 0;
}

void pnc_io_queue_release(pnc_io_context *io, pnc_request *r)
{
    pnc_queue *q = io->queue;

    if (r->external && r->buffered)
        q->buffer_used -= pnc_io_request_count_bytes(r);
    else if (r->external)
        q->kept -= pnc_io_request_count_bytes(r);
    assert(q->buffer_used >= 0 && q->kept >= 0);
    free_request(q, r);
}

void pnc_io_queue_clear(pnc_queue *q, int64_t *puts, int64_t *gets)
{
    *puts = *gets = 0;
    for (int64_t i = 0; i < q->n; i++) {
        pnc_request *r = q->entries[i].request;

        if (r == NULL)
            continue;
        if (r->direction == PNC_PUT)
            ++*puts;
        else
            ++*gets;
        free_request(q, r); /* its variable may be undefined, so its bytes cannot be counted */
    }
    q->n = q->pending = 0;
    q->kinds[PNC_PUT].n = q->kinds[PNC_GET].n = 0;
    q->buffer_used = q->kept = 0;
}
