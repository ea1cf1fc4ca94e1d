/* The rounds of two-phase I/O. */
#include "io/two_phase/two_phase.h"

#include <assert.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "file/agree.h"
#include "io/display.h"
#include "io/two_phase/exchange.h"

struct pnc_two_phase {
    pnc_io_context *io;
    pnc_node node;
    pnc_node own_node;                         /* the node without the others, for exchange within nodes */
    const pnc_node *scope;                     /* of the call: one of these two */
    pnc_aggregators aggregators;               /* of the scope */
    pnc_collective_memory memory;              /* of an aggregator */
    pnc_collective_buffer buffers[2], *buffer; /* of the call, and of the round */
    bool sieves_writes;                        /* of the call: no other rank writes to gaps between its pieces */
    pnc_rounds rounds;                         /* of the call */
    pnc_range range;                           /* of the call, or of the node */
    pnc_exchange exchange;
    pnc_extent *pieces; /* of a portion */
    pnc_file_domains domains;
    pnc_direction direction;
    pnc_file_order *order;
    pnc_file_order values; /* get: the same pieces, in which the values are unpacked */
    int err;               /* first error of this rank */
};

/* --- memory --- */

/* Memory of this rank, and shared memory: collective. */
static int init_two_phase(pnc_two_phase *x, int64_t buffer)
{
    PNC_TRY(pnc_io_node_segments_make(&x->node, x->io->file));
    x->own_node = x->node;
    x->own_node.nnodes = 1;
    x->own_node.first = 0;
    x->own_node.naggregators = x->node.n;
    x->pieces = pnc_memory_alloc(PNC_SEGMENT_PIECES, sizeof *x->pieces);
    if (x->pieces == NULL)
        return pnc_error_set(x->io->file->error, NC_ENOMEM, "%s: no memory for a list of pieces", x->io->file->path);
    if (pnc_io_node_is_aggregator(&x->node))
        PNC_TRY(pnc_io_collective_memory_alloc(&x->memory, x->io->file, buffer));
    return pnc_io_exchange_init(&x->exchange, x->io->file, &x->node);
}

int pnc_io_two_phase_create(pnc_io_context *io, int64_t buffer, pnc_two_phase **out)
{
    pnc_two_phase *x = pnc_memory_alloc_zeroed(1, sizeof *x);
    pnc_node node;
    int err = pnc_io_node_init(&node, io->file, io->hints);

    if (x == NULL)
        err = pnc_error_set(io->file->error, NC_ENOMEM, "%s: no memory for two-phase I/O", io->file->path);
    err = pnc_file_status_agree(io->file, err);
    if (err != NC_NOERR) {
        pnc_io_node_free(&node);
        pnc_memory_free(x);
        return err;
    }
    x->io = io;
    x->node = node;
    err = pnc_file_status_agree(io->file, init_two_phase(x, buffer));
    if (err == NC_NOERR)
        *out = x;
    else
        pnc_io_two_phase_free(x);
    return err;
}

bool pnc_io_two_phase_make(pnc_io_context *io, int64_t buffer)
{
    if (io->two_phase == NULL && !io->no_two_phase) { /* on all ranks or on none */
        io->no_two_phase = pnc_io_two_phase_create(io, buffer, &io->two_phase) != NC_NOERR;
        if (io->no_two_phase)
            pnc_error_clear(io->file->error);
    }
    return !io->no_two_phase;
}

void pnc_io_two_phase_free(pnc_two_phase *x)
{
    if (x == NULL)
        return;
    pnc_io_exchange_free(&x->exchange);
    pnc_io_collective_memory_free(&x->memory);
    pnc_io_node_free(&x->node);
    pnc_memory_free(x->pieces);
    pnc_memory_free(x);
}

/* --- a portion --- */

static pnc_portion get_portion(pnc_two_phase *x)
{
    return (pnc_portion){.extents = x->pieces,
                         .bytes = pnc_io_node_get_segment(x->scope)->bytes,
                         .max_extents = PNC_SEGMENT_PIECES,
                         .max_bytes = PNC_SEGMENT_BYTES};
}

