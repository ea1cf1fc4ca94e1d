/* Execution of requests. A rank accesses large runs on its own; small runs of several ranks, which may interleave, go
 * through aggregators. */
#include "io/transfer.h"

#include <assert.h>

#include "base/memory.h"
#include "file/agree.h"
#include "file/behind.h"
#include "io/display.h"
#include "io/execution.h"
#include "io/mpi_io/collective_access.h"
#include "io/chunked/chunked.h"
#include "io/shared/shared.h"
#include "io/two_phase/two_phase.h"

/* --- requests of the file, and those of variables in chunks --- */

typedef struct request_parts {
    pnc_request_list *plain;   /* those of the file */
    pnc_request_list *chunked; /* those of variables in chunks; NULL: none */
    pnc_request_list lists[2]; /* of a list with both */
    pnc_request **memory;      /* of these */
} request_parts;

static pnc_request_list empty_list(const pnc_request_list *of)
{
    return (pnc_request_list){.direction = of->direction, .collective = of->collective, .is_checked = of->is_checked};
}

/* Mostly all requests are of one kind, and the list remains. */
static int split_requests(pnc_io_context *io, pnc_request_list *all, request_parts *p)
{
    int64_t n = 0;

    p->plain = all;
    p->chunked = NULL;
    p->memory = NULL;
    for (int64_t i = 0; io->file->store->has_arrays && i < all->n; i++)
        n += pnc_io_chunked_is_request(io, all->at[i]);
    if (n == 0)
        return NC_NOERR;
    p->lists[0] = p->lists[1] = empty_list(all);
    p->plain = &p->lists[0];
    p->chunked = n == all->n ? all : &p->lists[1];
    if (n == all->n)
        return NC_NOERR;
    p->memory = pnc_memory_alloc(all->n, sizeof *p->memory);
    if (p->memory == NULL)
        return pnc_error_set(io->file->error, NC_ENOMEM, "%s: no memory for %lld requests", io->file->path,
                             (long long)all->n);
    p->plain->at = p->memory;
    p->chunked->at = p->memory + (all->n - n);
    for (int64_t i = 0; i < all->n; i++)
        pnc_io_request_list_add(pnc_io_chunked_is_request(io, all->at[i]) ? p->chunked : p->plain, all->at[i]);
    return NC_NOERR;
}

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
        if (p->on_servers && p->direction == PNC_GET)
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
                              .given = io->hints->has_costs ? &io->hints->costs : NULL,
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

/* --- agreement --- */

/* Values that the ranks agree on in one reduction: the maximum of each. A put has a number of records, a get the key of
 * its requests and its negative: both are of one key if all ranks that get values get the same bytes. */
