/* The rounds of two-phase I/O: messages and accesses, by the code that the library runs, and a clock.
 *
 * The pieces of a node are followed exactly; of many nodes, only some are. */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/memory.h"
#include "base/minmax.h"
#include "io/choose/costs.h"
#include "io/choose/parts.h"
#include "select/sieving.h"
#include "tools/plan/plan.h"

#define MOST_PIECES (1 << 25) /* that are followed */
#define MOST_RANKS (1 << 13)  /* likewise */
#define SAMPLED 8             /* so many times fewer steps are enough where they are a sample */
#define LEAST_ROUNDS 4        /* likewise: of more steps, some rounds are followed */

/* A node whose pieces are followed. */
typedef struct followed {
    int index, nprocs;
    pnc_aggregators aggregators;
    plan_pieces *pieces;  /* by rank of the node */
    plan_cursor *cursors; /* likewise */
    int64_t *sent;        /* messages, by delegate */
} followed;

/* The most that a node or a rank does in a round. */
typedef struct round_load {
    int64_t messages, message_bytes; /* of a delegate; of a node */
    int64_t bytes, pieces;           /* of a rank */
    int64_t all_pieces;              /* of the nodes that are followed */
    int64_t portions;
} round_load;

/* What accesses and exchanges wait for, in nanoseconds. */
typedef struct timeline {
    int64_t exchanged, accessed, accessed_before; /* ends of the last ones */
    int64_t accessing, exchanging;                /* sums */
    int64_t *links;
    plan_clocks clocks;
} timeline;

typedef struct work {
    const plan_call *call;
    plan_result *out;
    followed *nodes;
    int nnodes;             /* that are followed */
    bool in_nodes;          /* one of them, without the others */
    pnc_segment **segments; /* by rank of a node */
    int *heads;             /* likewise */
    pnc_extent *portion;
    pnc_range range;
    pnc_file_domains domains;
    plan_pieces all;      /* of all ranks */
    plan_cursor coverage; /* of these, or: */
    pnc_extent *covered;  /* in nodes: the pieces of the node in the window */
    int64_t ncovered, capacity;
    bool reads_blocks, in_background, sieves_writes;
    int64_t *received; /* get: messages, by aggregator */
    timeline time;
    bool has_clock;
    int64_t round_end; /* of the accesses of a round */
} work;

/* --- the exchange --- */

static int keep_covered(work *w, const pnc_extent *pieces, int64_t n)
{
    if (!w->in_nodes)
        return NC_NOERR;
    if (!pnc_memory_grow(&w->covered, &w->capacity, w->ncovered + n, sizeof *w->covered))
        return plan_memory_fail(w->call);
    memcpy(w->covered + w->ncovered, pieces, (size_t)n * sizeof *pieces);
    w->ncovered += n;
    return NC_NOERR;
}

/* The next portion of a rank in the window. */
static int fill_segment(work *w, followed *node, int rank, round_load *of_rank)
{
    pnc_segment *segment = w->segments[rank];
    plan_cursor *cursor = &node->cursors[rank];
    const pnc_extent *next;
    int64_t bytes, n = plan_cursor_take(cursor, pnc_io_file_domains_get_end(&w->domains), PNC_SEGMENT_BYTES,
                                        PNC_SEGMENT_PIECES, w->portion, &bytes);

    segment->nparts = 0;
    pnc_io_parts_make(segment, w->portion, n, &w->domains, &node->aggregators);
    next = plan_cursor_peek(cursor);
    segment->next = next != NULL ? next->offset : INT64_MAX;
    of_rank->bytes += bytes;
    of_rank->pieces += n;
    return keep_covered(w, w->portion, n);
}

/* Count the messages to an aggregator of another node. */
static void send_to(work *w, followed *node, const pnc_node_parts *parts, int aggregator, round_load *load)
{
    int delegate = pnc_io_aggregator_find_delegate(&node->aggregators, aggregator), next = 0, rank;

    while (next < parts->nprocs) {
        pnc_message message = pnc_io_message_begin(aggregator, next);

        while (pnc_io_message_take(&message, parts, &rank) != NULL)
            ;
        next = message.rank;
        node->sent[delegate]++;
        w->received[aggregator]++;
        load->messages++;
        load->message_bytes += message.nbytes;
    }
}

