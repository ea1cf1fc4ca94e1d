/* A store with the variables of a netCDF-4 file behind the file. A read collects the runs of its extents by chunk, so
 * that each chunk is decompressed once however the runs interleave. */
#include "drivers/chunks/chunks.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "drivers/chunks/cache.h"
#include "drivers/chunks/grid.h"
#include "drivers/wrapper.h"

enum {
    RUNS_MOST = 16384, /* collected before their chunks are read: 1 MiB with the table */
    RUN_SLOTS = 2 * RUNS_MOST
};

/* Bytes of a chunk that are wanted. */
typedef struct wanted_run {
    int64_t within, length;
    char *to;
    int next; /* of the same chunk, or -1 */
} wanted_run;

typedef struct wanted_chunk {
    int64_t array, chunk;
    int first, last; /* of its runs */
    int slot;
} wanted_chunk;

/* What a read has collected. */
typedef struct wanted_list {
    int nruns, nchunks;
    wanted_run runs[RUNS_MOST];
    wanted_chunk chunks[RUNS_MOST];
    int slots[RUN_SLOTS]; /* a hash table: numbers of chunks + 1 */
} wanted_list;

typedef struct chunk_store {
    pnc_store store;
    pnc_store_ops ops;
    pnc_chunk_source source;
    pnc_chunk_grid *grids;
    pnc_chunk_cache cache;
    pnc_filter_worker worker;
    wanted_list *wanted;
    char *stored; /* the bytes of a chunk as the file has them */
    int64_t capacity;
    int64_t latest; /* array of the last extent */
} chunk_store;

static chunk_store *chunk_store_of(pnc_store *store)
{
    return (chunk_store *)store;
}

static int lack_chunk_memory(const pnc_chunk_array *a, int64_t bytes, pnc_error *error)
{
    return pnc_error_set(error, NC_ENOMEM, "variable \"%s\": no memory for a chunk of %lld bytes", a->name,
                         (long long)bytes);
}

/* --- values --- */

/* n bytes of repeated elements, of which the first begins `phase` bytes before `to`. */
static void repeat_value(const unsigned char *value, int size, int64_t phase, char *to, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = (char)value[(phase + i) % size];
}

/* --- chunks --- */

static int read_inner(chunk_store *s, int64_t offset, int64_t bytes, void *to, pnc_error *error)
{
    char *at = to;

    for (int64_t n; bytes > 0; offset += n, at += n, bytes -= n) {
        n = pnc_min64(bytes, PNC_STORE_BYTES_MAX / 2);
        PNC_TRY(s->store.inner->ops->read(s->store.inner, &(pnc_extent){offset, n}, 1, at, NULL, error));
    }
    return NC_NOERR;
}

static int reserve_stored(chunk_store *s, const pnc_chunk_array *a, int64_t bytes, pnc_error *error)
{
    if (bytes <= s->capacity)
        return NC_NOERR;
    pnc_memory_free(s->stored);
    s->stored = pnc_memory_alloc(bytes, 1);
    s->capacity = s->stored != NULL ? bytes : 0;
    return s->stored != NULL ? NC_NOERR : lack_chunk_memory(a, bytes, error);
}

static int decode_chunk(chunk_store *s, const pnc_chunk_array *a, const pnc_chunk_place *place, bool is_filtered,
                        unsigned char *chunk, int64_t bytes, pnc_error *error)
{
    const pnc_filter_chain none = {0, NULL}, *chain = is_filtered ? &a->filters : &none;
    int err;

    if (place->bytes > pnc_filter_chain_get_bound(chain, bytes))
        return pnc_error_set(error, NC_EHDFERR, "variable \"%s\": a chunk of %lld bytes is stored in %lld", a->name,
                             (long long)bytes, (long long)place->bytes);
    PNC_TRY(reserve_stored(s, a, place->bytes, error));
    PNC_TRY(read_inner(s, place->offset, place->bytes, s->stored, error));
    err =
        pnc_filter_chunk_decode(&s->worker, chain, s->stored, place->bytes, (uint32_t)place->mask, chunk, bytes, error);
    if (err != NC_NOERR)
        pnc_error_add_context(error, "variable \"%s\"", a->name);
    return err;
}

/* The filters are checked first: an unknown one says nothing about the length of what it stores. */
static int load_chunk(chunk_store *s, const wanted_chunk *w, const pnc_chunk_place *place, bool is_partial,
                      unsigned char **out, pnc_error *error)
{
    const pnc_chunk_array *a = &s->source.arrays[w->array];
    int64_t bytes = s->grids[w->array].chunk_bytes;
    bool is_filtered = !(a->skips_partial && is_partial);
    int err;

    err = is_filtered ? pnc_filter_chain_check(&a->filters, (uint32_t)place->mask, s->source.codecs, error) : NC_NOERR;
    if (err != NC_NOERR) {
        pnc_error_add_context(error, "variable \"%s\"", a->name);
        return err;
    }
    *out = pnc_chunks_cache_add(&s->cache, w->array, w->chunk, bytes);
    if (*out == NULL)
        return lack_chunk_memory(a, bytes, error);
    err = decode_chunk(s, a, place, is_filtered, *out, bytes, error);
    if (err != NC_NOERR)
        pnc_chunks_cache_undo(&s->cache);
    return err;
}