/* The next portion of this rank's pieces in the window; after an error it is empty. */
static void fill_segment(pnc_two_phase *x)
{
    pnc_segment *segment = pnc_io_node_get_segment(x->scope);
    pnc_value_action action = x->direction == PNC_PUT ? PNC_VALUES_PACK : PNC_VALUES_KEEP;
    pnc_portion portion = get_portion(x);

    segment->nparts = 0;
    segment->status = NC_NOERR;
    segment->next = PNC_END_OF_ORDER;
    if (x->err == NC_NOERR)
        x->err = pnc_io_file_order_take(x->order, pnc_io_file_domains_get_end(&x->domains), action, &portion);
    if (x->err != NC_NOERR)
        return;
    pnc_io_parts_make(segment, portion.extents, portion.nextents, &x->domains, &x->aggregators);
    segment->next = pnc_io_file_order_get_next(x->order);
}

/* Get: unpack the bytes of the portion, unless an aggregator failed to read some of them. */
static void empty_segment(pnc_two_phase *x)
{
    pnc_segment *segment = pnc_io_node_get_segment(x->scope);
    pnc_portion portion = get_portion(x);

    if (x->err == NC_NOERR && segment->status != NC_NOERR)
        x->err = pnc_error_set_remote(x->io->file->error, segment->status, "%s: an aggregator failed to read: %s",
                                      x->io->file->path, pnc_error_get_text(segment->status));
    if (x->err == NC_NOERR)
        x->err =
            pnc_io_file_order_take(&x->values, pnc_io_file_domains_get_end(&x->domains), PNC_VALUES_UNPACK, &portion);
}

/* --- a round --- */

/* The lowest offset of all nodes. */
static void agree_next(pnc_two_phase *x, int64_t *next)
{
    pnc_statistics *statistics = x->io->file->statistics;
    pnc_counter before;

    if (x->scope->nnodes == 1)
        return;
    before = pnc_statistics_begin(statistics, PNC_COUNT_TIME_EXCHANGE);
    if (pnc_io_node_is_delegate(x->scope))
        pnc_io_exchange_finish_round(&x->exchange, next);
    pnc_file_step_check(x->io->file, MPI_Bcast(next, 1, MPI_INT64_T, 0, x->scope->comm), "MPI_Bcast",
                        "the next window");
    pnc_statistics_end(statistics, before);
}

static pnc_collective_buffer *other_buffer(pnc_two_phase *x)
{
    return x->buffer == &x->buffers[0] ? &x->buffers[1] : &x->buffers[0];
}

static void start_window(pnc_two_phase *x, pnc_collective_buffer *buffer, const pnc_file_domains *domains)
{
    pnc_io_collective_buffer_start(buffer, domains, x->scope->first + x->scope->rank);
    if (x->rounds.reads_blocks)
        pnc_io_collective_buffer_read_blocks(buffer, x->range.low, x->range.high);
}

/* The next buffer, after its last write, unless it is a get of blocks that has or reads the window. A dense get has
 * pieces in nearly every window: reads of two of them are in progress at the same time. */
static void start_buffer(pnc_two_phase *x)
{
    pnc_file_domains next = x->domains;
    int64_t end = pnc_io_file_domains_get_end(&next);

    if (x->rounds.overlaps)
        x->buffer = other_buffer(x);
    if (!x->buffer->has_blocks || x->buffer->domains.first != x->domains.first) {
        x->err = pnc_error_keep_first(x->err, pnc_io_collective_buffer_finish(x->buffer));
        start_window(x, x->buffer, &x->domains);
    }
    if (x->rounds.overlaps && x->rounds.reads_blocks && end < x->range.high) {
        pnc_io_file_domains_start(&next, end);
        start_window(x, other_buffer(x), &next);
    }
    if (x->rounds.reads_blocks)
        (void)pnc_io_collective_buffer_finish(x->buffer); /* errors of reads are returned with the bytes */
    x->exchange.buffer = x->buffer;
}

