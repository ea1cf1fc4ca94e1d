/* Puts: the values of boxes go to chunks that wait here, if this rank is their aggregator, or else to a log. */
#include "drivers/chunks/chunk_store.h"

#include "base/minmax.h"
#include "drivers/chunks/packing.h"

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

    if (d != NULL && d->behind != NULL)
        pnc_chunks_behind_undo(s, d);
    if (d != NULL)
        return d;
    inside = pnc_chunks_grid_count_inside(g, item->chunk) / a->elem_size;
    d = pnc_chunks_dirty_add(&s->dirty, item, g->chunk_bytes, a->elem_size, inside);
    if (d != NULL)
        return d;
    pnc_chunks_cache_clear(&s->cache); /* values that are not in the file need its memory */
    return pnc_chunks_dirty_add(&s->dirty, item, g->chunk_bytes, a->elem_size, inside);
}

/* A box on its way to a log. */
typedef struct logged_box {
    pnc_chunk_store *s;
    pnc_pending *log;
    const pnc_chunk_item *item;
    const pnc_chunk_values *values;
    pnc_error *error;
} logged_box;

static int log_part(void *own, const pnc_box *part)
{
    const logged_box *x = own;
    const pnc_chunk_array *a = &x->s->source.arrays[x->item->array];

    if (pnc_chunks_pending_add(x->log, x->item, a->elem_size, part, x->values))
        return NC_NOERR;
    return pnc_error_set(x->error, NC_ENOMEM, "variable \"%s\": no memory for values of chunks that are not complete",
                         a->name);
}

static int log_values(pnc_chunk_store *s, pnc_pending *log, const pnc_chunk_item *item, const pnc_box *box,
                      const pnc_chunk_values *values, pnc_error *error)
{
    logged_box x = {s, log, item, values, error};
    unsigned char *cached = pnc_chunks_cache_find(&s->cache, item->array, item->chunk);
    int size = s->source.arrays[item->array].elem_size;

    PNC_TRY(pnc_array_box_divide(box, PNC_BOX_BYTES / size, log_part, &x));
    if (cached != NULL)
        pnc_chunks_values_scatter(box, values, size, cached);
    return NC_NOERR;
}

/* Values that are scattered over many chunks do not get memory for all of these at the same time. */
static bool must_log(const pnc_chunk_store *s, const pnc_chunk_item *item, int64_t n)
{
    int64_t bytes = s->grids[item->array].chunk_bytes, length = n * s->source.arrays[item->array].elem_size;

    if (pnc_chunks_map_find(&s->logged.map, item->array, item->chunk) != NULL)
        return true;
    return length < bytes && s->dirty.waiting_bytes > 0 &&
           s->dirty.waiting_bytes + bytes > pnc_chunks_dirty_get_most(s) &&
           pnc_chunks_dirty_find(&s->dirty, item->array, item->chunk) == NULL;
}

/* All of a chunk. */
static pnc_box box_of_chunk(const pnc_chunk_store *s, const pnc_chunk_item *item)
{
    int64_t n = s->grids[item->array].chunk_bytes / s->source.arrays[item->array].elem_size;

    return (pnc_box){.chunk = item->chunk, .run = n, .n = n};
}

