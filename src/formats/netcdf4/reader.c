/* Reading without MPI: libhdf5 reads the metadata through a store of one process, as it does for the library. */
#include "formats/netcdf4/reader.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "drivers/chunks/cache.h"
#include "formats/netcdf4/array.h"
#include "formats/netcdf4/descriptor.h"
#include "formats/netcdf4/netcdf4.h"
#include "formats/netcdf4/plugins.h"
#include "host/codecs.h"

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
    r->codecs = *pnc_host_codecs_get();
    r->codecs.load_plugin = pnc_netcdf4_plugin_load;
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
        pnc_netcdf4_array_init(r->model->vars[i], &r->storage[i], 0, &r->arrays[i]);
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

/* --- boxes: count elements from start along each dimension --- */

typedef struct box {
    int ndims;
    const int64_t *start, *count;
} box;

/* The next index in row-major order, of a box that begins at 0; false after the last one. */
static bool step_index(int ndims, const int64_t *count, int64_t *index)
{
    for (int d = ndims - 1; d >= 0; d--) {
        if (++index[d] < count[d])
            return true;
        index[d] = 0;
    }
    return false;
}

/* The offset in elements of the position `at + index` in an array that begins at `origin`. */
static int64_t find_element(int ndims, const int64_t *origin, const int64_t *shape, const int64_t *at,
                            const int64_t *index)
{
    int64_t offset = 0;

    for (int d = 0; d < ndims; d++)
        offset = offset * shape[d] + (at[d] + index[d] - origin[d]);
    return offset;
}

static void fill_elements(unsigned char *to, int64_t n, const unsigned char *fill, int size)
{
    for (int64_t i = 0; i < n; i++)
        memcpy(to + i * size, fill, (size_t)size);
}

/* What `part` and `whole` share, whose values are at `values`, from an array that has the shape and the start of
 * `from`; NULL: fill values. */
static void copy_box_part(const pnc_chunk_array *a, const box *whole, const box *part, const box *from,
                          const unsigned char *bytes, unsigned char *values)
{
    int64_t index[PNC_STORAGE_DIMS_MOST] = {0}, rows[PNC_STORAGE_DIMS_MOST];
    int last = part->ndims - 1;
    int64_t row = part->count[last];

    memcpy(rows, part->count, (size_t)part->ndims * sizeof *rows);
    rows[last] = 1;
    do {
        unsigned char *to =
            values + a->elem_size * find_element(part->ndims, whole->start, whole->count, part->start, index);

        if (bytes == NULL)
            fill_elements(to, row, a->fill, a->elem_size);
        else
            memcpy(to, bytes + a->elem_size * find_element(part->ndims, from->start, from->count, part->start, index),
                   (size_t)(row * a->elem_size));
    } while (step_index(part->ndims, rows, index));
}

/* --- reading values --- */

/* `begin` is the index of the first element of a chunk: copy what the box has of it. */
static int read_chunk_part(pnc_netcdf4_reader *r, int varid, const box *whole, const int64_t *begin, int64_t number,
                           unsigned char *values)
{
    const pnc_chunk_array *a = &r->arrays[varid];
    int64_t start[PNC_STORAGE_DIMS_MOST], count[PNC_STORAGE_DIMS_MOST];
    const box part = {a->ndims, start, count}, from = {a->ndims, begin, a->chunk};
    const unsigned char *chunk;

    PNC_TRY(load_kept_chunk(r, varid, begin, number, &chunk));
    for (int d = 0; d < a->ndims; d++) {
        int64_t end = pnc_min64(a->extent[d], whole->start[d] + whole->count[d]);

        end = a->chunk[d] < end - begin[d] ? begin[d] + a->chunk[d] : end;
        start[d] = pnc_max64(begin[d], whole->start[d]);
        count[d] = end - start[d];
    }
    copy_box_part(a, whole, &part, &from, chunk, values);
    return NC_NOERR;
}

/* False: none of the box is in the extent of the dataset. */
static bool find_chunk_range(const pnc_chunk_array *a, const box *whole, int64_t *first, int64_t *n)
{
    for (int d = 0; d < a->ndims; d++) {
        int64_t end = pnc_min64(whole->start[d] + whole->count[d], a->extent[d]);

        if (whole->start[d] >= end)
            return false;
        first[d] = whole->start[d] / a->chunk[d];
        n[d] = (end - 1) / a->chunk[d] - first[d] + 1;
    }
    return true;
}

static int read_box_chunks(pnc_netcdf4_reader *r, int varid, const box *whole, unsigned char *values)
{
    const pnc_chunk_array *a = &r->arrays[varid];
    int64_t first[PNC_STORAGE_DIMS_MOST], n[PNC_STORAGE_DIMS_MOST], at[PNC_STORAGE_DIMS_MOST] = {0};
    int64_t begin[PNC_STORAGE_DIMS_MOST];

    if (!find_chunk_range(a, whole, first, n))
        return NC_NOERR;
    do {
        uint64_t number = 0;

        for (int d = 0; d < a->ndims; d++) {
            number = number * (uint64_t)(a->extent[d] / a->chunk[d] + 1) + (uint64_t)(first[d] + at[d]);
            begin[d] = (first[d] + at[d]) * a->chunk[d];
        }
        PNC_TRY(read_chunk_part(r, varid, whole, begin, (int64_t)(number & INT64_MAX), values));
    } while (step_index(a->ndims, n, at));
    return NC_NOERR;
}

