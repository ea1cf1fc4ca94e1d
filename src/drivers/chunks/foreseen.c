/* The chunks of a get that is foreseen: which ones, and those that the worker has decoded. Of one chunk, the worker and
 * the thread of the program may both want to decode it:
 *
 *      waiting --- worker ---> decoding ---> decoded, or failed: the get decodes it, and says what is wrong
 *         |
 *         +--- the get ---> taken
 *
 * The worker begins with the last chunk and the get with the first one, so that they meet once. */
#include "drivers/chunks/foreseen.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "drivers/chunks/chunk_store.h"
#include "host/pool.h"

/* Of hyperslabs that are noted, 1 MiB: a guess. A get with more moves its pieces one by one. */
#define NUMBERS_MOST (INT64_C(128) << 10)
#define ALIGNED(bytes) (((bytes) + 15) / 16 * 16)

enum { WAITING, DECODING, DECODED, FAILED, TAKEN };

typedef struct foreseen_chunk {
    int64_t chunk;
    pnc_chunk_place place;
    unsigned char *values; /* once it is decoded */
    atomic_int state;
    bool is_parallel, is_counted;
} foreseen_chunk;

typedef struct pnc_foreseen {
    pnc_store_reads reads; /* one for each chunk */
    struct pnc_foreseen *next;
    pnc_chunk_store *s;
    int64_t array;
    foreseen_chunk *chunks; /* ascending */
    int64_t left, given;    /* of the worker: chunks that it has not considered; bytes of memory in use */
} pnc_foreseen;

/* --- what a get has --- */

/* Room for the numbers of one hyperslab. NULL: there is none. */
static int64_t *note_slab(pnc_chunk_store *s, int64_t array)
{
    pnc_noted_get *noted = &s->noted;
    int64_t n = 1 + 3 * (int64_t)s->grids[array].ndims, *to;

    if (noted->n == 0)
        noted->is_full = false;
    if (noted->is_full || noted->n + n > NUMBERS_MOST ||
        !pnc_memory_grow(&noted->numbers, &noted->capacity, noted->n + n, sizeof *noted->numbers)) {
        noted->is_full = true;
        return NULL;
    }
    to = noted->numbers + noted->n;
    noted->n += n;
    *to = array;
    return to + 1;
}

void pnc_chunks_noted_slab_add(pnc_chunk_store *s, int64_t array, const pnc_array_slab *slab)
{
    int ndims = s->grids[array].ndims;
    int64_t *to = note_slab(s, array);

    for (int d = 0; to != NULL && d < ndims; d++) {
        to[d] = slab->start[d];
        to[ndims + d] = slab->count[d];
        to[2 * ndims + d] = slab->stride != NULL ? slab->stride[d] : 1;
    }
}

/* What is between the first and the last element: a part of a box may end within a row, and then has all of the
 * dimensions behind the first one where both differ. */
static void set_hull(const pnc_chunk_grid *g, int64_t first, int64_t last, int64_t *start, int64_t *count)
{
    bool is_divided = false;
    int d;

    for (d = g->ndims - 1; d >= 0; d--) {
        start[d] = first % g->chunk[d];
        count[d] = last % g->chunk[d] - start[d] + 1;
        is_divided = is_divided || count[d] <= 0;
        first /= g->chunk[d];
        last /= g->chunk[d];
    }
    for (d = 0; is_divided && count[d] == 1; d++)
        continue;
    for (d++; is_divided && d < g->ndims; d++) {
        start[d] = 0;
        count[d] = g->chunk[d];
    }
}

void pnc_chunks_noted_box_add(pnc_chunk_store *s, int64_t array, const pnc_box *box)
{
    const pnc_chunk_grid *g = &s->grids[array];
    int64_t *to = note_slab(s, array), index[PNC_ARRAY_DIMS], last = box->at + box->run - 1;

    if (to == NULL)
        return;
    for (int i = 0; i < box->naxes; i++)
        last += (box->axes[i].count - 1) * box->axes[i].in_chunk;
    set_hull(g, box->at, last, to, to + g->ndims);
    (void)pnc_chunks_grid_find_index(g, box->chunk, index);
    for (int d = 0; d < g->ndims; d++) {
        to[d] += index[d];
        to[2 * g->ndims + d] = 1;
    }
}

