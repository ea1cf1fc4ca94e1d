/* Execution of requests. A rank accesses large runs on its own; small runs of several ranks, which may interleave, go
 * through aggregators. */
#include "io/transfer.h"

#include <assert.h>

#include "file/agree.h"
#include "io/display.h"
#include "io/execution.h"
#include "io/mpi_io/mpi_io.h"
#include "io/two_phase/two_phase.h"

/* --- which strategy --- */

static int count_runs_of(pnc_io_context *io, const pnc_elements *e, pnc_access_pattern *p)
{
    const pnc_mapping mapping = pnc_io_context_get_mapping(io, e->varid);

    if (e->form != PNC_SLABS) {
        p->runs += e->n;
        p->reads += e->n;
        return NC_NOERR;
    }
    for (int64_t k = 0; k < e->n; k++) {
        pnc_selection own = {0};
        const pnc_selection *selection;
        int err = pnc_mapping_selection_get(&mapping, e, k, &own, &selection);

        if (err != NC_NOERR)
            return pnc_io_request_fail(io, e->varid, err);
        p->runs += selection->nruns;
        p->reads += pnc_io_reads_count(selection, e->elem_size);
        pnc_select_selection_free(&own);
    }
    return NC_NOERR;
}

/* What is the same on all ranks, and of this rank its hyperslabs, runs, reads and bytes. */
static int describe_access(pnc_io_context *io, const pnc_request_list *list, pnc_access_pattern *p)
{
    const pnc_store *store = io->file->store;
    const pnc_buffer_shape buffer = pnc_io_context_get_buffer_shape(io);
    bool several_ranks = list->collective && io->file->nprocs > 1;

    *p = (pnc_access_pattern){.direction = list->direction,
                              .slabs = list->summary.slabs,
                              .bytes = list->summary.bytes,
                              .nprocs = several_ranks ? io->file->nprocs : 1,
                              .nnodes = several_ranks ? store->nnodes : 1,
                              .sieves = pnc_io_strategy_is_sieved(list->direction, io->file->nprocs, store->nnodes),
                              .on_servers = buffer.on_servers,
                              .given = &io->hints->costs,
                              .buffer = pnc_io_buffer_compute_size(&buffer),
                              .striping_unit = buffer.striping_unit};
    p->nwriters = pnc_io_strategy_count_writers(p->nprocs, io->file->nodes->nprocessors);
    if (!pnc_io_runs_is_counted(p->slabs, p->bytes)) {
        p->runs = p->reads = p->slabs;
        return NC_NOERR;
    }
    for (int64_t i = 0; i < list->n; i++)
        PNC_TRY(count_runs_of(io, &list->at[i]->elements, p));
    return NC_NOERR;
}

#define ROW(ID, name, ...) [PNC_##ID] = pnc_io_##name##_execute,
static int (*const executors[PNC_STRATEGIES])(const pnc_execution *) = {PNC_STRATEGY_ROWS(ROW, ROW, unused)};
#undef ROW

/* The counters of a class of calls have the order of the strategies. Counts a call in which this rank has values. */
static int execute_strategy(const pnc_execution *x, pnc_strategy choice)
{
    static const pnc_counter first[2][2] = {
        {PNC_COUNT_INDEPENDENT_GETS_DIRECT, PNC_COUNT_COLLECTIVE_GETS_DIRECT},
        {PNC_COUNT_INDEPENDENT_PUTS_DIRECT, PNC_COUNT_COLLECTIVE_PUTS_DIRECT},
    };
    const pnc_request_list *list = x->list;

    if (x->io->file->statistics != NULL && list->summary.bytes > 0)
        pnc_statistics_add(x->io->file->statistics, first[list->direction == PNC_PUT][list->collective] + choice, 1);
    return executors[choice](x);
}

/* A rank without others. */
static int execute_independent(pnc_io_context *io, pnc_request_list *list, pnc_strategy choice)
{
    const pnc_execution x = {.io = io, .list = list};

    assert(!pnc_io_strategy_is_collective(choice));
    return execute_strategy(&x, choice);
}

/* --- agreement --- */

/* Values that the ranks agree on in one reduction: the maximum of each. */
typedef struct agreement {
    int64_t failure; /* as pnc_file_failure_encode makes it */
    int64_t numrecs;
    int64_t minus_low, high; /* range of the file for aggregators; high = 0: no rank needs them */
    int64_t longest;         /* of the ranges of the ranks, as pnc_io_range_compute_length has it */
    int own; /* an error that the others do not get: in the arguments of this rank, or NC_ERANGE of its requests */
} agreement;

/* At the end of the execution of the requests, unless it has failed. Most calls need not read the list, which may be
 * long. */
