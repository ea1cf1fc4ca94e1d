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
    pnc_memory_free(q->blocks);
    pnc_memory_free(q);
}

/* The place of an id, which has a block. */
static pnc_request **place_of(const pnc_queue *q, int id)
{
    assert(id >= 0 && id / PNC_QUEUE_BLOCK < q->nblocks && q->blocks[id / PNC_QUEUE_BLOCK] != NULL);
    return &q->blocks[id / PNC_QUEUE_BLOCK]->at[id % PNC_QUEUE_BLOCK];
}

/* Places of a block that have been used. */
static int count_used(const pnc_queue *q, int64_t block)
{
    int64_t n = q->next_id - block * PNC_QUEUE_BLOCK;

    return (int)(n < PNC_QUEUE_BLOCK ? n : PNC_QUEUE_BLOCK);
}

/* --- blocks --- */

static void drop_block(pnc_queue *q, int64_t i)
{
    pnc_arena_free(&q->arena, q->blocks[i]);
    q->blocks[i] = NULL;
    q->nlive--;
}

static bool is_unused(const pnc_queue *q, int64_t i)
{
    for (int k = count_used(q, i); k > 0; k--)
        if (q->blocks[i]->at[k - 1] != NULL)
            return false;
    return true;
}

/* Of a program that always has some requests pending, only the blocks of these are kept. */
static void drop_unused(pnc_queue *q)
{
    for (int64_t i = 0; i < q->nblocks; i++)
        if (q->blocks[i] != NULL && is_unused(q, i))
            drop_block(q, i);
    q->most_live = 2 * q->nlive + 8;
}

static void drop_all(pnc_queue *q)
{
    for (int64_t i = 0; i < q->nblocks; i++)
        if (q->blocks[i] != NULL)
            drop_block(q, i);
    q->nblocks = 0;
}

static bool add_block(pnc_queue *q)
{
    int64_t capacity = q->capacity == 0 ? 64 : 2 * q->capacity;
    pnc_queue_block *block, **larger = NULL;

    if (q->nlive >= q->most_live)
        drop_unused(q);
    if (q->nblocks == q->capacity) {
        larger = pnc_memory_resize(q->blocks, capacity, sizeof(pnc_queue_block *));
        if (larger == NULL)
            return false;
        q->blocks = larger;
        q->capacity = capacity;
    }
    block = pnc_arena_alloc(&q->arena, sizeof *block);
    if (block == NULL)
        return false;
    q->blocks[q->nblocks++] = block;
    q->nlive++;
    return true;
}

/* --- requests --- */

/* Ids restart at 0 when no request is pending. */
int pnc_io_queue_reserve(pnc_queue *q, pnc_error *error)
{
    if (q->pending == 0 && q->next_id > 0) {
        drop_all(q);
        q->next_id = 0;
    }
    if (q->next_id == INT_MAX)
        return pnc_error_set(error, NC_EINTOVERFLOW,
                             "all %d request ids are in use: complete all pending "
                             "requests, then ids restart at 0",
                             INT_MAX);
    if (q->next_id / PNC_QUEUE_BLOCK < q->nblocks || add_block(q))
        return NC_NOERR;
    return pnc_error_set(error, NC_ENOMEM, "no memory to post a request");
}

void pnc_io_queue_add(pnc_queue *q, pnc_request *r)
{
    pnc_queue_kind *kind = &q->kinds[r->direction];

    r->id = q->next_id++;
    *place_of(q, r->id) = r;
    q->pending++;
    if (kind->n++ == 0) {
        kind->summary = (pnc_request_summary){0};
        kind->is_reduced = false;
    }
    pnc_io_request_summary_add(&kind->summary, r);
}

pnc_request *pnc_io_queue_find(const pnc_queue *q, int id)
{
    if (id < 0 || id >= q->next_id || q->blocks[id / PNC_QUEUE_BLOCK] == NULL)
        return NULL;
    return *place_of(q, id);
}

static void change_pending(pnc_queue *q, pnc_direction direction, int64_t n)
{
    q->pending += n;
    q->kinds[direction].n += n;
    assert(q->pending == q->kinds[PNC_PUT].n + q->kinds[PNC_GET].n);
}

void pnc_io_queue_remove(pnc_queue *q, pnc_request *r)
{
    assert(*place_of(q, r->id) == r);
    *place_of(q, r->id) = NULL;
    q->kinds[r->direction].is_reduced = true;
    change_pending(q, (pnc_direction)r->direction, -1);
}

/* Its block is still there: only posting a request drops blocks. */
void pnc_io_queue_return(pnc_queue *q, pnc_request *r)
{
    assert(*place_of(q, r->id) == NULL);
    *place_of(q, r->id) = r;
    q->kinds[r->direction].is_reduced = true;
    change_pending(q, (pnc_direction)r->direction, 1);
}

/* If they are the only pending requests, none of them is read. */
void pnc_io_queue_kind_remove(pnc_queue *q, pnc_request_list *list)
{
    const pnc_queue_kind kind = q->kinds[list->direction];
    bool is_only = kind.n == q->pending;

    if (kind.n == 0) /* the summary is of earlier ones */
        return;
    for (int64_t i = 0; list->n < kind.n; i++) {
        pnc_queue_block *block = q->blocks[i];

        for (int k = 0, n = block != NULL ? count_used(q, i) : 0; k < n; k++) {
            pnc_request *r = block->at[k];

            if (r == NULL || !(is_only || r->direction == list->direction))
                continue;
            if (kind.is_reduced)
                pnc_io_request_list_add(list, r);
            else
                list->at[list->n++] = r;
            block->at[k] = NULL;
        }
    }
    assert(list->n == kind.n);
    if (!kind.is_reduced)
        list->summary = kind.summary;
    change_pending(q, list->direction, -kind.n);
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
    q->nblocks = q->nlive = q->next_id = 0;
    q->buffer_used = q->kept = 0;
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

static void clear_block(pnc_queue *q, int64_t i, int64_t *puts, int64_t *gets)
{
    for (int k = 0; k < count_used(q, i); k++) {
        pnc_request *r = q->blocks[i]->at[k];

        if (r == NULL)
            continue;
        if (r->direction == PNC_PUT)
            ++*puts;
        else
            ++*gets;
        free_request(q, r); /* its variable may be undefined, so its bytes cannot be counted */
    }
}

void pnc_io_queue_clear(pnc_queue *q, int64_t *puts, int64_t *gets)
{
    *puts = *gets = 0;
    for (int64_t i = 0; i < q->nblocks; i++)
        if (q->blocks[i] != NULL)
            clear_block(q, i, puts, gets);
    drop_all(q);
    q->pending = q->next_id = 0;
    q->kinds[PNC_PUT].n = q->kinds[PNC_GET].n = 0;
    q->buffer_used = q->kept = 0;
}
