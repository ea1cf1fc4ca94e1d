/* The ranks of a node and their shared memory; which ranks are aggregators.
 *
 * Within a node data move through shared memory: each rank has a segment, which holds a portion of its pieces. Between
 * nodes only delegates exchange messages: the aggregators, and one rank of each node without an aggregator. */
#ifndef PNC_IO_NODE_H
#define PNC_IO_NODE_H

#include "file/file.h"
#include "io/choose/parts.h"

typedef struct pnc_node {
    MPI_Comm comm; /* the ranks of the node */
    int rank, nprocs;
    int nnodes, index;      /* number of nodes, and of this node among them */
    pnc_range *ranges;      /* space for one of each rank of the node */
    MPI_Datatype sequence;  /* of pnc_sequence */
    MPI_Op join;            /* pnc_io_sequences_join */
    MPI_Win shared;         /* the segments, or MPI_WIN_NULL */
    pnc_segment **segments; /* by rank in the node */
    int naggregators;       /* of all nodes */
    bool all_nodes;         /* each node has an aggregator */
    int first, n;           /* aggregators of this node: first .. first + n - 1; the same ranks of the node, from 0 */
    int ndelegates;         /* of this node: ranks 0 .. ndelegates - 1 of the node */
    MPI_Comm delegates;     /* of all nodes; aggregator i has rank i. MPI_COMM_NULL on other ranks */
} pnc_node;

/* Collective. Hints set the number of aggregators. The error is that of this rank; after it, too, free the node. */
int pnc_io_node_init(pnc_node *node, pnc_file *file, const pnc_access_hints *hints);
/* Collective, after pnc_io_node_init has succeeded on all ranks. The error is that of this rank. */
int pnc_io_node_segments_make(pnc_node *node, pnc_file *file);
/* Collective. */
void pnc_io_node_free(pnc_node *node);

/* How the ranges of the nodes lie in the file. */
typedef struct pnc_comparison {
    bool apart;  /* they do not overlap, and they ascend with the nodes */
    int64_t sum; /* bytes in the ranges of the ranks, once for each node */
} pnc_comparison;

/* Collective. The range of a rank becomes that of its node. *found is the same on all ranks. An MPI error code. */
int pnc_io_node_compare_ranges(const pnc_node *node, pnc_range *range, pnc_comparison *found);

/* Collective: a reduction of all ranks, those of comm. `own`: the range of this rank. Whether their ranges are apart
 * (pnc_io_sequence_is_apart): the same on all of them. An MPI error code. */
int pnc_io_node_compare_ranks(const pnc_node *node, MPI_Comm comm, pnc_sequence own, bool *apart);

static inline bool pnc_io_node_is_delegate(const pnc_node *node)
{
    return node->rank < node->ndelegates;
}

static inline bool pnc_io_node_is_aggregator(const pnc_node *node)
{
    return node->rank < node->n;
}

static inline pnc_aggregators pnc_io_node_get_aggregators(const pnc_node *node)
{
    return (pnc_aggregators){
        .all = node->naggregators, .first = node->first, .n = node->n, .ndelegates = node->ndelegates};
}

static inline pnc_segment *pnc_io_node_get_segment(const pnc_node *node)
{
    return node->segments[node->rank];
}

#endif