static int find_out_of_range(const pnc_io_context *io, pnc_request_list *list)
{
    bool is_searched = io->has_out_of_range && !list->is_checked;

    for (int64_t i = 0; is_searched && i < list->n && list->out_of_range == NULL; i++)
        if (list->at[i]->status != NC_NOERR)
            list->out_of_range = list->at[i];
    return list->out_of_range != NULL ? NC_ERANGE : NC_NOERR;
}

/* Count the ranks that have the same error of their own: one of them reports it. */
static void count_own(pnc_file *file, pnc_request_list *list, int own, int64_t agreed)
{
    if (list->out_of_range != NULL && own != NC_NOERR)
        list->others = pnc_file_finders_count(file, own, agreed);
    else
        pnc_file_failure_count(file, own, agreed);
}

static int agree_results(pnc_io_context *io, pnc_request_list *list, int status, agreement *v)
{
    pnc_file *file = io->file;
    int64_t values[6] = {0, v->numrecs, v->minus_low, v->high, v->longest, pnc_file_failure_encode(file, v->own)};
    int mismatch;

    status = pnc_file_late_take(file, status);
    values[0] = pnc_file_failure_encode(file, status);
    mismatch = pnc_file_maxima_agree(file, values, 6, "the results of a collective call");
    if (mismatch != NC_NOERR)
        return pnc_error_keep_first(status, mismatch);
    count_own(file, list, v->own, values[5]);
    *v = (agreement){values[0], values[1], values[2], values[3], values[4], NC_NOERR};
    return pnc_file_failure_share(file, status, v->failure,
                                  list->direction == PNC_PUT ? "a collective write" : "a collective read");
}

/* Make the aggregators and their buffers, once. Where memory, or the MPI library, does not allow it, all ranks access
 * the file on their own: slower, with the same result. */
static void prepare_two_phase(pnc_io_context *io)
{
    int err;

    if (io->two_phase != NULL || io->no_two_phase) /* on all ranks or on none */
        return;
    err = pnc_io_two_phase_create(io, &io->two_phase);
    if (err == NC_NOERR)
        return;
    io->no_two_phase = true;
    pnc_error_clear(io->file->error);
}

/* Whether the ranks have ranges of the file of their own. Compared for puts on one node, unless aggregators access the
 * servers fewer times; between nodes if these ranges are short beside that of the call. */
static void compare_ranks(pnc_io_context *io, const pnc_file_order *order, pnc_range range, int64_t longest,
                          pnc_access_pattern *p)
{
    const pnc_node *node = pnc_io_two_phase_get_node(io->two_phase);
    pnc_sequence own;

    if (pnc_io_ranks_has_node_comparison(p, io->hints, longest))
        p->ranks_apart = pnc_io_two_phase_is_separate(io->two_phase, order);
    if (!pnc_io_ranks_has_comparison(p, io->hints, range, longest))
        return;
    own = pnc_io_sequence_init_rank(p, io->hints, range, (pnc_range){order->low, order->high}, io->file->rank);
    pnc_file_step_check(io->file, pnc_io_node_compare_ranks(node, io->file->comm, own, &p->ranks_apart),
                        "the comparison", "the ranges of ranks");
}

/* Whether the nodes have ranges of the file of their own. The range of the execution becomes that of the node. */
static void compare_nodes(pnc_io_context *io, pnc_execution *x, pnc_access_pattern *p)
{
    const pnc_node *node = pnc_io_two_phase_get_node(io->two_phase);
    double length = (double)(x->range.high - x->range.low);
    pnc_comparison found = {0};

    x->node_range = (pnc_range){x->order->low < x->order->high ? x->order->low : INT64_MAX, x->order->high};
    if (!pnc_io_nodes_has_comparison(p, io->hints, x->range))
        return;
    pnc_file_step_check(io->file, pnc_io_node_compare_ranges(node, &x->node_range, &found), "the comparison",
                        "the ranges of nodes");
    p->nodes_apart = x->nodes_apart = found.apart;
    p->nodes_range = (double)found.sum / length;
}

/* Collective: the ranks have agreed that some of them need others. The pattern is that of this rank; longest: as in the
 * agreement. */
static int execute_collective(pnc_execution *x, pnc_access_pattern *p, int64_t longest)
{
    pnc_io_context *io = x->io;
    pnc_strategy choice;

    prepare_two_phase(io);
    if (io->no_two_phase)
        return execute_strategy(x, PNC_MERGED);
    p->window = pnc_io_two_phase_get_window(io->two_phase);
    p->all_nodes = pnc_io_two_phase_get_node(io->two_phase)->all_nodes;
    p->has_mpi_io = pnc_io_strategy_is_forced(PNC_MPI_IO, io->hints) && pnc_io_mpi_io_open(io);
    compare_ranks(io, x->order, x->range, longest, p);
    compare_nodes(io, x, p);
    choice = pnc_io_strategy_choose_collective(p, io->hints);
    if (x->list->n > 0)
        pnc_io_strategy_display(io, p, choice);
    x->is_news = pnc_io_collective_display(io, p->direction, choice);
    return execute_strategy(x, choice);
}

