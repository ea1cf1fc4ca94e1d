/* The store of chunks: how it begins, what it answers, how it ends. */
#include "drivers/chunks/chunks.h"

#include <assert.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "drivers/chunks/chunk_store.h"
#include "drivers/wrapper.h"
#include "host/pool.h"

/* --- arrays --- */

int64_t pnc_chunks_array_find(const pnc_store *store, int varid)
{
    const pnc_chunk_store *s = pnc_chunks_store_of(store);
    int64_t low = 0, high = s->source.narrays;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (s->source.arrays[middle].varid < varid)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->source.narrays && s->source.arrays[low].varid == varid ? low : -1;
}

void pnc_chunks_walk_init(const pnc_store *store, int64_t array, const pnc_array_slab *slab, pnc_array_walk *walk)
{
    const pnc_array_grid grid = pnc_chunks_grid_get(&pnc_chunks_store_of(store)->grids[array]);

    pnc_array_walk_init(walk, &grid, slab);
}

/* --- what the caller asks --- */

void pnc_chunks_store_find_index(const pnc_store *store, int64_t array, int64_t chunk, int64_t *index)
{
    const pnc_chunk_store *s = pnc_chunks_store_of(store);

    pnc_chunks_grid_find_index(&s->grids[array], chunk, index);
}

pnc_container *pnc_chunks_store_get_container(const pnc_store *store)
{
    return pnc_chunks_store_of(store)->source.container;
}

bool pnc_chunks_store_is_dirty(const pnc_store *store)
{
    const pnc_chunk_store *s = pnc_chunks_store_of(store);

    return s->dirty.map.n > 0 || s->pending.map.n > 0 || s->logged.map.n > 0;
}

/* --- what the caller says --- */

void pnc_chunks_store_discard(pnc_store *store)
{
    pnc_chunks_others_discard(pnc_chunks_store_of(store));
}

void pnc_chunks_store_update(pnc_store *store)
{
    pnc_chunk_store *s = pnc_chunks_store_of(store);

    for (int64_t i = 0; i < s->source.narrays; i++)
        pnc_chunks_grid_update(&s->grids[i], &s->source.arrays[i]);
}

/* --- begin and end --- */

/* Memory of chunks that is used again: a guess, for those of one call. */
#define SPARE_BYTES_MOST (INT64_C(16) << 20)

static void release_chunks(pnc_store *store)
{
    pnc_chunk_store *s = pnc_chunks_store_of(store);

    pnc_chunks_behind_free(s);
    pnc_chunks_foreseen_free(s);
    pnc_chunks_cache_clear(&s->cache);
    pnc_chunks_dirty_free(&s->dirty);
    pnc_chunks_pending_clear(&s->pending);
    pnc_chunks_pending_clear(&s->logged);
    pnc_chunks_map_free(&s->loaded);
    pnc_region_free(&s->loaded_region);
    pnc_chunks_messages_free(&s->messages);
    for (int i = 0; i <= s->nthreads; i++)
        pnc_filter_worker_free(&s->workers[i]);
    pnc_memory_free(s->workers);
    if (s->nthreads > 0)
        pnc_host_pool_close();
    pnc_memory_free(s->encoded);
    pnc_memory_free(s->wanted);
    pnc_memory_free(s->stored);
    pnc_memory_free(s->grids);
    pnc_memory_free(s->encodes);
    s->source.container->ops->free(s->source.container);
    if (s->source.release != NULL)
        s->source.release(s->source.own);
}

pnc_store *pnc_chunks_store_detach(pnc_store *store)
{
    pnc_store *inner = store->inner;

    pnc_chunks_store_of(store)->source.release = NULL;
    release_chunks(store);
    pnc_memory_free(store);
    return inner;
}

static const pnc_store_ops chunk_operations = {.name = "chunks",
                                               .store_bytes = sizeof(pnc_chunk_store),
                                               .is_wrapper = true,
                                               .find_reads = pnc_chunks_reads_find,
                                               .release = release_chunks};

static void set_chunk_operations(pnc_chunk_store *s)
{
    pnc_wrapper_join(&chunk_operations, s->store.inner->ops, s->store.inner->ops->name, &s->ops);
    s->store.ops = &s->ops;
    s->store.has_collective = false;
}

static bool has_chunks(const pnc_chunk_source *source)
{
    for (int64_t i = 0; i < source->narrays; i++)
        if (source->arrays[i].chunk != NULL)
            return true;
    return false;
}

static bool prepare_ranks(pnc_chunk_store *s)
{
    s->store.has_arrays = s->source.narrays > 0;
    s->exchanges = s->store.nprocs > 1 && has_chunks(&s->source);
    return !s->exchanges || pnc_chunks_messages_init(&s->messages, s->store.comm);
}

static void start_workers(pnc_chunk_store *s)
{
    for (int i = 0; i <= s->nthreads; i++)
        pnc_filter_worker_init(&s->workers[i], s->source.codecs);
    if (s->nthreads > 0)
        pnc_host_pool_open();
}

pnc_store *pnc_chunks_store_create(pnc_store *inner, const pnc_chunk_source *source)
{
    int nthreads = has_chunks(source) ? (int)pnc_min64(source->nthreads, PNC_POOL_THREADS_MOST) : 0;
    pnc_chunk_store *s = pnc_memory_alloc_zeroed(1, sizeof *s);
    pnc_chunk_grid *grids = pnc_memory_alloc(source->narrays, sizeof *grids);
    bool *encodes = pnc_memory_alloc_zeroed(source->narrays, sizeof *encodes);
    pnc_filter_worker *workers = pnc_memory_alloc(nthreads + 1, sizeof *workers);

    if (s != NULL) {
        s->store = *inner;
        s->store.inner = inner;
        s->source = *source;
        s->grids = grids;
        s->encodes = encodes;
        s->workers = workers;
        s->nthreads = nthreads;
        s->cache.most = source->cache_bytes;
        s->dirty.most_spare = pnc_min64(SPARE_BYTES_MOST, pnc_chunks_dirty_get_most(s) / 4);
    }
    if (s == NULL || grids == NULL || encodes == NULL || workers == NULL || !prepare_ranks(s)) {
        pnc_memory_free(s);
        pnc_memory_free(grids);
        pnc_memory_free(encodes);
        pnc_memory_free(workers);
        return NULL;
    }
    start_workers(s);
    set_chunk_operations(s);
    for (int64_t i = 0; i < source->narrays; i++) {
        assert(i == 0 || source->arrays[i - 1].varid < source->arrays[i].varid);
        pnc_chunks_grid_init(&grids[i], &source->arrays[i]);
    }
    return &s->store;
}
