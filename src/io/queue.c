/* Nonblocking requests: posted by iput, iget and bput; executed by wait and wait_all. */
#include "io/queue.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dataset/modes.h"
#include "io/transfer.h"

/* Some programs reuse the buffer of an iput before they wait, for example a loop that posts its index. Small puts
 * are therefore packed when they are posted: the file gets the value at the time of the iput, as with PnetCDF 1.12
 * (measured: up to 4096 bytes). A packed put costs a copy of its bytes, in memory that is touched for the first
 * time. This is small compared with the cost of the request up to TINY_PUT bytes. Larger puts, up to SMALL_PUT, are
 * packed while all pending ones occupy at most MOST_KEPT bytes. CPU time to post and wait, ns (1 rank, in the order
 * of the file, without packing / all packed): 32 bytes 730 / 860, 256 bytes 1030 / 1370, 4096 bytes 7000 / 12500. */
#define TINY_PUT 64
#define SMALL_PUT 4096
#define MOST_KEPT (1 << 20)

int pnc_io_queue_init(pnc_dataset *ds)
{
    ds->queue = pnc_memory_alloc_zeroed(1, sizeof *ds->queue);
    if (ds->queue == NULL)
        return NC_ENOMEM;
    ds->queue->buffer_size = -1;
    return NC_NOERR;
}

/* --- posting --- */

/* Ensure capacity for one more entry. Ids restart at 0 when no request is pending. */
static int reserve_entry(pnc_dataset *ds)
{
    pnc_queue *q = ds->queue;

    if (q->pending == 0)
        q->n = q->next_id = 0;
    if (q->next_id == INT_MAX)
        return pnc_error_set(&ds->error, NC_EINTOVERFLOW,
                             "%s: all %d request ids are in use: complete all pending "
                             "requests, then ids restart at 0",
                             ds->path, INT_MAX);
    if (q->n == q->capacity) {
        int64_t kept = 0, capacity = q->capacity == 0 ? 64 : 2 * q->capacity;
        pnc_queue_entry *larger;

        for (int64_t i = 0; i < q->n; i++) /* remove completed entries before growing */
            if (q->entries[i].request != NULL)
                q->entries[kept++] = q->entries[i];
        q->n = kept;
        if (kept > q->capacity / 2 || q->capacity == 0) {
            larger = pnc_memory_resize(q->entries, capacity, sizeof *larger);
            if (larger == NULL)
                return pnc_error_set(&ds->error, NC_ENOMEM, "no memory to post a request");
            q->entries = larger;
            q->capacity = capacity;
        }
    }
    return NC_NOERR;
}

static void enter(pnc_queue *q, pnc_request *r)
{
    r->id = q->next_id++;
    q->entries[q->n++] = (pnc_queue_entry){r->id, r};
    q->pending++;
}

static void release(pnc_queue *q, pnc_request *r)
{
    pnc_io_request_free(r);
    pnc_arena_free(&q->arena, r);
}

/* Free a request that is completed, cancelled, or was never posted. */
static void drop(pnc_dataset *ds, pnc_request *r)
{
    if (r->external)
        *(r->buffered ? &ds->queue->buffer_used : &ds->queue->kept) -= pnc_io_request_count_bytes(ds, r);
    release(ds->queue, r);
}

/* Convert block by block and discard the result: NC_ERANGE is reported by the iput, though the values are converted
 * again when the request is executed. */
static int try_conversion(pnc_dataset *ds, pnc_request *r)
{
    char block[4096];
    pnc_packer packer;
    int err = pnc_io_request_init_packer(ds, r, &packer);

    for (int64_t left = r->elements, n; err == NC_NOERR && left > 0; left -= n) {
        n = (int64_t)sizeof block / packer.ext_size;
        n = n < left ? n : left;
        pnc_convert_packer_pack(&packer, block, n);
    }
    r->status = err == NC_NOERR ? packer.status : NC_NOERR;
    pnc_convert_packer_free(&packer);
    return err;
}

static bool may_not_fit(const pnc_dataset *ds, const pnc_request *r)
{
    int type = ds->model.vars[r->varid]->type;

    return r->mem != pnc_type_get_mem_type(type) && !(r->mem == PNC_LONG && type == NC_INT64 && sizeof(long) == 8);
}