/* Take the parts for an aggregator of this node. */
static void take_own(work *w, const pnc_node_parts *parts, int aggregator)
{
    for (int rank = 0; rank < parts->nprocs; rank++) {
        const pnc_part *part = pnc_io_parts_peek(parts, rank);

        if (part == NULL || part->aggregator != aggregator)
            continue;
        parts->heads[rank]++;
        w->out->traffic.node_bytes += part->nbytes;
    }
}

static void exchange(work *w, followed *node, round_load *load)
{
    const pnc_node_parts parts = {.segments = w->segments, .heads = w->heads, .nprocs = node->nprocs};
    int aggregator;

    memset(w->heads, 0, (size_t)node->nprocs * sizeof *w->heads);
    while ((aggregator = pnc_io_parts_find_next(&parts)) >= 0) {
        if (pnc_io_aggregator_is_local(&node->aggregators, aggregator))
            take_own(w, &parts, aggregator);
        else
            send_to(w, node, &parts, aggregator, load);
    }
}

/* All pieces of a node in the window; *next becomes the lowest offset of those behind it, if that is lower. */
static int exchange_node(work *w, followed *node, round_load *most, int64_t *next)
{
    round_load of_node = {0}, *ranks = pnc_memory_alloc_zeroed(node->nprocs, sizeof *ranks);
    int64_t lowest;

    if (ranks == NULL)
        return plan_memory_fail(w->call);
    do {
        lowest = INT64_MAX;
        for (int rank = 0; rank < node->nprocs; rank++) {
            int err = fill_segment(w, node, rank, &ranks[rank]);

            if (err != NC_NOERR) {
                pnc_memory_free(ranks);
                return err;
            }
            lowest = w->segments[rank]->next < lowest ? w->segments[rank]->next : lowest;
        }
        exchange(w, node, &of_node);
        of_node.portions++;
    } while (lowest < pnc_io_file_domains_get_end(&w->domains));
    *next = lowest < *next ? lowest : *next;
    for (int rank = 0; rank < node->nprocs; rank++) {
        most->bytes = pnc_max64(most->bytes, ranks[rank].bytes);
        most->pieces = pnc_max64(most->pieces, ranks[rank].pieces);
        most->all_pieces += ranks[rank].pieces;
    }
    most->messages = pnc_max64(most->messages, of_node.messages);
    most->message_bytes = pnc_max64(most->message_bytes, of_node.message_bytes);
    most->portions = pnc_max64(most->portions, of_node.portions);
    w->out->traffic.messages += of_node.messages;
    w->out->traffic.message_bytes += of_node.message_bytes;
    pnc_memory_free(ranks);
    return NC_NOERR;
}

/* --- accesses --- */

/* The pieces in one block of the window. */
typedef struct block_pieces {
    pnc_block block;
    int64_t low, high;
    pnc_gaps gaps;
} block_pieces;

static void add_access(work *w, int aggregator, int64_t offset, int64_t length, int64_t n)
{
    plan_access access = {.is_write = w->call->options->direction == PNC_PUT,
                          .offset = offset,
                          .length = length,
                          .begin = w->time.exchanged};
    int64_t at_once = !access.is_write && w->in_background ? PNC_TRANSFERS_AT_ONCE : 1, end;

    w->out->accesses.n += n;
    w->out->accesses.bytes += length;
    if (!w->has_clock)
        return;
    access.node = w->call->node_of[aggregator];
    w->time.clocks.link = &w->time.links[access.node];
    end = plan_access_compute_end(&w->call->options->fs, &w->time.clocks, &access, &w->out->lock_moves);
    end += (n - 1) / at_once * (end - access.begin); /* the others, so many at the same time */
    w->round_end = pnc_max64(w->round_end, end);
}

/* As src/io/two_phase/collective_buffer.c writes a block, or reads what is requested of it. */
static void access_block(work *w, const block_pieces *b)
{
    bool is_put = w->call->options->direction == PNC_PUT;
    int64_t length = b->high - b->low;
    bool is_small = pnc_io_gaps_is_small(b->gaps, is_put ? PNC_SIEVE_MIN_EXTENTS : 0, PNC_SIEVE_GAP_SERVERS);

    if (length <= 0)
        return;
    if (b->gaps.n > 0 && !(is_small && (!is_put || w->sieves_writes))) {
        add_access(w, b->block.aggregator, b->low, length - b->gaps.bytes, b->gaps.n + 1);
        return;
    }
    if (is_put && b->gaps.n > 0)
        w->out->accesses.reads_of_puts += (length + PNC_SIEVE_WRITE_BYTES - 1) / PNC_SIEVE_WRITE_BYTES;
    add_access(w, b->block.aggregator, b->low, length, 1);
}

