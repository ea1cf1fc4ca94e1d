/* Collective gets: each chunk is read and decompressed by its aggregator, which sends the others what they want of
 * it. */
#include "drivers/chunks/wanted.h"

#include <string.h>

#include "drivers/chunks/packing.h"

/* --- the aggregator --- */

/* The boxes of a chunk, whose heads begin at *at. */
static int answer_chunk(pnc_chunk_store *s, const pnc_packed_chunk *chunk, const char **at, char **answer,
                        pnc_error *error)
{
    const pnc_chunk_array *a = &s->source.arrays[chunk->array];
    const unsigned char *bytes;

    PNC_TRY(pnc_chunks_chunk_get(s, chunk->array, chunk->chunk, false, &bytes, error));
    for (int64_t i = 0; i < chunk->nboxes; i++) {
        pnc_box box;

        *at += pnc_chunks_head_unpack(*at, chunk->chunk, &box);
        if (s->store.notes_gets)
            pnc_chunks_noted_box_add(s, chunk->array, &box);
        if (bytes != NULL)
            pnc_chunks_values_gather(&box, a->elem_size, bytes, *answer);
        else
            pnc_chunks_value_fill(a->fill, a->elem_size, *answer, box.n * a->elem_size);
        *answer += box.n * a->elem_size;
    }
    return NC_NOERR;
}

/* The chunks of a message. */
static int load_asked(pnc_chunk_store *s, const char *at, const char *end)
{
    pnc_chunk_item items[PNC_CHUNKS_BATCH];
    pnc_chunk_item *of[PNC_CHUNKS_BATCH];
    int n = 0;

    while (n < PNC_CHUNKS_BATCH && at < end) {
        pnc_packed_chunk chunk;

        memcpy(&chunk, at, sizeof chunk);
        at += PNC_CHUNK_HEAD;
        for (int64_t i = 0; i < chunk.nboxes; i++) {
            pnc_box box;

            at += pnc_chunks_head_unpack(at, chunk.chunk, &box);
        }
        items[n] = (pnc_chunk_item){.array = chunk.array, .chunk = chunk.chunk};
        of[n] = &items[n];
        n++;
    }
    return pnc_chunks_ahead_load(s, of, n, NULL, NULL);
}

int pnc_chunks_answer_pack(void *own, const char *message, int64_t bytes, char *answer, int64_t *length,
                           pnc_error *error)
{
    pnc_chunk_store *s = own;
    const char *at = message;
    char *to = answer;
    int ahead = 0;

    while (at < message + bytes) {
        pnc_packed_chunk chunk;

        if (s->nthreads > 0 && ahead-- == 0)
            ahead = load_asked(s, at, message + bytes) - 1;
        memcpy(&chunk, at, sizeof chunk);
        at += PNC_CHUNK_HEAD;
        PNC_TRY(answer_chunk(s, &chunk, &at, &to, error));
    }
    *length = to - answer;
    return NC_NOERR;
}

/* --- the others --- */

static void begin_wanted(pnc_wanted_cursor *c, pnc_chunk_item *item)
{
    c->chunk = pnc_chunks_item_get_wanted(item);
    c->box = item != NULL ? c->chunk->first : -1;
}

static void step_wanted(const pnc_wanted_list *list, pnc_wanted_cursor *c)
{
    c->box = pnc_chunks_wanted_get_box(list, c->box)->next;
    if (c->box < 0)
        begin_wanted(c, c->chunk->item.next);
}

/* The boxes of the request, in its order. */
void pnc_chunks_answer_unpack(void *own, int slot, const char *answer, int64_t bytes)
{
    pnc_chunk_store *s = own;
    const pnc_chunk_values *values = &s->wanted->values;
    pnc_wanted_cursor c = s->wanted->asked[slot];

    while (answer != NULL && bytes > 0) {
        const pnc_wanted_box *wanted = pnc_chunks_wanted_get_box(s->wanted, c.box);
        int size = s->source.arrays[c.chunk->item.array].elem_size;
        pnc_box_run run;
        pnc_box box;

        pnc_chunks_wanted_load_box(wanted, c.chunk->item.chunk, &box);
        run = pnc_array_run_begin(&box);
        do {
            values->unpack(values->own, wanted->of, run.value, box.run, answer);
            answer += box.run * size;
        } while (pnc_array_run_next(&box, &run));
        bytes -= box.n * size;
        step_wanted(s->wanted, &c);
    }
}