/* --- the chunks of the next one --- */

typedef struct chunk_numbers {
    int64_t *at, n, capacity;
} chunk_numbers;

/* The part within the extent of a hyperslab that has moved by so many elements. false: there is none. */
static bool move_slab(const pnc_chunk_grid *g, const int64_t *noted, int64_t step, int64_t *start, int64_t *count)
{
    int64_t first = 0;

    for (int d = 0; d < g->ndims; d++)
        first = first * g->shape[d] + noted[d];
    if (g->ndims == 0 || first < -step || first > INT64_MAX - pnc_max64(step, 0))
        return false;
    first += step;
    for (int d = g->ndims - 1; d >= 0; d--) {
        int64_t left;

        start[d] = d > 0 ? first % g->shape[d] : first;
        first = d > 0 ? first / g->shape[d] : 0;
        left = g->extent[d] - start[d];
        if (left <= 0)
            return false;
        count[d] = pnc_min64(noted[g->ndims + d], (left - 1) / noted[2 * g->ndims + d] + 1);
    }
    return true;
}

/* Whether the rank has it in memory, or another one will load it. */
static bool is_unneeded(pnc_chunk_store *s, const pnc_chunk_item *item, bool collective)
{
    return (collective && item->aggregator != s->store.rank) ||
           pnc_chunks_dirty_find(&s->dirty, item->array, item->chunk) != NULL ||
           pnc_chunks_cache_find(&s->cache, item->array, item->chunk) != NULL;
}

/* Of chunks beyond `most` none has memory. false without memory for their numbers. */
static bool add_needed(pnc_chunk_store *s, int64_t array, const pnc_array_slab *slab, const pnc_store_foreseen *next,
                       chunk_numbers *out)
{
    pnc_array_walk walk;
    pnc_box box;

    pnc_chunks_walk_init(&s->store, array, slab, &walk);
    while (out->n < next->most && pnc_array_walk_next(&walk, &box)) {
        const pnc_chunk_item item = pnc_chunks_item_make(s, array, box.chunk);

        if (is_unneeded(s, &item, next->collective))
            continue;
        if (!pnc_memory_grow(&out->at, &out->capacity, out->n + 1, sizeof *out->at))
            return false;
        out->at[out->n++] = box.chunk;
    }
    return true;
}

