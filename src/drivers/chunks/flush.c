/* Chunks that are ready, to the container. In a round each rank encodes chunks into a buffer, all place them, and each
 * rank writes its own. */
#include "drivers/chunks/chunk_store.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"

/* What is left to be written. */
typedef struct write_job {
    pnc_chunk_item *ready, *logged;
    pnc_chunk_item *kept; /* of the logged ones, those that failed */
    int64_t nbehind;      /* of the oldest ones that threads encode */
} write_job;

/* A round at one rank. */
typedef struct write_round {
    pnc_chunk_item *chunks, **end; /* encoded, in order */
    int64_t used;                  /* bytes of s->encoded */
    int64_t made;                  /* bytes of chunks that were logged */
} write_round;

static pnc_dirty_chunk *dirty_of(pnc_chunk_item *item)
{
    return (pnc_dirty_chunk *)(void *)item;
}

/* --- chunks of a round --- */

/* A logged chunk that gets its values. */
typedef struct logged_values {
    pnc_chunk_store *s;
    pnc_dirty_chunk *d;
} logged_values;

static int put_logged_box(void *own, const char *packed, int64_t head, int64_t length, pnc_error *error)
{
    const logged_values *v = own;
    pnc_packed_values bytes = {packed + head, v->d->elem_size};
    const pnc_chunk_values values = pnc_chunks_packed_get_values(&bytes);
    pnc_box box;

    (void)length, (void)error;
    (void)pnc_chunks_head_unpack(packed, v->d->stored.item.chunk, &box);
    pnc_chunks_dirty_put(&v->s->dirty, v->d, &box, &values);
    return NC_NOERR;
}

/* A logged chunk with all its bytes, but those of its log that cannot be read; NULL: it keeps its log. */
static int make_logged(pnc_chunk_store *s, const pnc_pending_chunk *p, pnc_chunk_item **out, pnc_error *error)
{
    const pnc_chunk_array *a = &s->source.arrays[p->item.array];
    pnc_dirty_chunk *d = pnc_chunks_dirty_load(s, &p->item);
    bool is_first = error == NULL || error->code == NC_NOERR;
    int err, lost = NC_NOERR;

    *out = NULL;
    if (d == NULL)
        return pnc_chunks_memory_fail(a, s->grids[p->item.array].chunk_bytes, error);
    err = pnc_chunks_pending_scan(&s->logged, p, put_logged_box, &(logged_values){s, d}, &lost, error);
    if (err == NC_NOERR)
        err = pnc_chunks_chunk_merge(s, d, error);
    pnc_chunks_dirty_make_ready(&s->dirty, d);
    *out = pnc_chunks_dirty_take_last(&s->dirty);
    if (err == NC_NOERR)
        return lost == NC_NOERR ? NC_NOERR : pnc_chunks_name_add(a, lost, is_first, error);
    pnc_chunks_dirty_remove(&s->dirty, d);
    *out = NULL;
    return err;
}

/* The next chunk of the job; NULL: there is none. */
static int take_chunk(pnc_chunk_store *s, write_job *job, pnc_chunk_item **out, pnc_error *error)
{
    int err = NC_NOERR, later;

    *out = job->ready;
    if (*out != NULL)
        job->ready = (*out)->next;
    while (*out == NULL && job->logged != NULL) {
        pnc_chunk_item *item = job->logged;

        job->logged = item->next;
        later = make_logged(s, (const pnc_pending_chunk *)(const void *)item, out, error);
        err = pnc_error_keep_first(err, later);
        if (*out != NULL) {
            pnc_chunks_map_remove(&s->logged.map, item);
            continue;
        }
        item->next = job->kept;
        job->kept = item;
    }
    return err;
}

