/* Aggregators of nodes, and ranges of the file. */
#include "io/choose/placement.h"

#include <stdlib.h>

#include "base/minmax.h"
#include "io/choose/file_domains.h"

/* An aggregator copies what its ranks have at about 4 GB/s, where links of a node take 25 GB/s or more; so ranks of
 * large nodes share this work. A server has requests of so many aggregators at the same time, where there are as many
 * nodes or fewer. Plans of named machines chose these numbers: docs/scaling.md. */
enum { RANKS_OF_AGGREGATOR = 16, AGGREGATORS_OF_NODE = 8, AGGREGATORS_OF_SERVER = 8 };

/* Without a hint: of each of several nodes, on average. */
static int64_t choose_aggregators_of_node(const pnc_node_shape *node)
{
    int64_t n = node->nranks / node->nnodes / RANKS_OF_AGGREGATOR;

    if (node->servers > 0)
        n = pnc_min64(n, AGGREGATORS_OF_SERVER * node->servers / node->nnodes);
    return pnc_max64(1, pnc_min64(n, AGGREGATORS_OF_NODE));
}

/* With a total, the share of a node is such that the aggregators are spread over the nodes. */
int pnc_io_aggregators_count(const pnc_node_shape *node, const pnc_access_hints *hints)
{
    int64_t n = node->nnodes == 1 ? node->nprocs : choose_aggregators_of_node(node), total = hints->aggregators;

    if (hints->aggregators_a_node > 0)
        n = hints->aggregators_a_node;
    else if (node->listed < INT64_MAX)
        n = node->listed;
    else if (total == 0 && node->nnodes > 1 && node->servers > 0)
        total = pnc_io_file_domains_choose_count((int)(n * node->nnodes), node->servers);
    if (total > 0)
        n = total * (node->index + 1) / node->nnodes - total * node->index / node->nnodes;
    return (int)pnc_min64(pnc_min64(n, node->listed), node->nprocs);
}

static int compare_lows(const void *a, const void *b)
{
    const pnc_range *x = a, *y = b;

    return (x->low > y->low) - (x->low < y->low);
}

pnc_range pnc_io_ranges_merge(pnc_range *ranges, int n, int64_t *bytes)
{
    pnc_range all = {INT64_MAX, 0};

    qsort(ranges, (size_t)n, sizeof *ranges, compare_lows);
    *bytes = 0;
    for (int i = 0; i < n; i++) {
        if (ranges[i].low >= ranges[i].high)
            continue;
        all.low = ranges[i].low < all.low ? ranges[i].low : all.low;
        if (ranges[i].high <= all.high)
            continue;
        *bytes += ranges[i].high - (ranges[i].low > all.high ? ranges[i].low : all.high);
        all.high = ranges[i].high;
    }
    return all;
}

bool pnc_io_ranks_has_comparison(const pnc_access_pattern *p, const pnc_access_hints *hints, pnc_range range,
                                 int64_t longest)
{
    if (p->nnodes == 1 || !pnc_io_strategy_has_separate(p, hints))
        return false;
    return pnc_io_strategy_is_forced(PNC_SEPARATE, hints) || pnc_io_range_is_sparse(range, longest, p->nprocs);
}

bool pnc_io_ranks_has_node_comparison(const pnc_access_pattern *p, const pnc_access_hints *hints, int64_t longest)
{
    bool may_share = p->on_servers && longest == INT64_MAX;

    if (p->nnodes > 1 || p->direction == PNC_GET)
        return false;
    return !may_share || pnc_io_strategy_is_forced(PNC_SEPARATE, hints);
}

bool pnc_io_nodes_has_comparison(const pnc_access_pattern *p, const pnc_access_hints *hints, pnc_range range)
{
    bool is_separate = p->ranks_apart && pnc_io_strategy_has_separate(p, hints);

    if (hints->strategy > 0)
        return p->all_nodes && pnc_io_strategy_is_forced(PNC_WITHIN_NODES, hints);
    return p->all_nodes && p->nnodes > 1 && !is_separate && range.high - range.low > p->window;
}

/* The file offset at which the share of a rank begins. */
static int64_t find_share(pnc_range all, int rank, int nprocs)
{
    int64_t length = all.high - all.low;

    return all.low + length / nprocs * rank + length % nprocs * rank / nprocs;
}

pnc_sequence pnc_io_sequence_init_rank(const pnc_access_pattern *p, const pnc_access_hints *hints, pnc_range all,
                                       pnc_range range, int rank)
{
    bool may_wait = p->nnodes > 1 && p->direction == PNC_GET && hints->no_overlap == 0 &&
                    all.high - all.low <= p->window && !pnc_io_strategy_is_forced(PNC_SEPARATE, hints);
    pnc_sequence s = pnc_io_sequence_init(p->nnodes > 1 ? pnc_io_range_extend(range, p->striping_unit) : range);

    bool is_in_share =
        range.low >= find_share(all, rank, p->nprocs) && range.high <= find_share(all, rank + 1, p->nprocs);

    if (may_wait && s.ndescents == 0 && !is_in_share)
        s.ndescents = 2; /* more than those of ranges that are apart */
    return s;
}

pnc_sequence pnc_io_sequences_join(pnc_sequence before, pnc_sequence behind)
{
    if (before.ndescents < 0)
        return behind;
    if (behind.ndescents < 0)
        return before;
    return (pnc_sequence){.first = before.first,
                          .last = behind.last,
                          .ndescents = before.ndescents + behind.ndescents + (behind.first < before.last)};
}
