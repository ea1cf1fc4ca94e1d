/* Messages between ranks that do not know who sends to them. */
#include "drivers/chunks/messages.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

/* An answer is a code and bytes; for an error, the bytes are its message. */
#define HEAD ((int64_t)sizeof(int64_t))
#define ANSWER_BYTES (HEAD + PNC_MESSAGE_BYTES)

enum { TAG_MESSAGE = 21, TAG_ANSWER = 23 }; /* of even exchanges; one more in odd ones */
enum { MOST_FAILURES = 10 };                /* of a call, until its request counts as lost */

/* A call of MPI that fails may have done its work. One that posts a message leaves MPI_REQUEST_NULL if it has not: a
 * request that is there is completed as after a success. */

bool pnc_chunks_messages_init(pnc_messages *x, MPI_Comm comm)
{
    char *at;

    *x = (pnc_messages){.comm = comm};
    x->memory = pnc_memory_alloc((PNC_MESSAGE_SLOTS + 1) * (PNC_MESSAGE_BYTES + ANSWER_BYTES), 1);
    if (x->memory == NULL)
        return false;
    x->received = x->memory;
    x->reply = x->received + PNC_MESSAGE_BYTES;
    at = x->reply + ANSWER_BYTES;
    for (pnc_message_slot *s = x->slots; s < x->slots + PNC_MESSAGE_SLOTS; s++) {
        s->sent = s->answered = MPI_REQUEST_NULL;
        s->message = at;
        s->answer = at + PNC_MESSAGE_BYTES;
        at = s->answer + ANSWER_BYTES;
    }
    return true;
}

void pnc_chunks_messages_free(pnc_messages *x)
{
    pnc_memory_free(x->memory);
    *x = (pnc_messages){0};
}

/* --- errors --- */

static bool check_message_call(pnc_messages *x, int code, const char *call)
{
    if (code != MPI_SUCCESS)
        x->err = pnc_error_keep_first(
            x->err, pnc_error_set(x->error, NC_EMPI, "%s failed between the ranks that have chunks", call));
    return code == MPI_SUCCESS;
}

/* --- messages of other ranks --- */

static int post_reply(pnc_messages *x, int64_t code, int64_t bytes, int rank, MPI_Request *request)
{
    memcpy(x->reply, &code, sizeof code);
    return MPI_Isend(x->reply, (int)(HEAD + bytes), MPI_BYTE, rank, TAG_ANSWER + x->round, x->comm, request);
}

