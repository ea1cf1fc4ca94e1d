/* The lists and windows of a delegate. */
#include "io/mpi_io/delegate.h"

#include <assert.h>

#include "base/memory.h"
#include "io/order/file_order.h"

/* --- memory and file --- */

/* The first rank of a delegate is the lowest one that pnc_io_delegate_find assigns to it. */
static int first_rank(const pnc_node *node, int delegate)
{
    return (int)((int64_t)delegate * node->nprocs / node->ndelegates);
}

int pnc_io_delegate_init(pnc_delegate *d, pnc_file *file, const pnc_node *node, const pnc_domain_shape *shape)
{
    *d = (pnc_delegate){.node = node, .info = MPI_INFO_NULL, .striping_unit = shape->striping_unit};
    assert(shape->naggregators > 0 && shape->buffer > 0);
    d->max_span = shape->buffer * (shape->naggregators < node->nnodes ? shape->naggregators : node->nnodes);
    d->first = first_rank(node, node->rank);
    d->n = first_rank(node, node->rank + 1) - d->first;
    d->heap = pnc_memory_alloc(d->n, sizeof *d->heap);
    d->cursors = pnc_memory_alloc(d->n, sizeof *d->cursors);
    if (d->heap == NULL || d->cursors == NULL)
        return pnc_error_set(file->error, NC_ENOMEM, "%s: no memory for a list of %d ranks", file->path, d->n);
    PNC_TRY(pnc_file_hints_create(file, &d->info));
    return pnc_io_access_list_init(&d->list, file, shape->buffer);
}

void pnc_io_delegate_free(pnc_delegate *d)
{
    pnc_io_access_list_free(&d->list);
    pnc_memory_free(d->cursors);
    pnc_memory_free(d->heap);
    if (d->info != MPI_INFO_NULL)
        MPI_Info_free(&d->info);
    *d = (pnc_delegate){0};
}

int pnc_io_delegate_file_open(pnc_delegate *d, const pnc_file *file)
{
    return pnc_file_open_again(file, d->node->delegates, d->info, &d->file);
}

int pnc_io_delegate_file_close(pnc_delegate *d)
{
    return d->file.store != NULL ? pnc_file_close_again(&d->file) : NC_NOERR;
}

static void check_delegate(pnc_delegate *d, int code)
{
    if (code != MPI_SUCCESS)
        d->err = pnc_error_keep_first(
            d->err, pnc_error_set(d->file.error, NC_EMPI, "%s: an MPI call of the delegates failed", d->file.path));
}

/* --- a call --- */

void pnc_io_delegate_start(pnc_delegate *d, pnc_direction direction)
{
    int64_t low = PNC_END_OF_ORDER, high = 0, before = 0;
    int ascends;

    assert(d->list.n == 0);
    d->direction = direction;
    d->rest.length = 0;
    d->err = NC_NOERR;
    for (int rank = d->first; rank < d->first + d->n; rank++) {
        const pnc_segment_call *range = &d->node->segments[rank]->call;

        if (range->low == range->high)
            continue;
        low = range->low < low ? range->low : low;
        high = range->high > high ? range->high : high;
    }
    check_delegate(d, MPI_Exscan(&high, &before, 1, MPI_INT64_T, MPI_MAX, d->node->delegates));
    if (d->file.rank == 0) /* MPI leaves it undefined */
        before = 0;
    ascends = low >= before;
    check_delegate(d, MPI_Allreduce(&ascends, &d->is_disjoint, 1, MPI_INT, MPI_MIN, d->node->delegates));
}

/* --- merging --- */

/* The lowest file offset of a rank's pieces that are not in the list. */
static int64_t next_of(const pnc_delegate *d, int rank)
{
    const pnc_segment *segment = d->node->segments[rank];
    const pnc_part *pending = &segment->parts[PNC_PART_PENDING];

    return pending->nextents > 0 ? segment->extents[pending->extent].offset : segment->next;
}

static bool is_rank_before(const pnc_delegate *d, int a, int b)
{
    int64_t x = next_of(d, a), y = next_of(d, b);

    return x != y ? x < y : a < b;
}

static void sift_rank_down(pnc_delegate *d, int i)
{
    for (int child; 2 * i + 1 < d->nheap; i = child) {
        int rank = d->heap[i];

        child = 2 * i + 1;
        if (child + 1 < d->nheap && is_rank_before(d, d->heap[child + 1], d->heap[child]))
            child++;
        if (!is_rank_before(d, d->heap[child], rank))
            return;
        d->heap[i] = d->heap[child];
        d->heap[child] = rank;
    }
}

/* Move the rank's next pending piece to the list. Pieces of gets may overlap: if the list has space for the front of
 * one only, the next one may begin before the rest, so the rest does not stay in the segment. */
