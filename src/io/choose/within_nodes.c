/* The rule of the strategy within_nodes: aggregators merge the requests of their node. */
#include <stddef.h>

#include "io/choose/costs.h"

/* Nodes read without exchange if that reads at most so many times the bytes of the range. A guess: halos of a quarter
 * of its part on each side of a node. */
#define READS_OF_NODES 1.5

static const char *prevent_within_nodes(const pnc_access_pattern *p)
{
    return p->all_nodes ? NULL : "a node without aggregator";
}

/* Nodes may read the same parts of the file. With two-phase I/O the data would cross the network, in each round to few
 * nodes only. */
static const char *reject_within_nodes(const pnc_access_pattern *p)
{
    bool are_close = p->direction == PNC_GET && p->nodes_range > 0 && p->nodes_range <= READS_OF_NODES;

    if (p->nnodes == 1)
        return "one node";
    return p->nodes_apart || are_close ? NULL : "ranges of nodes not known to be apart";
}

static pnc_estimate estimate_within_nodes(const pnc_access_pattern *p)
{
    return pnc_io_costs_compute_exchange(p, 2, false);
}

const pnc_strategy_rule pnc_io_within_nodes_rule = {
    .prevent = prevent_within_nodes, .reject = reject_within_nodes, .estimate = estimate_within_nodes};