static int compare_numbers(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Each once, ascending. */
static void sort_numbers(chunk_numbers *list)
{
    int64_t n = 0;

    if (list->n > 0)
        qsort(list->at, (size_t)list->n, sizeof *list->at, compare_numbers);
    for (int64_t i = 0; i < list->n; i++)
        if (i == 0 || list->at[i] != list->at[i - 1])
            list->at[n++] = list->at[i];
    list->n = n;
}

static bool find_needed(pnc_chunk_store *s, int64_t array, const pnc_store_foreseen *next, chunk_numbers *out)
{
    const pnc_noted_get *noted = &s->noted;
    const pnc_chunk_grid *g = &s->grids[array];
    int64_t start[PNC_ARRAY_DIMS], count[PNC_ARRAY_DIMS];

    for (int64_t at = 0; at < noted->n; at += 1 + 3 * (int64_t)s->grids[noted->numbers[at]].ndims) {
        const int64_t *numbers = &noted->numbers[at] + 1;
        const pnc_array_slab slab = {.start = start, .count = count, .stride = numbers + 2 * g->ndims};

        if (noted->numbers[at] == array && move_slab(g, numbers, next->step / g->elem_size, start, count) &&
            !add_needed(s, array, &slab, next, out))
            return false;
    }
    sort_numbers(out);
    return true;
}

/* --- decoding, in the worker --- */

typedef struct foreseen_task {
    pnc_foreseen *f;
    int64_t chunks[PNC_POOL_THREADS_MOST];
} foreseen_task;

static void decode_foreseen(void *own, int64_t part, int thread)
{
    const foreseen_task *t = own;
    pnc_foreseen *f = t->f;
    pnc_chunk_store *s = f->s;
    foreseen_chunk *c = &f->chunks[t->chunks[part]];
    int err = pnc_filter_chunk_decode(&s->decoders[thread], &s->source.arrays[f->array].filters,
                                      f->reads.reads[t->chunks[part]].bytes, c->place.bytes, (uint32_t)c->place.mask,
                                      c->values, s->grids[f->array].chunk_bytes, NULL);

    atomic_store(&c->state, err == NC_NOERR ? DECODED : FAILED);
}

/* Whether a chunk is the worker's, and has memory. */
static bool begin_decoding(pnc_foreseen *f, int64_t i)
{
    int64_t bytes = ALIGNED(f->s->grids[f->array].chunk_bytes);
    foreseen_chunk *c = &f->chunks[i];
    int waiting = WAITING;

    if (!c->is_parallel || f->reads.reads[i].bytes == NULL || f->given + bytes > f->reads.spare ||
        !atomic_compare_exchange_strong(&c->state, &waiting, DECODING))
        return false;
    c->values = (unsigned char *)f->reads.memory + f->given;
    f->given += bytes;
    return true;
}

static int count_decoders(const pnc_chunk_store *s)
{
    return (int)pnc_min64(s->source.nahead, s->nthreads);
}

static bool prepare_chunks(pnc_store_reads *reads)
{
    pnc_foreseen *f = (pnc_foreseen *)reads;
    int n = 0, most = count_decoders(f->s);
    foreseen_task task = {.f = f};

    while (n < most && f->left > 0)
        if (begin_decoding(f, --f->left))
            task.chunks[n++] = f->left;
    if (n == 0 || pnc_host_pool_execute_behind(most, n, decode_foreseen, &task))
        return f->left > 0;
    for (int i = 0; i < n; i++)
        atomic_store(&f->chunks[task.chunks[i]].state, FAILED);
    return false;
}

/* Without memory for the workers nothing is decoded ahead. */
static bool has_decoders(pnc_chunk_store *s)
{
    int n = count_decoders(s);

    if (n == 0 || s->decoders != NULL)
        return n > 0;
    s->decoders = pnc_memory_alloc(n, sizeof *s->decoders);
    for (int i = 0; s->decoders != NULL && i < n; i++)
        pnc_filter_worker_init(&s->decoders[i], s->source.codecs);
    return s->decoders != NULL;
}

/* --- the reads of the next one --- */

static void free_foreseen(pnc_store_reads *reads)
{
    pnc_foreseen *f = (pnc_foreseen *)reads, **at = &f->s->foreseen;

    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    pnc_memory_free(f->chunks);
    pnc_memory_free(f->reads.reads);
    pnc_memory_free(f);
}

/* What is wrong with a chunk is said by the get. */
static void add_foreseen(pnc_foreseen *f, int64_t chunk)
{
    pnc_chunk_store *s = f->s;
    foreseen_chunk *c = &f->chunks[f->reads.n];

    *c = (foreseen_chunk){.chunk = chunk};
    if (pnc_chunks_place_find(s, f->array, chunk, &c->place, &c->is_parallel, NULL) != NC_NOERR ||
        c->place.offset < 0 || c->place.bytes <= 0)
        return;
    f->reads.reads[f->reads.n++] = (pnc_store_read){{c->place.offset, c->place.bytes}, NULL};
    f->reads.wanted += c->is_parallel ? ALIGNED(s->grids[f->array].chunk_bytes) : 0;
}

/* NULL without memory. */
static pnc_foreseen *create_foreseen(pnc_chunk_store *s, int64_t array, const chunk_numbers *list)
{
    pnc_foreseen *f = pnc_memory_alloc_zeroed(1, sizeof *f);
    foreseen_chunk *chunks = pnc_memory_alloc(list->n, sizeof *chunks);
    pnc_store_read *reads = pnc_memory_alloc(list->n, sizeof *reads);

    if (f == NULL || chunks == NULL || reads == NULL) {
        pnc_memory_free(f);
        pnc_memory_free(chunks);
        pnc_memory_free(reads);
        return NULL;
    }
    *f = (pnc_foreseen){.s = s, .array = array, .chunks = chunks, .next = s->foreseen};
    f->reads.reads = reads;
    f->reads.free = free_foreseen;
    for (int64_t i = 0; i < list->n; i++)
        add_foreseen(f, list->at[i]);
    f->left = f->reads.n;
    if (f->reads.wanted > 0 && has_decoders(s))
        f->reads.prepare = prepare_chunks;
    else
        f->reads.wanted = 0;
    s->foreseen = f;
    return f;
}

/* Chunks that are read from this file. */
static bool is_read_here(const pnc_chunk_store *s, const pnc_chunk_array *a)
{
    return a->refusal == NULL && a->chunk != NULL && !pnc_chunks_array_is_part(a) &&
           s->source.container->ops->is_in_file;
}

bool pnc_chunks_reads_find(pnc_store *store, const pnc_store_foreseen *next, pnc_store_reads **out, bool *is_known)
{
    pnc_chunk_store *s = pnc_chunks_store_of(store);
    int64_t array = pnc_chunks_array_find(store, next->varid);
    chunk_numbers list = {0};
    pnc_foreseen *f = NULL;

    *out = NULL;
    *is_known = true;
    if (array < 0)
        return false;
    if (!is_read_here(s, &s->source.arrays[array]))
        return true;
    *is_known = !s->noted.is_full && find_needed(s, array, next, &list);
    if (*is_known && list.n > 0) {
        f = create_foreseen(s, array, &list);
        *is_known = f != NULL;
    }
    pnc_memory_free(list.at);
    if (f != NULL && f->reads.n == 0)
        free_foreseen(&f->reads);
    else if (f != NULL)
        *out = &f->reads;
    return true;
}

/* --- a get that was foreseen --- */

static int compare_chunks(const void *key, const void *element)
{
    const int64_t *chunk = key;
    const foreseen_chunk *c = element;

    return (*chunk > c->chunk) - (*chunk < c->chunk);
}

/* The chunk, if it is where it was; it is taken, unless the worker has it. NULL: it was not foreseen. */
static foreseen_chunk *find_foreseen(pnc_chunk_store *s, int64_t array, int64_t chunk, const pnc_chunk_place *place,
                                     pnc_foreseen **of)
{
    foreseen_chunk *c;
    int waiting = WAITING;

    for (*of = s->foreseen; *of != NULL && ((*of)->array != array || !(*of)->reads.is_current); *of = (*of)->next)
        continue;
    c = *of != NULL ? bsearch(&chunk, (*of)->chunks, (size_t)(*of)->reads.n, sizeof *c, compare_chunks) : NULL;
    if (c == NULL || c->place.offset != place->offset || c->place.bytes != place->bytes || c->place.mask != place->mask)
        return NULL;
    (void)atomic_compare_exchange_strong(&c->state, &waiting, TAKEN);
    return c;
}

bool pnc_chunks_foreseen_has(pnc_chunk_store *s, int64_t array, int64_t chunk, const pnc_chunk_place *place)
{
    pnc_foreseen *f;
    foreseen_chunk *c = find_foreseen(s, array, chunk, place, &f);

    return c != NULL && atomic_load(&c->state) == DECODED;
}

const unsigned char *pnc_chunks_foreseen_take(pnc_chunk_store *s, int64_t array, int64_t chunk,
                                              const pnc_chunk_place *place)
{
    pnc_foreseen *f;
    foreseen_chunk *c = find_foreseen(s, array, chunk, place, &f);

    if (c == NULL || atomic_load(&c->state) != DECODED)
        return NULL;
    if (!c->is_counted) {
        f->reads.used += place->bytes;
        pnc_statistics_add(s->store.statistics, PNC_COUNT_AHEAD_DECODED, s->grids[array].chunk_bytes);
    }
    c->is_counted = true;
    return c->values;
}

/* --- the end --- */

void pnc_chunks_foreseen_free(pnc_chunk_store *s)
{
    while (s->foreseen != NULL)
        s->foreseen->reads.discard(s->foreseen->reads.holder, &s->foreseen->reads);
    for (int i = 0; s->decoders != NULL && i < count_decoders(s); i++)
        pnc_filter_worker_free(&s->decoders[i]);
    pnc_memory_free(s->decoders);
    pnc_memory_free(s->noted.numbers);
}
