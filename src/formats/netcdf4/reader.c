/* Reading without MPI: libhdf5 reads the metadata through a store of one process, as it does for the library. */
#include "formats/netcdf4/reader.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "array/walk.h"
#include "base/memory.h"
#include "base/minmax.h"
#include "drivers/chunks/cache.h"
#include "formats/netcdf4/array.h"
#include "formats/netcdf4/descriptor.h"
#include "formats/netcdf4/netcdf4.h"
#include "formats/netcdf4/plugins.h"

/* A guess: some chunks of 1 to 4 MiB. A larger one is kept in any case. */
#define KEPT_BYTES (INT64_C(64) << 20)

struct pnc_netcdf4_reader {
    pnc_file file;
    pnc_netcdf4_descriptor store;
    int64_t size;
    char *path;                     /* a copy */
    pnc_netcdf4_metadata *metadata; /* NULL until it is needed */
    char *bytes;                    /* the description, in which storage has pointers; NULL: none yet */
    pnc_region region;              /* of storage and arrays */
    const pnc_model *model;         /* the caller's */
    pnc_netcdf4_storage *storage;   /* of each variable, as the arrays */
    pnc_chunk_array *arrays;
    pnc_chunk_cache cache;
    pnc_codecs codecs;
    pnc_filter_worker worker;
    unsigned char *stored; /* a chunk as the file has it */
    int64_t capacity;
};

/* --- opening --- */

bool pnc_netcdf4_reader_is_format(const char *front, int64_t n)
{
    return pnc_netcdf4_front_is_known(front, n);
}

/* Whether the file has the mark of metadata that are not complete. */
static int find_mark(pnc_file *file, int64_t size, bool *found, int64_t *superblock)
{
    int64_t n = pnc_min64(size, 64 * 1024);
    char *front = pnc_memory_alloc(n, 1);
    int err;

    if (front == NULL)
        return pnc_error_set(file->error, NC_ENOMEM, "%s: no memory to read metadata", file->path);
    err = pnc_file_range_read(file, (pnc_extent){0, n}, front);
    *found = err == NC_NOERR && pnc_netcdf4_redo_find(front, n, superblock);
    pnc_memory_free(front);
    return err;
}

static int check_completeness(pnc_netcdf4_reader *r)
{
    int64_t superblock;
    bool found;

    PNC_TRY(find_mark(&r->file, r->size, &found, &superblock));
    if (!found)
        return NC_NOERR;
    return pnc_error_set(r->file.error, NC_EINTERRUPTED,
                         "%s: a program has died while it wrote the metadata of this file: ncvalidator --repair "
                         "completes them",
                         r->path);
}

static int flush_descriptor(const pnc_netcdf4_descriptor *s, pnc_error *error)
{
    if (fsync(s->fd) == 0 || errno == EINVAL)
        return NC_NOERR;
    return pnc_error_set(error, NC_EWRITE, "%s: cannot be written: %s", s->path, strerror(errno));
}

/* The superblock becomes valid when the rest is on the disk. */
static int complete_marked(pnc_redo *redo, pnc_file *file)
{
    const pnc_netcdf4_descriptor *store = (const pnc_netcdf4_descriptor *)file->store;

    PNC_TRY(pnc_netcdf4_redo_write(redo, file));
    PNC_TRY(flush_descriptor(store, file->error));
    PNC_TRY(pnc_netcdf4_redo_finish(redo, file));
    return flush_descriptor(store, file->error);
}

int pnc_netcdf4_reader_repair(int fd, const char *path, int64_t size, bool *was_interrupted, pnc_error *error)
{
    char *copy = pnc_string_copy(path);
    pnc_netcdf4_descriptor store;
    pnc_file file;
    pnc_redo redo;
    int64_t superblock;
    int err;

    *was_interrupted = false;
    if (copy == NULL)
        return pnc_error_set(error, NC_ENOMEM, "%s: no memory for its name", path);
    pnc_netcdf4_descriptor_init(&store, &file, fd, copy, error);
    err = find_mark(&file, size, was_interrupted, &superblock);
    if (err == NC_NOERR && *was_interrupted) {
        err = pnc_netcdf4_redo_load(&redo, &file, size, superblock);
        if (err == NC_NOERR) {
            err = complete_marked(&redo, &file);
            pnc_netcdf4_redo_free(&redo);
        }
    }
    pnc_memory_free(copy);
    return err;
}

