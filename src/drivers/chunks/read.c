/* Reads: the runs of extents are collected by chunk. */
#include "drivers/chunks/wanted.h"

#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"

/* --- the list --- */

int pnc_chunks_wanted_begin(pnc_chunk_store *s, int (*complete)(pnc_chunk_store *s, pnc_error *error), pnc_error *error)
{
    if (s->wanted == NULL)
        s->wanted = pnc_memory_alloc_zeroed(1, sizeof *s->wanted);
    if (s->wanted == NULL)
        return pnc_error_set(error, NC_ENOMEM, "no memory to read chunks");
    s->wanted->complete = complete;
    return NC_NOERR;
}

void pnc_chunks_wanted_clear(pnc_wanted_list *list)
{
    for (int i = 0; i < list->nchunks; i++)
        list->slots[list->chunks[i].slot] = 0;
    list->nruns = list->nchunks = 0;
}

static pnc_wanted_chunk *find_wanted(pnc_chunk_store *s, int64_t array, int64_t chunk)
{
    pnc_wanted_list *list = s->wanted;
    int slot = (int)(pnc_chunks_hash_get(array, chunk) % PNC_WANTED_SLOTS);

    for (; list->slots[slot] != 0; slot = (slot + 1) % PNC_WANTED_SLOTS) {
        pnc_wanted_chunk *w = &list->chunks[list->slots[slot] - 1];

        if (w->item.array == array && w->item.chunk == chunk)
            return w;
    }
    list->chunks[list->nchunks] = (pnc_wanted_chunk){pnc_chunks_item_make(s, array, chunk), -1, -1, slot};
    list->slots[slot] = ++list->nchunks;
    return &list->chunks[list->nchunks - 1];
}

static int add_wanted(pnc_chunk_store *s, int64_t array, const pnc_chunk_run *run, int64_t length, char *to,
                      pnc_error *error)
{
    pnc_wanted_list *list = s->wanted;
    pnc_wanted_chunk *w;

    if (list->nruns == PNC_WANTED_MOST)
        PNC_TRY(list->complete(s, error));
    w = find_wanted(s, array, run->chunk);
    list->runs[list->nruns] = (pnc_wanted_run){run->within, length, to, -1};
    if (w->first < 0)
        w->first = list->nruns;
    else
        list->runs[w->last].next = list->nruns;
    w->last = list->nruns++;
    return NC_NOERR;
}

/* --- collecting --- */

static int collect_runs(pnc_chunk_store *s, int64_t array, int64_t offset, int64_t n, char *to, pnc_error *error)
{
    const pnc_chunk_array *a = &s->source.arrays[array];

    for (int64_t length; n > 0; offset += length, to += length, n -= length) {
        pnc_chunk_run run = pnc_chunks_grid_find_run(&s->grids[array], offset);

        length = pnc_min64(run.length, n);
        if (run.chunk < 0)
            pnc_chunks_value_fill(a->beyond, a->elem_size, offset % a->elem_size, to, length);
        else
            PNC_TRY(add_wanted(s, array, &run, length, to, error));
    }
    return NC_NOERR;
}

static int read_array(pnc_chunk_store *s, int64_t array, int64_t offset, int64_t n, char *to, pnc_error *error)
{
    const pnc_chunk_array *a = &s->source.arrays[array];

    if (a->refusal != NULL)
        return pnc_error_set(error, NC_EHDFERR, "variable \"%s\": %s", a->name, a->refusal);
    if (a->chunk != NULL)
        return collect_runs(s, array, offset, n, to, error);
    if (a->contents != NULL)
        memcpy(to, a->contents + offset, (size_t)n);
    else
        pnc_chunks_value_fill(a->fill, a->elem_size, offset % a->elem_size, to, n);
    return NC_NOERR;
}

static int read_in_file(pnc_chunk_store *s, pnc_extent extent, char *to, pnc_error *error)
{
    return s->store.inner->ops->read(s->store.inner, &extent, 1, to, NULL, error);
}

static const pnc_extent_visitor read_visitor = {read_in_file, read_array, true};

int pnc_chunks_wanted_read(pnc_chunk_store *s, const pnc_extent *extents, int64_t n, char *bytes, pnc_error *error)
{
    int err = pnc_chunks_extents_scan(s, &read_visitor, extents, n, bytes, error);

    if (err == NC_NOERR)
        err = s->wanted->complete(s, error);
    pnc_chunks_wanted_clear(s->wanted);
    return err;
}

/* --- completing --- */

static bool is_wanted_whole(const pnc_chunk_store *s, const pnc_wanted_chunk *w)
{
    int64_t bytes = 0;

    for (int k = w->first; k >= 0; k = s->wanted->runs[k].next)
        bytes += s->wanted->runs[k].length;
    return bytes >= pnc_chunks_grid_count_inside(&s->grids[w->item.array], w->item.chunk);
}

int pnc_chunks_wanted_copy(pnc_chunk_store *s, const pnc_wanted_chunk *w, pnc_error *error)
{
    const pnc_chunk_array *a = &s->source.arrays[w->item.array];
    const unsigned char *bytes;

    PNC_TRY(pnc_chunks_chunk_get(s, w->item.array, w->item.chunk, is_wanted_whole(s, w), &bytes, error));
    for (int k = w->first; k >= 0; k = s->wanted->runs[k].next) {
        const pnc_wanted_run *r = &s->wanted->runs[k];

        if (bytes != NULL)
            memcpy(r->to, bytes + r->within, (size_t)r->length);
        else
            pnc_chunks_value_fill(a->fill, a->elem_size, r->within % a->elem_size, r->to, r->length);
    }
    return NC_NOERR;
}

static int complete_wanted(pnc_chunk_store *s, pnc_error *error)
{
    int err = NC_NOERR;

    for (int i = 0; i < s->wanted->nchunks && err == NC_NOERR; i++)
        err = pnc_chunks_wanted_copy(s, &s->wanted->chunks[i], error);
    pnc_chunks_wanted_clear(s->wanted);
    return err;
}

/* --- the operation of the store --- */

int pnc_chunks_extents_read(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, int64_t *got,
                            pnc_error *error)
{
    pnc_chunk_store *s = pnc_chunks_store_of(store);
    int err;

    if (pnc_chunks_file_has_extents(s, extents, n))
        return store->inner->ops->read(store->inner, extents, n, buf, got, error);
    err = pnc_chunks_wanted_begin(s, complete_wanted, error);
    if (err == NC_NOERR)
        err = pnc_chunks_wanted_read(s, extents, n, buf, error);
    if (got != NULL) /* nothing is complete before the end */
        *got = 0;
    for (int64_t i = 0; i < n && got != NULL && err == NC_NOERR; i++)
        *got += extents[i].length;
    return err;
}
