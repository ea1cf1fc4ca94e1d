/* The choice of strategies, and what follows from it. */
#include "tools/plan/plan.h"

#include <string.h>

#include "base/bits.h"
#include "base/memory.h"
#include "file/reduction.h"
#include "io/choose/costs.h"
#include "io/choose/parts.h"
#include "tools/common/message.h"

int plan_memory_fail(const plan_call *call)
{
    tool_error_print("%s: no memory for a plan of %d ranks", call->options->path, call->nranks);
    return NC_ENOMEM;
}

int plan_steps_check(const plan_call *call, int64_t n, int64_t most, const char *what)
{
    if (n <= most)
        return NC_NOERR;
    tool_error_print("%s: the call takes %lld %s: a plan follows at most %lld", call->options->path, (long long)n, what,
                     (long long)most);
    return NC_EINVAL;
}

pnc_buffer_shape plan_call_get_buffer_shape(const plan_call *call)
{
    const plan_options *o = call->options;

    return (pnc_buffer_shape){.nnodes = call->nnodes,
                              .on_servers = true,
                              .given = o->hints.buffer_size,
                              .most = o->most_buffer,
                              .striping_unit = call->unit,
                              .round_robin = o->stripe_count > 0};
}

static int64_t compute_buffer(const plan_call *call)
{
    const pnc_buffer_shape shape = plan_call_get_buffer_shape(call);

    return pnc_io_buffer_compute_size(&shape);
}

/* --- what the ranks request --- */

static pnc_access_pattern describe(const plan_call *call)
{
    pnc_direction direction = call->options->direction;

    return (pnc_access_pattern){.direction = direction,
                                .nprocs = call->nranks,
                                .nnodes = call->nnodes,
                                .sieves = pnc_io_strategy_is_sieved(direction, call->nranks, call->nnodes),
                                .on_servers = true,
                                .buffer = compute_buffer(call),
                                .striping_unit = call->unit};
}

/* Whether a rank needs others, and what it requests. */
static int examine_rank(plan_call *call, int rank, plan_result *out)
{
    pnc_access_pattern pattern = describe(call);
    plan_pieces pieces;
    pnc_strategy choice;
    int64_t length;

    PNC_TRY(plan_pieces_init(call->d, rank, &pieces));
    pattern.slabs = pieces.slabs;
    pattern.runs = pieces.runs;
    pattern.reads = pieces.reads;
    pattern.bytes = pieces.bytes;
    choice = pnc_io_strategy_choose_independent(&pattern, &call->options->hints);
    call->waits = call->waits || pnc_io_strategy_may_share(&pattern, &call->options->hints, choice);
    call->is_independent[rank] = choice != PNC_STRATEGIES;
    call->ranges[rank] = call->is_independent[rank] ? (pnc_range){0, 0} : pieces.range;
    call->runs += pieces.runs;
    call->most_runs = pieces.runs > call->most_runs ? pieces.runs : call->most_runs;
    call->bytes += pieces.bytes;
    out->nidle += pieces.bytes == 0;
    length = pnc_io_range_compute_length(call->ranges[rank], pieces.runs, call->unit);
    call->longest = length > call->longest ? length : call->longest;
    out->range = pnc_io_range_join(out->range, pieces.range);
    call->range = pnc_io_range_join(call->range, call->ranges[rank]);
    if (call->is_independent[rank]) {
        out->nindependent++;
        call->independent = choice;
    } else {
        call->collective_bytes += pieces.bytes;
    }
    if (rank == 0) {
        out->pattern = pattern;
        out->strategy = choice;
    }
    plan_pieces_free(&pieces);
    return NC_NOERR;
}

/* --- aggregators --- */

