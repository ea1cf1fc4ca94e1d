/* Pending nonblocking requests, in the order of posting. */
#include "io/request/queue.h"

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

/* --- blocks --- */

static bool contains(const pnc_queue_block *block, int id)
{
    return id >= block->first_id && id - block->first_id < PNC_QUEUE_BLOCK;
}

/* The block of an id, or NULL. Programs wait in the order of posting: most ids are in the block of the one before. */
static pnc_queue_block *find_block(pnc_queue *q, int id)
{
    int64_t low = 0, high = q->nblocks;

    if (q->recent < q->nblocks && contains(q->blocks[q->recent], id))
        return q->blocks[q->recent];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (q->blocks[middle]->first_id <= id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || !contains(q->blocks[low - 1], id))
        return NULL;
    q->recent = low - 1;
    return q->blocks[low - 1];
}

/* Of a program that always has some requests pending, only the blocks of these are kept. */
static void free_unused(pnc_queue *q)
{
    int64_t kept = 0;

    for (int64_t i = 0; i < q->nblocks; i++) {
        pnc_queue_block *block = q->blocks[i];

        if (block->npending[PNC_PUT] + block->npending[PNC_GET] > 0)
            q->blocks[kept++] = block;
        else
            pnc_arena_free(&q->arena, block);
    }
    q->nblocks = kept;
    q->most = 2 * kept + 8;
}

static void free_all(pnc_queue *q)
{
    for (int64_t i = 0; i < q->nblocks; i++)
        pnc_arena_free(&q->arena, q->blocks[i]);
    q->nblocks = 0;
}

static bool add_block(pnc_queue *q)
{
    pnc_queue_block *block;

    if (q->nblocks >= q->most)
        free_unused(q);
    if (!pnc_memory_grow(&q->blocks, &q->capacity, q->nblocks + 1, sizeof(pnc_queue_block *)))
        return false;
    block = pnc_arena_alloc(&q->arena, sizeof *block);
    if (block == NULL)
        return false;
    block->first_id = q->next_id;
    block->npending[PNC_PUT] = block->npending[PNC_GET] = 0;
    q->blocks[q->nblocks++] = block;
    return true;
}

/* --- requests --- */

static pnc_request **find_id(pnc_queue_block *block, int id)
{
    return &block->at[id - block->first_id];
}

/* Ids restart at 0 when no request is pending. */
int pnc_io_queue_reserve(pnc_queue *q, pnc_error *error)
{
    if (q->pending == 0 && q->next_id > 0) {
        free_all(q);
        q->next_id = 0;
    }
    if (q->next_id == INT_MAX)
        return pnc_error_set(error, NC_EINTOVERFLOW,
                             "all %d request ids are in use: complete all pending "
                             "requests, then ids restart at 0",
                             INT_MAX);
    if ((q->nblocks > 0 && contains(q->blocks[q->nblocks - 1], q->next_id)) || add_block(q))
        return NC_NOERR;
    return pnc_error_set(error, NC_ENOMEM, "no memory to post a request");
}

static void change_pending(pnc_queue *q, pnc_queue_block *block, pnc_direction direction, int n)
{
    block->npending[direction] += n;
    q->kinds[direction].n += n;
    q->pending += n;
    assert(q->pending == q->kinds[PNC_PUT].n + q->kinds[PNC_GET].n);
}

void pnc_io_queue_add(pnc_queue *q, pnc_request *r)
{
    pnc_queue_kind *kind = &q->kinds[r->direction];
    pnc_queue_block *block = q->blocks[q->nblocks - 1];

    r->id = q->next_id++;
    *find_id(block, r->id) = r;
    if (kind->n == 0) {
        kind->summary = (pnc_request_summary){0};
        kind->is_reduced = false;
    }
    change_pending(q, block, (pnc_direction)r->direction, 1);
    pnc_io_request_summary_add(&kind->summary, r);
}

pnc_request *pnc_io_queue_find(pnc_queue *q, int id)
{
    pnc_queue_block *block = id < q->next_id ? find_block(q, id) : NULL;

    return block != NULL ? *find_id(block, id) : NULL;
}

