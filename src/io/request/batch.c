/* The requests of a wait or cancel call: taken from the queue, and their statuses. */
#include "io/request/batch.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "file/agree.h"
#include "io/request/queue.h"

static int compare_ids(const void *a, const void *b)
{
    int x = (*(pnc_request *const *)a)->id, y = (*(pnc_request *const *)b)->id;

    return (x > y) - (x < y);
}

static int reserve_lists(pnc_batch *b, pnc_io_context *io, int64_t puts, int64_t gets)
{
    b->memory = pnc_arena_alloc(&io->queue->arena, (puts + gets) * (int64_t)sizeof(pnc_request *));
    if (b->memory == NULL)
        return pnc_error_set(io->file->error, NC_ENOMEM, "no memory for a list of %lld requests",
                             (long long)(puts + gets));
    b->puts.at = b->memory;
    b->gets.at = b->memory + puts;
    return NC_NOERR;
}

/* Programs usually wait for requests in the order of posting. */
static void sort_by_id(pnc_request_list *list)
{
    for (int64_t i = 1; i < list->n; i++) {
        if (list->at[i - 1]->id < list->at[i]->id)
            continue;
        qsort(list->at, (size_t)list->n, sizeof(pnc_request *), compare_ids);
        list->summary.is_in_order = false;
        return;
    }
}

/* Take the requests with the given ids. */
static int take_named(pnc_batch *b, pnc_io_context *io, const pnc_request_ids *named)
{
    int err = NC_NOERR;

    PNC_TRY(reserve_lists(b, io, named->count, named->count));
    for (int i = 0; i < named->count; i++) {
        pnc_request *r = pnc_io_queue_find(io->queue, named->ids[i]);
        int status = NC_NOERR;

        if (r != NULL) {
            pnc_io_queue_remove(io->queue, r);
            pnc_io_request_list_add(r->direction == PNC_PUT ? &b->puts : &b->gets, r);
        } else if (named->ids[i] != NC_REQ_NULL) {
            status = err =
                pnc_error_set(io->file->error, NC_EINVAL_REQUEST, "request %d is not pending", named->ids[i]);
        }
        if (named->statuses != NULL)
            named->statuses[i] = status;
    }
    sort_by_id(&b->puts);
    sort_by_id(&b->gets);
    return err;
}

static int take_wanted(pnc_batch *b, pnc_io_context *io, const pnc_request_ids *named)
{
    pnc_queue *q = io->queue;
    int count = named->count;

    if (count == NC_REQ_ALL || count == NC_GET_REQ_ALL || count == NC_PUT_REQ_ALL) {
        PNC_TRY(reserve_lists(b, io, q->kinds[PNC_PUT].n, q->kinds[PNC_GET].n));
        if (count != NC_GET_REQ_ALL)
            pnc_io_queue_kind_remove(q, &b->puts);
        if (count != NC_PUT_REQ_ALL)
            pnc_io_queue_kind_remove(q, &b->gets);
        return NC_NOERR;
    }
    if (count < 0 || (count > 0 && named->ids == NULL))
        return pnc_error_set(io->file->error, NC_EINVAL,
                             "the number of requests is %d: it must not be negative, and the "
                             "array of requests must not be NULL",
                             count);
    return count == 0 ? NC_NOERR : take_named(b, io, named);
}

int pnc_io_batch_init(pnc_batch *b, pnc_io_context *io, bool collective, const pnc_request_ids *named)
{
    int err;

    *b = (pnc_batch){.puts = {.direction = PNC_PUT, .collective = collective, .is_checked = true},
                     .gets = {.direction = PNC_GET, .collective = collective}};
    err = take_wanted(b, io, named);
    b->any_puts = b->puts.n > 0;
    b->any_gets = b->gets.n > 0;
    return err;
}