/* Of each node, by the hints. Returns their number. */
static int place_aggregators(plan_call *call)
{
    const plan_options *o = call->options;
    int all = 0;

    for (int i = 0; i < call->nnodes; i++) {
        const pnc_node_shape shape = {.nnodes = call->nnodes,
                                      .index = i,
                                      .nprocs = plan_node_count_ranks(call, i),
                                      .nranks = call->nranks,
                                      .listed = INT64_MAX,
                                      .servers = o->stripe_count};
        int n = pnc_io_aggregators_count(&shape, &o->hints);

        call->aggregators[i] = (pnc_aggregators){.first = all, .n = n, .ndelegates = n > 0 ? n : 1};
        all += n;
    }
    for (int i = 0; i < call->nnodes; i++)
        call->aggregators[i].all = all;
    return all;
}

static int name_nodes(plan_call *call, int naggregators)
{
    call->node_of = pnc_memory_alloc(naggregators, sizeof *call->node_of);
    if (call->node_of == NULL)
        return plan_memory_fail(call);
    for (int i = 0; i < call->nnodes; i++)
        for (int k = 0; k < call->aggregators[i].n; k++)
            call->node_of[call->aggregators[i].first + k] = i;
    return NC_NOERR;
}

static bool all_nodes_have_one(const plan_call *call)
{
    for (int i = 0; i < call->nnodes; i++)
        if (call->aggregators[i].n == 0)
            return false;
    return true;
}

/* --- how the ranges lie: as src/io/transfer.c compares them --- */

static bool are_ranks_apart(const plan_call *call, const pnc_access_pattern *p)
{
    pnc_sequence all = pnc_io_sequence_init((pnc_range){0, 0});

    for (int i = 0; i < call->nranks; i++)
        all = pnc_io_sequences_join(
            all, pnc_io_sequence_init_rank(p, &call->options->hints, call->range, call->ranges[i], i));
    return pnc_io_sequence_is_apart(all);
}

static int compare_nodes(const plan_call *call, pnc_access_pattern *p)
{
    pnc_range *ranges = pnc_memory_alloc(call->ranks_per_node, sizeof *ranges);
    pnc_sequence nodes = pnc_io_sequence_init((pnc_range){0, 0});
    int64_t sum = 0;

    if (ranges == NULL)
        return plan_memory_fail(call);
    for (int i = 0; i < call->nnodes; i++) {
        int n = plan_node_count_ranks(call, i);
        int64_t bytes;
        pnc_range range;

        memcpy(ranges, call->ranges + (int64_t)i * call->ranks_per_node, (size_t)n * sizeof *ranges);
        range = pnc_io_ranges_merge(ranges, n, &bytes);
        nodes = pnc_io_sequences_join(nodes, pnc_io_sequence_init(range));
        sum += bytes;
    }
    pnc_memory_free(ranges);
    p->nodes_apart = nodes.ndescents <= 0;
    p->nodes_range = (double)sum / (double)(call->range.high - call->range.low);
    return NC_NOERR;
}

/* Add n reductions of so many values. Recursive doubling has a message for each doubling of the nodes; MPICH halves the
 * values first if there are as many as nodes, with as many messages again. */
static void add_reductions(const plan_call *call, int64_t n, int values, plan_result *out)
{
    int64_t steps = pnc_bits_count_doublings(call->nnodes);

    out->reductions += n;
    out->reduction_messages += n * steps * (values >= call->nnodes ? 2 : 1);
}

static void add_agreements(const plan_call *call, int64_t n, int values, plan_result *out)
{
    add_reductions(call, n, pnc_file_maxima_is_one(values, call->nranks) ? 1 : values, out);
}

/* Between nodes: all ranks agree once, or twice if some need others or wait to know whether all get the same, and once
 * more in ncmpi_wait_all; ranks and delegates may compare their ranges; delegates add the bytes of a get, and end each
 * round. */