/* Put a request, or NULL, in the place of one that has a block. */
static void set_place(pnc_queue *q, const pnc_request *r, pnc_request *value, int n)
{
    pnc_queue_block *block = find_block(q, r->id);

    assert(block != NULL && *find_id(block, r->id) != value);
    *find_id(block, r->id) = value;
    q->kinds[r->direction].is_reduced = true;
    change_pending(q, block, (pnc_direction)r->direction, n);
}

void pnc_io_queue_remove(pnc_queue *q, pnc_request *r)
{
    set_place(q, r, NULL, -1);
}

/* Its block is still there: only posting a request frees blocks. */
void pnc_io_queue_return(pnc_queue *q, pnc_request *r)
{
    set_place(q, r, r, 1);
}

/* is_only: all pending requests are of this kind. Then none of them is read. */
static void take_from_block(pnc_queue *q, pnc_queue_block *block, bool is_only, pnc_request_list *list)
{
    int left = block->npending[list->direction];

    for (int i = 0; left > 0; i++) {
        pnc_request *r = block->at[i];

        if (r == NULL || !(is_only || r->direction == list->direction))
            continue;
        if (q->kinds[list->direction].is_reduced)
            pnc_io_request_list_add(list, r);
        else
            list->at[list->n++] = r;
        block->at[i] = NULL;
        left--;
    }
}

void pnc_io_queue_kind_remove(pnc_queue *q, pnc_request_list *list)
{
    const pnc_queue_kind *kind = &q->kinds[list->direction];
    bool is_only = kind->n == q->pending;

    if (kind->n == 0) /* the summary is of earlier ones */
        return;
    if (!kind->is_reduced)
        list->summary = kind->summary;
    for (int64_t i = 0; kind->n > 0; i++) {
        take_from_block(q, q->blocks[i], is_only, list);
        change_pending(q, q->blocks[i], list->direction, -q->blocks[i]->npending[list->direction]);
    }
    assert(list->n == list->summary.n);
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
    q->nblocks = q->next_id = 0;
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

void pnc_io_queue_clear(pnc_queue *q, int64_t *puts, int64_t *gets)
{
    *puts = q->kinds[PNC_PUT].n;
    *gets = q->kinds[PNC_GET].n;
    for (int64_t k = 0; k < q->nblocks; k++) {
        const pnc_queue_block *block = q->blocks[k];

        for (int i = 0; i < PNC_QUEUE_BLOCK && i < q->next_id - block->first_id; i++)
            if (block->at[i] != NULL)
                free_request(q, block->at[i]); /* its variable may be undefined, so its bytes cannot be counted */
    }
    free_all(q);
    q->pending = q->next_id = 0;
    q->kinds[PNC_PUT].n = q->kinds[PNC_GET].n = 0;
    q->buffer_used = q->kept = 0;
}

/* --- the attached buffer: its memory is not allocated, as a pending request holds its own bytes --- */

int pnc_io_buffer_check(const pnc_io_context *io)
{
    if (io->queue->buffer_size >= 0)
        return NC_NOERR;
    return pnc_error_set(io->file->error, NC_ENULLABUF, "no buffer is attached: call ncmpi_buffer_attach first");
}

int pnc_io_buffer_attach(pnc_io_context *io, int64_t size)
{
    if (size <= 0)
        return pnc_error_set(io->file->error, NC_ENULLBUF, "bufsize is %lld: must be at least 1", (long long)size);
    if (io->queue->buffer_size >= 0)
        return pnc_error_set(io->file->error, NC_EPREVATTACHBUF,
                             "a buffer of %lld bytes is already attached: detach it first",
                             (long long)io->queue->buffer_size);
    io->queue->buffer_size = size;
    io->queue->buffer_used = 0;
    return NC_NOERR;
}

int pnc_io_buffer_release(pnc_io_context *io)
{
    PNC_TRY(pnc_io_buffer_check(io));
    if (io->queue->buffer_used > 0)
        return pnc_error_set(io->file->error, NC_EPENDINGBPUT,
                             "buffered puts of %lld bytes are pending: wait for them first",
                             (long long)io->queue->buffer_used);
    io->queue->buffer_size = -1;
    return NC_NOERR;
}
