/* Gets: the boxes of hyperslabs are collected by chunk. */
#include "drivers/chunks/wanted.h"

#include <string.h>

#include "array/walk.h"
#include "base/memory.h"
#include "base/minmax.h"
#include "drivers/chunks/packing.h"

/* --- the list --- */

void pnc_chunks_wanted_clear(pnc_wanted_list *list)
{
    for (int i = 0; i < list->nchunks; i++)
        list->slots[list->chunks[i].slot] = 0;
    list->used = 0;
    list->nchunks = 0;
}

static pnc_wanted_chunk *find_wanted(pnc_chunk_store *s, const pnc_chunk_item *item)
{
    pnc_wanted_list *list = s->wanted;
    int slot = (int)(pnc_chunks_hash_get(item->array, item->chunk) % PNC_WANTED_SLOTS);

    for (; list->slots[slot] != 0; slot = (slot + 1) % PNC_WANTED_SLOTS) {
        pnc_wanted_chunk *w = &list->chunks[list->slots[slot] - 1];

        if (w->item.array == item->array && w->item.chunk == item->chunk)
            return w;
    }
    list->chunks[list->nchunks] = (pnc_wanted_chunk){*item, -1, -1, slot, false};
    list->slots[slot] = ++list->nchunks;
    return &list->chunks[list->nchunks - 1];
}

/* Chunks from i on. */
static int load_next(pnc_chunk_store *s, int i, int *done, pnc_error *error)
{
    pnc_chunk_item *items[PNC_CHUNKS_BATCH];
    int n = 0;

    for (; n < PNC_CHUNKS_BATCH && i + n < s->wanted->nchunks; n++)
        items[n] = &s->wanted->chunks[i + n].item;
    return pnc_chunks_wanted_load(s, items, n, done, error);
}

/* The values of what was collected. */
static int complete_wanted(pnc_chunk_store *s, pnc_error *error)
{
    int err = NC_NOERR, done = 0;

    if (s->wanted->collective)
        return pnc_chunks_wanted_transfer(s, error);
    for (int i = 0, ahead = 0; i < s->wanted->nchunks && err == NC_NOERR; i++) {
        if (s->nthreads > 0 && i == ahead) {
            err = load_next(s, i, &done, error);
            ahead += done;
        }
        if (err == NC_NOERR)
            err = pnc_chunks_wanted_copy(s, &s->wanted->chunks[i], error);
    }
    pnc_chunks_wanted_clear(s->wanted);
    return err;
}

/* A box on its way to the list. */
typedef struct added_box {
    pnc_chunk_store *s;
    const pnc_chunk_item *item;
    void *of;
    pnc_error *error;
} added_box;

static int add_wanted(void *own, const pnc_box *box)
{
    const added_box *x = own;
    pnc_wanted_list *list = x->s->wanted;
    size_t axes = (size_t)box->naxes * sizeof *box->axes;
    int32_t bytes = (int32_t)(sizeof(pnc_wanted_box) + axes);
    pnc_wanted_chunk *w;
    pnc_wanted_box *to;

    if (list->nchunks == PNC_WANTED_CHUNKS || PNC_WANTED_BYTES - list->used < bytes)
        PNC_TRY(complete_wanted(x->s, x->error));
    w = find_wanted(x->s, x->item);
    to = (pnc_wanted_box *)(void *)(list->boxes + list->used);
    *to = (pnc_wanted_box){.of = x->of, .at = box->at, .value = box->value, .run = box->run, .next = -1};
    to->naxes = box->naxes;
    memcpy(to->axes, box->axes, axes);
    if (w->first < 0)
        w->first = list->used;
    else
        ((pnc_wanted_box *)(void *)(list->boxes + w->last))->next = list->used;
    w->last = list->used;
    list->used += bytes;
    return NC_NOERR;
}