/* Whether there is another chunk, and it fits behind those of a batch, which may take so many bytes. */
static bool has_next(const pnc_chunk_store *s, const write_job *job, const write_round *round, int64_t batch)
{
    const pnc_chunk_item *next = job->ready != NULL ? job->ready : job->logged;
    const pnc_chunk_array *a = next != NULL ? &s->source.arrays[next->array] : NULL;
    int64_t used = s->nthreads > 0 ? batch : round->used, most = PNC_CHUNKS_ROUND_BYTES;

    if (a == NULL || (round->chunks == NULL && batch == 0))
        return a != NULL;
    if (s->nthreads > 0) /* whole batches: threads have nothing to do at the end of each */
        most = batch > 0 || round->used < PNC_CHUNKS_ROUND_BYTES ? PNC_CHUNKS_BATCH_BYTES : 0;
    return round->made <= pnc_min64(PNC_CHUNKS_ROUND_BYTES, pnc_chunks_dirty_get_most(s)) &&
           used + pnc_filter_chain_get_bound(&a->filters, s->grids[next->array].chunk_bytes) <= most;
}

static int write_dirty_part(pnc_chunk_store *s, pnc_dirty_chunk *d, pnc_error *error)
{
    unsigned char *cached = pnc_chunks_cache_find(&s->cache, d->stored.item.array, d->stored.item.chunk);

    PNC_TRY(s->source.write_part(s->source.own, d->stored.item.array, d->values, d->bytes, error));
    if (cached != NULL)
        memcpy(cached, d->values, (size_t)d->bytes);
    pnc_chunks_dirty_remove(&s->dirty, d);
    return NC_NOERR;
}

/* *is_in_round: the chunk has bytes for the container. */
static int prepare_dirty(pnc_chunk_store *s, pnc_dirty_chunk *d, bool *is_in_round, pnc_error *error)
{
    *is_in_round = !pnc_chunks_array_is_part(&s->source.arrays[d->stored.item.array]);
    return *is_in_round ? pnc_chunks_stored_init(s, &d->stored, d->bytes, error) : write_dirty_part(s, d, error);
}

/* The values of a chunk that its filters refuse can never be written: they would hold back those of others. */
static void leave_failed(pnc_chunk_store *s, pnc_dirty_chunk *d, int err)
{
    if (err == NC_EFILTER)
        pnc_chunks_dirty_remove(&s->dirty, d);
    else
        pnc_chunks_dirty_put_back(&s->dirty, d);
}

/* Chunks that are encoded at the same time. *n: how many. Those that fail wait for the next time, or are lost. */
static int take_batch(pnc_chunk_store *s, write_job *job, write_round *round, pnc_encoding *batch, int *n,
                      pnc_error *error)
{
    int most = pnc_chunks_batch_get_most(s), err = NC_NOERR, later;
    int64_t bytes = 0;

    *n = 0;
    while (*n < most && has_next(s, job, round, bytes)) {
        bool is_logged = job->ready == NULL, is_in_round;
        pnc_chunk_item *item;

        later = take_chunk(s, job, &item, error);
        err = pnc_error_keep_first(err, later);
        if (item == NULL)
            break;
        item->next = NULL;
        round->made += is_logged ? dirty_of(item)->bytes : 0;
        later = prepare_dirty(s, dirty_of(item), &is_in_round, error);
        err = pnc_error_keep_first(err, later);
        if (later != NC_NOERR)
            leave_failed(s, dirty_of(item), later);
        if (later != NC_NOERR || !is_in_round)
            continue;
        bytes += pnc_filter_chain_get_bound(&s->source.arrays[item->array].filters, dirty_of(item)->bytes);
        batch[(*n)++].d = dirty_of(item);
    }
    return err;
}

static void add_to_round(write_round *round, pnc_dirty_chunk *d)
{
    d->stored.item.next = NULL;
    *round->end = &d->stored.item;
    round->end = &d->stored.item.next;
}

/* Chunks that threads have encoded, as many as the round has space for. */
static int take_encoded(pnc_chunk_store *s, write_job *job, write_round *round, pnc_error *error)
{
    int err = NC_NOERR, later;

    while (job->nbehind > 0) {
        pnc_dirty_chunk *d;

        if (pnc_chunks_behind_wait(s) + round->used > PNC_CHUNKS_ROUND_BYTES && round->chunks != NULL)
            break;
        job->nbehind--;
        later = pnc_chunks_behind_take(s, &d, &round->used, error);
        err = pnc_error_keep_first(err, later);
        if (later == NC_NOERR)
            add_to_round(round, d);
        else
            leave_failed(s, d, later);
    }
    return err;
}

