/* Chunks that threads encode while the program goes on: complete ones of the last puts, the oldest first. What they
 * become gets places in a later collective call. Their values do not change before that. */
#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "drivers/chunks/chunk_store.h"
#include "host/pool.h"

/* Of such a chunk. */
typedef struct pnc_behind_chunk {
    pnc_pool_job job;
    pnc_chunk_store *s;
    pnc_dirty_chunk *d;
    struct pnc_behind_chunk *newer, *older;
    char *bytes; /* encoded; NULL: they are its values */
    int64_t length;
    uint32_t mask;
    int err;
    pnc_error error;
} pnc_behind_chunk;

/* By one of the threads. */
static void encode_behind(pnc_pool_job *job, int thread)
{
    pnc_behind_chunk *b = (pnc_behind_chunk *)(void *)job;
    const pnc_dirty_chunk *d = b->d;
    const pnc_chunk_array *a = &b->s->source.arrays[d->stored.item.array];
    const void *stored;

    b->err = pnc_filter_chunk_encode(&b->s->workers[thread], &a->filters, d->values, d->bytes, &stored, &b->length,
                                     &b->mask, &b->error);
    if (b->err != NC_NOERR)
        (void)pnc_chunks_name_add(a, b->err, true, &b->error);
    if (b->err != NC_NOERR || stored == d->values)
        return;
    b->bytes = pnc_memory_alloc(b->length, 1);
    if (b->bytes == NULL)
        b->err = pnc_chunks_memory_fail(a, b->length, &b->error);
    else
        memcpy(b->bytes, stored, (size_t)b->length);
}

/* --- the list --- */

/* Memory of a chunk on its way: many are small. */
static int64_t count_behind_bytes(const pnc_dirty_chunk *d)
{
    return d->bytes + (int64_t)sizeof(pnc_behind_chunk);
}

static void add_newest(pnc_chunk_store *s, pnc_behind_chunk *b)
{
    b->older = s->newest_behind;
    *(b->older != NULL ? &b->older->newer : &s->oldest_behind) = b;
    s->newest_behind = b;
    b->d->behind = b;
    s->behind_bytes += count_behind_bytes(b->d);
}

/* Its job has ended. */
static void leave_list(pnc_chunk_store *s, pnc_behind_chunk *b)
{
    *(b->older != NULL ? &b->older->newer : &s->oldest_behind) = b->newer;
    *(b->newer != NULL ? &b->newer->older : &s->newest_behind) = b->older;
    b->d->behind = NULL;
    s->behind_bytes -= count_behind_bytes(b->d);
    pnc_memory_free(b->bytes);
    pnc_memory_free(b);
}

/* --- interface --- */

/* A chunk that filters do not change takes as long as a copy; and parts are not written to the container. */
static bool begin_one(pnc_chunk_store *s, pnc_dirty_chunk *d, pnc_language language)
{
    const pnc_chunk_array *a = &s->source.arrays[d->stored.item.array];
    pnc_behind_chunk *b;

    if (s->behind_bytes + count_behind_bytes(d) > pnc_chunks_dirty_get_most(s) || !pnc_chunks_array_is_parallel(a) ||
        pnc_chunks_array_is_part(a))
        return false;
    b = pnc_memory_alloc_zeroed(1, sizeof *b);
    if (b == NULL)
        return false;
    b->job = (pnc_pool_job){.run = encode_behind, .nthreads = s->source.nbehind};
    b->s = s;
    b->d = d;
    b->error.language = language;
    if (!pnc_host_pool_job_begin(&b->job)) {
        pnc_memory_free(b);
        return false;
    }
    add_newest(s, b);
    return true;
}

pnc_chunk_item *pnc_chunks_behind_begin(pnc_chunk_store *s, pnc_chunk_item *ready, pnc_language language)
{
    pnc_chunk_item *others = NULL, **end = &others;

    if (s->source.nbehind == 0)
        return ready;
    for (pnc_chunk_item *next; ready != NULL; ready = next) {
        next = ready->next;
        if (begin_one(s, (pnc_dirty_chunk *)(void *)ready, language))
            continue;
        *end = ready;
        end = &ready->next;
    }
    *end = NULL;
    return others;
}

int64_t pnc_chunks_behind_count(pnc_chunk_store *s, bool all)
{
    int64_t n = 0;

    for (pnc_behind_chunk *b = s->oldest_behind, *next; b != NULL; b = next) {
        next = b->newer;
        if (all && pnc_host_pool_job_remove(&b->job)) {
            pnc_dirty_chunk *d = b->d;

            leave_list(s, b);
            pnc_chunks_dirty_put_back(&s->dirty, d);
        } else if (!all && !pnc_host_pool_job_is_done(&b->job)) {
            break;
        } else {
            n++;
        }
    }
    return n;
}

int64_t pnc_chunks_behind_wait(pnc_chunk_store *s)
{
    pnc_counter before = pnc_statistics_begin(s->store.statistics, PNC_COUNT_TIME_FILTERS);

    if (!pnc_host_pool_job_end(&s->oldest_behind->job)) /* of a parent, before fork */
        encode_behind(&s->oldest_behind->job, 0);
    pnc_statistics_end(s->store.statistics, before);
    return s->oldest_behind->bytes != NULL ? s->oldest_behind->length : 0;
}

/* Places are the container's, which other threads do not use. */
static int append_bytes(pnc_chunk_store *s, const pnc_behind_chunk *b, int64_t *used, pnc_error *error)
{
    pnc_dirty_chunk *d = b->d;

    PNC_TRY(pnc_chunks_stored_init(s, &d->stored, d->bytes, error));
    d->stored.place.bytes = b->length;
    d->stored.place.mask = (int64_t)b->mask;
    return pnc_chunks_encoded_append(s, d, b->bytes != NULL ? (const void *)b->bytes : d->values, used, error);
}

int pnc_chunks_behind_take(pnc_chunk_store *s, pnc_dirty_chunk **d, int64_t *used, pnc_error *error)
{
    pnc_behind_chunk *b = s->oldest_behind;
    int err = b->err;

    *d = b->d;
    if (err != NC_NOERR) {
        (void)pnc_error_copy(error, &b->error, false);
    } else {
        err = append_bytes(s, b, used, error);
        pnc_statistics_add(s->store.statistics, PNC_COUNT_BEHIND_ENCODED, b->d->bytes);
        pnc_statistics_add(s->store.statistics, PNC_COUNT_BEHIND_ENCODING, b->job.ns);
    }
    leave_list(s, b);
    return err;
}

void pnc_chunks_behind_undo(pnc_chunk_store *s, pnc_dirty_chunk *d)
{
    (void)pnc_host_pool_job_end(&d->behind->job);
    leave_list(s, d->behind);
    pnc_chunks_dirty_put_back(&s->dirty, d);
}

void pnc_chunks_behind_free(pnc_chunk_store *s)
{
    while (s->oldest_behind != NULL) {
        (void)pnc_host_pool_job_end(&s->oldest_behind->job);
        leave_list(s, s->oldest_behind);
    }
}