/* Add a piece that lies in one block; pieces ascend. */
static void add_piece(work *w, block_pieces *b, pnc_extent piece)
{
    if (piece.offset >= b->block.high) {
        access_block(w, b);
        *b = (block_pieces){.block = pnc_io_file_domains_find_block(&w->domains, piece.offset)};
        b->low = b->high = piece.offset;
    }
    b->gaps.n += piece.offset > b->high;
    b->gaps.bytes += piece.offset - b->high;
    b->high = piece.offset + piece.length;
}

static int64_t cut(const work *w, pnc_extent piece)
{
    pnc_block block = pnc_io_file_domains_find_block(&w->domains, piece.offset);

    return piece.length < block.high - piece.offset ? piece.length : block.high - piece.offset;
}

static void add_pieces(work *w, block_pieces *b, const pnc_extent *pieces, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (pnc_extent rest = pieces[i]; rest.length > 0;) {
            pnc_extent piece = {rest.offset, cut(w, rest)};

            add_piece(w, b, piece);
            rest.offset += piece.length;
            rest.length -= piece.length;
        }
}

static void access_pieces(work *w)
{
    int64_t end = pnc_io_file_domains_get_end(&w->domains), n, bytes;
    pnc_extent some[PLAN_AHEAD];
    block_pieces block = {.low = 0};

    if (w->in_nodes)
        add_pieces(w, &block, w->covered, plan_extents_merge(w->covered, w->ncovered));
    else
        while ((n = plan_cursor_take(&w->coverage, end, INT64_MAX, PLAN_AHEAD, some, &bytes)) > 0)
            add_pieces(w, &block, some, n);
    w->ncovered = 0;
    access_block(w, &block);
}

/* A dense get reads all of each block. */
static void access_blocks(work *w)
{
    int64_t end = pnc_io_file_domains_get_end(&w->domains);
    int64_t at = pnc_max64(w->domains.first, w->range.low), bytes;
    pnc_extent some[PLAN_AHEAD];

    end = end < w->range.high ? end : w->range.high;
    while (at < end) {
        pnc_block block = pnc_io_file_domains_find_block(&w->domains, at);
        int64_t to = block.high < end ? block.high : end;

        add_access(w, block.aggregator, at, to - at, 1);
        at = to;
    }
    w->ncovered = 0;
    while (!w->in_nodes && plan_cursor_take(&w->coverage, pnc_io_file_domains_get_end(&w->domains), INT64_MAX,
                                            PLAN_AHEAD, some, &bytes) > 0)
        ;
}

/* --- time --- */

/* The exchange of a round: ranks copy at the same time, then delegates send; an aggregator copies what it receives,
 * piece by piece. */
static int64_t estimate_exchange(const work *w, const round_load *most)
{
    const plan_options *o = w->call->options;
    const pnc_costs *costs = pnc_io_costs_find(true, w->call->nnodes);
    double buffer = (double)(w->domains.units * w->domains.unit) / w->domains.naggregators;
    double pieces = (double)most->all_pieces / w->domains.naggregators;
    double time = 1e9 * (costs->run * (double)most->pieces + costs->copied * ((double)most->bytes + buffer));

    if (!w->in_nodes)
        pieces *= (double)w->call->nnodes / w->nnodes;
    time += PLAN_PIECE_NS * pieces;
    time += o->message * (double)(most->messages + pnc_bits_count_doublings(w->in_nodes ? 1 : w->call->nnodes));
    time += o->network_byte * (double)most->message_bytes + o->message * 2 * (double)most->portions;
    return (int64_t)time;
}

/* The file is accessed while data of the next round, or of the one before, are exchanged, if there are two buffers. */
static void advance_clock(work *w, const round_load *most)
{
    timeline *t = &w->time;
    int64_t duration = estimate_exchange(w, most), begin;
    bool is_put = w->call->options->direction == PNC_PUT;

    begin = pnc_max64(t->exchanged, w->out->overlaps ? t->accessed_before : t->accessed);
    t->exchanged = is_put ? begin + duration : begin;
    t->exchanging += duration;
    w->round_end = t->exchanged;
    if (w->reads_blocks)
        access_blocks(w);
    else
        access_pieces(w);
    t->accessing += w->round_end - pnc_max64(is_put ? t->exchanged : begin, t->accessed);
    t->accessed_before = t->accessed;
    t->accessed = w->round_end;
    if (!is_put)
        t->exchanged = w->out->overlaps ? t->exchanged + duration : t->accessed + duration;
}

