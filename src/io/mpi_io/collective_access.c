/* The ranks of a node in collective access of MPI-IO. */
#include "io/mpi_io/collective_access.h"

#include <string.h>

#include "base/memory.h"
#include "file/agree.h"
#include "io/execution.h"
#include "io/mpi_io/delegate.h"

struct pnc_collective_access {
    pnc_io_context *io;
    const pnc_node *node;
    pnc_delegate *delegate; /* NULL on ranks that are none */
    pnc_direction direction;
    pnc_file_order *order;
    pnc_file_order values; /* the same pieces, in which the values are packed or unpacked */
    pnc_file_order wanted; /* get: the same pieces, before their bytes are there */
    int err;               /* first error of this rank */
};

/* --- memory and file --- */

int pnc_io_collective_access_create(pnc_io_context *io, const pnc_node *node, const pnc_domain_shape *shape,
                                    pnc_collective_access **out)
{
    pnc_collective_access *x = pnc_memory_alloc_zeroed(1, sizeof *x);
    bool is_delegate = io->file->store->has_collective && pnc_io_node_is_delegate(node);
    int err = NC_NOERR;

    if (x != NULL) {
        x->io = io;
        x->node = node;
        x->delegate = is_delegate ? pnc_memory_alloc_zeroed(1, sizeof *x->delegate) : NULL;
    }
    if (!io->file->store->has_collective)
        err = pnc_error_set(io->file->error, NC_ENOTSUPPORT, "%s: no collective access", io->file->path);
    else if (x == NULL || (is_delegate && x->delegate == NULL))
        err = pnc_error_set(io->file->error, NC_ENOMEM, "%s: no memory for collective access", io->file->path);
    else if (is_delegate)
        err = pnc_io_delegate_init(x->delegate, io->file, node, shape);
    err = pnc_file_status_agree(io->file, err);
    if (err == NC_NOERR) {
        if (x->delegate != NULL)
            err = pnc_io_delegate_file_open(x->delegate, io->file);
        err = pnc_file_status_agree(io->file, err);
    }
    if (err != NC_NOERR) {
        (void)pnc_io_collective_access_free(x); /* the first error is the one to report */
        return err;
    }
    *out = x;
    return NC_NOERR;
}

int pnc_io_collective_access_free(pnc_collective_access *x)
{
    int err = NC_NOERR;

    if (x != NULL && x->delegate != NULL) {
        err = pnc_io_delegate_file_close(x->delegate);
        pnc_io_delegate_free(x->delegate);
        pnc_memory_free(x->delegate);
    }
    pnc_memory_free(x);
    return err;
}

/* --- a rank and its segment --- */

static void wait_node(pnc_collective_access *x)
{
    pnc_statistics *statistics = x->io->file->statistics;
    pnc_counter before = pnc_statistics_begin(statistics, PNC_COUNT_TIME_EXCHANGE);
    int code = MPI_Win_sync(x->node->shared);

    code |= MPI_Barrier(x->node->comm);
    code |= MPI_Win_sync(x->node->shared);
    pnc_statistics_end(statistics, before);
    if (code != MPI_SUCCESS)
        x->err = pnc_error_keep_first(x->err, pnc_error_set(x->io->file->error, NC_EMPI,
                                                            "%s: an MPI call of the ranks of a node failed",
                                                            x->io->file->path));
}

/* Pending pieces have the first half of the extents, wanted ones the second half and all bytes. */
static pnc_portion wanted_portion(pnc_segment *segment)
{
    return (pnc_portion){.extents = segment->extents + PNC_SEGMENT_PIECES,
                         .bytes = segment->bytes,
                         .max_extents = PNC_SEGMENT_PIECES,
                         .max_bytes = PNC_SEGMENT_BYTES};
}

/* Add this rank's next pieces behind the pending ones; after an error there are none. */
static void fill_pending(pnc_collective_access *x)
{
    pnc_segment *segment = pnc_io_node_get_segment(x->node);
    pnc_part *pending = &segment->parts[PNC_PART_PENDING];
    pnc_portion portion;

    memmove(segment->extents, segment->extents + pending->extent, (size_t)pending->nextents * sizeof(pnc_extent));
    pending->extent = 0;
    segment->next = PNC_END_OF_ORDER;
    portion = (pnc_portion){.extents = segment->extents + pending->nextents,
                            .bytes = segment->bytes,
                            .max_extents = PNC_SEGMENT_PIECES - pending->nextents,
                            .max_bytes = INT64_MAX};
    if (x->err == NC_NOERR)
        x->err = pnc_io_file_order_take(x->order, PNC_END_OF_ORDER, PNC_VALUES_KEEP, &portion);
    if (x->err != NC_NOERR)
        return;
    pending->nextents += (int)portion.nextents;
    segment->next = pnc_io_file_order_get_next(x->order);
}

