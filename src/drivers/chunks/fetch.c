/* Collective reads: each chunk is read and decompressed by its aggregator, which sends the others what they want of
 * it. */
#include "drivers/chunks/wanted.h"

#include <string.h>

#include "base/minmax.h"
#include "drivers/chunks/packing.h"

/* --- the aggregator --- */

static int answer_chunk(pnc_chunk_store *s, const pnc_packed_chunk *chunk, const char *runs, char **answer,
                        pnc_error *error)
{
    const pnc_chunk_array *a = &s->source.arrays[chunk->array];
    const unsigned char *bytes;
    pnc_packed_run run;

    PNC_TRY(pnc_chunks_chunk_get(s, chunk->array, chunk->chunk, false, &bytes, error));
    for (int64_t i = 0; i < chunk->nruns; i++) {
        memcpy(&run, runs + i * PNC_RUN_HEAD, sizeof run);
        if (bytes != NULL)
            memcpy(*answer, bytes + run.within, run.length);
        else
            pnc_chunks_value_fill(a->fill, a->elem_size, run.within % a->elem_size, *answer, run.length);
        *answer += run.length;
    }
    return NC_NOERR;
}

static int answer_request(void *own, const char *message, int64_t bytes, char *answer, int64_t *length,
                          pnc_error *error)
{
    const char *at = message;
    char *to = answer;

    while (at < message + bytes) {
        pnc_packed_chunk chunk;

        memcpy(&chunk, at, sizeof chunk);
        at += PNC_CHUNK_HEAD;
        PNC_TRY(answer_chunk(own, &chunk, at, &to, error));
        at += chunk.nruns * PNC_RUN_HEAD;
    }
    *length = to - answer;
    return NC_NOERR;
}

/* --- the others --- */

static const pnc_wanted_chunk *wanted_of(const pnc_chunk_item *item)
{
    return (const pnc_wanted_chunk *)(const void *)item;
}

static void begin_wanted(pnc_wanted_cursor *c, const pnc_chunk_item *item)
{
    c->chunk = wanted_of(item);
    c->run = item != NULL ? c->chunk->first : -1;
    c->done = 0;
}

/* The next bytes of a run, at most `space`; NULL: none fit, or it is the end. */
static const pnc_wanted_run *take_wanted_run(pnc_wanted_list *list, pnc_wanted_cursor *c, int64_t space, int64_t *done,
                                             int64_t *length)
{
    const pnc_wanted_run *run;

    if (c->chunk == NULL || space == 0)
        return NULL;
    run = &list->runs[c->run];
    *done = c->done;
    *length = pnc_min64(run->length - c->done, space);
    c->done += *length;
    if (c->done < run->length)
        return run;
    c->run = run->next;
    c->done = 0;
    if (c->run < 0)
        begin_wanted(c, c->chunk->item.next);
    return run;
}

/* The same bytes as in the request. */
static void accept_values(void *own, int slot, const char *answer, int64_t bytes)
{
    pnc_wanted_list *list = ((pnc_chunk_store *)own)->wanted;
    pnc_wanted_cursor c = list->asked[slot];
    const pnc_wanted_run *run;
    int64_t done, length;

    while (answer != NULL && (run = take_wanted_run(list, &c, bytes, &done, &length)) != NULL) {
        memcpy(run->to + done, answer, (size_t)length);
        answer += length;
        bytes -= length;
    }
}

/* The runs of one chunk, as many as fit in the message and in its answer. Returns the bytes of the message. */
static int64_t write_request_of_chunk(pnc_wanted_list *list, pnc_wanted_cursor *c, char *message, int64_t space,
                                      int64_t *answer)
{
    const pnc_wanted_chunk *w = c->chunk;
    pnc_packed_chunk chunk = {.array = w->item.array, .chunk = w->item.chunk};
    int64_t used = PNC_CHUNK_HEAD, done, length;

    while (c->chunk == w && used + PNC_RUN_HEAD <= space) {
        const pnc_wanted_run *run = take_wanted_run(list, c, PNC_MESSAGE_BYTES - *answer, &done, &length);
        pnc_packed_run head;

        if (run == NULL)
            break;
        head = (pnc_packed_run){(uint32_t)(run->within + done), (uint32_t)length};
        memcpy(message + used, &head, sizeof head);
        used += PNC_RUN_HEAD;
        *answer += length;
        chunk.nruns++;
    }
    memcpy(message, &chunk, sizeof chunk);
    return used;
}

/* One message to the aggregator of the chunk where the cursor is. */
static void send_request(pnc_chunk_store *s, pnc_wanted_cursor *c)
{
    int aggregator = c->chunk->item.aggregator, slot;
    int64_t used = 0, answer = 0;
    char *message = pnc_chunks_messages_reserve(&s->messages, &slot);

    s->wanted->asked[slot] = *c;
    while (c->chunk != NULL && c->chunk->item.aggregator == aggregator && answer < PNC_MESSAGE_BYTES &&
           used + PNC_CHUNK_HEAD + PNC_RUN_HEAD <= PNC_MESSAGE_BYTES)
        used += write_request_of_chunk(s->wanted, c, message + used, PNC_MESSAGE_BYTES - used, &answer);
    pnc_chunks_values_count(s, aggregator, answer);
    pnc_chunks_messages_post(&s->messages, aggregator, used);
}

/* Requests to other aggregators first, so that they are answered while this rank reads its own chunks. */
static int fetch_wanted(pnc_chunk_store *s, pnc_error *error)
{
    pnc_wanted_list *list = s->wanted;
    pnc_chunk_item *sorted = NULL;
    pnc_wanted_cursor c;
    int64_t since = 0; /* the last message of another rank: bytes of chunks */
    int err = NC_NOERR;

    for (int i = 0; i < list->nchunks; i++) {
        list->chunks[i].item.next = sorted;
        sorted = &list->chunks[i].item;
    }
    sorted = pnc_chunks_items_sort(sorted, s->store.rank + 1);
    begin_wanted(&c, sorted);
    while (c.chunk != NULL && c.chunk->item.aggregator != s->store.rank)
        send_request(s, &c);
    for (const pnc_wanted_chunk *w = c.chunk; w != NULL && err == NC_NOERR; w = wanted_of(w->item.next)) {
        err = pnc_chunks_wanted_copy(s, w, error);
        since += s->grids[w->item.array].chunk_bytes;
        if (since < PNC_MESSAGE_BYTES)
            continue;
        pnc_chunks_messages_dispatch(&s->messages);
        since = 0;
    }
    pnc_chunks_messages_wait(&s->messages);
    pnc_chunks_wanted_clear(list);
    return err;
}

int pnc_chunks_extents_read_all(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, int64_t *got,
                                pnc_error *error)
{
    pnc_chunk_store *s = pnc_chunks_store_of(store);
    int err, later;

    if (s->store.nprocs == 1)
        return pnc_chunks_extents_read(store, extents, n, buf, got, error);
    err = pnc_chunks_pending_send(s, error);
    later = pnc_chunks_wanted_begin(s, fetch_wanted, error);
    pnc_chunks_messages_begin(&s->messages, answer_request, accept_values, s, error);
    if (later == NC_NOERR)
        later = pnc_chunks_wanted_read(s, extents, n, buf, error);
    err = pnc_error_keep_first(err, later);
    later = pnc_chunks_messages_end(&s->messages);
    err = pnc_error_keep_first(err, later);
    if (got != NULL) /* nothing is complete before the end */
        *got = 0;
    for (int64_t i = 0; i < n && got != NULL && err == NC_NOERR; i++)
        *got += extents[i].length;
    return err;
}
