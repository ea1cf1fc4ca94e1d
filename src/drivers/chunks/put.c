/* Writes: the values of extents go to chunks that wait here, if this rank is their aggregator, or else to a log. */
#include "drivers/chunks/chunk_store.h"

#include <string.h>

#include "base/minmax.h"

/* A rank alone writes chunks as soon as so many bytes of them are ready: a guess, to bound the memory of a large
 * write. */
#define READY_BYTES (INT64_C(16) << 20)

/* --- one chunk --- */

pnc_dirty_chunk *pnc_chunks_dirty_load(pnc_chunk_store *s, const pnc_chunk_item *item)
{
    const pnc_chunk_array *a = &s->source.arrays[item->array];
    const pnc_chunk_grid *g = &s->grids[item->array];
    pnc_dirty_chunk *d = pnc_chunks_dirty_find(&s->dirty, item->array, item->chunk);
    int64_t inside;

    if (d != NULL)
        return d;
    inside = pnc_chunks_grid_count_inside(g, item->chunk) / a->elem_size;
    d = pnc_chunks_dirty_add(&s->dirty, item, g->chunk_bytes, a->elem_size, inside);
    if (d != NULL)
        return d;
    pnc_chunks_cache_clear(&s->cache); /* values that are not in the file need its memory */
    return pnc_chunks_dirty_add(&s->dirty, item, g->chunk_bytes, a->elem_size, inside);
}

/* An element of which only a part is put needs the other part. */
int pnc_chunks_dirty_fill(pnc_chunk_store *s, pnc_dirty_chunk *d, int64_t within, const void *bytes, int64_t length,
                          pnc_error *error)
{
    if (within % d->elem_size != 0 || length % d->elem_size != 0) {
        PNC_TRY(pnc_chunks_chunk_merge(s, d, error));
        d->is_merged = true;
    }
    pnc_chunks_dirty_put(&s->dirty, d, within, bytes, length);
    return NC_NOERR;
}

static int log_values(pnc_chunk_store *s, pnc_pending *log, const pnc_chunk_item *item, int64_t within,
                      const char *bytes, int64_t length, pnc_error *error)
{
    unsigned char *cached = pnc_chunks_cache_find(&s->cache, item->array, item->chunk);

    if (!pnc_chunks_pending_add(log, item, within, bytes, length))
        return pnc_error_set(error, NC_ENOMEM, "variable \"%s\": no memory for values of chunks that are not complete",
                             s->source.arrays[item->array].name);
    if (cached != NULL)
        memcpy(cached + within, bytes, (size_t)length);
    return NC_NOERR;
}

/* Values that are scattered over many chunks do not get memory for all of these at the same time. */
static bool must_log(const pnc_chunk_store *s, const pnc_chunk_item *item, int64_t length)
{
    int64_t bytes = s->grids[item->array].chunk_bytes;

    if (pnc_chunks_map_find(&s->logged.map, item->array, item->chunk) != NULL)
        return true;
    return length < bytes && s->dirty.waiting_bytes > 0 &&
           s->dirty.waiting_bytes + bytes > pnc_chunks_dirty_get_most(s) &&
           pnc_chunks_dirty_find(&s->dirty, item->array, item->chunk) == NULL;
}

/* Chunks that are complete become logs, which can be spilled. */
static int log_ready(pnc_chunk_store *s, pnc_error *error)
{
    int err = NC_NOERR, later;

    for (pnc_chunk_item *item = pnc_chunks_dirty_take_ready(&s->dirty), *next; item != NULL; item = next) {
        pnc_dirty_chunk *d = (pnc_dirty_chunk *)(void *)item;

        next = item->next;
        later = log_values(s, &s->logged, item, 0, (const char *)d->values, d->bytes, error);
        err = pnc_error_keep_first(err, later);
        if (later == NC_NOERR)
            pnc_chunks_dirty_remove(&s->dirty, d);
        else
            pnc_chunks_dirty_put_back(&s->dirty, d);
    }
    return err;
}

int pnc_chunks_memory_release(pnc_chunk_store *s, pnc_error *error)
{
    int64_t most = pnc_chunks_dirty_get_most(s);

    if (!s->spills)
        return NC_NOERR;
    if (s->dirty.ready_bytes > pnc_min64(READY_BYTES, most))
        PNC_TRY(log_ready(s, error));
    return s->logged.bytes > most ? pnc_chunks_pending_store(&s->logged, s->source.spill_folder, error) : NC_NOERR;
}

int pnc_chunks_values_put(pnc_chunk_store *s, const pnc_chunk_item *item, int64_t within, const char *bytes,
                          int64_t length, pnc_error *error)
{
    pnc_dirty_chunk *d;

    if (must_log(s, item, length))
        return log_values(s, &s->logged, item, within, bytes, length, error);
    d = pnc_chunks_dirty_load(s, item);
    if (d == NULL)
        return pnc_chunks_memory_fail(&s->source.arrays[item->array], s->grids[item->array].chunk_bytes, error);
    PNC_TRY(pnc_chunks_dirty_fill(s, d, within, bytes, length, error));
    if (d->is_ready || d->covered < d->inside)
        return NC_NOERR;
    PNC_TRY(pnc_chunks_chunk_merge(s, d, error));
    pnc_chunks_dirty_make_ready(&s->dirty, d);
    return NC_NOERR;
}

/* --- extents --- */

