/* The rounds of two-phase I/O. */
#include "io/two_phase.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "file/agree.h"
#include "io/exchange.h"

/* On one node the buffer fits in a cache, as accesses are cheap; between nodes few large accesses are best. */
#define BUFFER_ONE_NODE (2 << 20)
#define BUFFER_NODES (16 << 20)
/* Where the file system reports no stripes. */
#define STRIPING_UNIT (1 << 20)

struct pnc_two_phase {
    pnc_io_context *io;
    pnc_node *node;
    pnc_collective_buffer buffer; /* of an aggregator */
    pnc_exchange exchange;
    pnc_extent *pieces; /* of a portion */
    pnc_file_domains domains;
    pnc_direction direction;
    pnc_file_order *order;
    pnc_file_order values; /* get: the same pieces, in which the values are unpacked */
    int err;               /* first error of this rank */
};

/* --- memory --- */

static int64_t buffer_size(const pnc_two_phase *x)
{
    int64_t size = x->node->nnodes == 1 ? BUFFER_ONE_NODE : BUFFER_NODES;

    return size < x->io->buffer_size ? size : x->io->buffer_size;
}

static int init(pnc_two_phase *x)
{
    x->pieces = pnc_memory_alloc(PNC_SEGMENT_PIECES, sizeof *x->pieces);
    if (x->pieces == NULL)
        return pnc_error_set(x->io->file->error, NC_ENOMEM, "%s: no memory for a list of pieces", x->io->file->path);
    if (pnc_io_node_is_aggregator(x->node))
        PNC_TRY(pnc_io_collective_buffer_init(&x->buffer, x->io->file, x->node->first + x->node->rank, buffer_size(x)));
    return pnc_io_exchange_init(&x->exchange, x->io->file, x->node, &x->buffer);
}

int pnc_io_two_phase_create(pnc_io_context *io, pnc_two_phase **out)
{
    pnc_two_phase *x = pnc_memory_alloc_zeroed(1, sizeof *x);
    pnc_aggregator_counts counts = {0, 0};
    int err = NC_NOERR;

    if (x == NULL)
        err = pnc_error_set(io->file->error, NC_ENOMEM, "%s: no memory for two-phase I/O", io->file->path);
    else
        x->io = io;
    err = pnc_file_status_agree(io->file, err);
    if (err == NC_NOERR)
        err = pnc_io_node_create(io->file, counts, &x->node);
    if (err == NC_NOERR) {
        err = init(x);
        err = pnc_file_status_agree(io->file, err);
    }
    if (err != NC_NOERR) {
        pnc_io_two_phase_free(x);
        return err;
    }
    *out = x;
    return NC_NOERR;
}

void pnc_io_two_phase_free(pnc_two_phase *x)
{
    if (x == NULL)
        return;
    pnc_io_exchange_free(&x->exchange);
    pnc_io_collective_buffer_free(&x->buffer);
    pnc_io_node_free(x->node);
    pnc_memory_free(x->pieces);
    pnc_memory_free(x);
}

/* --- a portion --- */

static int compare_parts(const void *a, const void *b)
{
    const pnc_part *x = a, *y = b;

    return x->aggregator != y->aggregator ? x->aggregator - y->aggregator : x->extent - y->extent;
}

/* Add a piece that lies in one block. */
static void add_extent(pnc_segment *segment, int aggregator, pnc_extent piece, int *extent, int *byte)
{
    pnc_part *part = segment->nparts > 0 ? &segment->parts[segment->nparts - 1] : NULL;

    if (part == NULL || part->aggregator != aggregator) {
        part = &segment->parts[segment->nparts++];
        *part = (pnc_part){.aggregator = aggregator, .extent = *extent, .byte = *byte};
    }
    segment->extents[(*extent)++] = piece;
    part->nextents++;
    part->nbytes += (int)piece.length;
    *byte += (int)piece.length;
}

/* Cut the pieces at the borders of blocks, and group them by aggregator. */
static void make_parts(const pnc_file_domains *domains, pnc_segment *segment, const pnc_portion *portion)
{
    int extent = 0, byte = 0;

    for (int64_t i = 0; i < portion->nextents; i++) {
        pnc_extent rest = portion->extents[i];

        while (rest.length > 0) {
            int64_t space = pnc_io_file_domains_get_block_end(domains, rest.offset) - rest.offset;
            pnc_extent piece = {rest.offset, rest.length < space ? rest.length : space};

            assert(extent < PNC_SEGMENT_EXTENTS);
            add_extent(segment, pnc_io_file_domains_find_aggregator(domains, rest.offset), piece, &extent, &byte);
            rest.offset += piece.length;
            rest.length -= piece.length;
        }
    }
    for (int i = 1; i < segment->nparts; i++)
        if (segment->parts[i].aggregator < segment->parts[i - 1].aggregator) {
            qsort(segment->parts, (size_t)segment->nparts, sizeof *segment->parts, compare_parts);
            return;
        }
}