static void count_reductions(const plan_call *call, bool compares_ranks, bool compares, plan_result *out)
{
    if (call->nnodes == 1)
        return;
    add_agreements(call, 1, PNC_FIRST_VALUES, out);
    add_agreements(call, (out->naggregators > 0 || call->waits) + (call->d->nvars > 1), PNC_RESULT_VALUES, out);
    add_reductions(call, compares_ranks, 1, out);
    if (compares) {
        add_reductions(call, 1, 1, out);
        add_reductions(call, 1, 2, out);
    }
    if (out->strategy == PNC_TWO_PHASE && out->naggregators > 0)
        add_reductions(call, (call->options->direction == PNC_GET) + out->traffic.rounds, 1, out);
}

static void count_memory(const plan_call *call, plan_result *out)
{
    if (out->naggregators == 0 || out->strategy == PNC_SEPARATE)
        return;
    out->memory_rank = (int64_t)sizeof(pnc_segment) + PNC_SEGMENT_PIECES * (int64_t)sizeof(pnc_extent);
    out->memory_aggregator = out->memory_rank + out->buffer + out->buffer / 32;
    if (call->nnodes > 1)
        out->memory_aggregator += PNC_MESSAGE_MEMORY;
}

/* Ranks that write copy their bytes, and the exchange remains. With logs, the disk of a node gets those of its ranks
 * before the call returns: an equal part of all, in an access of each round. */
static void estimate_hidden(const plan_call *call, plan_result *out)
{
    int64_t nwriters = out->naggregators + out->nindependent - out->nidle, clock = 0, end = 0;
    int64_t rounds = out->traffic.rounds > 0 ? out->traffic.rounds : 1;
    int64_t length = out->bytes / call->nnodes / rounds;

    if (call->options->direction != PNC_PUT || nwriters == 0)
        return;
    out->hidden = out->seconds - out->exchange;
    out->memory_behind = (out->bytes + nwriters - 1) / nwriters;
    for (int64_t i = 0; i < rounds; i++)
        end = plan_disk_compute_end(&call->options->disk, &clock, length, end);
    out->hidden_by_logs = out->hidden > 1e-9 * (double)end ? out->hidden - 1e-9 * (double)end : 0;
}

/* Ranks that access the file: aggregators, and those on their own. */
static double count_accessing(const plan_result *out)
{
    double n = out->naggregators + out->nindependent - out->nidle;

    n = n < (double)out->accesses.n ? n : (double)out->accesses.n;
    return n > 1 ? n : 1;
}

/* Requests are those of stripes. In a round the accesses of an aggregator are made at the same time. */
static void compute_limits(const plan_call *call, plan_result *out)
{
    const plan_options *o = call->options;
    const plan_file_system *fs = &o->fs;
    double bytes = (double)out->accesses.bytes, n = (double)out->accesses.n, stripes = bytes / (double)fs->unit;
    double servers = (double)(out->range.high / fs->unit - out->range.low / fs->unit + 1);
    double accessing = count_accessing(out), nodes = call->nnodes < accessing ? call->nnodes : accessing;
    double steps = out->traffic.rounds > 0 ? (double)out->traffic.rounds : n / accessing;
    double pieces = out->naggregators > 0 ? (double)call->runs / accessing : 0;

    servers = servers < fs->servers ? servers : fs->servers;
    out->limits = (plan_limits){
        .servers = 1e-9 * (bytes * fs->server_byte + (stripes > n ? stripes : n) * (double)fs->request) / servers,
        .locks = 1e-9 * (double)out->lock_moves * (double)fs->lock / servers,
        .links = 1e-9 * bytes * fs->link_byte / nodes,
        .latency = 1e-9 * steps * (double)fs->latency,
        .copies = bytes / accessing * pnc_io_costs_find(true, call->nnodes)->copied + 1e-9 * PLAN_PIECE_NS * pieces,
        .network = 1e-9 * (double)out->traffic.message_bytes * o->network_byte / call->nnodes,
        .messages = 1e-9 * (double)out->traffic.busiest * o->message,
        .agreements = 1e-9 * (double)out->reduction_messages * o->message};
}