/* --- a call --- */

/* The offset at which the next window begins: that of the lowest piece, of all nodes. */
static int64_t find_next(work *w, int64_t of_nodes)
{
    const pnc_extent *next;

    if (w->in_nodes)
        return of_nodes;
    next = plan_cursor_peek(&w->coverage);
    return next != NULL ? next->offset : INT64_MAX;
}

/* One round, of the window that begins at *next, which becomes the start of the next one. */
static int run_round(work *w, int64_t *next)
{
    round_load most = {0};
    int64_t of_nodes = INT64_MAX;

    pnc_io_file_domains_start(&w->domains, *next);
    for (int i = 0; i < w->nnodes; i++)
        PNC_TRY(exchange_node(w, &w->nodes[i], &most, &of_nodes));
    advance_clock(w, &most);
    *next = find_next(w, of_nodes);
    return NC_NOERR;
}

static int run_all_rounds(work *w)
{
    int64_t next = w->range.low < w->range.high ? w->range.low : INT64_MAX, rounds = 0;

    for (; next != INT64_MAX; rounds++)
        PNC_TRY(run_round(w, &next));
    w->out->traffic.rounds = pnc_max64(w->out->traffic.rounds, rounds);
    return NC_NOERR;
}

/* --- some rounds of many --- */

/* The steps of one round, about: pieces, ranks, and blocks of the file with their stripes. */
static double estimate_steps(const work *w, double rounds)
{
    double pieces = 0, ranks = 0, window = (double)w->out->window;

    for (int i = 0; i < w->nnodes; i++) {
        ranks += w->nodes[i].nprocs;
        for (int k = 0; k < w->nodes[i].nprocs; k++)
            pieces += (double)w->nodes[i].pieces[k].runs;
    }
    return pieces / rounds + ranks + 2 * window / (double)w->call->options->fs.unit + w->domains.naggregators;
}

/* The begin of the next window at or after an offset; INT64_MAX: there is none. */
static int64_t seek(work *w, int64_t offset)
{
    int64_t next = INT64_MAX;

    for (int i = 0; i < w->nnodes; i++)
        for (int k = 0; k < w->nodes[i].nprocs; k++) {
            const pnc_extent *piece;

            plan_cursor_seek(&w->nodes[i].cursors[k], offset);
            piece = plan_cursor_peek(&w->nodes[i].cursors[k]);
            if (piece != NULL && piece->offset < next)
                next = piece->offset;
        }
    if (!w->in_nodes)
        plan_cursor_seek(&w->coverage, offset);
    return find_next(w, next);
}

/* What a round changes. */
typedef struct sums {
    plan_accesses accesses;
    plan_traffic traffic;
    int64_t exchanging, accessing, exchanged, accessed;
    int lock_moves;
} sums;

static sums get_sums(const work *w)
{
    const timeline *t = &w->time;

    return (sums){w->out->accesses, w->out->traffic, t->exchanging,     t->accessing,
                  t->exchanged,     t->accessed,     w->out->lock_moves};
}

/* before + factor * (now - before) */
static void multiply(int64_t *now, int64_t before, double factor)
{
    *now = before + (int64_t)(factor * (double)(*now - before));
}

static void multiply_sums(work *w, const sums *before, double factor)
{
    plan_accesses *a = &w->out->accesses;
    plan_traffic *t = &w->out->traffic;

    multiply(&a->n, before->accesses.n, factor);
    multiply(&a->bytes, before->accesses.bytes, factor);
    multiply(&a->reads_of_puts, before->accesses.reads_of_puts, factor);
    multiply(&t->messages, before->traffic.messages, factor);
    multiply(&t->message_bytes, before->traffic.message_bytes, factor);
    multiply(&t->node_bytes, before->traffic.node_bytes, factor);
    multiply(&w->time.exchanging, before->exchanging, factor);
    multiply(&w->time.accessing, before->accessing, factor);
    multiply(&w->time.exchanged, before->exchanged, factor);
    multiply(&w->time.accessed, before->accessed, factor);
    w->out->lock_moves = before->lock_moves + (int)(factor * (w->out->lock_moves - before->lock_moves));
    for (int i = 0; i < w->out->naggregators; i++)
        multiply(&w->received[i], 0, factor);
    for (int i = 0; i < w->nnodes; i++)
        for (int k = 0; k < w->nodes[i].aggregators.ndelegates; k++)
            multiply(&w->nodes[i].sent[k], 0, factor);
}