int pnc_netcdf4_reader_open(int fd, const char *path, int64_t size, pnc_error *error, pnc_netcdf4_reader **out)
{
    pnc_netcdf4_reader *r = pnc_memory_alloc_zeroed(1, sizeof *r);

    *out = r;
    if (r != NULL)
        r->path = pnc_string_copy(path);
    if (r == NULL || r->path == NULL)
        return pnc_error_set(error, NC_ENOMEM, "%s: no memory to read metadata", path);
    r->size = size;
    pnc_netcdf4_descriptor_init(&r->store, &r->file, fd, r->path, error);
    r->cache.most = KEPT_BYTES;
    r->codecs = pnc_netcdf4_codecs_get();
    pnc_filter_worker_init(&r->worker, &r->codecs);
    return check_completeness(r);
}

void pnc_netcdf4_reader_close(pnc_netcdf4_reader *r)
{
    if (r == NULL)
        return;
    pnc_netcdf4_metadata_close(r->metadata);
    pnc_chunks_cache_clear(&r->cache);
    pnc_filter_worker_free(&r->worker);
    pnc_region_free(&r->region);
    pnc_memory_free(r->bytes);
    pnc_memory_free(r->stored);
    pnc_memory_free(r->path);
    pnc_memory_free(r);
}

pnc_error *pnc_netcdf4_reader_get_error(const pnc_netcdf4_reader *r)
{
    return r->file.error;
}

static int need_metadata(pnc_netcdf4_reader *r)
{
    return r->metadata != NULL ? NC_NOERR : pnc_netcdf4_metadata_open(&r->file, r->size, false, &r->metadata);
}

int pnc_netcdf4_reader_load(pnc_netcdf4_reader *r, char **bytes, int64_t *n)
{
    pnc_netcdf4_writer out = {0};
    int err = need_metadata(r);

    if (err == NC_NOERR)
        err = pnc_netcdf4_metadata_describe(r->metadata, PNC_NETCDF4_LISTED, 0, &out);
    if (err == NC_NOERR && out.failed)
        err = pnc_error_set(r->file.error, NC_ENOMEM, "%s: no memory to read metadata", r->path);
    *bytes = out.bytes;
    *n = out.n;
    return err;
}

static int make_arrays_to_read(pnc_netcdf4_reader *r)
{
    r->arrays = pnc_region_alloc(&r->region, (r->model->nvars + 1) * (int64_t)sizeof *r->arrays);
    if (r->arrays == NULL)
        return pnc_error_set(r->file.error, NC_ENOMEM, "%s: no memory to read metadata", r->path);
    for (int i = 0; i < r->model->nvars; i++)
        pnc_netcdf4_array_init(r->model->vars[i], &r->storage[i], &r->arrays[i]);
    return NC_NOERR;
}

int pnc_netcdf4_reader_adopt(pnc_netcdf4_reader *r, const char *bytes, int64_t n, pnc_model *model)
{
    int err;

    r->bytes = pnc_memory_alloc(n, 1);
    if (r->bytes == NULL)
        return pnc_error_set(r->file.error, NC_ENOMEM, "%s: no memory to read metadata", r->path);
    memcpy(r->bytes, bytes, (size_t)n);
    err = pnc_netcdf4_description_decode(r->bytes, n, r->size, model, &r->region, &r->storage, r->file.error);
    if (err == NC_NOERR)
        err = pnc_netcdf4_properties_set(model, r->storage, r->file.error);
    if (err != NC_NOERR) {
        pnc_error_add_context(r->file.error, "%s", r->path);
        return err;
    }
    r->model = model;
    return make_arrays_to_read(r);
}

/* --- what is asked about a file --- */