static int check_writable(const pnc_chunk_store *s, const pnc_chunk_array *a, pnc_error *error)
{
    if (!s->source.is_writable)
        return pnc_error_set(error, NC_EPERM, "variable \"%s\": the file is open for reading only", a->name);
    if (a->refusal != NULL)
        return pnc_error_set(error, NC_ENOTSUPPORT, "variable \"%s\": %s", a->name, a->refusal);
    if (a->put_refusal != NULL)
        return pnc_error_set(error, NC_ENOTSUPPORT, "variable \"%s\": %s", a->name, a->put_refusal);
    if (a->chunk == NULL)
        return pnc_error_set(error, NC_ENOTSUPPORT,
                             "variable \"%s\" has no space in the file, whose program has written no values of it: the "
                             "first put of it must be collective",
                             a->name);
    if (a->skips_partial)
        return pnc_error_set(error, NC_ENOTSUPPORT,
                             "variable \"%s\" has chunks at its end without filters "
                             "(H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS): this library does not write it",
                             a->name);
    return NC_NOERR;
}

static int put_own_run(pnc_chunk_store *s, const pnc_chunk_item *item, int64_t within, const char *from, int64_t length,
                       pnc_error *error)
{
    bool is_written = false;

    if (length == s->grids[item->array].chunk_bytes)
        PNC_TRY(pnc_chunks_whole_write(s, item, from, &is_written, error));
    return is_written ? NC_NOERR : pnc_chunks_values_put(s, item, within, from, length, error);
}

static int put_run_of_other(pnc_chunk_store *s, const pnc_chunk_item *item, int64_t within, const char *from,
                            int64_t length, pnc_error *error)
{
    PNC_TRY(log_values(s, &s->pending, item, within, from, length, error));
    if (!s->spills || s->pending.bytes <= pnc_chunks_dirty_get_most(s))
        return NC_NOERR;
    return pnc_chunks_pending_store(&s->pending, s->source.spill_folder, error);
}

static int put_in_array(pnc_chunk_store *s, int64_t array, int64_t offset, int64_t n, char *from, pnc_error *error)
{
    PNC_TRY(check_writable(s, &s->source.arrays[array], error));
    PNC_TRY(pnc_chunks_filters_check(s, array, error));
    for (int64_t length; n > 0; offset += length, from += length, n -= length) {
        pnc_chunk_run run = pnc_chunks_grid_find_any_run(&s->grids[array], offset);
        pnc_chunk_item item = pnc_chunks_item_make(s, array, run.chunk);

        length = pnc_min64(run.length, n);
        if (item.aggregator == s->store.rank)
            PNC_TRY(put_own_run(s, &item, run.within, from, length, error));
        else
            PNC_TRY(put_run_of_other(s, &item, run.within, from, length, error));
        PNC_TRY(pnc_chunks_memory_release(s, error));
        if (s->store.nprocs == 1 && s->dirty.ready_bytes >= READY_BYTES)
            PNC_TRY(pnc_chunks_ready_write(s, false, error));
    }
    return NC_NOERR;
}

static int put_in_file(pnc_chunk_store *s, pnc_extent extent, char *from, pnc_error *error)
{
    return s->store.inner->ops->write(s->store.inner, &extent, 1, from, error);
}

static const pnc_extent_visitor put_visitor = {put_in_file, put_in_array, false};

static int put_extents(pnc_chunk_store *s, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error)
{
    if (pnc_chunks_file_has_extents(s, extents, n))
        return n == 0 ? NC_NOERR : s->store.inner->ops->write(s->store.inner, extents, n, buf, error);
    return pnc_chunks_extents_scan(s, &put_visitor, extents, n, (char *)(uintptr_t)buf, error);
}

/* --- the operations of the store --- */

/* Collective. Where values are logged, those that have waited longest make space for others. */
static int write_out(pnc_chunk_store *s, int err, pnc_error *error)
{
    int64_t most = pnc_chunks_dirty_get_most(s);
    int later = pnc_chunks_dirty_finish(s, s->logged.map.n > 0 ? most / 2 : most, error);

    err = pnc_error_keep_first(err, later);
    later = pnc_chunks_ready_write(s, s->logged.bytes > most, error);
    return pnc_error_keep_first(err, later);
}

int pnc_chunks_extents_write(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error)
{
    pnc_chunk_store *s = pnc_chunks_store_of(store);
    int err;

    s->spills = s->store.nprocs > 1 && s->source.spill_folder != NULL;
    err = put_extents(s, extents, n, buf, error);
    s->spills = false;
    return s->store.nprocs == 1 ? write_out(s, err, error) : err;
}

int pnc_chunks_extents_write_all(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf,
                                 pnc_error *error)
{
    pnc_chunk_store *s = pnc_chunks_store_of(store);
    int err = put_extents(s, extents, n, buf, error), later;

    later = pnc_chunks_pending_send(s, error);
    err = pnc_error_keep_first(err, later);
    return write_out(s, err, error);
}

int pnc_chunks_store_flush(pnc_store *store, pnc_error *error)
{
    pnc_chunk_store *s = pnc_chunks_store_of(store);
    int err, later;

    if (store->owned_from == 0)
        return NC_NOERR;
    s->spills = s->source.spill_folder != NULL; /* what all ranks have put is more than a call has */
    err = pnc_chunks_pending_send(s, error);
    s->spills = false;
    later = pnc_chunks_dirty_finish(s, 0, error);
    err = pnc_error_keep_first(err, later);
    later = pnc_chunks_ready_write(s, true, error);
    return pnc_error_keep_first(err, later);
}
