/* The aggregators of the nodes, and how the ranges of ranks lie in the file. Pure arithmetic. */
#ifndef PNC_IO_PLACEMENT_H
#define PNC_IO_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>
#include "io/choose/strategy.h"

/* The aggregators, as a node sees them: its own are first .. first + n - 1, and its ranks from 0 on. */
typedef struct pnc_aggregators {
    int all;        /* of all nodes */
    int first, n;   /* of this node */
    int ndelegates; /* ranks of the node that exchange messages: 0 .. ndelegates - 1 */
} pnc_aggregators;

/* What the number of aggregators of a node depends on, beside the hints. */
typedef struct pnc_node_shape {
    int nnodes, index, nprocs; /* number of nodes; of the node: its index, and its ranks */
    int nranks;                /* of all nodes */
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

/* A range with the rest of its first and last stripe. */
static inline pnc_range pnc_io_range_extend(pnc_range range, int64_t striping_unit)
{
    int64_t rest = range.high % striping_unit, more = rest > 0 ? striping_unit - rest : 0;

    if (range.low >= range.high)
        return range;
    return (pnc_range){range.low - range.low % striping_unit,
                       range.high > INT64_MAX - more ? INT64_MAX : range.high + more};
}

/* From the first to the last byte of both. */
static inline pnc_range pnc_io_range_join(pnc_range a, pnc_range b)
{
    if (a.low >= a.high || b.low >= b.high)
        return a.low >= a.high ? b : a;
    return (pnc_range){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}

/* Bytes of the range of a rank with so many runs. INT64_MAX: some runs share a stripe, so that an aggregator, which
 * accesses whole stripes, may access the file fewer times than the rank. */
static inline int64_t pnc_io_range_compute_length(pnc_range range, int64_t runs, int64_t striping_unit)
{
    if (range.low >= range.high)
        return 0;
    if (runs > 1 && runs > (range.high - 1) / striping_unit - range.low / striping_unit + 1)
        return INT64_MAX;
    return range.high - range.low;
}

/* Whether ranks, whose ranges have `longest` bytes or less each, leave at least half of the range of the call free.
 * Then each may have stripes of its own. */
static inline bool pnc_io_range_is_sparse(pnc_range range, int64_t longest, int nprocs)
{
    return longest <= (range.high - range.low) / 2 / nprocs;
}

/* Whether ranks compare their ranges. `longest`: of the ranges of the ranks. On several nodes: they are sparse, or a
 * hint forces PNC_SEPARATE. */
bool pnc_io_ranks_has_comparison(const pnc_access_pattern *pattern, const pnc_access_hints *hints, pnc_range range,
                                 int64_t longest);
/* The same on one node. Only for a put: the file is local, or no rank has more runs than its range has stripes, or a
 * hint forces PNC_SEPARATE. */
bool pnc_io_ranks_has_node_comparison(const pnc_access_pattern *pattern, const pnc_access_hints *hints,
                                      int64_t longest);

/* Whether nodes compare their ranges: if a call takes several rounds, all aggregators may then work at the same time,
 * without messages. `range`: of the call. Not if the choice does not depend on it. */
bool pnc_io_nodes_has_comparison(const pnc_access_pattern *pattern, const pnc_access_hints *hints, pnc_range range);

/* How the ranges of successive ranks follow each other. */
typedef struct pnc_sequence {
    int64_t first, last; /* where the first range begins and the last one ends */
    int64_t ndescents;   /* ranges that begin before the end of the one before; -1: there is no range */
} pnc_sequence;

static inline pnc_sequence pnc_io_sequence_init(pnc_range range)
{
    return range.low < range.high ? (pnc_sequence){range.low, range.high, 0} : (pnc_sequence){0, 0, -1};
}

/* The range of one rank, for a comparison of all. Between nodes a get that reads what ranks of other nodes have
 * written waits for their locks: its range is not apart, wherever it lies, if aggregators read `all`, the range of the
 * call, in about one round, with several pieces at the same time. A rank is taken to have written, in this program or
 * in another one, its share of `all`: equal shares in the order of ranks. */
pnc_sequence pnc_io_sequence_init_rank(const pnc_access_pattern *pattern, const pnc_access_hints *hints, pnc_range all,
                                       pnc_range range, int rank);

/* Associative. */
pnc_sequence pnc_io_sequences_join(pnc_sequence before, pnc_sequence behind);

/* Whether the ranges do not overlap, and ascend by rank: from some rank to the last one, and behind it from rank 0 on.
 */
static inline bool pnc_io_sequence_is_apart(pnc_sequence s)
{
    return s.ndescents <= 0 || (s.ndescents == 1 && s.last <= s.first);
}

#endif