static pnc_portion portion_of(pnc_two_phase *x)
{
    return (pnc_portion){.extents = x->pieces,
                         .bytes = pnc_io_node_get_segment(x->node)->bytes,
                         .max_extents = PNC_SEGMENT_PIECES,
                         .max_bytes = PNC_SEGMENT_BYTES};
}

/* The next portion of this rank's pieces in the window; after an error it is empty. */
static void fill_segment(pnc_two_phase *x)
{
    pnc_segment *segment = pnc_io_node_get_segment(x->node);
    pnc_value_action action = x->direction == PNC_PUT ? PNC_VALUES_PACK : PNC_VALUES_KEEP;
    pnc_portion portion = portion_of(x);

    segment->nparts = 0;
    segment->status = NC_NOERR;
    segment->next = PNC_END_OF_ORDER;
    if (x->err == NC_NOERR)
        x->err = pnc_io_file_order_take(x->order, pnc_io_file_domains_get_end(&x->domains), action, &portion);
    if (x->err != NC_NOERR)
        return;
    make_parts(&x->domains, segment, &portion);
    segment->next = pnc_io_file_order_get_next(x->order);
}

/* Get: unpack the bytes of the portion, unless an aggregator failed to read some of them. */
static void empty_segment(pnc_two_phase *x)
{
    pnc_segment *segment = pnc_io_node_get_segment(x->node);
    pnc_portion portion = portion_of(x);

    if (x->err == NC_NOERR && segment->status != NC_NOERR)
        x->err = pnc_error_set_remote(x->io->file->error, segment->status, "%s: an aggregator failed to read: %s",
                                      x->io->file->path, pnc_error_get_text(segment->status));
    if (x->err == NC_NOERR)
        x->err =
            pnc_io_file_order_take(&x->values, pnc_io_file_domains_get_end(&x->domains), PNC_VALUES_UNPACK, &portion);
}

/* The lowest file offset of the pieces that the ranks of the node have not yet passed on. */
static int64_t find_next_of_node(const pnc_two_phase *x)
{
    int64_t next = PNC_END_OF_ORDER;

    for (int i = 0; i < x->node->nprocs; i++)
        if (x->node->segments[i]->next < next)
            next = x->node->segments[i]->next;
    return next;
}

/* --- a round --- */

/* The lowest offset of all nodes. */
static void agree_next(pnc_two_phase *x, int64_t *next)
{
    if (x->node->nnodes == 1)
        return;
    if (pnc_io_node_is_delegate(x->node))
        pnc_io_exchange_finish_round(&x->exchange, next);
    if (MPI_Bcast(next, 1, MPI_INT64_T, 0, x->node->comm) != MPI_SUCCESS)
        x->err =
            pnc_error_keep_first(x->err, pnc_error_set(x->io->file->error, NC_EMPI,
                                                       "%s: MPI_Bcast of the next window failed", x->io->file->path));
}

/* All pieces of the window; *next is the lowest offset of those behind it. */
static void run_round(pnc_two_phase *x, int64_t *next)
{
    int64_t end = pnc_io_file_domains_get_end(&x->domains);

    if (pnc_io_node_is_aggregator(x->node))
        pnc_io_collective_buffer_start(&x->buffer, &x->domains);
    do {
        fill_segment(x);
        pnc_io_exchange_wait_node(&x->exchange);
        *next = find_next_of_node(x);
        if (pnc_io_node_is_delegate(x->node))
            pnc_io_exchange_send(&x->exchange);
        pnc_io_exchange_wait_node(&x->exchange);
        if (x->direction == PNC_GET)
            empty_segment(x);
    } while (*next < end);
    agree_next(x, next);
    if (x->direction == PNC_PUT && pnc_io_node_is_aggregator(x->node))
        x->err = pnc_error_keep_first(x->err, pnc_io_collective_buffer_write(&x->buffer));
}

static pnc_domain_shape shape_of(const pnc_two_phase *x)
{
    return (pnc_domain_shape){
        .naggregators = x->node->naggregators, .buffer = buffer_size(x), .striping_unit = STRIPING_UNIT};
}

int pnc_io_two_phase_execute(pnc_two_phase *x, pnc_file_order *order, int64_t low, int64_t high)
{
    pnc_domain_shape shape = shape_of(x);
    int64_t next = low;

    x->order = order;
    x->direction = order->list->direction;
    x->err = NC_NOERR;
    if (x->direction == PNC_GET)
        x->err = pnc_io_file_order_init(&x->values, x->io, order->list);
    pnc_io_exchange_start(&x->exchange, x->direction);
    pnc_io_file_domains_init(&x->domains, &shape, low, high);
    while (next != PNC_END_OF_ORDER) {
        pnc_io_file_domains_start(&x->domains, next);
        run_round(x, &next);
    }
    if (x->direction == PNC_GET)
        pnc_io_file_order_free(&x->values);
    return pnc_error_keep_first(x->err, x->exchange.err);
}
