/* Chunks that are ready to the file. In a round each rank encodes chunks into a buffer, a scan of their lengths
 * assigns addresses to those that are new, and each rank writes its own. */
#include "drivers/chunks/chunk_store.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"

/* Of encoded chunks, but for one that is larger: a guess. It takes 0.1 s and more to compress as much. */
#define ROUND_BYTES (INT64_C(16) << 20)
/* Chunks of at least so many bytes that no filter changes are written from where they are: a guess. Smaller ones become
 * one write. */
#define DIRECT_BYTES (INT64_C(64) << 10)

/* What is left to be written. */
typedef struct write_job {
    pnc_chunk_item *ready, *logged;
    pnc_chunk_item *kept; /* of the logged ones, those that failed */
} write_job;

/* A round at one rank. */
typedef struct write_round {
    pnc_chunk_item *chunks; /* encoded, in order */
    int64_t used;           /* bytes of the buffer */
    int64_t made;           /* bytes of chunks that were logged */
    int64_t added;          /* of them, those of new chunks */
    int64_t nadded;         /* new chunks */
    int64_t first;          /* address of the first of those */
} write_round;

static pnc_dirty_chunk *dirty_of(pnc_chunk_item *item)
{
    return (pnc_dirty_chunk *)(void *)item;
}

/* --- encoding --- */

static int reserve_encoded(pnc_chunk_store *s, const pnc_chunk_array *a, int64_t bytes, pnc_error *error)
{
    int64_t capacity = pnc_max64(bytes, pnc_min64(2 * s->encoded_capacity, ROUND_BYTES));
    char *larger;

    if (bytes <= s->encoded_capacity)
        return NC_NOERR;
    larger = pnc_memory_resize(s->encoded, capacity, 1);
    if (larger == NULL)
        return pnc_chunks_memory_fail(a, bytes, error);
    s->encoded = larger;
    s->encoded_capacity = capacity;
    return NC_NOERR;
}

/* A chunk without filters stays where it is. A filtered one always gets a new address: its length changes, and the
 * metadata in the file refer to the old bytes until they are replaced. */
static int find_address(pnc_chunk_store *s, pnc_dirty_chunk *d, pnc_error *error)
{
    pnc_chunk_place place;

    d->is_new = true;
    if (s->source.arrays[d->item.array].filters.nfilters > 0 || s->is_distrusted)
        return NC_NOERR;
    PNC_TRY(pnc_chunks_place_find(s, d->item.array, d->item.chunk, &place, error));
    d->is_new = place.offset < 0 || place.bytes != d->bytes;
    d->address = place.offset;
    return NC_NOERR;
}

static int encode_dirty(pnc_chunk_store *s, pnc_dirty_chunk *d, write_round *round, pnc_error *error)
{
    const pnc_chunk_array *a = &s->source.arrays[d->item.array];
    bool is_first = error == NULL || error->code == NC_NOERR;
    const void *stored;
    pnc_counter before;
    int err;

    PNC_TRY(find_address(s, d, error));
    if (d->is_new && !pnc_chunks_places_reserve(&s->places, &d->item))
        return pnc_error_set(error, NC_ENOMEM, "variable \"%s\": no memory for the place of a chunk", a->name);
    before = pnc_statistics_begin(s->store.statistics, PNC_COUNT_TIME_FILTERS);
    err = pnc_filter_chunk_encode(&s->worker, &a->filters, d->values, d->bytes, &stored, &d->stored, &d->mask, error);
    pnc_statistics_end(s->store.statistics, before);
    if (err != NC_NOERR)
        return pnc_chunks_name_add(a, err, is_first, error);
    d->at = -1;
    if (stored != d->values || d->stored < DIRECT_BYTES) {
        PNC_TRY(reserve_encoded(s, a, round->used + d->stored, error));
        memcpy(s->encoded + round->used, stored, (size_t)d->stored);
        d->at = round->used;
        round->used += d->stored;
    }
    round->added += d->is_new ? d->stored : 0;
    round->nadded += d->is_new;
    return NC_NOERR;
}

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
    (void)pnc_chunks_head_unpack(packed, v->d->item.chunk, &box);
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