typedef struct agreement {
    int64_t failure; /* as pnc_file_failure_encode makes it */
    int64_t numrecs;
    int64_t key, minus_key;  /* INT64_MIN: of a rank without values; 0: of one that does not share */
    int64_t minus_low, high; /* range of the file for aggregators; high = 0: no rank needs them */
    int64_t longest;         /* of the ranges of the ranks, as pnc_io_range_compute_length has it */
    int64_t chunked;         /* 1: a rank accesses variables in chunks */
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

/* A collective call of several ranks. */
typedef struct collective_call {
    pnc_io_context *io;
    pnc_request_list *list; /* all requests */
    request_parts parts;
    pnc_strategy waiting;       /* with which this rank reads them by itself, unless all want the same; or none */
    pnc_request_list exchanged; /* of the plain ones those that this rank leaves to a strategy of all ranks */
    pnc_access_pattern pattern; /* of this rank */
    pnc_file_order order;       /* of the exchanged requests */
    bool has_order;
    agreement v;
} collective_call;

/* The ranks that have the same error of their own are counted: one of them reports it. */
static int agree_results(collective_call *c, int status)
{
    pnc_file *file = c->io->file;
    agreement *v = &c->v;
    bool is_put = c->list->direction == PNC_PUT;
    int64_t first = is_put ? v->numrecs : v->key, second = is_put || v->chunked != 0 ? v->chunked : v->minus_key;
    int64_t values[PNC_RESULT_VALUES] = {
        0, first, v->minus_low, v->high, v->longest, second, pnc_file_failure_encode(file, v->own)};
    int mismatch;

    status = pnc_file_late_take(file, status);
    values[0] = pnc_file_failure_encode(file, status);
    mismatch = pnc_file_maxima_agree(file, values, PNC_RESULT_VALUES, "the results of a collective call");
    if (mismatch != NC_NOERR)
        return pnc_error_keep_first(status, mismatch);
    if (c->list->out_of_range != NULL && v->own != NC_NOERR)
        c->list->others = pnc_file_finders_count(file, v->own, values[6]);
    else
        pnc_file_failure_count(file, v->own, values[6]);
    *v = (agreement){.failure = values[0],
                     .numrecs = is_put ? values[1] : 0,
                     .key = values[1],
                     .minus_key = values[5],
                     .minus_low = values[2],
                     .high = values[3],
                     .longest = values[4],
                     .chunked = values[5] > 0};
    return pnc_file_failure_share(file, status, v->failure, is_put ? "a collective write" : "a collective read");
}

/* After the agreement, of a get: a rank waits to know whether all want the same, and these do. */
static bool has_waiting(const collective_call *c)
{
    return c->list->direction == PNC_GET && c->v.key > 0;
}

static bool want_same(const collective_call *c)
{
    return has_waiting(c) && c->v.minus_key == -c->v.key;
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

/* Collective: the ranks have agreed that some of them need others. longest: as in the agreement. The first call makes
 * the aggregators and their buffers. Where memory, or the MPI library, does not allow it, all ranks access the file on
 * their own: slower, with the same result. */
static int execute_collective(pnc_execution *x, pnc_access_pattern *p, int64_t longest)
{
    pnc_io_context *io = x->io;
    const pnc_node *node;
    pnc_strategy choice;

    if (!pnc_io_two_phase_make(io, p->buffer))
        return execute_strategy(x, PNC_MERGED);
    node = pnc_io_two_phase_get_node(io->two_phase);
    p->window = node->naggregators * p->buffer;
    p->all_nodes = node->all_nodes;
    p->has_mpi_io = pnc_io_strategy_is_forced(PNC_MPI_IO, io->hints) && pnc_io_mpi_io_open(io, node, p->buffer);
    compare_ranks(io, x->order, x->range, longest, p);
    compare_nodes(io, x, p);
    choice = pnc_io_strategy_choose_collective(p, io->hints);
    if (x->list->n > 0)
        pnc_io_strategy_display(io, p, choice);
    x->is_news = pnc_io_collective_display(io, p->direction, choice);
    return execute_strategy(x, choice);
}

static int access_independently(collective_call *c, pnc_strategy choice)
{
    pnc_io_context *io = c->io;
    const pnc_execution x = {.io = io, .list = c->parts.plain};

    pnc_io_strategy_display(io, &c->pattern, choice);
    PNC_TRY(execute_strategy(&x, choice));
    if (c->v.own == NC_NOERR && c->parts.chunked == NULL)
        c->v.own = find_out_of_range(io, c->list);
    return NC_NOERR;
}

/* Whether this rank reads what it gets only after the agreement, as all may want the same. */
static bool find_key(collective_call *c, pnc_strategy choice)
{
    bool may_share = c->parts.chunked == NULL && pnc_io_strategy_may_share(&c->pattern, c->io->hints, choice);

    if (c->list->direction == PNC_PUT || (c->list->summary.bytes == 0 && c->parts.chunked == NULL))
        return false;
    c->v.key = may_share && c->io->file->ahead == NULL ? pnc_io_shared_key_compute(c->io, c->parts.plain) : 0;
    c->v.minus_key = -c->v.key;
    return c->v.key > 0;
}

/* Execute the requests if this rank needs no others; else find which range of the file they touch. */
static int access_without_others(collective_call *c)
{
    pnc_io_context *io = c->io;
    pnc_strategy choice;
    bool waits;

    PNC_TRY(describe_access(io, c->parts.plain, &c->pattern));
    choice = pnc_io_strategy_choose_independent(&c->pattern, io->hints);
    waits = find_key(c, choice);
    if (choice != PNC_STRATEGIES && waits)
        c->waiting = choice;
    if (choice != PNC_STRATEGIES)
        return waits ? NC_NOERR : access_independently(c, choice);
    c->exchanged = *c->parts.plain;
    c->has_order = true;
    PNC_TRY(pnc_io_file_order_init(&c->order, io, &c->exchanged));
    if (c->order.high > c->order.low) {
        c->v.minus_low = -c->order.low;
        c->v.high = c->order.high;
        c->v.longest = pnc_io_range_compute_length((pnc_range){c->order.low, c->order.high}, c->pattern.runs,
                                                   c->pattern.striping_unit);
    }
    return NC_NOERR;
}

/* All ranks take part: those that need no others with an empty list. */
static int exchange_with_others(collective_call *c)
{
    pnc_execution x = {.io = c->io,
                       .list = &c->exchanged,
                       .order = &c->order,
                       .range = {-c->v.minus_low, c->v.high},
                       .buffer = c->pattern.buffer};
    int err;

    if (!c->has_order)
        (void)pnc_io_file_order_init(&c->order, c->io, &c->exchanged); /* an empty one needs no memory */
    c->has_order = true;
    err = execute_collective(&x, &c->pattern, c->v.longest);
    if (err == NC_NOERR && c->exchanged.n > 0 && c->parts.chunked == NULL)
        c->v.own = find_out_of_range(c->io, c->list);
    return err;
}

/* The ranks do not want the same: those that have waited access the file by themselves. */
static int access_with_others(collective_call *c)
{
    int err = c->waiting != PNC_STRATEGIES ? access_independently(c, c->waiting) : NC_NOERR;

    if (c->v.high > 0)
        err = pnc_error_keep_first(err, exchange_with_others(c));
    err = agree_results(c, err);
    if (err == NC_NOERR && c->list->direction == PNC_PUT)
        pnc_file_end_adopt(c->io->file, c->v.high);
    return err;
}

static int access_shared(collective_call *c)
{
    const pnc_execution x = {.io = c->io, .list = c->parts.plain, .buffer = c->pattern.buffer};
    int err;

    c->pattern.same = true;
    pnc_io_strategy_display(c->io, &c->pattern, PNC_SHARED);
    (void)pnc_io_collective_display(c->io, PNC_GET, PNC_SHARED);
    err = execute_strategy(&x, PNC_SHARED);
    if (err == NC_NOERR && c->list->n > 0)
        c->v.own = find_out_of_range(c->io, c->list);
    return agree_results(c, err);
}

/* --- variables in chunks --- */

static void extend_range(pnc_behind_range *range, int64_t space, int64_t low, int64_t high)
{
    const pnc_behind_point first = {space, low}, end = {space, high};
    bool is_first = pnc_behind_range_is_empty(range);

    if (is_first || pnc_behind_point_is_before(first, range->low))
        range->low = first;
    if (is_first || pnc_behind_point_is_before(range->high, end))
        range->high = end;
}

/* The addresses of a filetype are not searched. */
pnc_behind_range pnc_io_list_find_range(pnc_io_context *io, const pnc_request_list *list, bool with_chunks)
{
    pnc_behind_range range = {.call = 0};

    for (int64_t i = 0; i < list->n; i++) {
        const pnc_elements *e = &list->at[i]->elements;
        const pnc_mapping mapping = pnc_io_context_get_mapping(io, e->varid);
        bool is_chunked = pnc_io_chunked_is_request(io, list->at[i]);
        int64_t space = is_chunked ? e->varid + INT64_C(1) : 0;
        pnc_locator locator;

        if (e->count == 0 || (!with_chunks && is_chunked))
            continue;
        pnc_mapping_locator_init(&locator, &mapping);
        if (e->form == PNC_FILETYPE)
            extend_range(&range, space, 0, INT64_MAX);
        for (int64_t k = 0; e->form != PNC_FILETYPE && k < e->n; k++) {
            pnc_span span = pnc_mapping_span_get(&mapping, &locator, e, k);

            if (span.bytes > 0)
                extend_range(&range, space, span.first, span.end);
        }
    }
    return range;
}

static int access_chunked(collective_call *c, int64_t bytes)
{
    const pnc_request_list none = empty_list(c->list);
    int err = pnc_io_chunked_execute(c->io, c->parts.chunked != NULL ? c->parts.chunked : &none, bytes);

    if (err == NC_NOERR && c->list->n > 0)
        c->v.own = find_out_of_range(c->io, c->list);
    return agree_results(c, err);
}

/* Aggregators may read and write between bytes that a rank has put without them in this call: these come first. */
static int wait_apart(collective_call *c)
{
    pnc_file *file = c->io->file;
    int64_t apart = c->exchanged.n == 0 && c->parts.plain->n > 0;

    PNC_TRY(pnc_file_maxima_agree(file, &apart, 1, "delayed writes of ranks on their own"));
    return apart != 0 ? pnc_file_behind_wait(file) : NC_NOERR;
}

/* Independent access, then aggregators if any rank needs them. If any rank has an error, all ranks return an error:
 * also if it had no memory for its request, which is no mistake in its arguments. */
static int transfer_collective(pnc_io_context *io, pnc_request_list *list, int64_t *numrecs)
{
    int mistake = list->error == NC_ENOMEM ? NC_NOERR : list->error, err = mistake != NC_NOERR ? NC_NOERR : list->error;
    collective_call c;
    bool is_chunked;

    c.io = io;
    c.list = list;
    c.exchanged = (pnc_request_list){.direction = list->direction, .collective = true};
    c.parts = (request_parts){.plain = list};
    c.has_order = false;
    c.waiting = PNC_STRATEGIES;
    c.v = (agreement){
        .numrecs = *numrecs, .key = INT64_MIN, .minus_key = INT64_MIN, .minus_low = INT64_MIN, .own = mistake};
    if (io->file->limit != NULL && io->file->call.begins) /* the limit does not include the time of accesses */
        PNC_TRY(pnc_file_status_agree(io->file, NC_NOERR));
    if (err == NC_NOERR)
        err = split_requests(io, list, &c.parts);
    c.v.chunked = c.parts.chunked != NULL;
    if (err == NC_NOERR)
        err = access_without_others(&c);
    err = agree_results(&c, err);
    *numrecs = c.v.numrecs;
    is_chunked = c.v.chunked != 0; /* these are the same on all ranks */
    if (err == NC_NOERR && c.v.high > 0 && io->file->behind != NULL && list->direction == PNC_PUT)
        err = wait_apart(&c);
    if (err == NC_NOERR && want_same(&c))
        err = access_shared(&c);
    else if (err == NC_NOERR && (c.v.high > 0 || has_waiting(&c)))
        err = access_with_others(&c);
    if (err == NC_NOERR && is_chunked)
        err = access_chunked(&c, io->buffer_size);
    pnc_memory_free(c.parts.memory);
    if (c.has_order)
        pnc_io_file_order_free(&c.order);
    return err;
}

static int transfer_plain(pnc_io_context *io, pnc_request_list *list)
{
    const pnc_execution x = {.io = io, .list = list};
    pnc_strategy choice = PNC_DIRECT;
    pnc_access_pattern pattern;

    if (list->n != 1 || !pnc_io_strategy_is_certain(list->at[0]->elements.n, io->hints)) {
        PNC_TRY(describe_access(io, list, &pattern));
        choice = pnc_io_strategy_choose_independent(&pattern, io->hints);
        pnc_io_strategy_display(io, &pattern, choice);
    }
    return execute_strategy(&x, choice);
}

static int transfer_independent(pnc_io_context *io, pnc_request_list *list)
{
    request_parts parts;
    int err = split_requests(io, list, &parts);

    if (err == NC_NOERR && (parts.chunked == NULL || parts.plain->n > 0))
        err = transfer_plain(io, parts.plain);
    if (err == NC_NOERR && parts.chunked != NULL)
        err = pnc_io_chunked_execute(io, parts.chunked, io->buffer_size);
    pnc_memory_free(parts.memory);
    if (err == NC_NOERR)
        (void)find_out_of_range(io, list);
    return err;
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
    *numrecs = most;
    PNC_TRY(err);
    if (list->direction == PNC_PUT)
        io->file->put_size += list->summary.bytes;
    else
        io->file->get_size += list->summary.bytes;
    return NC_NOERR;
}