/* Encode chunks, as many as a round has. */
static int fill_round(pnc_chunk_store *s, write_job *job, write_round *round, pnc_error *error)
{
    pnc_encoding batch[PNC_CHUNKS_BATCH];
    int err = NC_NOERR, later, n = 1;

    while (n > 0) {
        later = take_batch(s, job, round, batch, &n, error);
        err = pnc_error_keep_first(err, later);
        later = pnc_chunks_batch_encode(s, batch, n, &round->used, error);
        err = pnc_error_keep_first(err, later);
        for (int i = 0; i < n; i++)
            if (batch[i].err == NC_NOERR)
                add_to_round(round, batch[i].d);
            else
                leave_failed(s, batch[i].d, batch[i].err);
    }
    later = take_encoded(s, job, round, error);
    return pnc_error_keep_first(err, later);
}

/* --- writing --- */

static void count_written(const pnc_chunk_store *s, const pnc_dirty_chunk *d)
{
    pnc_statistics *t = s->store.statistics;

    if (t != NULL)
        pnc_statistics_chunk_add(t, s->source.arrays[d->stored.item.array].varid, true, d->bytes, d->stored.place.bytes,
                                 d->stored.was_written);
}

/* The container has the bytes of a chunk. The cache keeps those of one that is not complete: more may follow. */
static void record_chunk(pnc_chunk_store *s, pnc_dirty_chunk *d)
{
    unsigned char *cached = pnc_chunks_cache_find(&s->cache, d->stored.item.array, d->stored.item.chunk);

    count_written(s, d);
    if (cached == NULL && d->covered < d->inside)
        cached = pnc_chunks_cache_add(&s->cache, d->stored.item.array, d->stored.item.chunk, d->bytes);
    if (cached != NULL)
        memcpy(cached, d->values, (size_t)d->bytes);
    s->source.container->ops->adopt(s->source.container, &d->stored);
    pnc_chunks_dirty_remove(&s->dirty, d);
}

/* Chunks up to `end`: they are in the container, or keep their values. */
static void record_chunks(pnc_chunk_store *s, pnc_chunk_item *item, const pnc_chunk_item *end, bool are_written)
{
    for (pnc_chunk_item *next; item != end; item = next) {
        next = item->next;
        if (are_written)
            record_chunk(s, dirty_of(item));
        else
            pnc_chunks_dirty_put_back(&s->dirty, dirty_of(item));
    }
}

/* Whether one write has both: they are adjacent in the buffer, and in the container. */
static bool is_joined(const pnc_container *c, const pnc_dirty_chunk *d, const pnc_dirty_chunk *next)
{
    return d->at >= 0 && next->at == d->at + d->stored.place.bytes && c->ops->joins != NULL &&
           c->ops->joins(c, &d->stored, &next->stored);
}

static int write_chunks(pnc_chunk_store *s, const write_round *round, pnc_error *error)
{
    pnc_container *c = s->source.container;
    int err = NC_NOERR, later;

    for (pnc_chunk_item *item = round->chunks, *end; item != NULL; item = end) {
        const pnc_dirty_chunk *first = dirty_of(item), *last = first;
        int64_t length = first->stored.place.bytes;

        for (end = item->next; end != NULL && is_joined(c, last, dirty_of(end)); end = end->next) {
            last = dirty_of(end);
            length += last->stored.place.bytes;
        }
        later = c->ops->write(c, &first->stored, first->at < 0 ? (const char *)first->values : s->encoded + first->at,
                              length, error);
        record_chunks(s, item, end, later == NC_NOERR);
        err = pnc_error_keep_first(err, later);
    }
    return err;
}

/* --- one whole chunk --- */

/* Whether a chunk has only the values of one put, and no filter. */
static bool is_direct(const pnc_chunk_store *s, const pnc_chunk_item *item)
{
    const pnc_chunk_array *a = &s->source.arrays[item->array];

    return a->filters.nfilters == 0 && s->grids[item->array].chunk_bytes >= PNC_CHUNKS_DIRECT_BYTES &&
           !pnc_chunks_array_is_part(a) && pnc_chunks_dirty_find(&s->dirty, item->array, item->chunk) == NULL &&
           pnc_chunks_map_find(&s->logged.map, item->array, item->chunk) == NULL;
}