/* In `puts` those that can be executed stay in order, and the others follow. */
int pnc_io_batch_check_places(pnc_batch *b, pnc_io_context *io)
{
    pnc_request_list all = b->puts, *unplaced = &b->unplaced;
    int err = NC_NOERR;

    if (!io->has_unplaced || all.n == 0)
        return NC_NOERR;
    b->puts.n = 0;
    b->puts.summary = (pnc_request_summary){0};
    for (int64_t i = 0; i < all.n; i++) {
        pnc_request *r = all.at[i];
        int later = pnc_io_request_check_place(io, r);

        err = pnc_error_keep_first(err, later);
        if (later == NC_NOERR) {
            all.at[i] = all.at[b->puts.n];
            pnc_io_request_list_add(&b->puts, r);
            continue;
        }
        r->status = (int8_t)later;
    }
    unplaced->at = all.at + b->puts.n;
    for (int64_t i = b->puts.n; i < all.n; i++)
        pnc_io_request_list_add(unplaced, all.at[i]);
    sort_by_id(unplaced);
    b->any_puts = b->puts.n > 0;
    return err;
}

/* Whether the requests have no memory outside the arena of the queue. */
static bool are_simple(const pnc_request_list *list)
{
    return list->n == 0 || list->summary.are_single;
}

/* A million requests are freed at once, without reading each of them. */
void pnc_io_batch_free(pnc_batch *b, pnc_io_context *io)
{
    io->has_unplaced = io->has_unplaced && io->queue->pending > 0;
    if (io->queue->pending == 0 && are_simple(&b->puts) && are_simple(&b->gets) && are_simple(&b->unplaced)) {
        pnc_io_queue_all_release(io->queue); /* with the memory of the batch */
        return;
    }
    for (int64_t i = 0; i < b->puts.n + b->unplaced.n; i++)
        pnc_io_queue_release(io, b->puts.at[i]);
    for (int64_t i = 0; i < b->gets.n; i++)
        pnc_io_queue_release(io, b->gets.at[i]);
    if (b->memory != NULL)
        pnc_arena_free(&io->queue->arena, b->memory);
}

int pnc_io_batch_agree(pnc_batch *b, pnc_io_context *io, int err)
{
    int64_t any[3] = {b->any_puts, b->any_gets, pnc_file_failure_encode(io->file, err)};

    PNC_TRY(pnc_file_maxima_agree(io->file, any, 3, "whether requests are pending"));
    b->any_puts = any[0] != 0;
    b->any_gets = any[1] != 0;
    pnc_file_failure_count(io->file, err, any[2]);
    return NC_NOERR;
}

void pnc_io_batch_return(pnc_batch *b, pnc_io_context *io, const pnc_request_ids *named, int err)
{
    for (int64_t i = 0; i < b->puts.n + b->unplaced.n; i++)
        pnc_io_queue_return(io->queue, b->puts.at[i]);
    for (int64_t i = 0; i < b->gets.n; i++)
        pnc_io_queue_return(io->queue, b->gets.at[i]);
    b->puts.n = b->gets.n = b->unplaced.n = 0;
    for (int i = 0; named->ids != NULL && named->statuses != NULL && i < named->count; i++)
        named->statuses[i] = err;
}

/* The request with an id, or NULL. It is looked for first at *next, which is set to the place after it. */
static const pnc_request *find_request(const pnc_request_list *list, int id, int64_t *next)
{
    pnc_request key = {.id = id}, *at = &key, **found = NULL;

    if (*next < list->n && list->at[*next]->id == id)
        return list->at[(*next)++];
    if (list->n > 0)
        found = bsearch(&at, list->at, (size_t)list->n, sizeof at, compare_ids);
    if (found == NULL)
        return NULL;
    *next = found - list->at + 1;
    return *found;
}

void pnc_io_batch_report(const pnc_batch *b, const pnc_request_ids *named, int put_err, int get_err)
{
    int64_t next_put = 0, next_get = 0, next_unplaced = 0;

    if (named->ids == NULL || b->memory == NULL)
        return;
    for (int i = 0; i < named->count; i++) {
        const pnc_request *put = find_request(&b->puts, named->ids[i], &next_put);
        const pnc_request *get = put == NULL ? find_request(&b->gets, named->ids[i], &next_get) : NULL;
        const pnc_request *unplaced = find_request(&b->unplaced, named->ids[i], &next_unplaced);
        int status = put_err; /* values of a put out of range were reported when it was posted */

        if (put == NULL && get == NULL && unplaced == NULL)
            continue;
        if (unplaced != NULL)
            status = unplaced->status;
        else if (put == NULL)
            status = pnc_error_keep_first(get_err, get->status);
        if (named->statuses != NULL && named->statuses[i] == NC_NOERR) /* a repeated id keeps its error */
            named->statuses[i] = status;
        named->ids[i] = NC_REQ_NULL;
    }
}
