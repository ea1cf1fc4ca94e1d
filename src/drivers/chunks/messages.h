/* Messages between ranks that do not know who sends to them: each rank sends what it has, and all are done when a
 * nonblocking barrier completes, which a rank enters when its messages have arrived (T. Hoefler, C. Siebert, A.
 * Lumsdaine: Scalable Communication Protocols for Dynamic Sparse Data Exchange, PPoPP 2010). No step and no memory is
 * of the order of the number of ranks.
 *
 * An exchange: begin; for each message reserve, write its bytes, post; end. All ranks begin and end it, with and
 * without messages, and after errors. */
#ifndef PNC_CHUNKS_MESSAGES_H
#define PNC_CHUNKS_MESSAGES_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* A guess: large enough for the bandwidth of a network, and small beside chunks. */
#define PNC_MESSAGE_BYTES (INT64_C(512) << 10)
enum { PNC_MESSAGE_SLOTS = 4 }; /* of one rank at the same time */

typedef struct pnc_message_slot {
    char *message, *answer;
    MPI_Request sent, answered;
    bool expects; /* an answer */
    int rank;
} pnc_message_slot;

typedef struct pnc_messages {
    MPI_Comm comm;
    int round; /* 0 or 1: a rank is at most one exchange ahead of another one */
    int current;
    pnc_message_slot slots[PNC_MESSAGE_SLOTS];
    char *memory, *received, *reply;
    /* of the exchange: */
    bool has_answers;
    /* A message of another rank. With answers: write one of at most PNC_MESSAGE_BYTES, and its length; an error is
     * returned to the other rank, with its message in *error. */
    int (*handle)(void *own, const char *message, int64_t bytes, char *answer, int64_t *length, pnc_error *error);
    /* The answer to the message in a slot; NULL: there is none, for this error. */
    void (*accept)(void *own, int slot, const char *answer, int64_t bytes);
    void *own;
    pnc_error *error;
    int err;
} pnc_messages;

/* false without memory. Local. */
bool pnc_chunks_messages_init(pnc_messages *x, MPI_Comm comm);
void pnc_chunks_messages_free(pnc_messages *x);

/* `error` and own are used until the end. accept NULL: there are no answers. Local. */
void pnc_chunks_messages_begin(pnc_messages *x,
                               int (*handle)(void *own, const char *message, int64_t bytes, char *answer,
                                             int64_t *length, pnc_error *error),
                               void (*accept)(void *own, int slot, const char *answer, int64_t bytes), void *own,
                               pnc_error *error);
/* Memory for the next message, of PNC_MESSAGE_BYTES: waits for the one that had its slot before. */
char *pnc_chunks_messages_reserve(pnc_messages *x, int *slot);
void pnc_chunks_messages_post(pnc_messages *x, int rank, int64_t bytes);
/* Wait for all answers of this rank. */
void pnc_chunks_messages_wait(pnc_messages *x);
/* Handle a message, if there is one. */
void pnc_chunks_messages_dispatch(pnc_messages *x);
/* Collective. Returns the first error of this rank. */
int pnc_chunks_messages_end(pnc_messages *x);

#endif