/* The ranks that need others. */
static int compute_collective(plan_call *call, plan_result *out)
{
    const pnc_access_hints *hints = &call->options->hints;
    pnc_access_pattern pattern = describe(call);
    bool compares_ranks = pnc_io_ranks_has_comparison(&pattern, hints, call->range, call->longest), compares;

    out->naggregators = place_aggregators(call);
    PNC_TRY(name_nodes(call, out->naggregators));
    pattern.window = out->naggregators * compute_buffer(call);
    pattern.all_nodes = all_nodes_have_one(call);
    if (compares_ranks || pnc_io_ranks_has_node_comparison(&pattern, hints, call->longest))
        pattern.ranks_apart = are_ranks_apart(call, &pattern);
    compares = pnc_io_nodes_has_comparison(&pattern, hints, call->range);
    if (compares)
        PNC_TRY(compare_nodes(call, &pattern));
    out->strategy = pnc_io_strategy_choose_collective(&pattern, hints);
    out->pattern.all_nodes = pattern.all_nodes;
    out->pattern.ranks_apart = pattern.ranks_apart;
    out->pattern.nodes_apart = pattern.nodes_apart;
    out->pattern.nodes_range = pattern.nodes_range;
    if (out->strategy == PNC_SEPARATE)
        PNC_TRY(plan_independent_compute(call, PNC_MERGED, true, out));
    else
        PNC_TRY(plan_rounds_compute(call, out->strategy == PNC_WITHIN_NODES, out));
    count_reductions(call, compares_ranks, compares, out);
    count_memory(call, out);
    return NC_NOERR;
}

static int compute(plan_call *call, plan_result *out)
{
    call->ranges = pnc_memory_alloc(call->nranks, sizeof *call->ranges);
    call->is_independent = pnc_memory_alloc(call->nranks, sizeof *call->is_independent);
    call->aggregators = pnc_memory_alloc(call->nnodes, sizeof *call->aggregators);
    if (call->ranges == NULL || call->is_independent == NULL || call->aggregators == NULL)
        return plan_memory_fail(call);
    for (int rank = 0; rank < call->nranks; rank++)
        PNC_TRY(examine_rank(call, rank, out));
    out->bytes = call->bytes;
    PNC_TRY(plan_steps_check(call, out->range.high / call->options->fs.unit, PLAN_MOST_STRIPES, "stripes"));
    if (out->nindependent > 0)
        PNC_TRY(plan_independent_compute(call, call->independent, false, out));
    if (out->nindependent < call->nranks)
        return compute_collective(call, out);
    count_reductions(call, false, false, out);
    return NC_NOERR;
}

static int check_nodes(const plan_call *call)
{
    const plan_options *o = call->options;

    if (o->machine == NULL || call->nnodes <= o->most_nodes)
        return NC_NOERR;
    tool_error_print("%s has %lld nodes: %d ranks need %d with --ranks-per-node=%d", o->machine,
                     (long long)o->most_nodes, call->nranks, call->nnodes, call->ranks_per_node);
    return NC_EINVAL;
}

int plan_call_compute(const plan_decomposition *d, plan_result *out)
{
    const plan_options *o = d->options;
    plan_call call = {.d = d, .options = o, .nranks = d->nranks};
    int err;

    call.ranks_per_node = d->nranks < o->ranks_per_node ? d->nranks : (int)o->ranks_per_node;
    call.nnodes = (d->nranks + call.ranks_per_node - 1) / call.ranks_per_node;
    call.unit = pnc_io_striping_unit_compute(o->stripe_count > 0 ? o->fs.unit : 0, 0);
    *out = (plan_result){.nranks = call.nranks, .nnodes = call.nnodes};
    err = check_nodes(&call);
    if (err == NC_NOERR)
        err = compute(&call, out);
    compute_limits(&call, out);
    estimate_hidden(&call, out);
    pnc_memory_free(call.ranges);
    pnc_memory_free(call.is_independent);
    pnc_memory_free(call.aggregators);
    pnc_memory_free(call.node_of);
    return err;
}