int pnc_chunks_whole_write(pnc_chunk_store *s, const pnc_chunk_item *item, const char *bytes, bool *is_written,
                           pnc_error *error)
{
    int64_t length = s->grids[item->array].chunk_bytes;
    pnc_container *c = s->source.container;
    pnc_stored_chunk chunk = {.item = *item};
    unsigned char *cached;
    bool more = false;

    *is_written = false;
    chunk.item.next = NULL;
    if (!is_direct(s, item))
        return NC_NOERR;
    PNC_TRY(pnc_chunks_stored_init(s, &chunk, length, error));
    if (chunk.is_new && s->store.nprocs > 1) /* all ranks agree on its place */
        return NC_NOERR;
    if (chunk.is_new) {
        chunk.place.bytes = length;
        chunk.place.mask = 0;
        PNC_TRY(c->ops->place(c, &chunk.item, &more, error));
    }
    PNC_TRY(c->ops->write(c, &chunk, bytes, length, error));
    c->ops->adopt(c, &chunk);
    cached = pnc_chunks_cache_find(&s->cache, item->array, item->chunk);
    if (cached != NULL)
        memcpy(cached, bytes, (size_t)length);
    *is_written = true;
    return NC_NOERR;
}

/* --- interface --- */

static write_job begin_job(pnc_chunk_store *s, pnc_write_scope scope, pnc_language language)
{
    write_job job = {.nbehind = pnc_chunks_behind_count(s, scope == PNC_WRITE_ALL)};

    job.ready = pnc_chunks_items_sort(pnc_chunks_dirty_take_ready(&s->dirty), 0);
    if (scope != PNC_WRITE_ALL)
        job.ready = pnc_chunks_behind_begin(s, job.ready, language);
    if (scope != PNC_WRITE_READY) {
        job.logged = pnc_chunks_items_sort(s->logged.chunks, 0);
        s->logged.chunks = NULL;
    }
    return job;
}

/* What could not be written is kept: after a failure of MPI also chunks that had no turn. */
static void end_job(pnc_chunk_store *s, write_job *job)
{
    pnc_chunk_item **end = &s->logged.chunks;

    record_chunks(s, job->ready, NULL, false);
    while (*end != NULL)
        end = &(*end)->next;
    *end = job->kept;
    while (*end != NULL)
        end = &(*end)->next;
    *end = job->logged;
    if (s->logged.chunks == NULL)
        pnc_chunks_pending_clear(&s->logged);
}

int pnc_chunks_ready_write(pnc_chunk_store *s, pnc_write_scope scope, pnc_error *error)
{
    write_job job = begin_job(s, scope, pnc_error_get_language(error));
    int err = NC_NOERR, later;
    bool more;

    do {
        write_round round = {.end = &round.chunks};

        later = fill_round(s, &job, &round, error);
        err = pnc_error_keep_first(err, later);
        more = job.ready != NULL || job.logged != NULL || job.nbehind > 0;
        later = s->source.container->ops->place(s->source.container, round.chunks, &more, error);
        if (later == NC_NOERR)
            later = write_chunks(s, &round, error);
        else
            record_chunks(s, round.chunks, NULL, false);
        err = pnc_error_keep_first(err, later);
    } while (more);
    end_job(s, &job);
    return err;
}

int pnc_chunks_dirty_finish(pnc_chunk_store *s, int64_t most, pnc_error *error)
{
    pnc_dirty_chunk *d = s->dirty.oldest, *newer;
    int err = NC_NOERR, later;

    for (; d != NULL && s->dirty.waiting_bytes > most; d = newer) {
        newer = d->newer;
        later = pnc_chunks_chunk_merge(s, d, error);
        err = pnc_error_keep_first(err, later);
        if (later == NC_NOERR)
            pnc_chunks_dirty_make_ready(&s->dirty, d);
    }
    return err;
}
