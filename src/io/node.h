/* The ranks of a node and their shared memory; which ranks are aggregators.
 *
 * Within a node data move through shared memory: each rank has a segment, which holds a portion of its pieces. Between
 * nodes only delegates exchange messages: the aggregators, and one rank of each node without an aggregator. */
#ifndef PNC_IO_NODE_H
#define PNC_IO_NODE_H

#include "file/file.h"
#include "io/file_domains.h"

#define PNC_SEGMENT_BYTES (512 << 10)
#define PNC_SEGMENT_PIECES 4096                      /* before they are cut at the borders of blocks */
#define PNC_SEGMENT_EXTENTS (2 * PNC_SEGMENT_PIECES) /* a block has at least 4 KiB: far fewer cuts than pieces */

/* The pieces of a portion that lie in blocks of one aggregator. */
typedef struct pnc_part {
    int aggregator;
    int extent, nextents;
    int byte, nbytes;
} pnc_part;

/* A rank's segment. Other ranks of the node read it, for a get the aggregators also write to `bytes` and `status`. */
typedef struct pnc_segment {
    int64_t next; /* file offset of the rank's first piece after this portion */
    int status;   /* get: an error of an aggregator */
    int nparts;   /* sorted by aggregator */
    pnc_part parts[PNC_SEGMENT_EXTENTS];
    pnc_extent extents[PNC_SEGMENT_EXTENTS];
    char bytes[PNC_SEGMENT_BYTES];
} pnc_segment;

/* How many aggregators; 0: by the number of nodes. */
typedef struct pnc_aggregator_counts {
    int64_t total; /* of all nodes */
    int64_t per_node;
} pnc_aggregator_counts;

typedef struct pnc_node {
    MPI_Comm comm; /* the ranks of the node */
    int rank, nprocs;
    int nnodes;
    MPI_Win window;         /* the segments, or MPI_WIN_NULL */
    pnc_segment **segments; /* by rank in the node */
    int naggregators;       /* of all nodes */
    int first, n;           /* aggregators of this node: first .. first + n - 1; the same ranks of the node, from 0 */
    int ndelegates;         /* of this node: ranks 0 .. ndelegates - 1 of the node */
    MPI_Comm delegates;     /* of all nodes; aggregator i has rank i. MPI_COMM_NULL on other ranks */
} pnc_node;

/* Collective. On failure all ranks return an error, and nothing needs to be freed. */
int pnc_io_node_create(pnc_file *file, pnc_aggregator_counts counts, pnc_node **out);
/* Collective; NULL is allowed. */
void pnc_io_node_free(pnc_node *node);

static inline bool pnc_io_node_is_delegate(const pnc_node *node)
{
    return node->rank < node->ndelegates;
}

static inline bool pnc_io_node_is_aggregator(const pnc_node *node)
{
    return node->rank < node->n;
}

static inline pnc_segment *pnc_io_node_get_segment(const pnc_node *node)
{
    return node->segments[node->rank];
}

#endif
