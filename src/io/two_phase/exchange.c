/* Messages between delegates. */
#include "io/two_phase/exchange.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "file/agree.h"

/* A message is the number of extents, the extents, and for a put their bytes; an answer is a status and bytes. */
#define HEAD ((int64_t)sizeof(int64_t))
#define EXTENTS_BYTES ((int64_t)sizeof(pnc_extent) * PNC_PART_EXTENTS)
#define MESSAGE_BYTES (HEAD + EXTENTS_BYTES + PNC_PART_BYTES)
/* The message of a get has no bytes: behind its extents is room for the answer. */
#define ANSWER_AT (HEAD + EXTENTS_BYTES)
_Static_assert(PNC_SLOT_BYTES == ANSWER_AT + HEAD + PNC_PART_BYTES, "a slot has a message and its answer");

enum { TAG_MESSAGE = 1, TAG_ANSWER = 3 }; /* of even rounds; one more in odd ones */
enum { MOST_FAILURES = 10 };              /* of MPI_Test, until a request counts as lost */

/* An MPI call that fails may have done its work. One that posts a message leaves MPI_REQUEST_NULL if it has not: a
 * request that is there is completed as after a success. If a send fails, either no rank expects the message, or a
 * shorter one with the error replaces it. */

/* --- memory --- */

static int fail_no_messages(pnc_exchange *x)
{
    return pnc_error_set(x->file->error, NC_ENOMEM, "%s: no memory for the messages of two-phase I/O", x->file->path);
}

int pnc_io_exchange_init(pnc_exchange *x, pnc_file *file, const pnc_node *node)
{
    *x = (pnc_exchange){.file = file, .node = node};
    if (node->nnodes == 1 || !pnc_io_node_is_delegate(node))
        return NC_NOERR;
    x->heads = pnc_memory_alloc(node->nprocs, sizeof *x->heads);
    x->received = pnc_memory_alloc(PNC_SLOT_BYTES, 1);
    if (x->heads == NULL || x->received == NULL)
        return fail_no_messages(x);
    x->reply = x->received + ANSWER_AT;
    for (pnc_exchange_slot *s = x->slots; s < x->slots + PNC_EXCHANGE_SLOTS; s++) {
        s->sent = s->answered = MPI_REQUEST_NULL;
        s->message = pnc_memory_alloc(PNC_SLOT_BYTES, 1);
        s->segments = pnc_memory_alloc(node->nprocs, sizeof(pnc_segment *));
        s->parts = pnc_memory_alloc(node->nprocs, sizeof *s->parts);
        if (s->message == NULL || s->segments == NULL || s->parts == NULL)
            return fail_no_messages(x);
        s->answer = s->message + ANSWER_AT;
    }
    return NC_NOERR;
}

void pnc_io_exchange_free(pnc_exchange *x)
{
    for (pnc_exchange_slot *s = x->slots; s < x->slots + PNC_EXCHANGE_SLOTS; s++) {
        pnc_memory_free(s->message);
        pnc_memory_free(s->segments);
        pnc_memory_free(s->parts);
    }
    pnc_memory_free(x->received);
    pnc_memory_free(x->heads);
    *x = (pnc_exchange){0};
}

/* --- errors --- */

static void keep_error(pnc_exchange *x, int err)
{
    x->err = pnc_error_keep_first(x->err, err);
}

static void check_exchange(pnc_exchange *x, int code)
{
    pnc_file_step_check(x->file, code, "an MPI call", "the exchange phase");
}

/* --- messages of other delegates --- */

static void handle_put(pnc_exchange *x, const pnc_extent *extents, int64_t n, const char *bytes)
{
    for (int64_t i = 0; i < n; i++) {
        keep_error(x, pnc_io_collective_buffer_put(x->buffer, extents[i], bytes));
        bytes += extents[i].length;
    }
}

static int post_answer(pnc_exchange *x, int64_t status, int64_t bytes, int rank, MPI_Request *request)
{
    memcpy(x->reply, &status, sizeof status);
    return MPI_Isend(x->reply, (int)(HEAD + bytes), MPI_BYTE, rank, TAG_ANSWER + x->round, x->node->delegates, request);
}