/* The boxes of one chunk, as many as fit in the message and in its answer. Returns the bytes of the message. */
static int64_t write_request_of_chunk(pnc_chunk_store *s, pnc_wanted_cursor *c, char *message, int64_t space,
                                      int64_t *answer)
{
    const pnc_wanted_chunk *w = c->chunk;
    pnc_packed_chunk chunk = {.array = w->item.array, .chunk = w->item.chunk};
    int64_t used = PNC_CHUNK_HEAD, size = s->source.arrays[w->item.array].elem_size;
    pnc_box box;

    for (; c->chunk == w; step_wanted(s->wanted, c)) {
        pnc_chunks_wanted_load_box(pnc_chunks_wanted_get_box(s->wanted, c->box), w->item.chunk, &box);
        if (pnc_chunks_head_count(box.naxes) > space - used || box.n * size > PNC_MESSAGE_BYTES - *answer)
            break;
        used += pnc_chunks_head_pack(&box, message + used);
        *answer += box.n * size;
        chunk.nboxes++;
    }
    memcpy(message, &chunk, sizeof chunk);
    return chunk.nboxes > 0 ? used : 0;
}

/* One message to the aggregator of the chunk where the cursor is. */
static void send_request(pnc_chunk_store *s, pnc_wanted_cursor *c)
{
    int aggregator = c->chunk->item.aggregator, slot;
    int64_t used = 0, answer = 0, some = 1;
    char *message = pnc_chunks_messages_reserve(&s->messages, &slot);

    s->wanted->asked[slot] = *c;
    while (some > 0 && c->chunk != NULL && c->chunk->item.aggregator == aggregator &&
           used + PNC_CHUNK_HEAD + PNC_BOX_HEAD <= PNC_MESSAGE_BYTES) {
        some = write_request_of_chunk(s, c, message + used, PNC_MESSAGE_BYTES - used, &answer);
        used += some;
    }
    pnc_chunks_values_count(s, aggregator, answer);
    pnc_chunks_messages_post(&s->messages, aggregator, used);
}

/* The chunks of a list. */
static int load_list(pnc_chunk_store *s, pnc_chunk_item *first, int *done, pnc_error *error)
{
    pnc_chunk_item *items[PNC_CHUNKS_BATCH];
    int n = 0;

    for (; n < PNC_CHUNKS_BATCH && first != NULL; first = first->next)
        items[n++] = first;
    return pnc_chunks_wanted_load(s, items, n, done, error);
}

/* Requests to other aggregators first, so that they are answered while this rank reads its own chunks. */
int pnc_chunks_wanted_transfer(pnc_chunk_store *s, pnc_error *error)
{
    pnc_wanted_list *list = s->wanted;
    pnc_chunk_item *sorted = NULL;
    pnc_wanted_cursor c;
    int64_t since = 0; /* the last message of another rank: bytes of chunks */
    int err = NC_NOERR, ahead = 0;

    for (int i = 0; i < list->nchunks; i++) {
        list->chunks[i].item.next = sorted;
        sorted = &list->chunks[i].item;
    }
    sorted = pnc_chunks_items_sort(sorted, s->store.rank + 1);
    begin_wanted(&c, sorted);
    while (c.chunk != NULL && c.chunk->item.aggregator != s->store.rank)
        send_request(s, &c);
    for (pnc_wanted_chunk *w = c.chunk; w != NULL && err == NC_NOERR; w = pnc_chunks_item_get_wanted(w->item.next)) {
        if (s->nthreads > 0 && ahead-- == 0) {
            err = load_list(s, &w->item, &ahead, error);
            ahead--;
        }
        if (err == NC_NOERR)
            err = pnc_chunks_wanted_copy(s, w, error);
        since += s->grids[w->item.array].chunk_bytes;
        if (since < PNC_MESSAGE_BYTES || ahead > 0) /* answers use the cache, too */
            continue;
        pnc_chunks_messages_dispatch(&s->messages);
        since = 0;
    }
    pnc_chunks_messages_wait(&s->messages);
    pnc_chunks_wanted_clear(list);
    return err;
}