static const int64_t zeros[PNC_STORAGE_DIMS_MOST], one[1] = {1};

/* Contiguous and compact values: rows along the last dimension. */
static int read_one_part(pnc_netcdf4_reader *r, int varid, const box *whole, unsigned char *values)
{
    const pnc_netcdf4_storage *s = &r->storage[varid];
    const pnc_chunk_array *a = &r->arrays[varid];
    const box all = {whole->ndims, zeros, a->ndims == 0 ? one : a->shape};
    int64_t index[PNC_STORAGE_DIMS_MOST] = {0}, rows[PNC_STORAGE_DIMS_MOST], row;

    if (s->layout == PNC_NETCDF4_COMPACT || s->address < 0) {
        copy_box_part(a, whole, whole, &all, s->nbytes > 0 ? s->bytes : NULL, values);
        return NC_NOERR;
    }
    memcpy(rows, whole->count, (size_t)whole->ndims * sizeof *rows);
    row = rows[whole->ndims - 1] * a->elem_size;
    rows[whole->ndims - 1] = 1;
    do {
        int64_t at = find_element(whole->ndims, zeros, all.count, whole->start, index) * a->elem_size;

        PNC_TRY(pnc_file_range_read(&r->file, (pnc_extent){s->address + at, row}, (char *)values));
        values += row;
    } while (step_index(whole->ndims, rows, index));
    return NC_NOERR;
}

static int64_t count_box_elements(const box *whole)
{
    int64_t n = 1;

    for (int d = 0; d < whole->ndims; d++)
        n *= whole->count[d];
    return n;
}

static bool is_in_extent(const pnc_chunk_array *a, const box *whole)
{
    for (int d = 0; d < a->ndims; d++)
        if (whole->start[d] + whole->count[d] > a->extent[d])
            return false;
    return true;
}

int pnc_netcdf4_reader_read(pnc_netcdf4_reader *r, int varid, const int64_t *start, const int64_t *count, void *values)
{
    const pnc_chunk_array *a = &r->arrays[varid];
    const box whole = a->ndims == 0 ? (box){1, zeros, one} : (box){a->ndims, start, count};

    if (a->elem_size == 0 || a->ndims > PNC_STORAGE_DIMS_MOST)
        return pnc_error_set(r->file.error, NC_EBADTYPE,
                             "%s: variable \"%s\" has a type whose values this library does not read", r->path,
                             a->name);
    if (a->refusal != NULL)
        return pnc_error_set(r->file.error, NC_ENOTSUPPORT, "%s: variable \"%s\": %s", r->path, a->name, a->refusal);
    if (count_box_elements(&whole) == 0)
        return NC_NOERR;
    if (a->chunk == NULL)
        return read_one_part(r, varid, &whole, values);
    if (!is_in_extent(a, &whole))
        fill_elements(values, count_box_elements(&whole), a->beyond, a->elem_size);
    return read_box_chunks(r, varid, &whole, values);
}

/* --- strings --- */

/* Put those of `part`, whose elements follow each other, at their positions in `whole`. */
static void place_strings(const box *whole, const box *part, pnc_netcdf4_strings *from, pnc_netcdf4_strings *to)
{
    int64_t index[PNC_STORAGE_DIMS_MOST] = {0}, i = 0;

    do {
        char **at = &to->at[find_element(part->ndims, whole->start, whole->count, part->start, index)];

        *at = from->at[i];
        from->at[i++] = NULL;
    } while (step_index(part->ndims, part->count, index));
}

int pnc_netcdf4_reader_read_strings(pnc_netcdf4_reader *r, int varid, const int64_t *start, const int64_t *count,
                                    pnc_netcdf4_strings *out)
{
    const pnc_chunk_array *a = &r->arrays[varid];
    const box whole = {a->ndims, start, count};
    int64_t within[PNC_STORAGE_DIMS_MOST];
    const box part = {a->ndims, start, within};
    pnc_netcdf4_strings found;
    int err;

    *out = (pnc_netcdf4_strings){.n = count_box_elements(&whole)};
    PNC_TRY(need_metadata(r));
    out->at = pnc_memory_alloc_zeroed(out->n + 1, sizeof *out->at);
    if (out->at == NULL)
        return pnc_error_set(r->file.error, NC_ENOMEM, "%s: no memory for strings", r->path);
    for (int d = 0; d < a->ndims; d++)
        within[d] = pnc_min64(count[d], pnc_max64(a->extent[d] - start[d], 0));
    if (count_box_elements(&part) == 0)
        return NC_NOERR;
    err = pnc_netcdf4_metadata_read_strings(r->metadata, r->storage[varid].path, a->ndims, start, within, &found);
    if (err == NC_NOERR)
        place_strings(&whole, &part, &found, out);
    pnc_netcdf4_strings_free(&found);
    return err;
}

int pnc_netcdf4_reader_read_att_strings(pnc_netcdf4_reader *r, int varid, const char *name, bool *found,
                                        pnc_netcdf4_strings *out)
{
    PNC_TRY(need_metadata(r));
    return pnc_netcdf4_metadata_read_att_strings(r->metadata, varid == NC_GLOBAL ? NULL : r->storage[varid].path, name,
                                                 found, out);
}