/* Pack the values of a put into external bytes, stored behind the request in the arena. The user's buffer may then
 * be reused. */
static int keep_values(pnc_dataset *ds, pnc_request **request)
{
    pnc_queue *q = ds->queue;
    pnc_request *r = *request;
    int64_t bytes = pnc_io_request_count_bytes(ds, r), numbers = r->nslabs * r->ndims * (r->strided ? 3 : 2);
    pnc_packer packer;
    char *values;
    int err;

    r = pnc_arena_grow(&q->arena, r, (int64_t)sizeof *r + numbers * (int64_t)sizeof(int64_t) + bytes);
    if (r == NULL)
        return pnc_error_set(&ds->error, NC_ENOMEM, "no memory for the %lld bytes of a request", (long long)bytes);
    *request = r;
    r->numbers = (int64_t *)(r + 1);
    values = (char *)(r->numbers + numbers);
    err = pnc_io_request_init_packer(ds, r, &packer);
    if (err == NC_NOERR)
        pnc_convert_packer_pack(&packer, values, r->elements);
    r->status = packer.status;
    pnc_convert_packer_free(&packer);
    if (err != NC_NOERR)
        return err;
    pnc_io_request_free(r);
    r->memory = values;
    r->external = true;
    return NC_NOERR;
}

static int keep_in_buffer(pnc_dataset *ds, pnc_request **request)
{
    pnc_queue *q = ds->queue;
    int64_t bytes = pnc_io_request_count_bytes(ds, *request), left = q->buffer_size - q->buffer_used;
    int err;

    if (bytes > left)
        return pnc_error_set(&ds->error, NC_EINSUFFBUF,
                             "the request needs %lld bytes, but the attached buffer has "
                             "%lld bytes left: wait for pending requests, or attach a larger buffer",
                             (long long)bytes, (long long)left);
    err = keep_values(ds, request);
    if (err != NC_NOERR)
        return err;
    (*request)->buffered = true;
    q->buffer_used += bytes;
    return NC_NOERR;
}

/* Pack the values of a small iput; only check the range of larger ones. */
static int keep_or_try(pnc_dataset *ds, pnc_request **request)
{
    pnc_queue *q = ds->queue;
    int64_t bytes = pnc_io_request_count_bytes(ds, *request);
    int err;

    if (bytes > SMALL_PUT || (bytes > TINY_PUT && q->kept + bytes > MOST_KEPT))
        return may_not_fit(ds, *request) ? try_conversion(ds, *request) : NC_NOERR;
    err = keep_values(ds, request);
    if (err == NC_NOERR)
        q->kept += bytes;
    return err;
}

static int make_request(pnc_dataset *ds, const pnc_call *call, pnc_request **request)
{
    int64_t numbers = pnc_io_request_count_numbers(ds, call);
    pnc_request *r = pnc_arena_alloc(&ds->queue->arena, (int64_t)sizeof *r + numbers * (int64_t)sizeof(int64_t));
    int err;

    if (r == NULL)
        return pnc_error_set(&ds->error, NC_ENOMEM, "no memory to post a request");
    *request = r;
    err = pnc_io_request_init(ds, call, (int64_t *)(r + 1), r);
    if (err != NC_NOERR || r->elements == 0)
        return err;
    if (call->op == PNC_OP_BPUT)
        return keep_in_buffer(ds, request);
    return r->way == PNC_PUT ? keep_or_try(ds, request) : NC_NOERR;
}

static int need_buffer(pnc_dataset *ds)
{
    return ds->queue->buffer_size >= 0 ? NC_NOERR
                                       : pnc_error_set(&ds->error, NC_ENULLABUF,
                                                       "no buffer is attached: "
                                                       "call ncmpi_buffer_attach first");
}

