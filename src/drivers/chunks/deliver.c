/* Pending values to the aggregators of their chunks. */
#include "drivers/chunks/chunk_store.h"

#include <assert.h>
#include <string.h>

#include "base/minmax.h"
#include "drivers/chunks/packing.h"

enum { LEAST_SPACE = 256 }; /* of a message, for the next bytes of a run: smaller pieces would be mostly heads */

/* A message in the making. */
typedef struct values_message {
    pnc_chunk_store *s;
    char *bytes; /* NULL: there is none */
    int64_t used;
    int aggregator;
    pnc_packed_chunk head; /* of the last chunk, which is at head_at */
    int64_t head_at;
    const pnc_chunk_item *item; /* the chunk */
} values_message;

void pnc_chunks_values_count(pnc_chunk_store *s, int aggregator, int64_t bytes)
{
    bool is_near = pnc_store_has_neighbour(&s->store, aggregator);

    pnc_statistics_add(s->store.statistics, PNC_COUNT_MESSAGES, !is_near);
    pnc_statistics_add(s->store.statistics, is_near ? PNC_COUNT_NODE_BYTES : PNC_COUNT_MESSAGE_BYTES, bytes);
}

static void post_values(values_message *m)
{
    if (m->bytes == NULL)
        return;
    memcpy(m->bytes + m->head_at, &m->head, sizeof m->head);
    pnc_chunks_values_count(m->s, m->aggregator, m->used);
    pnc_chunks_messages_post(&m->s->messages, m->aggregator, m->used);
    m->bytes = NULL;
}

static void begin_chunk(values_message *m, const pnc_chunk_item *item)
{
    int slot;

    if (m->bytes != NULL && (m->aggregator != item->aggregator || PNC_MESSAGE_BYTES - m->used < LEAST_SPACE))
        post_values(m);
    if (m->bytes == NULL) {
        m->bytes = pnc_chunks_messages_reserve(&m->s->messages, &slot);
        m->aggregator = item->aggregator;
        m->used = 0;
    } else {
        memcpy(m->bytes + m->head_at, &m->head, sizeof m->head);
    }
    m->head = (pnc_packed_chunk){.array = item->array, .chunk = item->chunk};
    m->head_at = m->used;
    m->used += PNC_CHUNK_HEAD;
}

/* How much of a run fits. The cut is not within an element. */
static int64_t fit_run(const values_message *m, int64_t within, int64_t length)
{
    int64_t space = PNC_MESSAGE_BYTES - m->used - PNC_RUN_HEAD;

    return length <= space ? length : (within + space) / 8 * 8 - within;
}

static int pack_run(void *own, int64_t within, const char *bytes, int64_t length, pnc_error *error)
{
    values_message *m = own;

    (void)error;
    for (int64_t n; length > 0; within += n, bytes += n, length -= n) {
        pnc_packed_run head;

        if (PNC_MESSAGE_BYTES - m->used < LEAST_SPACE)
            begin_chunk(m, m->item);
        n = fit_run(m, within, length);
        head = (pnc_packed_run){(uint32_t)within, (uint32_t)n};
        memcpy(m->bytes + m->used, &head, sizeof head);
        memcpy(m->bytes + m->used + PNC_RUN_HEAD, bytes, (size_t)n);
        m->used += PNC_RUN_HEAD + n;
        m->head.nruns++;
    }
    return NC_NOERR;
}

static int pack_chunk(values_message *m, const pnc_pending_chunk *p, pnc_error *error)
{
    bool is_first = error == NULL || error->code == NC_NOERR;
    int lost = NC_NOERR;

    m->item = &p->item;
    begin_chunk(m, m->item);
    PNC_TRY(pnc_chunks_pending_scan(&m->s->pending, p, pack_run, m, &lost, error));
    return lost == NC_NOERR ? NC_NOERR
                            : pnc_chunks_name_add(&m->s->source.arrays[p->item.array], lost, is_first, error);
}

static int unpack_values(void *own, const char *message, int64_t bytes, char *answer, int64_t *length, pnc_error *error)
{
    pnc_chunk_store *s = own;
    const char *at = message;
    int err = NC_NOERR;

    (void)answer;
    (void)length;
    while (at < message + bytes) {
        pnc_packed_chunk chunk;
        pnc_chunk_item item;

        memcpy(&chunk, at, sizeof chunk);
        at += PNC_CHUNK_HEAD;
        item = pnc_chunks_item_make(s, chunk.array, chunk.chunk);
        assert(item.aggregator == s->store.rank);
        for (int64_t i = 0; i < chunk.nruns; i++) {
            pnc_packed_run run;
            int later;

            memcpy(&run, at, sizeof run);
            at += PNC_RUN_HEAD;
            later = pnc_chunks_values_put(s, &item, run.within, at, run.length, error);
            err = pnc_error_keep_first(err, later);
            later = pnc_chunks_memory_release(s, error);
            err = pnc_error_keep_first(err, later);
            at += run.length;
        }
    }
    return err;
}

static bool is_of_other(void *own, int64_t array, int64_t chunk)
{
    const pnc_chunk_store *s = own;

    return pnc_chunks_item_make(s, array, chunk).aggregator != s->store.rank;
}

void pnc_chunks_others_discard(pnc_chunk_store *s)
{
    if (s->store.nprocs > 1)
        pnc_chunks_cache_remove(&s->cache, is_of_other, s);
}

int pnc_chunks_pending_send(pnc_chunk_store *s, pnc_error *error)
{
    values_message m = {.s = s};
    pnc_counter before;
    int err = NC_NOERR, later;

    if (s->store.nprocs == 1)
        return NC_NOERR;
    before = pnc_statistics_begin(s->store.statistics, PNC_COUNT_TIME_EXCHANGE);
    pnc_chunks_messages_begin(&s->messages, unpack_values, NULL, s, error);
    s->pending.chunks = pnc_chunks_items_sort(s->pending.chunks, s->store.rank);
    for (const pnc_chunk_item *item = s->pending.chunks; item != NULL; item = item->next) {
        later = pack_chunk(&m, (const pnc_pending_chunk *)item, error);
        err = pnc_error_keep_first(err, later);
    }
    post_values(&m);
    later = pnc_chunks_messages_end(&s->messages);
    err = pnc_error_keep_first(err, later);
    pnc_chunks_pending_clear(&s->pending);
    pnc_chunks_others_discard(s);
    pnc_statistics_end(s->store.statistics, before);
    return err;
}