/* n rounds that are spread evenly over the range; the others count like these. */
static int run_some_rounds(work *w, int64_t n)
{
    const sums before = get_sums(w);
    int64_t low = w->range.low, length = w->range.high - low, rounds = 0;
    double advanced = 0;

    for (int64_t i = 0; i < n; i++) {
        int64_t at = low + (int64_t)((double)length / (double)n * (double)i), next = seek(w, at);

        if (next == INT64_MAX)
            break;
        PNC_TRY(run_round(w, &next));
        advanced += (double)((next < w->range.high ? next : w->range.high) - at);
        rounds++;
    }
    w->out->is_estimate = true;
    multiply_sums(w, &before, (double)length / advanced);
    w->out->traffic.rounds =
        pnc_max64(w->out->traffic.rounds, (int64_t)((double)rounds * (double)length / advanced + 0.5));
    return NC_NOERR;
}

/* most: steps. */
static int run_rounds(work *w, int64_t most)
{
    double rounds = (double)(w->range.high - w->range.low) / (double)w->out->window + 1;
    double n = (double)most / estimate_steps(w, rounds);

    if (rounds <= n)
        return run_all_rounds(w);
    n /= SAMPLED;
    return run_some_rounds(w, n > LEAST_ROUNDS ? (int64_t)n : LEAST_ROUNDS);
}

/* --- nodes --- */

static void free_node(followed *node)
{
    for (int i = 0; i < node->nprocs && node->pieces != NULL; i++)
        plan_pieces_free(&node->pieces[i]);
    for (int i = 0; i < node->nprocs && node->cursors != NULL; i++)
        plan_cursor_end(&node->cursors[i]);
    pnc_memory_free(node->pieces);
    pnc_memory_free(node->cursors);
    pnc_memory_free(node->sent);
}

static int init_node(const work *w, int index, followed *out)
{
    const plan_call *call = w->call;

    *out = (followed){
        .index = index, .nprocs = plan_node_count_ranks(call, index), .aggregators = call->aggregators[index]};
    if (w->in_nodes) {
        out->aggregators.first = 0;
        out->aggregators.all = out->aggregators.n;
    }
    out->pieces = pnc_memory_alloc_zeroed(out->nprocs, sizeof *out->pieces);
    out->cursors = pnc_memory_alloc_zeroed(out->nprocs, sizeof *out->cursors);
    out->sent = pnc_memory_alloc_zeroed(out->aggregators.ndelegates, sizeof *out->sent);
    if (out->pieces == NULL || out->cursors == NULL || out->sent == NULL)
        return plan_memory_fail(call);
    for (int i = 0; i < out->nprocs; i++) {
        int rank = index * call->ranks_per_node + i;

        if (!call->is_independent[rank]) /* the others have no pieces in the exchange */
            PNC_TRY(plan_pieces_init(call->d, rank, &out->pieces[i]));
        plan_cursor_begin(&out->cursors[i], &out->pieces[i]);
    }
    return NC_NOERR;
}

/* The number of nodes that can be followed in a few seconds. */
static int choose_count(const plan_call *call)
{
    int64_t each = call->runs / call->nnodes, n = MOST_PIECES / (each > 0 ? each : 1);

    n = n < MOST_RANKS / call->ranks_per_node ? n : MOST_RANKS / call->ranks_per_node;
    n = n < call->nnodes ? n : call->nnodes;
    return n > 0 ? (int)n : 1;
}

/* Those that are followed are spread evenly, from the first to the last one. */
static int choose_node(const plan_call *call, int n, int i)
{
    return n == 1 ? 0 : (int)((int64_t)i * (call->nnodes - 1) / (n - 1));
}

