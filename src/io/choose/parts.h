/* The exchange of a round: the pieces of a rank, in parts for aggregators; the parts of the ranks of a node, in
 * messages to aggregators of other nodes. Pure: the plan of a call (src/tools/plan) counts the messages that a run
 * sends. */
#ifndef PNC_IO_PARTS_H
#define PNC_IO_PARTS_H

#include "io/choose/file_domains.h"
#include "io/choose/placement.h"

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
typedef struct pnc_segment_call {
    int64_t low, high; /* of a rank: the range of the file that its requests touch */
    int64_t limit;     /* of a delegate: file offset after the window */
    bool wants_more;   /* of a delegate: it has space for more pieces of its ranks */
    bool is_last;      /* of a delegate */
    int status;        /* of a delegate, get: an error of reading the window */
} pnc_segment_call;

/* A rank's segment. Other ranks of the node read it, for a get the aggregators also write to `bytes` and `status`. */
typedef struct pnc_segment {
    int64_t next; /* file offset of the rank's first piece after this portion */
    int status;   /* get: an error of an aggregator; collective access of MPI-IO: of the rank */
    int nparts;   /* sorted by turn */
    pnc_segment_call call;
    pnc_part parts[PNC_SEGMENT_PARTS];
    pnc_extent extents[PNC_SEGMENT_EXTENTS];
    char bytes[PNC_SEGMENT_BYTES];
} pnc_segment;

/* Memory of a delegate for messages: for a few that are sent, with their answers, and for those that are received: one
 * of a put, or several of a get that fit. */
#define PNC_EXCHANGE_SLOTS 2
#define PNC_SLOT_BYTES (2 * (int64_t)sizeof(int64_t) + PNC_PART_EXTENTS * (int64_t)sizeof(pnc_extent) + PNC_PART_BYTES)
#define PNC_MESSAGE_MEMORY ((1 + PNC_EXCHANGE_SLOTS) * PNC_SLOT_BYTES)

/* Cut pieces at the borders of blocks, and add them to the parts of the segment, grouped by aggregator and sorted. */
void pnc_io_parts_make(pnc_segment *segment, const pnc_extent *pieces, int64_t n, const pnc_file_domains *domains,
                       const pnc_aggregators *aggregators);

/* The parts of the ranks of a node that are not yet passed on. */
typedef struct pnc_node_parts {
    pnc_segment *const *segments; /* by rank of the node */
    int *heads;                   /* likewise: the next part */
    int nprocs;
} pnc_node_parts;

/* The next part of a rank; NULL: none is left. */
static inline const pnc_part *pnc_io_parts_peek(const pnc_node_parts *parts, int rank)
{
    const pnc_segment *segment = parts->segments[rank];

    return parts->heads[rank] < segment->nparts ? &segment->parts[parts->heads[rank]] : NULL;
}

/* The aggregator among the next parts whose turn is next; -1: there is none. */
int pnc_io_parts_find_next(const pnc_node_parts *parts);

/* A message to an aggregator, which has one part of each rank at most. */
typedef struct pnc_message {
    int aggregator;
    int rank; /* from which the next part may come; nprocs: no more parts */
    int64_t nextents, nbytes;
} pnc_message;

/* Begin a message after another one to the same aggregator, or the first one, with rank 0. */
static inline pnc_message pnc_io_message_begin(int aggregator, int rank)
{
    return (pnc_message){.aggregator = aggregator, .rank = rank};
}

/* Take the next part that fits the message, and set *rank to its rank; NULL if the message is complete. */
const pnc_part *pnc_io_message_take(pnc_message *message, const pnc_node_parts *parts, int *rank);

#endif