/* Whether there is another chunk, and it fits. */
static bool has_next(const pnc_chunk_store *s, const write_job *job, const write_round *round)
{
    const pnc_chunk_item *next = job->ready != NULL ? job->ready : job->logged;
    const pnc_chunk_array *a = next != NULL ? &s->source.arrays[next->array] : NULL;

    if (a == NULL || round->chunks == NULL)
        return a != NULL;
    return round->made <= pnc_min64(ROUND_BYTES, pnc_chunks_dirty_get_most(s)) &&
           round->used + pnc_filter_chain_get_bound(&a->filters, s->grids[next->array].chunk_bytes) <= ROUND_BYTES;
}

static int write_dirty_part(pnc_chunk_store *s, pnc_dirty_chunk *d, pnc_error *error)
{
    unsigned char *cached = pnc_chunks_cache_find(&s->cache, d->item.array, d->item.chunk);

    PNC_TRY(s->source.write_part(s->source.own, d->item.array, d->values, d->bytes, error));
    if (cached != NULL)
        memcpy(cached, d->values, (size_t)d->bytes);
    pnc_chunks_dirty_remove(&s->dirty, d);
    return NC_NOERR;
}

/* *is_in_round: the chunk has bytes for the file. */
static int prepare_dirty(pnc_chunk_store *s, pnc_dirty_chunk *d, write_round *round, bool *is_in_round,
                         pnc_error *error)
{
    *is_in_round = !pnc_chunks_array_is_part(&s->source.arrays[d->item.array]);
    return *is_in_round ? encode_dirty(s, d, round, error) : write_dirty_part(s, d, error);
}

/* The values of a chunk that its filters refuse can never be written: they would hold back those of others. */
static void leave_failed(pnc_chunk_store *s, pnc_dirty_chunk *d, int err)
{
    if (err == NC_EFILTER)
        pnc_chunks_dirty_remove(&s->dirty, d);
    else
        pnc_chunks_dirty_put_back(&s->dirty, d);
}

/* Encode chunks, as many as a round has. Those that fail wait for the next time, or are lost. */
static int fill_round(pnc_chunk_store *s, write_job *job, write_round *round, pnc_error *error)
{
    pnc_chunk_item **last = &round->chunks;
    int err = NC_NOERR, later;

    while (has_next(s, job, round)) {
        bool is_logged = job->ready == NULL, is_in_round;
        pnc_chunk_item *item;

        later = take_chunk(s, job, &item, error);
        err = pnc_error_keep_first(err, later);
        if (item == NULL)
            break;
        item->next = NULL;
        round->made += is_logged ? dirty_of(item)->bytes : 0;
        later = prepare_dirty(s, dirty_of(item), round, &is_in_round, error);
        err = pnc_error_keep_first(err, later);
        if (later != NC_NOERR)
            leave_failed(s, dirty_of(item), later);
        if (later != NC_NOERR || !is_in_round)
            continue;
        *last = item;
        last = &item->next;
    }
    return err;
}

/* --- addresses --- */

/* Collective. *more: whether any rank has further chunks. After an error of MPI, too, the rank takes part in the steps
 * that follow. */
static int assign_addresses(pnc_chunk_store *s, write_round *round, bool *more, pnc_error *error)
{
    int64_t sums[3] = {round->added, *more, round->nadded}, before = 0;
    int summed = MPI_SUCCESS, scanned = MPI_SUCCESS, checked;

    if (s->store.nprocs > 1) {
        summed = MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_INT64_T, MPI_SUM, s->store.comm);
        pnc_statistics_add(s->store.statistics, PNC_COUNT_AGREEMENTS, 1);
        if (sums[0] > 0)
            scanned = MPI_Exscan(&round->added, &before, 1, MPI_INT64_T, MPI_SUM, s->store.comm);
    }
    *more = sums[1] > 0;
    checked = sums[0] > 0 && s->source.check != NULL ? s->source.check(s->source.own, error) : NC_NOERR;
    if (checked != NC_NOERR) {
        *more = false;
        return checked;
    }
    round->first = s->end + (s->store.rank > 0 ? before : 0);
    s->end += sums[0];
    s->unregistered += sums[2];
    if (summed == MPI_SUCCESS && scanned == MPI_SUCCESS)
        return NC_NOERR;
    return pnc_error_set(error, NC_EMPI, "%s of the bytes of chunks failed",
                         summed != MPI_SUCCESS ? "MPI_Allreduce" : "MPI_Exscan");
}