/* bytes: of the requests in the range. */
static void init_domains(work *w, int naggregators, int64_t bytes)
{
    const plan_options *o = w->call->options;
    const pnc_buffer_shape shape = plan_call_get_buffer_shape(w->call);
    int64_t length = w->range.high - w->range.low;
    const pnc_rounds_shape call = {.direction = o->direction,
                                   .naggregators = naggregators,
                                   .buffer = pnc_io_buffer_compute_size(&shape),
                                   .within_nodes = w->in_nodes,
                                   .can_overlap = true,
                                   .length = length,
                                   .bytes = bytes};
    const pnc_rounds rounds = pnc_io_rounds_choose(&shape, &call);

    w->reads_blocks = rounds.reads_blocks;
    w->in_background = rounds.in_background;
    pnc_io_file_domains_init(&w->domains, &rounds.domains, w->range.low, w->range.high);
    w->out->overlaps = rounds.overlaps;
    w->out->buffer = call.buffer;
    w->out->window = w->domains.window * w->domains.unit;
    w->out->is_estimate = w->out->is_estimate || (o->direction == PNC_GET && !w->reads_blocks);
}

static int init_memory(work *w)
{
    const plan_call *call = w->call;
    const plan_file_system *fs = &call->options->fs;
    timeline *t = &w->time;

    w->segments = pnc_memory_alloc_zeroed(call->ranks_per_node, sizeof *w->segments);
    w->heads = pnc_memory_alloc(call->ranks_per_node, sizeof *w->heads);
    w->portion = pnc_memory_alloc(PNC_SEGMENT_PIECES, sizeof *w->portion);
    w->received = pnc_memory_alloc_zeroed(w->out->naggregators, sizeof *w->received);
    w->nodes = pnc_memory_alloc_zeroed(w->nnodes, sizeof *w->nodes);
    t->links = pnc_memory_alloc_zeroed(call->nnodes, sizeof *t->links);
    t->clocks.server = pnc_memory_alloc_zeroed(fs->servers, sizeof *t->clocks.server);
    t->clocks.writer = pnc_memory_alloc_zeroed(call->range.high / fs->unit + 2, sizeof *t->clocks.writer);
    if (w->segments == NULL || w->heads == NULL || w->portion == NULL || w->received == NULL || w->nodes == NULL ||
        t->links == NULL || t->clocks.server == NULL || t->clocks.writer == NULL)
        return plan_memory_fail(call);
    for (int i = 0; i < call->ranks_per_node; i++) {
        w->segments[i] = pnc_memory_alloc(1, sizeof(pnc_segment));
        if (w->segments[i] == NULL)
            return plan_memory_fail(call);
    }
    return NC_NOERR;
}

static void free_work(work *w)
{
    for (int i = 0; i < w->nnodes && w->nodes != NULL; i++)
        free_node(&w->nodes[i]);
    for (int i = 0; i < w->call->ranks_per_node && w->segments != NULL; i++)
        pnc_memory_free(w->segments[i]);
    pnc_memory_free(w->segments);
    pnc_memory_free(w->heads);
    pnc_memory_free(w->portion);
    pnc_memory_free(w->received);
    pnc_memory_free(w->nodes);
    pnc_memory_free(w->covered);
    pnc_memory_free(w->time.links);
    pnc_memory_free(w->time.clocks.server);
    pnc_memory_free(w->time.clocks.writer);
    plan_cursor_end(&w->coverage);
    plan_pieces_free(&w->all);
}

/* --- all nodes, in common rounds --- */

/* The messages of nodes that were not followed are as many as those of the others, on average. */
static void count_all(const work *w)
{
    plan_traffic *t = &w->out->traffic;
    double factor = (double)w->call->nnodes / w->nnodes;
    bool is_get = w->call->options->direction == PNC_GET;

    for (int i = 0; i < w->nnodes; i++) {
        const followed *n = &w->nodes[i];

        for (int k = 0; k < n->aggregators.ndelegates; k++) {
            int64_t answers = is_get && k < n->aggregators.n ? w->received[n->aggregators.first + k] : 0;

            t->busiest = pnc_max64(t->busiest, n->sent[k] + (int64_t)(factor * (double)answers));
        }
    }
    t->messages = (int64_t)(factor * (double)t->messages);
    t->message_bytes = (int64_t)(factor * (double)t->message_bytes);
    t->node_bytes = (int64_t)(factor * (double)t->node_bytes);
}

