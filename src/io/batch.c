/* The requests of a wait or cancel call: taken from the queue, and their statuses. */
#include "io/batch.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "file/agree.h"
#include "io/queue.h"

static bool is_selected(int count, const pnc_request *r)
{
    return count == NC_REQ_ALL || count == (r->direction == PNC_PUT ? NC_PUT_REQ_ALL : NC_GET_REQ_ALL);
}

static int compare_ids(const void *a, const void *b)
{
    int x = (*(pnc_request *const *)a)->id, y = (*(pnc_request *const *)b)->id;

    return (x > y) - (x < y);
}

/* Move a request from the queue to the batch. The list of gets grows towards the front. */
static void take(pnc_queue *q, pnc_queue_entry *entry, pnc_batch *b)
{
    pnc_request *r = entry->request;

    assert(b->puts.n + b->gets.n < b->capacity);
    if (r->direction == PNC_PUT) {
        b->puts.at[b->puts.n++] = r;
    } else {
        *--b->gets.at = r;
        b->gets.n++;
    }
    entry->request = NULL;
    q->pending--;
}

static int reserve(pnc_batch *b, pnc_io_context *io, int64_t capacity)
{
    b->memory = pnc_memory_alloc(capacity, sizeof(pnc_request *));
    if (b->memory == NULL)
        return pnc_error_set(io->file->error, NC_ENOMEM, "no memory for a list of %lld requests", (long long)capacity);
    b->capacity = capacity;
    b->puts.at = b->memory;
    b->gets.at = b->memory + capacity;
    return NC_NOERR;
}

/* Take all requests that NC_REQ_ALL, NC_PUT_REQ_ALL or NC_GET_REQ_ALL selects. */
static int take_all(pnc_batch *b, pnc_io_context *io, int count)
{
    pnc_queue *q = io->queue;

    PNC_TRY(reserve(b, io, q->pending));
    for (int64_t i = 0; i < q->n; i++)
        if (q->entries[i].request != NULL && is_selected(count, q->entries[i].request))
            take(q, &q->entries[i], b);
    /* the gets are in descending order of ids */
    for (int64_t low = 0, high = b->gets.n - 1; low < high; low++, high--) {
        pnc_request *swap = b->gets.at[low];

        b->gets.at[low] = b->gets.at[high];
        b->gets.at[high] = swap;
    }
    return NC_NOERR;
}

static bool is_ascending(const pnc_request_list *list)
{
    for (int64_t i = 1; i < list->n; i++)
        if (list->at[i - 1]->id >= list->at[i]->id)
            return false;
    return true;
}

/* Programs usually wait for requests in the order of posting. */
static void sort(pnc_request_list *list)
{
    if (!is_ascending(list))
        qsort(list->at, (size_t)list->n, sizeof(pnc_request *), compare_ids);
}

/* Take the requests with the given ids. */
static int take_named(pnc_batch *b, pnc_io_context *io, const pnc_request_ids *named)
{
    int err = NC_NOERR;

    PNC_TRY(reserve(b, io, named->count));
    for (int i = 0; i < named->count; i++) {
        pnc_queue_entry *entry = pnc_io_queue_find(io->queue, named->ids[i]);
        int status = NC_NOERR;

        if (entry != NULL)
            take(io->queue, entry, b);
        else if (named->ids[i] != NC_REQ_NULL)
            status = err =
                pnc_error_set(io->file->error, NC_EINVAL_REQUEST, "request %d is not pending", named->ids[i]);
        if (named->statuses != NULL)
            named->statuses[i] = status;
    }
    sort(&b->puts);
    sort(&b->gets);
    return err;
}

static int take_requests(pnc_batch *b, pnc_io_context *io, const pnc_request_ids *named)
{
    int count = named->count;

    if (count == NC_REQ_ALL || count == NC_GET_REQ_ALL || count == NC_PUT_REQ_ALL)
        return take_all(b, io, count);
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

    *b = (pnc_batch){.puts = {.direction = PNC_PUT, .collective = collective},
                     .gets = {.direction = PNC_GET, .collective = collective}};
    err = take_requests(b, io, named);
    b->any_puts = b->puts.n > 0;
    b->any_gets = b->gets.n > 0;
    return err;
}

void pnc_io_batch_free(pnc_batch *b, pnc_io_context *io)
{
    for (int64_t i = 0; i < b->puts.n; i++)
        pnc_io_queue_release(io, b->puts.at[i]);
    for (int64_t i = 0; i < b->gets.n; i++)
        pnc_io_queue_release(io, b->gets.at[i]);
    pnc_memory_free(b->memory);
}

int pnc_io_batch_agree(pnc_batch *b, pnc_io_context *io)
{
    int64_t any[2] = {b->any_puts, b->any_gets};

    PNC_TRY(pnc_file_maxima_agree(io->file, any, 2, "whether requests are pending"));
    b->any_puts = any[0] != 0;
    b->any_gets = any[1] != 0;
    return NC_NOERR;
}

void pnc_io_batch_return(pnc_batch *b, pnc_io_context *io, const pnc_request_ids *named, int err)
{
    for (int64_t i = 0; i < b->puts.n; i++)
        pnc_io_queue_return(io->queue, b->puts.at[i]);
    for (int64_t i = 0; i < b->gets.n; i++)
        pnc_io_queue_return(io->queue, b->gets.at[i]);
    b->puts.n = b->gets.n = 0;
    for (int i = 0; named->ids != NULL && named->statuses != NULL && i < named->count; i++)
        named->statuses[i] = err;
}

/* The request with an id, or NULL. */
static const pnc_request *find(const pnc_request_list *list, int id)
{
    pnc_request key = {.id = id}, *at = &key, **found = NULL;

    if (list->n > 0)
        found = bsearch(&at, list->at, (size_t)list->n, sizeof at, compare_ids);
    return found != NULL ? *found : NULL;
}

void pnc_io_batch_report(const pnc_batch *b, const pnc_request_ids *named, int put_err, int get_err)
{
    if (named->ids == NULL || b->memory == NULL)
        return;
    for (int i = 0; i < named->count; i++) {
        const pnc_request *put = find(&b->puts, named->ids[i]), *get = find(&b->gets, named->ids[i]);
        int status = put_err; /* values of a put out of range were reported when it was posted */

        if (put == NULL && get == NULL)
            continue;
        if (put == NULL)
            status = pnc_error_keep_first(get_err, get->status);
        if (named->statuses != NULL && named->statuses[i] == NC_NOERR) /* a repeated id keeps its error */
            named->statuses[i] = status;
        named->ids[i] = NC_REQ_NULL;
    }
}