/* What comes in messages is divided, so that several boxes fit. */
static int want_box(pnc_chunk_store *s, int64_t array, const pnc_box *box, void *of, pnc_error *error)
{
    const pnc_chunk_item item = pnc_chunks_item_make(s, array, box->chunk);
    added_box x = {s, &item, of, error};

    if (!s->wanted->collective || item.aggregator == s->store.rank)
        return add_wanted(&x, box);
    return pnc_array_box_divide(box, PNC_BOX_BYTES / s->source.arrays[array].elem_size, add_wanted, &x);
}

/* --- hyperslabs --- */

/* Values that all are the same. */
static void unpack_filled(const pnc_chunk_store *s, const pnc_chunk_array *a, const unsigned char *value, void *of,
                          int64_t first, int64_t n)
{
    char block[1024];
    int64_t most = (int64_t)sizeof block / a->elem_size;

    pnc_chunks_value_fill(value, a->elem_size, block, pnc_min64(n, most) * a->elem_size);
    for (int64_t some; n > 0; first += some, n -= some) {
        some = pnc_min64(n, most);
        s->wanted->values.unpack(s->wanted->values.own, of, first, some, block);
    }
}

/* The values of a box from the bytes of its chunk, or of the part; NULL: it was never written. */
static void unpack_box_of(const pnc_chunk_store *s, const pnc_chunk_array *a, const pnc_box *box, void *of,
                          const unsigned char *bytes)
{
    const pnc_chunk_values *values = &s->wanted->values;
    pnc_box_run run = pnc_array_run_begin(box);

    do
        if (bytes != NULL)
            values->unpack(values->own, of, run.value, box->run, bytes + run.at * a->elem_size);
        else
            unpack_filled(s, a, a->fill, of, run.value, box->run);
    while (pnc_array_run_next(box, &run));
}

/* What the hyperslab has within the extent. Returns whether that is all of it. */
static bool clip_slab(const pnc_chunk_array *a, const pnc_array_slab *slab, int64_t *count)
{
    bool is_whole = true;

    for (int d = 0; d < a->ndims; d++) {
        int64_t stride = slab->stride != NULL ? slab->stride[d] : 1, left = a->extent[d] - slab->start[d];

        count[d] = left <= 0 ? 0 : pnc_min64(slab->count[d], (left - 1) / stride + 1);
        is_whole = is_whole && count[d] == slab->count[d];
    }
    return is_whole;
}

static int get_within(pnc_chunk_store *s, int64_t array, const pnc_array_slab *slab, void *of, pnc_error *error)
{
    const pnc_chunk_array *a = &s->source.arrays[array];
    pnc_array_walk walk;
    pnc_box box;

    pnc_chunks_walk_init(&s->store, array, slab, &walk);
    while (pnc_array_walk_next(&walk, &box))
        if (a->chunk == NULL)
            unpack_box_of(s, a, &box, of, a->contents);
        else
            PNC_TRY(want_box(s, array, &box, of, error));
    return NC_NOERR;
}

int pnc_chunks_slab_get(pnc_store *store, int64_t array, const pnc_array_slab *slab, void *of, pnc_error *error)
{
    pnc_chunk_store *s = pnc_chunks_store_of(store);
    const pnc_chunk_array *a = &s->source.arrays[array];
    pnc_array_slab inside = *slab;
    int64_t count[PNC_ARRAY_DIMS];

    if (a->refusal != NULL)
        return pnc_error_set(error, a->refusal_code != 0 ? a->refusal_code : NC_EHDFERR, "variable \"%s\": %s", a->name,
                             a->refusal);
    if (s->store.notes_gets)
        pnc_chunks_noted_slab_add(s, array, slab);
    if (clip_slab(a, slab, count))
        return get_within(s, array, slab, of, error);
    unpack_filled(s, a, a->beyond, of, slab->first, pnc_array_elements_count(a->ndims, slab->count));
    inside.values = slab->count;
    inside.count = count;
    return pnc_array_elements_count(a->ndims, count) > 0 ? get_within(s, array, &inside, of, error) : NC_NOERR;
}

/* --- chunks of this rank --- */

