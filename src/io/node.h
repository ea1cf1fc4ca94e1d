/* The ranks of a node and their shared memory; which ranks are aggregators.
 *
 * Within a node data move through shared memory: each rank has a segment, which holds a portion of its pieces. Between
 * nodes only delegates exchange messages: the aggregators, and one rank of each node without an aggregator. */
#ifndef PNC_IO_NODE_H
#define PNC_IO_NODE_H

#include "file/file.h"
#include "io/file_domains.h"
#include "io/strategy.h"

#define PNC_SEGMENT_BYTES (320 << 10)
#define PNC_SEGMENT_PIECES 4096 /* before they are cut at the borders of blocks */
#define PNC_SEGMENT_EXTENTS (2 * PNC_SEGMENT_PIECES)
#define PNC_SEGMENT_PARTS (PNC_SEGMENT_PIECES + 512) /* a block has at least 4 KiB: few cuts */

/* A message between nodes has one part or more. */
#define PNC_PART_BYTES (256 << 10)
#define PNC_PART_EXTENTS 4096

/* Pieces of a portion that lie in blocks of one aggregator. */
typedef struct pnc_part {
    int aggregator;
    int turn; /* in which the node sends to the aggregators: first to the next one behind its own */
    int extent, nextents;
    int byte, nbytes;
} pnc_part;

/* What the ranks of a node share about a call; for collective access of MPI-IO also about its windows. */
typedef struct pnc_window {
    int64_t low, high; /* of a rank: the range of the file that its requests touch */
    int64_t limit;     /* of a delegate: file offset after the window */
    bool wants_more;   /* of a delegate: it has space for more pieces of its ranks */
    bool is_last;      /* of a delegate */
    int status;        /* of a delegate, get: an error of reading the window */
} pnc_window;

/* A rank's segment. Other ranks of the node read it, for a get the aggregators also write to `bytes` and `status`. */
typedef struct pnc_segment {
    int64_t next; /* file offset of the rank's first piece after this portion */
    int status;   /* get: an error of an aggregator; collective access of MPI-IO: of the rank */
    int nparts;   /* sorted by turn */
    pnc_window window;
    pnc_part parts[PNC_SEGMENT_PARTS];
    pnc_extent extents[PNC_SEGMENT_EXTENTS];
    char bytes[PNC_SEGMENT_BYTES];
} pnc_segment;

/* A range of the file. */
typedef struct pnc_range {
    int64_t low, high; /* low >= high: nothing */
} pnc_range;

typedef struct pnc_node {
    MPI_Comm comm; /* the ranks of the node */
    int rank, nprocs;
    int nnodes, index;      /* number of nodes, and of this node among them */
    pnc_range *ranges;      /* space for one of each rank of the node */
    MPI_Win window;         /* the segments, or MPI_WIN_NULL */
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