/* All pieces of the window; *next is the lowest offset of those behind it. */
static void run_round(pnc_two_phase *x, int64_t *next)
{
    int64_t end = pnc_io_file_domains_get_end(&x->domains);

    pnc_statistics_add(x->io->file->statistics, PNC_COUNT_ROUNDS, 1);
    if (pnc_io_node_is_aggregator(x->scope))
        start_buffer(x);
    do {
        fill_segment(x);
        pnc_io_exchange_wait_node(&x->exchange);
        *next = PNC_END_OF_ORDER; /* of the pieces that the ranks of the node have not yet passed on */
        for (int i = 0; i < x->scope->nprocs; i++)
            *next = pnc_min64(*next, x->scope->segments[i]->next);
        if (pnc_io_node_is_delegate(x->scope))
            pnc_io_exchange_send(&x->exchange);
        pnc_io_exchange_wait_node(&x->exchange);
        if (x->direction == PNC_GET)
            empty_segment(x);
    } while (*next < end);
    agree_next(x, next);
    if (x->direction == PNC_PUT && pnc_io_node_is_aggregator(x->scope))
        x->err = pnc_error_keep_first(x->err, pnc_io_collective_buffer_write(x->buffer));
}

/* --- a call --- */

/* The bytes of the requests of a get, the same on all ranks of the scope. One delegate of each node adds the bytes of
 * the node: no messages of all ranks. */
static int64_t sum_bytes(pnc_two_phase *x)
{
    int64_t own = x->order->list->summary.bytes, wanted = 0;
    int code = MPI_Reduce(&own, &wanted, 1, MPI_INT64_T, MPI_SUM, 0, x->scope->comm);

    if (pnc_io_node_is_delegate(x->scope) && x->scope->nnodes > 1)
        code |= MPI_Allreduce(MPI_IN_PLACE, &wanted, 1, MPI_INT64_T, MPI_SUM, x->scope->delegates);
    code |= MPI_Bcast(&wanted, 1, MPI_INT64_T, 0, x->scope->comm);
    pnc_file_step_check(x->io->file, code, "the sum", "the bytes of the requests");
    return wanted;
}

/* The same on all ranks of the scope. */
static pnc_rounds choose_rounds(pnc_two_phase *x, pnc_range range, int64_t bytes)
{
    const pnc_buffer_shape buffer = pnc_io_context_get_buffer_shape(x->io);
    pnc_rounds_shape call = {.direction = x->direction,
                             .naggregators = x->scope->naggregators,
                             .buffer = bytes,
                             .within_nodes = x->scope == &x->own_node,
                             .can_overlap = x->io->hints->no_overlap == 0 && pnc_file_has_overlap(x->io->file),
                             .length = range.high - range.low};

    if (x->direction == PNC_GET && buffer.on_servers)
        call.bytes = sum_bytes(x);
    return pnc_io_rounds_choose(&buffer, &call);
}

static void init_buffers(pnc_two_phase *x)
{
    const pnc_store *store = x->io->file->store;
    int64_t gap = pnc_io_context_is_on_servers(x->io) ? PNC_SIEVE_GAP_SERVERS : store->sieve_write_gap;
    int64_t size = x->rounds.domains.buffer;

    for (int i = 0; i <= x->rounds.overlaps; i++) {
        pnc_io_collective_buffer_init(&x->buffers[i], x->io->file, &x->memory, i * size, size);
        x->buffers[i].sieve_gap = gap;
        x->buffers[i].sieves_writes = x->sieves_writes;
        x->buffers[i].in_background = x->rounds.in_background;
    }
    x->buffer = &x->buffers[0];
}