const pnc_netcdf4_storage *pnc_netcdf4_reader_get_storage(const pnc_netcdf4_reader *r, int varid)
{
    return &r->storage[varid];
}

int pnc_netcdf4_reader_find_chunk(pnc_netcdf4_reader *r, int varid, const int64_t *index, pnc_chunk_place *out)
{
    PNC_TRY(need_metadata(r));
    return pnc_netcdf4_metadata_find_chunk(r->metadata, r->storage[varid].path, index, r->model->vars[varid]->ndims,
                                           out);
}

bool pnc_netcdf4_reader_is_classic(pnc_netcdf4_reader *r)
{
    return need_metadata(r) == NC_NOERR && pnc_netcdf4_metadata_is_classic(r->metadata);
}

bool pnc_netcdf4_reader_get_text(pnc_netcdf4_reader *r, const char *name, char *out, size_t capacity)
{
    return need_metadata(r) == NC_NOERR && pnc_netcdf4_metadata_get_text(r->metadata, name, out, capacity);
}

/* --- chunks --- */

static int64_t count_chunk_bytes(const pnc_chunk_array *a)
{
    int64_t bytes = a->elem_size; /* of at most 4 GiB, as the description is checked */

    for (int d = 0; d < a->ndims; d++)
        bytes *= a->chunk[d];
    return bytes;
}

static bool is_beyond_extent(const pnc_chunk_array *a, const int64_t *index)
{
    for (int d = 0; d < a->ndims; d++)
        if (a->chunk[d] > a->extent[d] - index[d])
            return true;
    return false;
}

static int fail_of_variable(const pnc_netcdf4_reader *r, const pnc_chunk_array *a, int err)
{
    pnc_error_add_context(r->file.error, "%s: variable \"%s\"", r->path, a->name);
    return err;
}

static int reserve_chunk_bytes(pnc_netcdf4_reader *r, int64_t bytes)
{
    if (bytes <= r->capacity)
        return NC_NOERR;
    pnc_memory_free(r->stored);
    r->stored = pnc_memory_alloc(bytes, 1);
    r->capacity = r->stored != NULL ? bytes : 0;
    return r->stored != NULL
               ? NC_NOERR
               : pnc_error_set(r->file.error, NC_ENOMEM, "no memory for a chunk of %lld bytes", (long long)bytes);
}

/* The filters are checked first: an unknown one says nothing about the length of what it stores. */
static int decode_place(pnc_netcdf4_reader *r, const pnc_chunk_array *a, const int64_t *index,
                        const pnc_chunk_place *place, unsigned char *chunk, int64_t bytes)
{
    const pnc_filter_chain none = {0, NULL};
    const pnc_filter_chain *chain = a->skips_partial && is_beyond_extent(a, index) ? &none : &a->filters;

    PNC_TRY(pnc_filter_chain_check(chain, (uint32_t)place->mask, r->worker.codecs, r->file.error));
    if (place->bytes > pnc_filter_chain_get_bound(chain, bytes))
        return pnc_error_set(r->file.error, NC_EHDFERR, "a chunk of %lld bytes is stored in %lld", (long long)bytes,
                             (long long)place->bytes);
    PNC_TRY(reserve_chunk_bytes(r, place->bytes));
    PNC_TRY(pnc_file_range_read(&r->file, (pnc_extent){place->offset, place->bytes}, (char *)r->stored));
    return pnc_filter_chunk_decode(&r->worker, chain, r->stored, place->bytes, (uint32_t)place->mask, chunk, bytes,
                                   r->file.error);
}