void pnc_chunks_wanted_load_box(const pnc_wanted_box *wanted, int64_t chunk, pnc_box *box)
{
    box->chunk = chunk;
    box->at = wanted->at;
    box->value = wanted->value;
    box->run = box->n = wanted->run;
    box->naxes = wanted->naxes;
    for (int i = 0; i < box->naxes; i++) {
        box->axes[i] = wanted->axes[i];
        box->n *= box->axes[i].count;
    }
}

static bool is_wanted_whole(const pnc_chunk_store *s, const pnc_wanted_chunk *w)
{
    int64_t n = 0;
    pnc_box box;

    for (int32_t k = w->first; k >= 0; k = pnc_chunks_wanted_get_box(s->wanted, k)->next) {
        pnc_chunks_wanted_load_box(pnc_chunks_wanted_get_box(s->wanted, k), w->item.chunk, &box);
        n += box.n;
    }
    return n * s->source.arrays[w->item.array].elem_size >=
           pnc_chunks_grid_count_inside(&s->grids[w->item.array], w->item.chunk);
}

int pnc_chunks_wanted_copy(pnc_chunk_store *s, pnc_wanted_chunk *w, pnc_error *error)
{
    const pnc_chunk_array *a = &s->source.arrays[w->item.array];
    const pnc_wanted_box *wanted;
    const unsigned char *bytes;
    pnc_box box;

    if (w->is_copied)
        return NC_NOERR;
    PNC_TRY(pnc_chunks_chunk_get(s, w->item.array, w->item.chunk, is_wanted_whole(s, w), &bytes, error));
    for (int32_t k = w->first; k >= 0; k = wanted->next) {
        wanted = pnc_chunks_wanted_get_box(s->wanted, k);
        pnc_chunks_wanted_load_box(wanted, w->item.chunk, &box);
        unpack_box_of(s, a, &box, wanted->of, bytes);
    }
    w->is_copied = true;
    return NC_NOERR;
}

/* Copies of a call while threads decode. */
typedef struct wanted_copies {
    pnc_chunk_store *s;
    pnc_error *error;
    int err;
} wanted_copies;

static void copy_decoded(void *own, pnc_chunk_item *item)
{
    wanted_copies *c = own;

    if (c->err == NC_NOERR)
        c->err = pnc_chunks_wanted_copy(c->s, pnc_chunks_item_get_wanted(item), c->error);
}

int pnc_chunks_wanted_load(pnc_chunk_store *s, pnc_chunk_item *const *items, int n, int *done, pnc_error *error)
{
    wanted_copies copies = {s, error, NC_NOERR};

    *done = pnc_chunks_ahead_load(s, items, n, copy_decoded, &copies);
    return copies.err;
}

/* --- the begin and the end of a get --- */

int pnc_chunks_get_begin(pnc_store *store, const pnc_chunk_values *values, bool collective, pnc_error *error)
{
    pnc_chunk_store *s = pnc_chunks_store_of(store);
    int err = NC_NOERR;

    collective = collective && s->exchanges;
    s->noted.n = 0;
    if (collective)
        err = pnc_chunks_pending_send(s, error);
    if (s->wanted == NULL)
        s->wanted = pnc_memory_alloc_zeroed(1, sizeof *s->wanted);
    if (s->wanted != NULL) {
        s->wanted->values = *values;
        s->wanted->collective = collective;
    }
    if (collective)
        pnc_chunks_messages_begin(&s->messages, pnc_chunks_answer_pack, pnc_chunks_answer_unpack, s, error);
    if (s->wanted != NULL)
        return err;
    return pnc_error_keep_first(err, pnc_error_set(error, NC_ENOMEM, "no memory to read chunks"));
}

int pnc_chunks_get_end(pnc_store *store, bool collective, int err, pnc_error *error)
{
    pnc_chunk_store *s = pnc_chunks_store_of(store);
    int later;

    if (err == NC_NOERR)
        err = complete_wanted(s, error);
    else if (s->wanted != NULL)
        pnc_chunks_wanted_clear(s->wanted);
    if (!collective || !s->exchanges)
        return err;
    later = pnc_chunks_messages_end(&s->messages);
    return pnc_error_keep_first(err, later);
}
