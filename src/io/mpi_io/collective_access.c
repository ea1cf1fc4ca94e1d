/* The ranks of a node in collective access of MPI-IO. */
#include "io/mpi_io/collective_access.h"

#include <string.h>

#include "base/memory.h"
#include "file/agree.h"
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

static int init_delegate(pnc_collective_access *x, const pnc_domain_shape *shape)
{
    if (!pnc_io_node_is_delegate(x->node))
        return NC_NOERR;
    x->delegate = pnc_memory_alloc_zeroed(1, sizeof *x->delegate);
    if (x->delegate == NULL)
        return pnc_error_set(x->io->file->error, NC_ENOMEM, "%s: no memory for collective access", x->io->file->path);
    return pnc_io_delegate_init(x->delegate, x->io->file, x->node, shape);
}

int pnc_io_collective_access_create(pnc_io_context *io, const pnc_node *node, const pnc_domain_shape *shape,
                                    pnc_collective_access **out)
{
    pnc_collective_access *x = pnc_memory_alloc_zeroed(1, sizeof *x);
    int err;

    if (!io->file->store->has_collective) {
        err = pnc_error_set(io->file->error, NC_ENOTSUPPORT, "%s: no collective access", io->file->path);
    } else if (x == NULL) {
        err = pnc_error_set(io->file->error, NC_ENOMEM, "%s: no memory for collective access", io->file->path);
    } else {
        x->io = io;
        x->node = node;
        err = init_delegate(x, shape);
    }
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
    int code = MPI_Win_sync(x->node->window);

    code |= MPI_Barrier(x->node->comm);
    code |= MPI_Win_sync(x->node->window);
    pnc_statistics_end(statistics, before);
    if (code != MPI_SUCCESS)
        x->err = pnc_error_keep_first(x->err, pnc_error_set(x->io->file->error, NC_EMPI,
                                                            "%s: an MPI call of the ranks of a node failed",
                                                            x->io->file->path));
}

static void start_segment(pnc_collective_access *x)
{
    pnc_segment *segment = pnc_io_node_get_segment(x->node);

    segment->parts[PNC_PART_PENDING] = segment->parts[PNC_PART_WANTED] = (pnc_part){0};
    segment->window = (pnc_window){.low = x->order->low, .high = x->order->high};
    segment->status = NC_NOERR;
}

/* Pending pieces have the first half of the extents, wanted ones the second half and all bytes. */
static pnc_portion pending_portion(pnc_segment *segment)
{
    int n = segment->parts[PNC_PART_PENDING].nextents;

    return (pnc_portion){.extents = segment->extents + n,
                         .bytes = segment->bytes,
                         .max_extents = PNC_SEGMENT_PIECES - n,
                         .max_bytes = INT64_MAX};
}

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
    portion = pending_portion(segment);
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

/* Get: unpack the bytes of the wanted pieces, unless the delegate failed to read them (`status`). */
static void unpack_wanted(pnc_collective_access *x, int64_t limit, int status)
{
    pnc_portion portion = wanted_portion(pnc_io_node_get_segment(x->node));

    if (x->err == NC_NOERR && status != NC_NOERR)
        x->err = pnc_error_set_remote(x->io->file->error, status, "%s: a delegate failed to read: %s",
                                      x->io->file->path, pnc_error_get_text(status));
    if (x->err == NC_NOERR)
        x->err = pnc_io_file_order_take(&x->values, limit, PNC_VALUES_UNPACK, &portion);
}

/* --- a window --- */

static const pnc_window *window_of(const pnc_collective_access *x, int rank)
{
    return &x->node->segments[pnc_io_delegate_find(x->node, rank)]->window;
}

static bool is_more_wanted(const pnc_collective_access *x)
{
    for (int i = 0; i < x->node->ndelegates; i++)
        if (x->node->segments[i]->window.wants_more)
            return true;
    return false;
}

/* Move pieces to the lists of the delegates until the lists are full or no rank has more. */
static void fill_lists(pnc_collective_access *x)
{
    do {
        fill_pending(x);
        wait_node(x);
        if (x->delegate != NULL)
            pnc_io_delegate_merge(x->delegate);
        wait_node(x);
    } while (is_more_wanted(x));
}

/* Whether the segments of all ranks of the node have their last wanted pieces of the window. */
static bool is_window_complete(const pnc_collective_access *x)
{
    for (int rank = 0; rank < x->node->nprocs; rank++)
        if (x->node->segments[rank]->next < window_of(x, rank)->limit)
            return false;
    return true;
}

/* Between the memory of the ranks and the lists, portion by portion. */
static void exchange_window(pnc_collective_access *x, int64_t limit)
{
    bool complete;

    do {
        int status;

        fill_wanted(x, limit);
        wait_node(x);
        complete = is_window_complete(x);
        status = window_of(x, x->node->rank)->status;
        if (x->delegate != NULL)
            pnc_io_delegate_window_copy(x->delegate);
        wait_node(x);
        if (x->direction == PNC_GET)
            unpack_wanted(x, limit, status);
    } while (!complete);
}

/* Returns whether it was the last window. */
static bool run_window(pnc_collective_access *x, int64_t high)
{
    pnc_window window;

    fill_lists(x);
    if (x->delegate != NULL)
        pnc_io_delegate_window_agree(x->delegate, high);
    wait_node(x);
    window = *window_of(x, x->node->rank);
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

static void init_orders(pnc_collective_access *x)
{
    x->err = pnc_io_file_order_init_copy(&x->values, x->order);
    if (x->direction == PNC_GET)
        x->err = pnc_error_keep_first(x->err, pnc_io_file_order_init_copy(&x->wanted, x->order));
}

static void free_orders(pnc_collective_access *x)
{
    pnc_io_file_order_free(&x->values);
    if (x->direction == PNC_GET)
        pnc_io_file_order_free(&x->wanted);
}

int pnc_io_collective_access_execute(pnc_collective_access *x, pnc_file_order *order, pnc_range range)
{
    bool is_last = range.low >= range.high; /* no rank has requests */

    x->order = order;
    x->direction = order->list->direction;
    init_orders(x);
    start_segment(x);
    wait_node(x);
    if (x->delegate != NULL) {
        *x->delegate->file.store->end = *x->io->file->store->end;
        pnc_io_delegate_start(x->delegate, x->direction);
    }
    while (!is_last)
        is_last = run_window(x, range.high);
    free_orders(x);
    return x->delegate != NULL ? pnc_error_keep_first(x->delegate->err, x->err) : x->err;
}
