/* The exchange phase between nodes: messages between delegates.
 *
 * A delegate sends the pieces of its node to the aggregators that it has pieces for, and to no others; no rank knows
 * in advance who sends to it. The round ends by the nonblocking consensus of Hoefler, Siebert and Lumsdaine: a
 * synchronous send is complete when it is received, so a reduction that a delegate starts after its sends ends after
 * all of them. */
#ifndef PNC_IO_EXCHANGE_H
#define PNC_IO_EXCHANGE_H

#include "convert/convert.h"
#include "io/two_phase/collective_buffer.h"
#include "io/two_phase/node.h"

/* A message to another delegate, and for a get its answer. */
typedef struct pnc_exchange_slot {
    MPI_Request sent, answered;
    char *message, *answer; /* answer: a part of the memory of message */
    int nparts;             /* get: parts that wait for the answer */
    pnc_segment **segments; /* by part */
    pnc_part *parts;
    int64_t nextents, nbytes;
} pnc_exchange_slot;

/* Get: a message of another delegate that is not yet answered. */
typedef struct pnc_unanswered {
    int source;
    int64_t at; /* in `received` */
} pnc_unanswered;

#define PNC_UNANSWERED 64 /* more than an aggregator of sparse pieces usually has; 1 KiB */

typedef struct pnc_exchange {
    pnc_file *file;
    const pnc_node *node;
    pnc_collective_buffer *buffer; /* of the round, if this rank is an aggregator; set by the caller */
    pnc_direction direction;
    int round; /* of even and odd rounds: a delegate can be one round ahead of another one */
    int err;   /* first error of a round */
    int slot;  /* the next one to use */
    pnc_exchange_slot slots[PNC_EXCHANGE_SLOTS];
    char *received, *reply; /* a message, or those of a get one after the other; the answer, a part of that memory */
    pnc_unanswered unanswered[PNC_UNANSWERED];
    int nunanswered;
    int64_t unanswered_bytes; /* of `received`, which they occupy */
    bool must_read_own;       /* get: the pieces of this node for this aggregator are not yet being read */
    int *heads;               /* by rank of the node: the next part that is not yet sent */
} pnc_exchange;

/* NC_ENOMEM. After a failure, too, the exchange must be freed. */
int pnc_io_exchange_init(pnc_exchange *x, pnc_file *file, const pnc_node *node);
void pnc_io_exchange_free(pnc_exchange *x);

/* Begin a call. node: the one of pnc_io_exchange_init, or a copy without the other nodes. */
void pnc_io_exchange_start(pnc_exchange *x, pnc_direction direction, const pnc_node *node);
/* Send the parts of all segments of the node to their aggregators. For a get, their bytes are in the segments when the
 * call returns, or the status of a segment is set. */
void pnc_io_exchange_send(pnc_exchange *x);
/* Wait until all ranks of the node make this call, and handle the messages of other delegates meanwhile. */
void pnc_io_exchange_wait_node(pnc_exchange *x);
/* End of a round: all messages to this rank have been handled. *next is the lowest of all delegates. */
void pnc_io_exchange_finish_round(pnc_exchange *x, int64_t *next);

#endif