static void send_answer(pnc_exchange *x, int status, int64_t bytes, int rank)
{
    MPI_Request request = MPI_REQUEST_NULL;

    keep_error(x, status);
    check_exchange(x, post_answer(x, status, bytes, rank, &request));
    if (request == MPI_REQUEST_NULL)
        check_exchange(x, post_answer(x, NC_EMPI, 0, rank, &request));
    check_exchange(x, MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static const pnc_extent *get_extents(const char *message, int64_t *n)
{
    memcpy(n, message, sizeof *n);
    return (const pnc_extent *)(const void *)(message + HEAD);
}

/* Wait for the reads, and answer all messages of a get, in the order in which they arrived: a delegate receives its
 * answers in the order of its messages. */
static void answer_messages(pnc_exchange *x)
{
    for (const pnc_unanswered *u = x->unanswered; u < x->unanswered + x->nunanswered; u++) {
        int64_t n, bytes = 0;
        const pnc_extent *extents = get_extents(x->received + u->at, &n);
        int status = pnc_io_collective_buffer_get(x->buffer, extents, n, x->reply + HEAD);

        for (int64_t i = 0; i < n; i++)
            bytes += extents[i].length;
        send_answer(x, status, bytes, u->source);
    }
    x->nunanswered = 0;
    x->unanswered_bytes = 0;
}

/* Receive a message behind those that are not answered. Returns whether it is there. */
static bool receive(pnc_exchange *x, MPI_Message *message, int bytes)
{
    char *at = x->received + x->unanswered_bytes;
    int code = MPI_Mrecv(at, bytes, MPI_BYTE, message, MPI_STATUS_IGNORE);

    check_exchange(x, code);
    if (*message != MPI_MESSAGE_NULL) /* it is not received: its sender waits for that */
        code = MPI_Mrecv(at, bytes, MPI_BYTE, message, MPI_STATUS_IGNORE);
    return code == MPI_SUCCESS;
}

/* Begin to read. The answer follows when all reads have ended, so that those for other messages take place at the same
 * time. */
static void handle_message_of_get(pnc_exchange *x, MPI_Message *message, int bytes, int source)
{
    const pnc_extent *extents;
    int64_t n;

    if (x->nunanswered == PNC_UNANSWERED || x->unanswered_bytes + bytes > ANSWER_AT)
        answer_messages(x);
    assert(x->unanswered_bytes + bytes <= ANSWER_AT);
    if (!receive(x, message, bytes)) {
        answer_messages(x);
        send_answer(x, NC_EMPI, 0, source);
        return;
    }
    extents = get_extents(x->received + x->unanswered_bytes, &n);
    pnc_io_collective_buffer_include(x->buffer, extents, n);
    pnc_io_collective_buffer_read(x->buffer);
    pnc_io_collective_buffer_read_pieces(x->buffer, extents, n);
    x->unanswered[x->nunanswered++] = (pnc_unanswered){source, x->unanswered_bytes};
    x->unanswered_bytes += bytes;
}

/* Handle one message of another delegate, if there is one, and answer all messages when no read is in progress. */
static void make_progress(pnc_exchange *x)
{
    int found = 0, bytes = 0;
    const pnc_extent *extents;
    MPI_Message message;
    MPI_Status status;
    int64_t n;

    check_exchange(x,
                   MPI_Improbe(MPI_ANY_SOURCE, TAG_MESSAGE + x->round, x->node->delegates, &found, &message, &status));
    if (found)
        MPI_Get_count(&status, MPI_BYTE, &bytes);
    assert(bytes <= MESSAGE_BYTES);
    if (found && x->direction == PNC_GET) {
        handle_message_of_get(x, &message, bytes, status.MPI_SOURCE);
    } else if (found && receive(x, &message, bytes)) {
        extents = get_extents(x->received, &n);
        handle_put(x, extents, n, x->received + HEAD + n * (int64_t)sizeof(pnc_extent));
    }
    if (x->nunanswered > 0 && pnc_io_collective_buffer_is_complete(x->buffer))
        answer_messages(x);
}

/* Returns whether no call has failed. */
static bool wait_with_progress(pnc_exchange *x, MPI_Request *request)
{
    int done = 0, failures = 0;

    do {
        int code = MPI_Test(request, &done, MPI_STATUS_IGNORE);

        check_exchange(x, code);
        failures += code != MPI_SUCCESS;
        done = done || *request == MPI_REQUEST_NULL;
        if (!done)
            make_progress(x);
    } while (!done && failures < MOST_FAILURES);
    return failures == 0;
}

/* --- parts of this node for this aggregator --- */

/* They are among the last ones of each rank, with those for other aggregators of the node. */
static void visit_own(pnc_exchange *x, void (*act)(pnc_exchange *, pnc_segment *, const pnc_part *))
{
    const pnc_aggregators all = pnc_io_node_get_aggregators(x->node);

    for (int rank = 0; rank < x->node->nprocs; rank++) {
        pnc_segment *segment = x->node->segments[rank];
        int i = segment->nparts;

        while (i > 0 && pnc_io_aggregator_is_local(&all, segment->parts[i - 1].aggregator))
            i--;
        for (; i < segment->nparts; i++)
            if (segment->parts[i].aggregator == x->node->first + x->node->rank)
                act(x, segment, &segment->parts[i]);
    }
}

static void include_part(pnc_exchange *x, pnc_segment *segment, const pnc_part *part)
{
    pnc_io_collective_buffer_include(x->buffer, segment->extents + part->extent, part->nextents);
}

static void read_part(pnc_exchange *x, pnc_segment *segment, const pnc_part *part)
{
    pnc_io_collective_buffer_read_pieces(x->buffer, segment->extents + part->extent, part->nextents);
}

/* Get: begin to read, once in a portion, before this rank waits for the answers of other aggregators. */
static void read_own(pnc_exchange *x)
{
    if (!x->must_read_own)
        return;
    x->must_read_own = false;
    visit_own(x, include_part);
    pnc_io_collective_buffer_read(x->buffer);
    visit_own(x, read_part);
}

/* Without messages. */
static void copy_part(pnc_exchange *x, pnc_segment *segment, const pnc_part *part)
{
    const pnc_extent *extents = segment->extents + part->extent;
    char *bytes = segment->bytes + part->byte;
    int err = NC_NOERR;

    pnc_statistics_add(x->file->statistics, PNC_COUNT_NODE_BYTES, part->nbytes);
    if (x->direction == PNC_PUT)
        handle_put(x, extents, part->nextents, bytes);
    else
        err = pnc_io_collective_buffer_get(x->buffer, extents, part->nextents, bytes);
    keep_error(x, err);
    if (err != NC_NOERR)
        segment->status = err;
}

/* --- sending --- */

/* The message is sent; for a get the bytes of its answer are copied to the segments. */
static void complete_message(pnc_exchange *x, pnc_exchange_slot *s)
{
    const char *bytes = s->answer + HEAD;
    int64_t status = NC_NOERR;

    wait_with_progress(x, &s->sent);
    if (x->direction == PNC_PUT || s->nparts == 0)
        return;
    if (s->answered == MPI_REQUEST_NULL || !wait_with_progress(x, &s->answered))
        status = NC_EMPI;
    else
        memcpy(&status, s->answer, sizeof status);
    for (int i = 0; i < s->nparts; i++) {
        if (status != NC_NOERR)
            s->segments[i]->status = (int)status;
        else
            memcpy(s->segments[i]->bytes + s->parts[i].byte, bytes, (size_t)s->parts[i].nbytes);
        bytes += s->parts[i].nbytes;
    }
    s->nparts = 0;
}

static void write_message(const pnc_exchange_slot *s, bool put, int64_t *length)
{
    char *at = s->message + HEAD;

    memcpy(s->message, &s->nextents, sizeof s->nextents);
    for (int i = 0; i < s->nparts; i++) {
        size_t bytes = (size_t)s->parts[i].nextents * sizeof(pnc_extent);

        memcpy(at, s->segments[i]->extents + s->parts[i].extent, bytes);
        at += bytes;
    }
    for (int i = 0; put && i < s->nparts; i++) {
        memcpy(at, s->segments[i]->bytes + s->parts[i].byte, (size_t)s->parts[i].nbytes);
        at += s->parts[i].nbytes;
    }
    *length = at - s->message;
}

/* Send the parts of the current slot to an aggregator. The next slot becomes the current one. */
static void send_parts(pnc_exchange *x, int aggregator)
{
    pnc_exchange_slot *s = &x->slots[x->slot];
    int64_t length;

    write_message(s, x->direction == PNC_PUT, &length);
    pnc_statistics_add(x->file->statistics, PNC_COUNT_MESSAGES, 1);
    pnc_statistics_add(x->file->statistics, PNC_COUNT_MESSAGE_BYTES, s->nbytes);
    if (x->direction == PNC_GET)
        check_exchange(x, MPI_Irecv(s->answer, (int)(HEAD + s->nbytes), MPI_BYTE, aggregator, TAG_ANSWER + x->round,
                                    x->node->delegates, &s->answered));
    if (x->direction == PNC_PUT || s->answered != MPI_REQUEST_NULL)
        check_exchange(x, MPI_Issend(s->message, (int)length, MPI_BYTE, aggregator, TAG_MESSAGE + x->round,
                                     x->node->delegates, &s->sent));
    if (s->sent == MPI_REQUEST_NULL && s->answered != MPI_REQUEST_NULL) { /* no answer will arrive */
        MPI_Cancel(&s->answered);
        MPI_Wait(&s->answered, MPI_STATUS_IGNORE);
    }
    if (x->direction == PNC_PUT)
        s->nparts = 0;
    x->slot = (x->slot + 1) % PNC_EXCHANGE_SLOTS;
}

static void send_to(pnc_exchange *x, const pnc_node_parts *parts, int aggregator)
{
    int next = 0;

    while (next < parts->nprocs) {
        pnc_exchange_slot *s = &x->slots[x->slot];
        pnc_message message = pnc_io_message_begin(aggregator, next);
        const pnc_part *part;
        int rank;

        if (s->nparts > 0)
            read_own(x);
        complete_message(x, s);
        s->nparts = 0;
        while ((part = pnc_io_message_take(&message, parts, &rank)) != NULL) {
            s->segments[s->nparts] = x->node->segments[rank];
            s->parts[s->nparts++] = *part;
        }
        s->nextents = message.nextents;
        s->nbytes = message.nbytes;
        next = message.rank;
        send_parts(x, aggregator);
    }
}

/* Parts for aggregators of this node, and those that other delegates of it send, are passed over. */
static void send_to_others(pnc_exchange *x)
{
    const pnc_aggregators all = pnc_io_node_get_aggregators(x->node);
    const pnc_node_parts parts = {.segments = x->node->segments, .heads = x->heads, .nprocs = x->node->nprocs};
    int aggregator;

    memset(x->heads, 0, (size_t)parts.nprocs * sizeof *x->heads);
    while ((aggregator = pnc_io_parts_find_next(&parts)) >= 0) {
        bool is_own = !pnc_io_aggregator_is_local(&all, aggregator) &&
                      pnc_io_aggregator_find_delegate(&all, aggregator) == x->node->rank;

        if (is_own)
            send_to(x, &parts, aggregator);
        for (int rank = 0; rank < parts.nprocs && !is_own; rank++) {
            const pnc_part *part = pnc_io_parts_peek(&parts, rank);

            x->heads[rank] += part != NULL && part->aggregator == aggregator;
        }
    }
}

/* --- interface --- */

void pnc_io_exchange_start(pnc_exchange *x, pnc_direction direction, const pnc_node *node)
{
    x->node = node;
    x->direction = direction;
    x->err = NC_NOERR;
    for (pnc_exchange_slot *s = x->slots; s < x->slots + PNC_EXCHANGE_SLOTS; s++)
        s->nparts = 0;
}

void pnc_io_exchange_send(pnc_exchange *x)
{
    bool is_aggregator = pnc_io_node_is_aggregator(x->node);
    pnc_counter before = pnc_statistics_begin(x->file->statistics, PNC_COUNT_TIME_EXCHANGE);

    x->must_read_own = is_aggregator && x->direction == PNC_GET;
    if (x->node->nnodes > 1)
        send_to_others(x);
    read_own(x);
    for (int i = 0; x->direction == PNC_GET && i < PNC_EXCHANGE_SLOTS && x->node->nnodes > 1; i++)
        complete_message(x, &x->slots[i]);
    if (is_aggregator)
        visit_own(x, copy_part);
    pnc_statistics_end(x->file->statistics, before);
}

void pnc_io_exchange_wait_node(pnc_exchange *x)
{
    pnc_counter before = pnc_statistics_begin(x->file->statistics, PNC_COUNT_TIME_EXCHANGE);
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_Win_sync(x->node->shared);

    if (x->node->nnodes == 1) {
        code |= MPI_Barrier(x->node->comm);
    } else {
        code |= MPI_Ibarrier(x->node->comm, &request);
        if (pnc_io_node_is_delegate(x->node))
            wait_with_progress(x, &request);
        else
            code |= MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    check_exchange(x, code | MPI_Win_sync(x->node->shared));
    pnc_statistics_end(x->file->statistics, before);
}

void pnc_io_exchange_finish_round(pnc_exchange *x, int64_t *next)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int64_t own = *next;
    int code;

    for (int i = 0; i < PNC_EXCHANGE_SLOTS; i++)
        complete_message(x, &x->slots[i]);
    code = MPI_Iallreduce(&own, next, 1, MPI_INT64_T, MPI_MIN, x->node->delegates, &request);
    check_exchange(x, code);
    wait_with_progress(x, &request);
    answer_messages(x); /* none is left, unless an MPI call has failed */
    x->round = 1 - x->round;
}