bool pnc_io_two_phase_is_separate(pnc_two_phase *x, const pnc_file_order *order)
{
    pnc_segment *own = pnc_io_node_get_segment(&x->node);
    pnc_sequence all = pnc_io_sequence_init((pnc_range){0, 0});

    if (x->node.nnodes > 1)
        return false;
    own->call.low = order->low;
    own->call.high = order->high;
    pnc_io_exchange_start(&x->exchange, PNC_PUT, &x->node);
    pnc_io_exchange_wait_node(&x->exchange);
    for (int i = 0; i < x->node.nprocs; i++) {
        const pnc_segment_call *s = &x->node.segments[i]->call;

        all = pnc_io_sequences_join(all, pnc_io_sequence_init((pnc_range){s->low, s->high}));
    }
    return pnc_io_sequence_is_apart(all);
}

/* For the report, which is that of the last call. */
static void describe_aggregation(const pnc_two_phase *x)
{
    pnc_statistics *s = x->io->file->statistics;
    pnc_block block = {.low = 0};
    bool is_aggregator = pnc_io_node_is_aggregator(x->scope);

    if (s == NULL)
        return;
    if (is_aggregator && x->range.low < x->range.high) /* units are rounded up: a block can end beyond the range */
        block = pnc_io_file_domains_find_block_at(&x->domains, x->scope->first + x->scope->rank, 0);
    if (block.high > x->range.high)
        block.high = x->range.high > block.low ? x->range.high : block.low;
    s->aggregation = (pnc_aggregation){.n = x->node.naggregators,
                                       .window = x->domains.window * x->domains.unit,
                                       .number = is_aggregator ? x->node.first + x->node.rank : -1,
                                       .low = block.low,
                                       .high = block.high};
}

/* In nodes: within each node, without messages to other nodes. */
static int run_rounds(const pnc_execution *call, bool in_nodes)
{
    pnc_two_phase *x = call->io->two_phase;
    pnc_range range = in_nodes ? call->node_range : call->range;
    int64_t next = range.low < range.high ? range.low : PNC_END_OF_ORDER;

    assert(!in_nodes || x->node.all_nodes);
    x->scope = in_nodes ? &x->own_node : &x->node;
    x->sieves_writes = !in_nodes || call->nodes_apart;
    x->order = call->order;
    x->range = range;
    x->direction = call->list->direction;
    x->err = NC_NOERR;
    x->rounds = choose_rounds(x, range, call->buffer);
    x->aggregators = pnc_io_node_get_aggregators(x->scope);
    if (pnc_io_node_is_aggregator(x->scope))
        init_buffers(x);
    if (x->direction == PNC_GET)
        x->err = pnc_io_file_order_init_copy(&x->values, x->order);
    pnc_io_exchange_start(&x->exchange, x->direction, x->scope);
    pnc_io_file_domains_init(&x->domains, &x->rounds.domains, range.low, range.high);
    if (call->is_news && x->scope == &x->node && pnc_io_node_is_delegate(&x->node))
        pnc_io_aggregators_display(x->io->file, &x->node, &x->domains);
    describe_aggregation(x);
    while (next != PNC_END_OF_ORDER) {
        pnc_io_file_domains_start(&x->domains, next);
        run_round(x, &next);
    }
    if (x->direction == PNC_GET)
        pnc_io_file_order_free(&x->values);
    for (int i = 0; i <= x->rounds.overlaps && pnc_io_node_is_aggregator(x->scope); i++) {
        x->err = pnc_error_keep_first(x->err, pnc_io_collective_buffer_finish(&x->buffers[i]));
        pnc_io_collective_buffer_free(&x->buffers[i]);
    }
    return pnc_error_keep_first(x->err, x->exchange.err);
}

/* --- interface --- */

const pnc_node *pnc_io_two_phase_get_node(const pnc_two_phase *x)
{
    return &x->node;
}

int pnc_io_two_phase_execute(const pnc_execution *execution)
{
    return run_rounds(execution, false);
}

/* Aggregators merge the requests of their node, in each node without the others. */
int pnc_io_within_nodes_execute(const pnc_execution *execution)
{
    return run_rounds(execution, true);
}