static void append_piece(pnc_delegate *d, int rank)
{
    pnc_segment *segment = d->node->segments[rank];
    pnc_part *pending = &segment->parts[PNC_PART_PENDING];
    pnc_extent piece = segment->extents[pending->extent];
    int64_t length = pnc_io_access_list_append(&d->list, piece);

    if (piece.length - length > d->rest.length)
        d->rest = (pnc_extent){piece.offset + length, piece.length - length};
    pending->extent++;
    pending->nextents--;
}

/* The rest of pieces begins where the list ended, before all other pieces. */
void pnc_io_delegate_merge(pnc_delegate *d)
{
    bool known = true; /* the piece that comes next is in a segment */

    if (d->rest.length > 0 && pnc_io_access_list_has_space(&d->list)) {
        int64_t length = pnc_io_access_list_append(&d->list, d->rest);

        d->rest.offset += length;
        d->rest.length -= length;
    }
    d->nheap = 0;
    for (int rank = d->first; rank < d->first + d->n; rank++)
        if (next_of(d, rank) != PNC_END_OF_ORDER)
            d->heap[d->nheap++] = rank;
    for (int i = d->nheap / 2; i >= 0; i--)
        sift_rank_down(d, i);
    while (d->nheap > 0 && known) {
        int rank = d->heap[0];

        if (!pnc_io_access_list_has_space(&d->list) && next_of(d, rank) >= pnc_io_access_list_get_end(&d->list))
            break;
        known = d->node->segments[rank]->parts[PNC_PART_PENDING].nextents > 0;
        if (known)
            append_piece(d, rank);
        if (next_of(d, rank) == PNC_END_OF_ORDER)
            d->heap[0] = d->heap[--d->nheap];
        sift_rank_down(d, 0);
    }
    pnc_io_node_get_segment(d->node)->call.wants_more = !known;
}

/* --- windows --- */

/* Below the lowest next offset, the lists are complete. If the ranges of the delegates ascend, windows of their own are
 * enough: with common ones, most delegates would have no part in a window. A window ends at a stripe, so that the
 * stripe is accessed once, unless nothing would be left. */
void pnc_io_delegate_window_agree(pnc_delegate *d, int64_t high)
{
    pnc_segment_call *call = &pnc_io_node_get_segment(d->node)->call;
    int64_t next = d->nheap > 0 ? next_of(d, d->heap[0]) : PNC_END_OF_ORDER; /* the lowest piece not in the list */
    int64_t own[2] = {d->list.n > 0 ? d->list.extents[0].offset : PNC_END_OF_ORDER,
                      d->rest.length > 0 ? d->rest.offset : next};
    int64_t lowest[2] = {PNC_END_OF_ORDER, PNC_END_OF_ORDER}, *offsets = d->is_disjoint ? own : lowest;
    int64_t limit, aligned;

    check_delegate(d, MPI_Allreduce(own, lowest, 2, MPI_INT64_T, MPI_MIN, d->node->delegates));
    limit = offsets[1] < high ? offsets[1] : high;
    if (!d->is_disjoint && offsets[0] < limit - d->max_span)
        limit = offsets[0] + d->max_span;
    aligned = limit / d->striping_unit * d->striping_unit;
    if (limit < high && aligned > offsets[0])
        limit = aligned;
    call->limit = limit;
    call->is_last = lowest[1] == PNC_END_OF_ORDER && (d->is_disjoint || limit == high);
    d->in_window = pnc_io_access_list_find_end(&d->list, limit);
    for (int i = 0; i < d->n; i++)
        d->cursors[i] = (pnc_list_cursor){0, 0};
}

void pnc_io_delegate_window_transfer(pnc_delegate *d)
{
    int64_t n = d->err == NC_NOERR ? d->in_window : 0;
    int err;

    if (d->direction == PNC_PUT)
        err = pnc_file_extents_write_all(&d->file, d->list.extents, n, d->list.bytes);
    else
        err = pnc_file_extents_read_all(&d->file, d->list.extents, n, d->list.bytes);
    d->err = pnc_error_keep_first(d->err, err);
    pnc_io_node_get_segment(d->node)->call.status = d->err;
}

/* After an error of one of its ranks, whose bytes are missing, a delegate takes part without extents. */
void pnc_io_delegate_window_copy(pnc_delegate *d)
{
    for (int i = 0; i < d->n; i++) {
        pnc_segment *segment = d->node->segments[d->first + i];
        const pnc_part *wanted = &segment->parts[PNC_PART_WANTED];

        if (d->err == NC_NOERR && segment->status != NC_NOERR)
            d->err = pnc_error_set_remote(d->file.error, segment->status, "%s: a rank of the node failed: %s",
                                          d->file.path, pnc_error_get_text(segment->status));
        if (d->err == NC_NOERR)
            pnc_io_access_list_copy(&d->list, d->direction, &d->cursors[i], segment->extents + wanted->extent,
                                    wanted->nextents, segment->bytes);
    }
}

void pnc_io_delegate_window_end(pnc_delegate *d)
{
    pnc_io_access_list_remove(&d->list, d->in_window);
}