/* Chunks that are complete become logs, which can be spilled. */
static int log_ready(pnc_chunk_store *s, pnc_error *error)
{
    int err = NC_NOERR, later;

    for (pnc_chunk_item *item = pnc_chunks_dirty_take_ready(&s->dirty), *next; item != NULL; item = next) {
        pnc_dirty_chunk *d = (pnc_dirty_chunk *)(void *)item;
        pnc_packed_values all = {(const char *)d->values, d->elem_size};
        const pnc_chunk_values values = pnc_chunks_packed_get_values(&all);
        const pnc_box box = box_of_chunk(s, item);

        next = item->next;
        later = log_values(s, &s->logged, item, &box, &values, error);
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

int pnc_chunks_values_put(pnc_chunk_store *s, const pnc_chunk_item *item, const pnc_box *box,
                          const pnc_chunk_values *values, pnc_error *error)
{
    pnc_dirty_chunk *d;

    if (must_log(s, item, box->n))
        return log_values(s, &s->logged, item, box, values, error);
    d = pnc_chunks_dirty_load(s, item);
    if (d == NULL)
        return pnc_chunks_memory_fail(&s->source.arrays[item->array], s->grids[item->array].chunk_bytes, error);
    pnc_chunks_dirty_put(&s->dirty, d, box, values);
    if (d->is_ready || d->covered < d->inside)
        return NC_NOERR;
    PNC_TRY(pnc_chunks_chunk_merge(s, d, error));
    pnc_chunks_dirty_make_ready(&s->dirty, d);
    return NC_NOERR;
}

/* --- boxes --- */

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

static int put_own_box(pnc_chunk_store *s, const pnc_chunk_item *item, const pnc_box *box,
                       const pnc_chunk_values *values, pnc_error *error)
{
    const void *whole = NULL;
    bool is_written = false;

    if (box->naxes == 0 && box->run * s->source.arrays[item->array].elem_size == s->grids[item->array].chunk_bytes)
        whole = values->look(values->own, box->value);
    if (whole != NULL)
        PNC_TRY(pnc_chunks_whole_write(s, item, whole, &is_written, error));
    return is_written ? NC_NOERR : pnc_chunks_values_put(s, item, box, values, error);
}

static int put_box_of_other(pnc_chunk_store *s, const pnc_chunk_item *item, const pnc_box *box,
                            const pnc_chunk_values *values, pnc_error *error)
{
    PNC_TRY(log_values(s, &s->pending, item, box, values, error));
    if (!s->spills || s->pending.bytes <= pnc_chunks_dirty_get_most(s))
        return NC_NOERR;
    return pnc_chunks_pending_store(&s->pending, s->source.spill_folder, error);
}

int pnc_chunks_put_check(pnc_store *store, int64_t array, pnc_error *error)
{
    pnc_chunk_store *s = pnc_chunks_store_of(store);

    PNC_TRY(check_writable(s, &s->source.arrays[array], error));
    return pnc_chunks_filters_check(s, array, error);
}

/* Collective. Where values are logged, those that have waited longest make space for others. */
static int write_out(pnc_chunk_store *s, int err, pnc_error *error)
{
    int64_t most = pnc_chunks_dirty_get_most(s);
    int later = pnc_chunks_dirty_finish(s, s->logged.map.n > 0 ? most / 2 : most, error);

    err = pnc_error_keep_first(err, later);
    later = pnc_chunks_ready_write(s, s->logged.bytes > most ? PNC_WRITE_LOGGED : PNC_WRITE_READY, error);
    return pnc_error_keep_first(err, later);
}

/* A rank alone bounds its memory during a put, too. */
static bool must_write_out(const pnc_chunk_store *s)
{
    return s->store.nprocs == 1 &&
           (s->dirty.ready_bytes >= READY_BYTES || s->logged.bytes > pnc_chunks_dirty_get_most(s));
}

/* With a collective put, chunks that are complete are written at its end. */
int pnc_chunks_box_put(pnc_store *store, int64_t array, const pnc_box *box, const pnc_chunk_values *values,
                       bool collective, pnc_error *error)
{
    pnc_chunk_store *s = pnc_chunks_store_of(store);
    const pnc_chunk_item item = pnc_chunks_item_make(s, array, box->chunk);
    int err;

    s->spills = !collective && s->store.nprocs > 1 && s->source.spill_folder != NULL;
    err = item.aggregator == s->store.rank ? put_own_box(s, &item, box, values, error)
                                           : put_box_of_other(s, &item, box, values, error);
    if (err == NC_NOERR)
        err = pnc_chunks_memory_release(s, error);
    s->spills = false;
    return err == NC_NOERR && must_write_out(s) ? write_out(s, err, error) : err;
}

int pnc_chunks_slab_put(pnc_store *store, int64_t array, const pnc_array_slab *slab, const pnc_chunk_values *values,
                        bool collective, pnc_error *error)
{
    pnc_array_walk walk;
    pnc_box box;

    pnc_chunks_walk_init(store, array, slab, &walk);
    while (pnc_array_walk_next(&walk, &box))
        PNC_TRY(pnc_chunks_box_put(store, array, &box, values, collective, error));
    return NC_NOERR;
}

/* --- the end of a put --- */

int pnc_chunks_put_end(pnc_store *store, bool collective, int err, pnc_error *error)
{
    pnc_chunk_store *s = pnc_chunks_store_of(store);
    int later;

    if (!collective && s->store.nprocs > 1)
        return err;
    later = pnc_chunks_pending_send(s, error);
    err = pnc_error_keep_first(err, later);
    return write_out(s, err, error);
}

int pnc_chunks_store_flush(pnc_store *store, pnc_error *error)
{
    pnc_chunk_store *s = pnc_chunks_store_of(store);
    int err, later;

    if (s->source.narrays == 0)
        return NC_NOERR;
    s->spills = s->source.spill_folder != NULL; /* what all ranks have put is more than a call has */
    err = pnc_chunks_pending_send(s, error);
    s->spills = false;
    later = pnc_chunks_dirty_finish(s, 0, error);
    err = pnc_error_keep_first(err, later);
    later = pnc_chunks_ready_write(s, PNC_WRITE_ALL, error);
    pnc_chunks_dirty_strip(&s->dirty);
    return pnc_error_keep_first(err, later);
}