/* Through the cache. *out NULL: it was never written. */
static int load_kept_chunk(pnc_netcdf4_reader *r, int varid, const int64_t *index, int64_t number,
                           const unsigned char **out)
{
    const pnc_chunk_array *a = &r->arrays[varid];
    int64_t bytes = count_chunk_bytes(a);
    pnc_chunk_place place;
    unsigned char *chunk;
    int err;

    *out = pnc_chunks_cache_find(&r->cache, varid, number);
    if (*out != NULL)
        return NC_NOERR;
    PNC_TRY(pnc_netcdf4_reader_find_chunk(r, varid, index, &place));
    if (place.offset < 0)
        return NC_NOERR;
    chunk = pnc_chunks_cache_add(&r->cache, varid, number, bytes);
    if (chunk == NULL)
        return pnc_error_set(r->file.error, NC_ENOMEM, "%s: no memory for a chunk of %lld bytes", r->path,
                             (long long)bytes);
    err = decode_place(r, a, index, &place, chunk, bytes);
    if (err != NC_NOERR) {
        pnc_chunks_cache_undo(&r->cache);
        return fail_of_variable(r, a, err);
    }
    *out = chunk;
    return NC_NOERR;
}

int pnc_netcdf4_reader_read_chunk(pnc_netcdf4_reader *r, int varid, const int64_t *index, const pnc_chunk_place *place,
                                  void *chunk)
{
    const pnc_chunk_array *a = &r->arrays[varid];
    int err = decode_place(r, a, index, place, chunk, count_chunk_bytes(a));

    return err == NC_NOERR ? NC_NOERR : fail_of_variable(r, a, err);
}

/* --- reading values --- */

/* The values of a box, from the bytes of its chunk; NULL: fill values. */
static void copy_box(const pnc_chunk_array *a, const pnc_box *box, const unsigned char *chunk, unsigned char *values)
{
    pnc_box_run run = pnc_array_run_begin(box);
    int64_t size = a->elem_size;

    do {
        if (chunk != NULL)
            memcpy(values + run.value * size, chunk + run.at * size, (size_t)(box->run * size));
        for (int64_t i = 0; chunk == NULL && i < box->run; i++)
            memcpy(values + (run.value + i) * size, a->fill, (size_t)size);
    } while (pnc_array_run_next(box, &run));
}

static int read_slab_chunks(pnc_netcdf4_reader *r, int varid, const pnc_array_slab *slab, unsigned char *values)
{
    const pnc_chunk_array *a = &r->arrays[varid];
    int64_t along[PNC_ARRAY_DIMS], index[PNC_ARRAY_DIMS];
    const pnc_array_grid grid = {a->ndims, a->chunk, along};
    const unsigned char *chunk;
    pnc_array_walk walk;
    pnc_box box;

    if (pnc_array_chunks_count(a->ndims, a->extent, a->chunk, along) == INT64_MAX)
        return pnc_error_set(r->file.error, NC_EVARSIZE, "%s: variable \"%s\" has more than 2^63 chunks", r->path,
                             a->name);
    pnc_array_walk_init(&walk, &grid, slab);
    while (pnc_array_walk_next(&walk, &box)) {
        pnc_array_index_find(&grid, box.chunk, index);
        PNC_TRY(load_kept_chunk(r, varid, index, box.chunk, &chunk));
        copy_box(a, &box, chunk, values);
    }
    return NC_NOERR;
}

/* An array in one part: a box of it. */
static void find_only_box(int ndims, const int64_t *shape, const pnc_array_slab *slab, pnc_box *box)
{
    int64_t ones[PNC_ARRAY_DIMS];
    const pnc_array_grid grid = {ndims, shape, ones};
    pnc_array_walk walk;

    for (int d = 0; d < ndims; d++)
        ones[d] = 1;
    pnc_array_walk_init(&walk, &grid, slab);
    (void)pnc_array_walk_next(&walk, box);
}

/* Contiguous and compact values. */
static int read_one_part(pnc_netcdf4_reader *r, int varid, const pnc_array_slab *slab, char *values)
{
    const pnc_netcdf4_storage *s = &r->storage[varid];
    const pnc_chunk_array *a = &r->arrays[varid];
    int64_t size = a->elem_size;
    pnc_box_run run;
    pnc_box box;

    find_only_box(a->ndims, a->shape, slab, &box);
    if (s->layout == PNC_NETCDF4_COMPACT || s->address < 0) {
        copy_box(a, &box, s->nbytes > 0 ? s->bytes : NULL, (unsigned char *)values);
        return NC_NOERR;
    }
    run = pnc_array_run_begin(&box);
    do
        PNC_TRY(pnc_file_range_read(&r->file, (pnc_extent){s->address + run.at * size, box.run * size},
                                    values + run.value * size));
    while (pnc_array_run_next(&box, &run));
    return NC_NOERR;
}