int pnc_io_call_post(pnc_dataset *ds, const pnc_call *call)
{
    pnc_request *r = NULL;
    int err = pnc_io_call_get_way(call) == PNC_PUT ? pnc_dataset_mode_check_write(ds) : NC_NOERR;

    if (call->reqid != NULL)
        *call->reqid = NC_REQ_NULL;
    if (err == NC_NOERR && call->op == PNC_OP_BPUT && ds->queue->buffer_size < 0) {
        err = pnc_io_request_check_target(ds, call);
        if (err == NC_NOERR)
            err = need_buffer(ds);
    }
    if (err == NC_NOERR)
        err = make_request(ds, call, &r);
    if (err == NC_NOERR && r->elements > 0)
        err = reserve_entry(ds);
    if (err != NC_NOERR || r->elements == 0) { /* a request for no elements completes at once */
        if (r != NULL)
            drop(ds, r);
        return err;
    }
    enter(ds->queue, r);
    if (call->reqid != NULL)
        *call->reqid = r->id;
    return r->way == PNC_PUT ? pnc_io_request_report_status(ds, r) : NC_NOERR;
}

/* --- finding --- */

static pnc_queue_entry *find(pnc_queue *q, int id)
{
    int64_t low = 0, high = q->n;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (q->entries[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < q->n && q->entries[low].id == id && q->entries[low].request != NULL ? &q->entries[low] : NULL;
}

static bool is_meant(int count, const pnc_request *r)
{
    return count == NC_REQ_ALL || (r->way == PNC_PUT ? count == NC_PUT_REQ_ALL : count == NC_GET_REQ_ALL);
}

/* The requests of a wait or cancel call, removed from the queue, each kind in the order of posting: puts at the
 * front of the list, gets at the back. */
typedef struct batch {
    pnc_request **list;
    int64_t puts, gets, capacity;
} batch;

static int compare_entries(const void *a, const void *b)
{
    int x = (*(pnc_request *const *)a)->id, y = (*(pnc_request *const *)b)->id;

    return (x > y) - (x < y);
}

static void take(pnc_queue *q, pnc_queue_entry *entry, batch *b)
{
    pnc_request *r = entry->request;

    if (r->way == PNC_PUT)
        b->list[b->puts++] = r;
    else
        b->list[b->capacity - ++b->gets] = r;
    entry->request = NULL;
    q->pending--;
}

static void put_in_order(batch *b)
{
    pnc_request **gets = b->list + (b->capacity - b->gets);

    if (b->puts > 1)
        qsort(b->list, (size_t)b->puts, sizeof *b->list, compare_entries);
    if (b->gets > 1)
        qsort(gets, (size_t)b->gets, sizeof *gets, compare_entries);
}

static int make_batch(pnc_dataset *ds, int64_t capacity, batch *b)
{
    *b = (batch){pnc_memory_alloc(capacity, sizeof *b->list), 0, 0, capacity};
    return b->list != NULL
               ? NC_NOERR
               : pnc_error_set(&ds->error, NC_ENOMEM, "no memory for a list of %lld requests", (long long)capacity);
}

/* Take all requests that NC_REQ_ALL, NC_PUT_REQ_ALL or NC_GET_REQ_ALL selects. */
static int take_all(pnc_dataset *ds, int count, batch *b)
{
    pnc_queue *q = ds->queue;
    int err = make_batch(ds, q->pending, b);

    for (int64_t i = 0; err == NC_NOERR && i < q->n; i++)
        if (q->entries[i].request != NULL && is_meant(count, q->entries[i].request))
            take(q, &q->entries[i], b);
    if (err == NC_NOERR) /* take() stored the gets in descending order of ids */
        for (int64_t low = b->capacity - b->gets, high = b->capacity - 1; low < high; low++, high--) {
            pnc_request *swap = b->list[low];

            b->list[low] = b->list[high];
            b->list[high] = swap;
        }
    return err;
}

/* Take the requests with the given ids. An id that is not pending is an error, but the other requests are still
 * taken. */
static int take_named(pnc_dataset *ds, int count, const int *ids, int *statuses, batch *b)
{
    int err = make_batch(ds, count, b), wrong = NC_NOERR;

    for (int i = 0; err == NC_NOERR && i < count; i++) {
        pnc_queue_entry *entry = find(ds->queue, ids[i]);

        if (statuses != NULL)
            statuses[i] = NC_NOERR;
        if (ids[i] == NC_REQ_NULL)
            continue;
        if (entry != NULL) {
            take(ds->queue, entry, b);
            continue;
        }
        wrong = pnc_error_set(&ds->error, NC_EINVAL_REQUEST, "request %d is not pending", ids[i]);
        if (statuses != NULL)
            statuses[i] = wrong;
    }
    if (err == NC_NOERR)
        put_in_order(b);
    return err != NC_NOERR ? err : wrong;
}

static int take_batch(pnc_dataset *ds, int count, const int *ids, int *statuses, batch *b)
{
    *b = (batch){NULL, 0, 0, 0};
    if (count == NC_REQ_ALL || count == NC_GET_REQ_ALL || count == NC_PUT_REQ_ALL)
        return take_all(ds, count, b);
    if (count < 0 || (count > 0 && ids == NULL))
        return pnc_error_set(&ds->error, NC_EINVAL,
                             "the number of requests is %d: it must not be negative, and the "
                             "array of requests must not be NULL",
                             count);
    return count == 0 ? NC_NOERR : take_named(ds, count, ids, statuses, b);
}

/* --- waiting --- */

/* Set the status of each request that the call names, and its id to NC_REQ_NULL. Executed requests are found by
 * their ids. */
static void report_statuses(const batch *b, int count, int *ids, int *statuses, int put_err, int get_err)
{
    for (int i = 0; i < count; i++) {
        pnc_request key = {.id = ids[i]}, *at = &key, **gets = b->list + (b->capacity - b->gets);
        pnc_request **put = b->puts == 0 ? NULL : bsearch(&at, b->list, (size_t)b->puts, sizeof at, compare_entries);
        pnc_request **get = b->gets == 0 ? NULL : bsearch(&at, gets, (size_t)b->gets, sizeof at, compare_entries);

        if (put == NULL && get == NULL)
            continue;
        /* a repeated id keeps its error; values of a put out of range were reported when it was posted */
        if (statuses != NULL && statuses[i] == NC_NOERR)
            statuses[i] = put != NULL ? put_err : get_err != NC_NOERR ? get_err : (*get)->status;
        ids[i] = NC_REQ_NULL;
    }
}

static int first_outcome(pnc_dataset *ds, pnc_request **list, int64_t n)
{
    int err = NC_NOERR;

    for (int64_t i = 0; i < n && err == NC_NOERR; i++)
        err = pnc_io_request_report_status(ds, list[i]);
    return err;
}

/* Set any[0] if any rank has puts, any[1] if any rank has gets: a direction without requests on all ranks needs no
 * collective call. */
static int agree_directions(pnc_dataset *ds, const batch *b, int any[2])
{
    any[0] = b->puts > 0;
    any[1] = b->gets > 0;
    if (ds->nprocs > 1 && MPI_Allreduce(MPI_IN_PLACE, any, 2, MPI_INT, MPI_MAX, ds->comm) != MPI_SUCCESS)
        return pnc_error_set(&ds->error, NC_EMPI,
                             "%s: MPI_Allreduce failed before the pending requests "
                             "were executed",
                             ds->path);
    return NC_NOERR;
}

static int wait_for(pnc_dataset *ds, bool collective, int count, int *ids, int *statuses)
{
    batch b;
    int err = take_batch(ds, count, ids, statuses, &b), any[2] = {b.puts > 0, b.gets > 0};
    int put_err = NC_NOERR, get_err = NC_NOERR, late = collective ? agree_directions(ds, &b, any) : NC_NOERR;
    pnc_request **gets = b.list == NULL ? NULL : b.list + (b.capacity - b.gets);

    if (any[0] && late == NC_NOERR)
        put_err = pnc_io_requests_transfer(ds, PNC_PUT, collective, b.list, b.puts);
    if (any[1] && late == NC_NOERR)
        get_err = pnc_io_requests_transfer(ds, PNC_GET, collective, gets, b.gets);
    put_err = late != NC_NOERR ? late : put_err;
    get_err = late != NC_NOERR ? late : get_err;
    if (count > 0 && ids != NULL && b.list != NULL)
        report_statuses(&b, count, ids, statuses, put_err, get_err);
    err = err != NC_NOERR ? err : put_err != NC_NOERR ? put_err : get_err;
    if (err == NC_NOERR)
        err = first_outcome(ds, gets, b.gets);
    for (int64_t i = 0; i < b.puts; i++)
        drop(ds, b.list[i]);
    for (int64_t i = 0; i < b.gets; i++)
        drop(ds, gets[i]);
    pnc_memory_free(b.list);
    return err;
}

int pnc_dataset_wait(pnc_dataset *ds, int count, int *array_of_requests, int *array_of_statuses)
{
    int err = pnc_dataset_mode_check_independent(ds);

    return err != NC_NOERR ? err : wait_for(ds, false, count, array_of_requests, array_of_statuses);
}

int pnc_dataset_wait_all(pnc_dataset *ds, int count, int *array_of_requests, int *array_of_statuses)
{
    int err = pnc_dataset_mode_check_collective(ds);

    return err != NC_NOERR ? err : wait_for(ds, true, count, array_of_requests, array_of_statuses);
}

int pnc_dataset_cancel(pnc_dataset *ds, int num, int *reqs, int *statuses)
{
    batch b;
    int err = take_batch(ds, num, reqs, statuses, &b);

    if (num > 0 && reqs != NULL && b.list != NULL)
        report_statuses(&b, num, reqs, statuses, NC_NOERR, NC_NOERR);
    for (int64_t i = 0; i < b.puts; i++)
        drop(ds, b.list[i]);
    for (int64_t i = 0; i < b.gets; i++)
        drop(ds, b.list[b.capacity - 1 - i]);
    pnc_memory_free(b.list);
    return err;
}

int pnc_dataset_inq_nreqs(pnc_dataset *ds, int *nreqs)
{
    if (nreqs != NULL)
        *nreqs = (int)ds->queue->pending;
    return NC_NOERR;
}

void pnc_io_queue_clear(pnc_dataset *ds, int64_t *puts, int64_t *gets)
{
    pnc_queue *q = ds->queue;

    *puts = *gets = 0;
    for (int64_t i = 0; i < q->n; i++) {
        if (q->entries[i].request == NULL)
            continue;
        ++*(q->entries[i].request->way == PNC_PUT ? puts : gets);
        release(q, q->entries[i].request); /* its variable may be undefined, so drop() cannot be used */
    }
    q->n = q->pending = 0;
    q->buffer_used = q->kept = 0;
}

void pnc_io_queue_free(pnc_dataset *ds)
{
    int64_t puts, gets;

    if (ds->queue == NULL)
        return;
    pnc_io_queue_clear(ds, &puts, &gets);
    pnc_arena_destroy(&ds->queue->arena);
    pnc_memory_free(ds->queue->entries);
    pnc_memory_free(ds->queue);
    ds->queue = NULL;
}

/* --- attached buffer: an upper bound on the bytes of pending buffered puts --- */

int pnc_dataset_buffer_attach(pnc_dataset *ds, MPI_Offset bufsize)
{
    if (bufsize <= 0)
        return pnc_error_set(&ds->error, NC_ENULLBUF, "bufsize is %lld: must be at least 1", (long long)bufsize);
    if (ds->queue->buffer_size >= 0)
        return pnc_error_set(&ds->error, NC_EPREVATTACHBUF,
                             "a buffer of %lld bytes is already attached: detach it "
                             "first",
                             (long long)ds->queue->buffer_size);
    ds->queue->buffer_size = bufsize;
    ds->queue->buffer_used = 0;
    return NC_NOERR;
}

int pnc_dataset_buffer_detach(pnc_dataset *ds)
{
    int err = need_buffer(ds);

    if (err == NC_NOERR && ds->queue->buffer_used > 0)
        err = pnc_error_set(&ds->error, NC_EPENDINGBPUT, "buffered puts of %lld bytes are pending: wait for them first",
                            (long long)ds->queue->buffer_used);
    if (err == NC_NOERR)
        ds->queue->buffer_size = -1;
    return err;
}

int pnc_dataset_inq_buffer_usage(pnc_dataset *ds, MPI_Offset *usage)
{
    int err = usage == NULL ? NC_NOERR : need_buffer(ds); /* measured: with a NULL argument only ncid is checked */

    if (err == NC_NOERR && usage != NULL)
        *usage = ds->queue->buffer_used;
    return err;
}

int pnc_dataset_inq_buffer_size(pnc_dataset *ds, MPI_Offset *buf_size)
{
    int err = buf_size == NULL ? NC_NOERR : need_buffer(ds);

    if (err == NC_NOERR && buf_size != NULL)
        *buf_size = ds->queue->buffer_size;
    return err;
}