/* A collective call of several ranks: independent access, then aggregators if any rank needs them. If any rank has
 * an error, all ranks return an error: also if it had no memory for its request, which is no mistake in its arguments.
 */
static int transfer_collective(pnc_io_context *io, pnc_request_list *list, int64_t *numrecs)
{
    pnc_request_list exchanged = {.direction = list->direction, .collective = true};
    pnc_access_pattern pattern;
    bool is_mistake = list->error != NC_ENOMEM;
    agreement v = {.numrecs = *numrecs, .minus_low = INT64_MIN, .own = is_mistake ? list->error : NC_NOERR};
    pnc_file_order order;
    pnc_strategy own = PNC_DIRECT;
    bool has_order;
    int err = is_mistake ? NC_NOERR : list->error;

    if (io->file->limit != NULL && io->file->call.begins) /* the limit does not include the time of accesses */
        PNC_TRY(pnc_file_status_agree(io->file, NC_NOERR));
    err = pnc_error_keep_first(err, describe_access(io, list, &pattern));
    if (err == NC_NOERR)
        own = pnc_io_strategy_choose_independent(&pattern, io->hints);
    has_order = err == NC_NOERR && own == PNC_STRATEGIES;

    if (has_order) {
        exchanged = *list;
        err = pnc_io_file_order_init(&order, io, &exchanged);
        if (err == NC_NOERR && order.high > order.low) {
            v.minus_low = -order.low;
            v.high = order.high;
            v.longest =
                pnc_io_range_compute_length((pnc_range){order.low, order.high}, pattern.runs, pattern.striping_unit);
        }
    } else if (err == NC_NOERR) {
        pnc_io_strategy_display(io, &pattern, own);
        err = execute_independent(io, list, own);
        if (err == NC_NOERR && v.own == NC_NOERR)
            v.own = find_out_of_range(io, list);
    }
    err = agree_results(io, list, err, &v);
    *numrecs = v.numrecs;
    if (err == NC_NOERR && v.high > 0) { /* the same on all ranks */
        pnc_execution x = {.io = io, .list = &exchanged, .order = &order, .range = {-v.minus_low, v.high}};

        if (!has_order)
            (void)pnc_io_file_order_init(&order, io, &exchanged); /* an empty one needs no memory */
        err = execute_collective(&x, &pattern, v.longest);
        if (err == NC_NOERR && has_order)
            v.own = find_out_of_range(io, list);
        has_order = true;
        err = agree_results(io, list, err, &v);
        if (err == NC_NOERR && list->direction == PNC_PUT)
            pnc_file_end_adopt(io->file, v.high);
    }
    if (has_order)
        pnc_io_file_order_free(&order);
    return err;
}

static int transfer_independent(pnc_io_context *io, pnc_request_list *list)
{
    pnc_strategy choice = PNC_DIRECT;
    pnc_access_pattern pattern;

    if (list->n != 1 || !pnc_io_strategy_is_certain(list->at[0]->elements.n, io->hints)) {
        PNC_TRY(describe_access(io, list, &pattern));
        choice = pnc_io_strategy_choose_independent(&pattern, io->hints);
        pnc_io_strategy_display(io, &pattern, choice);
    }
    PNC_TRY(execute_independent(io, list, choice));
    (void)find_out_of_range(io, list);
    return NC_NOERR;
}

int pnc_io_requests_transfer(pnc_io_context *io, pnc_request_list *list, int64_t *numrecs)
{
    int64_t most = list->summary.numrecs;
    int err;

    assert(list->summary.n == list->n);
    io->has_out_of_range = false;
    if (list->collective && io->file->nprocs > 1)
        err = transfer_collective(io, list, &most);
    else
        err = transfer_independent(io, list);
    if (list->direction == PNC_PUT && !io->file->call.mismatch)
        io->file->lost_put = pnc_error_keep_first(io->file->lost_put, err);
    io->file->unsynced |= list->direction == PNC_PUT; /* a second handle of the file may have written */
    PNC_TRY(err);
    if (list->direction == PNC_PUT)
        io->file->put_size += list->summary.bytes;
    else
        io->file->get_size += list->summary.bytes;
    *numrecs = most;
    return NC_NOERR;
}