/* --- writing --- */

static int write_inner(pnc_chunk_store *s, int64_t offset, const char *bytes, int64_t length, pnc_error *error)
{
    for (int64_t n; length > 0; offset += n, bytes += n, length -= n) {
        n = pnc_min64(length, PNC_STORE_BYTES_MAX / 2);
        PNC_TRY(s->store.inner->ops->write(s->store.inner, &(pnc_extent){offset, n}, 1, bytes, error));
    }
    return NC_NOERR;
}

static void count_written(const pnc_chunk_store *s, const pnc_dirty_chunk *d)
{
    pnc_statistics *t = s->store.statistics;

    if (t != NULL)
        pnc_statistics_chunk_add(t, s->source.arrays[d->item.array].varid, true, d->bytes, d->stored,
                                 pnc_chunks_places_find(&s->places, d->item.array, d->item.chunk) != NULL);
}

/* The file has the bytes of a chunk. The cache keeps those of one that is not complete: more may follow. */
static void record_chunk(pnc_chunk_store *s, pnc_dirty_chunk *d)
{
    const pnc_chunk_place place = {d->address, d->stored, d->mask};
    unsigned char *cached = pnc_chunks_cache_find(&s->cache, d->item.array, d->item.chunk);

    count_written(s, d);
    if (cached == NULL && d->covered < d->inside)
        cached = pnc_chunks_cache_add(&s->cache, d->item.array, d->item.chunk, d->bytes);
    if (cached != NULL)
        memcpy(cached, d->values, (size_t)d->bytes);
    if (d->is_new)
        pnc_chunks_places_set(&s->places, &d->item, &place);
    pnc_chunks_dirty_remove(&s->dirty, d);
}

/* Chunks up to `end`: they are in the file, or keep their values. */
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

static void place_new_chunks(const write_round *round)
{
    int64_t address = round->first;

    for (pnc_chunk_item *item = round->chunks; item != NULL; item = item->next) {
        pnc_dirty_chunk *d = dirty_of(item);

        if (!d->is_new)
            continue;
        d->address = address;
        address += d->stored;
    }
}

/* Each write has chunks that are adjacent in the buffer and in the file. Not several extents at once: what is between
 * them may be another rank's. */
static int write_chunks(pnc_chunk_store *s, const write_round *round, pnc_error *error)
{
    int err = NC_NOERR, later;

    for (pnc_chunk_item *item = round->chunks, *end; item != NULL; item = end) {
        const pnc_dirty_chunk *first = dirty_of(item);
        int64_t length = first->stored;

        for (end = item->next; end != NULL; end = end->next) {
            const pnc_dirty_chunk *d = dirty_of(end);

            if (first->at < 0 || d->at != first->at + length || d->address != first->address + length)
                break;
            length += d->stored;
        }
        later = write_inner(s, first->address, first->at < 0 ? (const char *)first->values : s->encoded + first->at,
                            length, error);
        record_chunks(s, item, end, later == NC_NOERR);
        err = pnc_error_keep_first(err, later);
    }
    return err;
}

/* --- before values are put --- */

static bool is_tried(const pnc_filter_chain *chain)
{
    for (int i = 0; i < chain->nfilters; i++)
        if (chain->filters[i].id == PNC_FILTER_SZIP || !pnc_filter_is_own(chain->filters[i].id))
            return true;
    return false;
}