/* The other rank has posted its receive, so it does not wait for this one. */
static void send_reply(pnc_messages *x, int64_t code, int64_t bytes, int rank)
{
    MPI_Request request = MPI_REQUEST_NULL;

    check_message_call(x, post_reply(x, code, bytes, rank, &request), "MPI_Isend");
    if (request == MPI_REQUEST_NULL)
        check_message_call(x, post_reply(x, NC_EMPI, 0, rank, &request), "MPI_Isend");
    check_message_call(x, MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
}

/* An error of an exchange with answers is one of the rank that gets it. */
static void handle_received(pnc_messages *x, int64_t bytes, int rank)
{
    pnc_error error = {0};
    int64_t length = 0;
    int err;

    if (!x->has_answers) {
        err = x->handle(x->own, x->received, bytes, NULL, &length, x->error);
        x->err = pnc_error_keep_first(x->err, err);
        return;
    }
    err = x->handle(x->own, x->received, bytes, x->reply + HEAD, &length, &error);
    if (err != NC_NOERR) {
        length = (int64_t)strlen(error.text) + 1;
        memcpy(x->reply + HEAD, error.text, (size_t)length);
    }
    send_reply(x, err, length, rank);
}

void pnc_chunks_messages_dispatch(pnc_messages *x)
{
    int found = 0, bytes = 0, code;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;

    code = MPI_Improbe(MPI_ANY_SOURCE, TAG_MESSAGE + x->round, x->comm, &found, &message, &status);
    check_message_call(x, code, "MPI_Improbe");
    if (!found || message == MPI_MESSAGE_NULL)
        return;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    assert(bytes <= PNC_MESSAGE_BYTES);
    code = MPI_Mrecv(x->received, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    check_message_call(x, code, "MPI_Mrecv");
    if (message != MPI_MESSAGE_NULL) /* it is not received: its sender waits for that */
        code = MPI_Mrecv(x->received, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS)
        handle_received(x, bytes, status.MPI_SOURCE);
    else if (x->has_answers)
        send_reply(x, NC_EMPI, 0, status.MPI_SOURCE);
}

/* Returns whether the request is complete. *bytes: those received. */
static bool complete_request(pnc_messages *x, MPI_Request *request, int *bytes)
{
    int done = 0, failures = 0;
    MPI_Status status;

    while (!done && failures < MOST_FAILURES) {
        int code = MPI_Test(request, &done, &status);

        failures += !check_message_call(x, code, "MPI_Test");
        if (code == MPI_SUCCESS && done && bytes != NULL)
            MPI_Get_count(&status, MPI_BYTE, bytes);
        done = done || *request == MPI_REQUEST_NULL;
        if (!done)
            pnc_chunks_messages_dispatch(x);
    }
    return failures == 0;
}

/* --- messages of this rank --- */

void pnc_chunks_messages_begin(pnc_messages *x,
                               int (*handle)(void *own, const char *message, int64_t bytes, char *answer,
                                             int64_t *length, pnc_error *error),
                               void (*accept)(void *own, int slot, const char *answer, int64_t bytes), void *own,
                               pnc_error *error)
{
    x->handle = handle;
    x->accept = accept;
    x->has_answers = accept != NULL;
    x->own = own;
    x->error = error;
    x->err = NC_NOERR;
}

static void accept_answer(pnc_messages *x, pnc_message_slot *s, bool is_there, int64_t bytes)
{
    int64_t code = NC_EMPI;

    s->expects = false;
    if (is_there && bytes >= HEAD)
        memcpy(&code, s->answer, sizeof code);
    if (code != NC_NOERR) {
        if (bytes > HEAD)
            pnc_error_set(x->error, (int)code, "%s", s->answer + HEAD);
        else
            pnc_error_set(x->error, (int)code, "rank %d could not send the values of its chunks", s->rank);
        x->err = pnc_error_keep_first(x->err, (int)code);
    }
    x->accept(x->own, (int)(s - x->slots), code == NC_NOERR ? s->answer + HEAD : NULL, bytes - HEAD);
}

static void complete_slot(pnc_messages *x, pnc_message_slot *s)
{
    bool is_there = s->answered != MPI_REQUEST_NULL;
    int bytes = 0;

    complete_request(x, &s->sent, NULL);
    if (!s->expects)
        return;
    if (is_there)
        is_there = complete_request(x, &s->answered, &bytes);
    accept_answer(x, s, is_there, bytes);
}

char *pnc_chunks_messages_reserve(pnc_messages *x, int *slot)
{
    x->current = (x->current + 1) % PNC_MESSAGE_SLOTS;
    complete_slot(x, &x->slots[x->current]);
    *slot = x->current;
    return x->slots[x->current].message;
}

/* If the message is not sent, no answer arrives. */
void pnc_chunks_messages_post(pnc_messages *x, int rank, int64_t bytes)
{
    pnc_message_slot *s = &x->slots[x->current];

    assert(bytes > 0 && bytes <= PNC_MESSAGE_BYTES);
    s->rank = rank;
    s->expects = x->has_answers;
    if (x->has_answers)
        check_message_call(
            x, MPI_Irecv(s->answer, (int)ANSWER_BYTES, MPI_BYTE, rank, TAG_ANSWER + x->round, x->comm, &s->answered),
            "MPI_Irecv");
    if (!x->has_answers || s->answered != MPI_REQUEST_NULL)
        check_message_call(
            x, MPI_Issend(s->message, (int)bytes, MPI_BYTE, rank, TAG_MESSAGE + x->round, x->comm, &s->sent),
            "MPI_Issend");
    if (s->sent == MPI_REQUEST_NULL && s->answered != MPI_REQUEST_NULL) {
        MPI_Cancel(&s->answered);
        MPI_Wait(&s->answered, MPI_STATUS_IGNORE);
    }
}

void pnc_chunks_messages_wait(pnc_messages *x)
{
    for (int i = 1; i <= PNC_MESSAGE_SLOTS; i++)
        complete_slot(x, &x->slots[(x->current + i) % PNC_MESSAGE_SLOTS]);
}

int pnc_chunks_messages_end(pnc_messages *x)
{
    MPI_Request barrier = MPI_REQUEST_NULL;

    pnc_chunks_messages_wait(x);
    check_message_call(x, MPI_Ibarrier(x->comm, &barrier), "MPI_Ibarrier");
    if (barrier == MPI_REQUEST_NULL) /* it was not entered: the other ranks wait */
        check_message_call(x, MPI_Ibarrier(x->comm, &barrier), "MPI_Ibarrier");
    complete_request(x, &barrier, NULL);
    x->round = 1 - x->round;
    return x->err;
}