/* The next portion of wanted pieces, of a put with their bytes; after an error it is empty. */
static void fill_wanted(pnc_collective_access *x, int64_t limit)
{
    pnc_segment *segment = pnc_io_node_get_segment(x->node);
    pnc_part *wanted = &segment->parts[PNC_PART_WANTED];
    pnc_file_order *order = x->direction == PNC_PUT ? &x->values : &x->wanted;
    pnc_portion portion = wanted_portion(segment);

    *wanted = (pnc_part){.extent = PNC_SEGMENT_PIECES};
    segment->next = PNC_END_OF_ORDER;
    if (x->err == NC_NOERR)
        x->err =
            pnc_io_file_order_take(order, limit, x->direction == PNC_PUT ? PNC_VALUES_PACK : PNC_VALUES_KEEP, &portion);
    segment->status = x->err;
    if (x->err != NC_NOERR)
        return;
    wanted->nextents = (int)portion.nextents;
    segment->next = pnc_io_file_order_get_next(order);
}

/* --- a window --- */

static const pnc_segment_call *find_segment_call(const pnc_collective_access *x, int rank)
{
    return &x->node->segments[pnc_io_delegate_find(x->node, rank)]->call;
}

/* Between the memory of the ranks and the lists, portion by portion, until the segments of all ranks of the node have
 * their last wanted pieces of the window. The bytes of a get are unpacked, unless the delegate failed to read them. */
static void exchange_window(pnc_collective_access *x, int64_t limit)
{
    pnc_portion portion = wanted_portion(pnc_io_node_get_segment(x->node));
    bool complete;

    do {
        int status;

        fill_wanted(x, limit);
        wait_node(x);
        complete = true;
        for (int rank = 0; rank < x->node->nprocs; rank++)
            complete = complete && x->node->segments[rank]->next >= find_segment_call(x, rank)->limit;
        status = find_segment_call(x, x->node->rank)->status;
        if (x->delegate != NULL)
            pnc_io_delegate_window_copy(x->delegate);
        wait_node(x);
        if (x->direction == PNC_PUT || x->err != NC_NOERR)
            continue;
        if (status != NC_NOERR)
            x->err = pnc_error_set_remote(x->io->file->error, status, "%s: a delegate failed to read: %s",
                                          x->io->file->path, pnc_error_get_text(status));
        else
            x->err = pnc_io_file_order_take(&x->values, limit, PNC_VALUES_UNPACK, &portion);
    } while (!complete);
}

/* Returns whether it was the last window. */
static bool run_window(pnc_collective_access *x, int64_t high)
{
    pnc_segment_call window;
    bool wants_more;

    do { /* move pieces to the lists of the delegates until the lists are full or no rank has more */
        fill_pending(x);
        wait_node(x);
        if (x->delegate != NULL)
            pnc_io_delegate_merge(x->delegate);
        wait_node(x);
        wants_more = false;
        for (int i = 0; i < x->node->ndelegates; i++)
            wants_more = wants_more || x->node->segments[i]->call.wants_more;
    } while (wants_more);
    if (x->delegate != NULL)
        pnc_io_delegate_window_agree(x->delegate, high);
    wait_node(x);
    window = *find_segment_call(x, x->node->rank);
    if (x->direction == PNC_PUT)
        exchange_window(x, window.limit);
    if (x->delegate != NULL)
        pnc_io_delegate_window_transfer(x->delegate);
    if (x->direction == PNC_GET)
        exchange_window(x, window.limit);
    if (x->delegate != NULL)
        pnc_io_delegate_window_end(x->delegate);
    return window.is_last;
}

/* --- interface --- */

int pnc_io_collective_access_execute(pnc_collective_access *x, pnc_file_order *order, pnc_range range)
{
    pnc_segment *segment = pnc_io_node_get_segment(x->node);
    bool is_last = range.low >= range.high; /* no rank has requests */

    x->order = order;
    x->direction = order->list->direction;
    x->err = pnc_io_file_order_init_copy(&x->values, order);
    if (x->direction == PNC_GET)
        x->err = pnc_error_keep_first(x->err, pnc_io_file_order_init_copy(&x->wanted, order));
    segment->parts[PNC_PART_PENDING] = segment->parts[PNC_PART_WANTED] = (pnc_part){0};
    segment->call = (pnc_segment_call){.low = order->low, .high = order->high};
    segment->status = NC_NOERR;
    wait_node(x);
    if (x->delegate != NULL) {
        *x->delegate->file.store->end = *x->io->file->store->end;
        pnc_io_delegate_start(x->delegate, x->direction);
    }
    while (!is_last)
        is_last = run_window(x, range.high);
    pnc_io_file_order_free(&x->values);
    if (x->direction == PNC_GET)
        pnc_io_file_order_free(&x->wanted);
    return x->delegate != NULL ? pnc_error_keep_first(x->delegate->err, x->err) : x->err;
}

/* --- the strategy mpi_io --- */

bool pnc_io_mpi_io_open(pnc_io_context *io, const pnc_node *node, int64_t buffer)
{
    pnc_domain_shape shape = {
        .naggregators = node->naggregators, .buffer = buffer, .striping_unit = pnc_io_context_get_striping_unit(io)};
    int err;

    if (io->collective_access != NULL || io->no_collective_access)
        return io->collective_access != NULL;
    err = pnc_io_collective_access_create(io, node, &shape, &io->collective_access);
    io->no_collective_access = err != NC_NOERR;
    if (err != NC_NOERR)
        pnc_error_clear(io->file->error);
    return err == NC_NOERR;
}

int pnc_io_mpi_io_execute(const pnc_execution *x)
{
    return pnc_io_collective_access_execute(x->io->collective_access, x->order, x->range);
}