/* Some filters say only when they are applied that they cannot encode such chunks. */
static int try_filters(pnc_chunk_store *s, int64_t array, pnc_error *error)
{
    const pnc_chunk_array *a = &s->source.arrays[array];
    int64_t bytes = s->grids[array].chunk_bytes, stored_bytes;
    char *chunk = pnc_memory_alloc(bytes, 1);
    const void *stored;
    uint32_t mask;
    int err;

    if (chunk == NULL)
        return pnc_chunks_memory_fail(a, bytes, error);
    pnc_chunks_value_fill(a->fill, a->elem_size, chunk, bytes);
    err = pnc_filter_chunk_encode(&s->worker, &a->filters, chunk, bytes, &stored, &stored_bytes, &mask, error);
    pnc_memory_free(chunk);
    return err;
}

int pnc_chunks_filters_check(pnc_chunk_store *s, int64_t array, pnc_error *error)
{
    const pnc_chunk_array *a = &s->source.arrays[array];
    bool is_first = error == NULL || error->code == NC_NOERR;
    int err = NC_NOERR;

    if (s->encodes[array] || a->filters.nfilters == 0)
        return NC_NOERR;
    err = pnc_filter_chain_check(&a->filters, 0, s->source.codecs, error);
    if (err == NC_NOERR && is_tried(&a->filters))
        err = try_filters(s, array, error);
    s->encodes[array] = err == NC_NOERR;
    return err == NC_NOERR ? NC_NOERR : pnc_chunks_name_add(a, err, is_first, error);
}

/* --- one whole chunk --- */

int pnc_chunks_whole_write(pnc_chunk_store *s, const pnc_chunk_item *item, const char *bytes, bool *is_written,
                           pnc_error *error)
{
    const pnc_chunk_array *a = &s->source.arrays[item->array];
    int64_t length = s->grids[item->array].chunk_bytes;
    unsigned char *cached;
    pnc_chunk_place place;

    *is_written = false;
    if (a->filters.nfilters > 0 || length < DIRECT_BYTES || pnc_chunks_array_is_part(a) ||
        pnc_chunks_dirty_find(&s->dirty, item->array, item->chunk) != NULL ||
        pnc_chunks_map_find(&s->logged.map, item->array, item->chunk) != NULL)
        return NC_NOERR;
    PNC_TRY(pnc_chunks_place_find(s, item->array, item->chunk, &place, error));
    if (place.offset < 0 || place.bytes != length || s->is_distrusted) {
        if (s->store.nprocs > 1) /* all ranks agree on its address */
            return NC_NOERR;
        if (!pnc_chunks_places_reserve(&s->places, item))
            return pnc_error_set(error, NC_ENOMEM, "variable \"%s\": no memory for the place of a chunk", a->name);
        if (s->source.check != NULL)
            PNC_TRY(s->source.check(s->source.own, error));
        place = (pnc_chunk_place){.offset = s->end, .bytes = length};
        s->end += length; /* a write that fails may have written a part */
        PNC_TRY(write_inner(s, place.offset, bytes, length, error));
        s->unregistered++;
        pnc_chunks_places_set(&s->places, item, &place);
    } else {
        PNC_TRY(write_inner(s, place.offset, bytes, length, error));
    }
    cached = pnc_chunks_cache_find(&s->cache, item->array, item->chunk);
    if (cached != NULL)
        memcpy(cached, bytes, (size_t)length);
    *is_written = true;
    return NC_NOERR;
}

/* --- interface --- */

static write_job begin_job(pnc_chunk_store *s, bool with_logged)
{
    write_job job = {.ready = pnc_chunks_items_sort(pnc_chunks_dirty_take_ready(&s->dirty), 0)};

    if (with_logged) {
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

int pnc_chunks_ready_write(pnc_chunk_store *s, bool with_logged, pnc_error *error)
{
    write_job job = begin_job(s, with_logged);
    int err = NC_NOERR, later;
    bool more;

    do {
        write_round round = {0};

        later = fill_round(s, &job, &round, error);
        err = pnc_error_keep_first(err, later);
        more = job.ready != NULL || job.logged != NULL;
        later = assign_addresses(s, &round, &more, error);
        if (later == NC_NOERR) {
            place_new_chunks(&round);
            later = write_chunks(s, &round, error);
        } else {
            record_chunks(s, round.chunks, NULL, false);
        }
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