/* What is within the extent of the dataset. Returns the number of these elements. */
static int64_t clip_count(const pnc_chunk_array *a, const int64_t *start, const int64_t *count, int64_t *inside)
{
    for (int d = 0; d < a->ndims; d++)
        inside[d] = pnc_min64(count[d], pnc_max64(a->extent[d] - start[d], 0));
    return pnc_array_elements_count(a->ndims, inside);
}

int pnc_netcdf4_reader_read(pnc_netcdf4_reader *r, int varid, const int64_t *start, const int64_t *count, void *values)
{
    const pnc_chunk_array *a = &r->arrays[varid];
    int64_t n = pnc_array_elements_count(a->ndims, count), ninside, inside[PNC_ARRAY_DIMS];
    const pnc_array_slab slab = {.start = start, .count = inside, .values = count};
    unsigned char *to = values;

    if (a->elem_size == 0 || a->ndims > PNC_STORAGE_DIMS_MOST)
        return pnc_error_set(r->file.error, NC_EBADTYPE,
                             "%s: variable \"%s\" has a type whose values this library does not read", r->path,
                             a->name);
    if (a->refusal != NULL)
        return pnc_error_set(r->file.error, NC_ENOTSUPPORT, "%s: variable \"%s\": %s", r->path, a->name, a->refusal);
    if (n == 0)
        return NC_NOERR;
    ninside = clip_count(a, start, count, inside);
    if (a->chunk == NULL)
        return read_one_part(r, varid, &slab, values);
    for (int64_t i = 0; ninside < n && i < n; i++)
        memcpy(to + i * a->elem_size, a->beyond, (size_t)a->elem_size);
    return ninside > 0 ? read_slab_chunks(r, varid, &slab, values) : NC_NOERR;
}

/* --- strings --- */

/* Put those of the extent, one behind the other, at their positions among all. */
static void place_strings(int ndims, const pnc_array_slab *slab, pnc_netcdf4_strings *from, pnc_netcdf4_strings *to)
{
    pnc_box_run run;
    pnc_box box;

    find_only_box(ndims, slab->count, slab, &box);
    run = pnc_array_run_begin(&box);
    do
        for (int64_t i = 0; i < box.run; i++) {
            to->at[run.value + i] = from->at[run.at + i];
            from->at[run.at + i] = NULL;
        }
    while (pnc_array_run_next(&box, &run));
}

int pnc_netcdf4_reader_read_strings(pnc_netcdf4_reader *r, int varid, const int64_t *start, const int64_t *count,
                                    pnc_netcdf4_strings *out)
{
    const pnc_chunk_array *a = &r->arrays[varid];
    static const int64_t begin[PNC_ARRAY_DIMS];
    int64_t inside[PNC_ARRAY_DIMS];
    const pnc_array_slab slab = {.start = begin, .count = inside, .values = count};
    pnc_netcdf4_strings found;
    int err;

    *out = (pnc_netcdf4_strings){.n = pnc_array_elements_count(a->ndims, count)};
    PNC_TRY(need_metadata(r));
    out->at = pnc_memory_alloc_zeroed(out->n + 1, sizeof *out->at);
    if (out->at == NULL)
        return pnc_error_set(r->file.error, NC_ENOMEM, "%s: no memory for strings", r->path);
    if (clip_count(a, start, count, inside) == 0)
        return NC_NOERR;
    err = pnc_netcdf4_metadata_read_strings(r->metadata, r->storage[varid].path, a->ndims, start, inside, &found);
    if (err == NC_NOERR)
        place_strings(a->ndims, &slab, &found, out);
    pnc_netcdf4_strings_free(&found);
    return err;
}