/* The bytes of a chunk; NULL: it was never written. */
static int get_chunk(chunk_store *s, const wanted_chunk *w, unsigned char **out, pnc_error *error)
{
    const pnc_chunk_array *a = &s->source.arrays[w->array];
    int64_t index[PNC_GRID_DIMS];
    pnc_chunk_place place;
    bool is_partial;

    *out = pnc_chunks_cache_find(&s->cache, w->array, w->chunk);
    if (*out != NULL)
        return NC_NOERR;
    is_partial = pnc_chunks_grid_find_index(&s->grids[w->array], w->chunk, a->ndims, index);
    if (a->places != NULL)
        place = a->places[w->chunk];
    else
        PNC_TRY(s->source.find(s->source.own, w->array, index, &place, error));
    return place.offset < 0 ? NC_NOERR : load_chunk(s, w, &place, is_partial, out, error);
}

/* --- collecting --- */

static void clear_wanted(wanted_list *list)
{
    for (int i = 0; i < list->nchunks; i++)
        list->slots[list->chunks[i].slot] = 0;
    list->nruns = list->nchunks = 0;
}

/* Complete what was collected. */
static int complete_wanted(chunk_store *s, pnc_error *error)
{
    wanted_list *list = s->wanted;
    int err = NC_NOERR;

    for (int i = 0; i < list->nchunks && err == NC_NOERR; i++) {
        const wanted_chunk *w = &list->chunks[i];
        const pnc_chunk_array *a = &s->source.arrays[w->array];
        unsigned char *bytes;

        err = get_chunk(s, w, &bytes, error);
        for (int k = w->first; k >= 0 && err == NC_NOERR; k = list->runs[k].next) {
            const wanted_run *r = &list->runs[k];

            if (bytes != NULL)
                memcpy(r->to, bytes + r->within, (size_t)r->length);
            else
                repeat_value(a->fill, a->elem_size, r->within % a->elem_size, r->to, r->length);
        }
    }
    clear_wanted(list);
    return err;
}

static wanted_chunk *find_wanted(wanted_list *list, int64_t array, int64_t chunk)
{
    uint64_t hash = ((uint64_t)array * 0x9E3779B97F4A7C15u + (uint64_t)chunk) * 0xD6E8FEB86659FD93u;
    int slot = (int)((hash >> 32) % RUN_SLOTS);

    for (; list->slots[slot] != 0; slot = (slot + 1) % RUN_SLOTS) {
        wanted_chunk *w = &list->chunks[list->slots[slot] - 1];

        if (w->array == array && w->chunk == chunk)
            return w;
    }
    list->chunks[list->nchunks] = (wanted_chunk){array, chunk, -1, -1, slot};
    list->slots[slot] = ++list->nchunks;
    return &list->chunks[list->nchunks - 1];
}

static int add_wanted(chunk_store *s, int64_t array, const pnc_chunk_run *run, int64_t length, char *to,
                      pnc_error *error)
{
    wanted_list *list = s->wanted;
    wanted_chunk *w;

    if (list->nruns == RUNS_MOST)
        PNC_TRY(complete_wanted(s, error));
    w = find_wanted(list, array, run->chunk);
    list->runs[list->nruns] = (wanted_run){run->within, length, to, -1};
    if (w->first < 0)
        w->first = list->nruns;
    else
        list->runs[w->last].next = list->nruns;
    w->last = list->nruns++;
    return NC_NOERR;
}

static int collect_runs(chunk_store *s, int64_t array, int64_t offset, int64_t n, char *to, pnc_error *error)
{
    const pnc_chunk_array *a = &s->source.arrays[array];

    for (int64_t length; n > 0; offset += length, to += length, n -= length) {
        pnc_chunk_run run = pnc_chunks_grid_find_run(&s->grids[array], offset);

        length = pnc_min64(run.length, n);
        if (run.chunk < 0)
            repeat_value(a->beyond, a->elem_size, offset % a->elem_size, to, length);
        else
            PNC_TRY(add_wanted(s, array, &run, length, to, error));
    }
    return NC_NOERR;
}

/* --- extents --- */

static int read_array(chunk_store *s, int64_t array, int64_t offset, int64_t n, char *to, pnc_error *error)
{
    const pnc_chunk_array *a = &s->source.arrays[array];

    if (a->refusal != NULL)
        return pnc_error_set(error, NC_EHDFERR, "variable \"%s\": %s", a->name, a->refusal);
    if (a->chunk != NULL)
        return collect_runs(s, array, offset, n, to, error);
    if (a->contents != NULL)
        memcpy(to, a->contents + offset, (size_t)n);
    else
        repeat_value(a->fill, a->elem_size, offset % a->elem_size, to, n);
    return NC_NOERR;
}

