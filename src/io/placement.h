/* The aggregators of the nodes, and how the ranges of ranks lie in the file. Pure arithmetic. */
#ifndef PNC_IO_PLACEMENT_H
#define PNC_IO_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>
#include "io/strategy.h"

/* The aggregators, as a node sees them: its own are first .. first + n - 1, and its ranks from 0 on. */
typedef struct pnc_aggregators {
    int all;        /* of all nodes */
    int first, n;   /* of this node */
    int ndelegates; /* ranks of the node that exchange messages: 0 .. ndelegates - 1 */
} pnc_aggregators;

/* What the number of aggregators of a node depends on, beside the hints. */
typedef struct pnc_node_shape {
    int nnodes, index, nprocs; /* number of nodes; of the node: its index, and its ranks */
    int64_t listed;            /* aggregators by the hint cb_config_list; INT64_MAX: it is not given */
    int64_t servers;           /* on which stripes are distributed in turn; 0: not known */
} pnc_node_shape;

int pnc_io_aggregators_count(const pnc_node_shape *node, const pnc_access_hints *hints);

static inline bool pnc_io_aggregator_is_local(const pnc_aggregators *a, int aggregator)
{
    return aggregator >= a->first && aggregator < a->first + a->n;
}

/* The delegate of the node, as a rank of it, that passes on what the node has for an aggregator. */
static inline int pnc_io_aggregator_find_delegate(const pnc_aggregators *a, int aggregator)
{
    return pnc_io_aggregator_is_local(a, aggregator) ? aggregator - a->first : aggregator % a->ndelegates;
}

/* A range of the file. */
typedef struct pnc_range {
    int64_t low, high; /* low >= high: nothing */
} pnc_range;

/* The union of the ranges of a node: from its first to its last byte, and *bytes without the gaps. Sorts the ranges. */
pnc_range pnc_io_ranges_merge(pnc_range *ranges, int n, int64_t *bytes);

/* Whether a range begins behind those before it, which end at *end. */
static inline bool pnc_io_range_is_next(pnc_range range, int64_t *end)
{
    if (range.low >= range.high)
        return true;
    if (range.low < *end)
        return false;
    *end = range.high;
    return true;
}

#endif
