/* Pending values to the aggregators of their chunks. */
#include "drivers/chunks/chunk_store.h"

#include <assert.h>
#include <string.h>

#include "drivers/chunks/packing.h"

/* A message in the making. */
typedef struct values_message {
    pnc_chunk_store *s;
    char *bytes; /* NULL: there is none */
    int64_t used;
    int aggregator;
    pnc_packed_chunk head; /* of the last chunk, which is at head_at */
    int64_t head_at;
    bool is_begun; /* the message has its head */
    const pnc_pending_chunk *chunk;
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

static void begin_message(values_message *m, int aggregator)
{
    int slot;

    post_values(m);
    m->bytes = pnc_chunks_messages_reserve(&m->s->messages, &slot);
    m->aggregator = aggregator;
    m->used = 0;
}

/* The chunk, in a message that has space for `length` bytes of it. */
static void begin_chunk(values_message *m, int64_t length)
{
    const pnc_chunk_item *item = &m->chunk->item;

    if (m->bytes == NULL || m->aggregator != item->aggregator || PNC_MESSAGE_BYTES - m->used < PNC_CHUNK_HEAD + length)
        begin_message(m, item->aggregator);
    else
        memcpy(m->bytes + m->head_at, &m->head, sizeof m->head);
    m->head = (pnc_packed_chunk){.array = item->array, .chunk = item->chunk};
    m->head_at = m->used;
    m->used += PNC_CHUNK_HEAD;
    m->is_begun = true;
}

static int pack_box(void *own, const char *packed, int64_t head, int64_t length, pnc_error *error)
{
    values_message *m = own;

    (void)error, (void)head;
    if (!m->is_begun || PNC_MESSAGE_BYTES - m->used < length)
        begin_chunk(m, length);
    memcpy(m->bytes + m->used, packed, (size_t)length);
    m->used += length;
    m->head.nboxes++;
    return NC_NOERR;
}

static int pack_chunk(values_message *m, const pnc_pending_chunk *p, pnc_error *error)
{
    bool is_first = error == NULL || error->code == NC_NOERR;
    int lost = NC_NOERR;

    m->chunk = p;
    m->is_begun = false;
    PNC_TRY(pnc_chunks_pending_scan(&m->s->pending, p, pack_box, m, &lost, error));
    return lost == NC_NOERR ? NC_NOERR
                            : pnc_chunks_name_add(&m->s->source.arrays[p->item.array], lost, is_first, error);
}

/* The values of a packed box. Returns its bytes. */
static int64_t unpack_box(pnc_chunk_store *s, const pnc_chunk_item *item, const char *packed, int *err,
                          pnc_error *error)
{
    pnc_packed_values bytes = {NULL, s->source.arrays[item->array].elem_size};
    const pnc_chunk_values values = pnc_chunks_packed_get_values(&bytes);
    pnc_box box;
    int64_t head = pnc_chunks_head_unpack(packed, item->chunk, &box);
    int later;

    bytes.bytes = packed + head;
    later = pnc_chunks_values_put(s, item, &box, &values, error);
    *err = pnc_error_keep_first(*err, later);
    later = pnc_chunks_memory_release(s, error);
    *err = pnc_error_keep_first(*err, later);
    return head + box.n * bytes.size;
}

static int unpack_values(void *own, const char *message, int64_t bytes, char *answer, int64_t *length, pnc_error *error)
{
    pnc_chunk_store *s = own;
    const char *at = message;
    int err = NC_NOERR;

    (void)answer, (void)length;
    while (at < message + bytes) {
        pnc_packed_chunk chunk;
        pnc_chunk_item item;

        memcpy(&chunk, at, sizeof chunk);
        at += PNC_CHUNK_HEAD;
        item = pnc_chunks_item_make(s, chunk.array, chunk.chunk);
        assert(item.aggregator == s->store.rank);
        for (int64_t i = 0; i < chunk.nboxes; i++)
            at += unpack_box(s, &item, at, &err, error);
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

    if (!s->exchanges)
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