/* The array with this address, or the next one; narrays: none. */
static int64_t find_array(chunk_store *s, int64_t address)
{
    const pnc_chunk_array *arrays = s->source.arrays;
    int64_t low = 0, high = s->source.narrays;

    if (s->latest < s->source.narrays && address >= arrays[s->latest].begin &&
        address - arrays[s->latest].begin < arrays[s->latest].bytes)
        return s->latest;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (address - arrays[middle].begin >= arrays[middle].bytes)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What is between arrays is read only with gaps, and not used. */
static int read_behind(chunk_store *s, int64_t address, int64_t length, char *to, pnc_error *error)
{
    for (int64_t n; length > 0; address += n, to += n, length -= n) {
        int64_t array = find_array(s, address);
        const pnc_chunk_array *a = &s->source.arrays[array];

        n = length;
        if (array == s->source.narrays || address < a->begin) {
            if (array < s->source.narrays)
                n = pnc_min64(n, a->begin - address);
            memset(to, 0, (size_t)n);
            continue;
        }
        s->latest = array;
        n = pnc_min64(n, a->begin + a->bytes - address);
        PNC_TRY(read_array(s, array, address - a->begin, n, to, error));
    }
    return NC_NOERR;
}

static int read_behind_file(chunk_store *s, pnc_extent e, char *to, pnc_error *error)
{
    int64_t front = 0;

    if (e.offset < s->source.arrays[0].begin) {
        front = pnc_min64(e.length, s->source.arrays[0].begin - e.offset);
        PNC_TRY(s->store.inner->ops->read(s->store.inner, &(pnc_extent){e.offset, front}, 1, to, NULL, error));
    }
    return read_behind(s, e.offset + front, e.length - front, to + front, error);
}

static bool is_in_file(const chunk_store *s, const pnc_extent *extents, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (s->source.narrays > 0 && extents[i].offset + extents[i].length > s->source.arrays[0].begin)
            return false;
    return true;
}

static int read_through_chunks(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, int64_t *got,
                               pnc_error *error)
{
    chunk_store *s = chunk_store_of(store);
    char *to = buf;
    int err = NC_NOERR;

    if (is_in_file(s, extents, n))
        return store->inner->ops->read(store->inner, extents, n, buf, got, error);
    if (got != NULL)
        *got = 0; /* what was collected is not complete before the end */
    if (s->wanted == NULL) {
        s->wanted = pnc_memory_alloc_zeroed(1, sizeof *s->wanted);
        if (s->wanted == NULL)
            return pnc_error_set(error, NC_ENOMEM, "no memory to read chunks");
    }
    for (int64_t i = 0; i < n && err == NC_NOERR; to += extents[i++].length)
        err = read_behind_file(s, extents[i], to, error);
    if (err == NC_NOERR)
        err = complete_wanted(s, error);
    else
        clear_wanted(s->wanted);
    if (got != NULL && err == NC_NOERR)
        *got = to - (char *)buf;
    return err;
}

/* --- the store --- */

static void release_chunks(pnc_store *store)
{
    chunk_store *s = chunk_store_of(store);

    pnc_chunks_cache_clear(&s->cache);
    pnc_filter_worker_free(&s->worker);
    pnc_memory_free(s->wanted);
    pnc_memory_free(s->stored);
    pnc_memory_free(s->grids);
    if (s->source.release != NULL)
        s->source.release(s->source.own);
}

static const pnc_store_ops chunk_operations = {.name = "chunks",
                                               .store_bytes = sizeof(chunk_store),
                                               .is_wrapper = true,
                                               .read = read_through_chunks,
                                               .release = release_chunks};

/* The MPI library, background accesses and locks know the file only. */
static void set_chunk_operations(chunk_store *s)
{
    pnc_wrapper_join(&chunk_operations, s->store.inner->ops, s->store.inner->ops->name, &s->ops);
    s->ops.start = NULL;
    s->ops.is_complete = NULL;
    s->ops.finish = NULL;
    s->ops.lock = NULL;
    s->ops.unlock = NULL;
    s->store.ops = &s->ops;
    s->store.has_collective = false;
}

pnc_store *pnc_chunks_store_create(pnc_store *inner, const pnc_chunk_source *source)
{
    chunk_store *s = pnc_memory_alloc_zeroed(1, sizeof *s);
    pnc_chunk_grid *grids = pnc_memory_alloc(source->narrays, sizeof *grids);

    if (s == NULL || grids == NULL) {
        pnc_memory_free(s);
        pnc_memory_free(grids);
        return NULL;
    }
    s->store = *inner;
    s->store.inner = inner;
    s->source = *source;
    s->grids = grids;
    s->cache.most = source->cache_bytes;
    pnc_filter_worker_init(&s->worker, source->codecs);
    set_chunk_operations(s);
    for (int64_t i = 0; i < source->narrays; i++) {
        assert(source->arrays[i].begin % 8 == 0);
        if (source->arrays[i].chunk != NULL)
            pnc_chunks_grid_init(&grids[i], &source->arrays[i]);
    }
    return &s->store;
}