static int compute_common(work *w)
{
    const plan_call *call = w->call;

    w->nnodes = choose_count(call);
    w->range = call->range;
    w->sieves_writes = w->has_clock = true;
    PNC_TRY(init_memory(w));
    PNC_TRY(plan_pieces_init_all(call->d, &w->all));
    plan_cursor_begin(&w->coverage, &w->all);
    for (int i = 0; i < w->nnodes; i++)
        PNC_TRY(init_node(w, choose_node(call, w->nnodes, i), &w->nodes[i]));
    init_domains(w, w->out->naggregators, call->collective_bytes);
    PNC_TRY(run_rounds(w, MOST_PIECES));
    count_all(w);
    w->out->nexamined = w->nnodes;
    w->out->exchange = (double)w->time.exchanging / 1e9;
    w->out->access += (double)w->time.accessing / 1e9;
    w->out->seconds += (double)pnc_max64(w->time.exchanged, w->time.accessed) / 1e9;
    return NC_NOERR;
}

/* --- each node for itself --- */

static pnc_range find_range(const plan_call *call, int index)
{
    pnc_range all = {INT64_MAX, 0};

    for (int i = 0; i < plan_node_count_ranks(call, index); i++) {
        pnc_range of_rank = call->ranges[index * call->ranks_per_node + i];

        if (of_rank.low >= of_rank.high)
            continue;
        all.low = of_rank.low < all.low ? of_rank.low : all.low;
        all.high = pnc_max64(of_rank.high, all.high);
    }
    return all;
}

/* most: steps. */
static int compute_node(work *w, int index, int64_t most, plan_actor *actor)
{
    plan_accesses before = w->out->accesses;
    int64_t exchanging = w->time.exchanging, bytes = 0;

    w->range = find_range(w->call, index);
    w->nnodes = 1;
    PNC_TRY(init_node(w, index, &w->nodes[0]));
    for (int i = 0; i < w->nodes[0].nprocs; i++)
        bytes += w->nodes[0].pieces[i].bytes;
    init_domains(w, w->nodes[0].aggregators.n, bytes);
    PNC_TRY(run_rounds(w, most));
    free_node(&w->nodes[0]);
    w->nnodes = 0;
    *actor = (plan_actor){.node = index,
                          .n = w->out->accesses.n - before.n,
                          .bytes = w->out->accesses.bytes - before.bytes,
                          .range = w->range};
    if (actor->n > 0)
        actor->pause = (w->time.exchanging - exchanging) / actor->n;
    return NC_NOERR;
}

/* A node that was not followed does what the one before it did, in its own range. */
static void copy_node(const plan_call *call, int index, plan_actor *actors)
{
    actors[index] = actors[index - 1];
    actors[index].node = index;
    actors[index].range = find_range(call, index);
}

static int compute_nodes(work *w, plan_actor *actors)
{
    int n = choose_count(w->call), next = 0;
    double seconds = 0, factor = (double)w->call->nnodes / n;

    w->nnodes = 1; /* memory for one at a time */
    PNC_TRY(init_memory(w));
    w->nnodes = 0;
    for (int i = 0; i < w->call->nnodes; i++)
        if (next < n && i == choose_node(w->call, n, next)) {
            PNC_TRY(compute_node(w, i, MOST_PIECES / n, &actors[i]));
            next++;
        } else {
            copy_node(w->call, i, actors);
        }
    w->out->accesses.n = (int64_t)(factor * (double)w->out->accesses.n);
    w->out->accesses.bytes = (int64_t)(factor * (double)w->out->accesses.bytes);
    w->out->traffic.node_bytes = (int64_t)(factor * (double)w->out->traffic.node_bytes);
    w->out->nexamined = n;
    w->out->exchange = (double)w->time.exchanging / n / 1e9;
    PNC_TRY(plan_actors_execute(w->call, actors, w->call->nnodes, &w->out->lock_moves, &seconds));
    w->out->access += seconds;
    w->out->seconds += seconds;
    return NC_NOERR;
}

static int compute_in_nodes(work *w)
{
    plan_actor *actors = pnc_memory_alloc(w->call->nnodes, sizeof *actors);
    int err = actors != NULL ? compute_nodes(w, actors) : plan_memory_fail(w->call);

    pnc_memory_free(actors);
    return err;
}

int plan_rounds_compute(const plan_call *call, bool in_nodes, plan_result *out)
{
    work w = {.call = call, .out = out, .in_nodes = in_nodes};
    int err;

    w.sieves_writes = out->pattern.nodes_apart;
    err = in_nodes ? compute_in_nodes(&w) : compute_common(&w);
    free_work(&w);
    return err;
}
