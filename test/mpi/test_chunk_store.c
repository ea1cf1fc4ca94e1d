/* The store of chunks over a real file: random boxes of several arrays, put by all ranks in turn or on their own,
 * against copies of the arrays in memory. The index of the file is a table that the ranks fill with what they have
 * written. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#undef _FILE_OFFSET_BITS /* on 32-bit processors it makes one name of pread and pread64 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "allocations.h"
#include "base/memory.h"
#include "drivers/chunks/chunks.h"
#include "drivers/chunks/in_file.h"
#include "drivers/driver.h"
#include "drivers/folder/folder.h"
#include "formats/zarr/container.h"
#include "host/codecs.h"

enum { MOST_DIMS = 4, NARRAYS = 9, MOST_EXTENTS = 20000 };

#define ARRAYS_BEGIN \
    (INT64_C(1) << 40)      /* addresses of this test: arrays one behind the other, each in all of its shape */
enum { FILE_BYTES = 5000 }; /* of the file, before the first chunk */

/* --- temporary files, of which a part cannot be read --- */

static int64_t unreadable_from = INT64_MAX, unreadable_to;

static bool is_unreadable(int fd, int64_t offset, size_t n)
{
    char name[64], path[4096];
    ssize_t length;

    if (offset >= unreadable_to || offset + (int64_t)n <= unreadable_from)
        return false;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    length = readlink(name, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = '\0';
    errno = EIO;
    return strstr(path, "/.pnetcdf-") != NULL;
}

/* clang-format off */
#define READ(name, position)                                                       \
    ssize_t name(int fd, void *bytes, size_t n, position offset)                   \
    {                                                                              \
        static ssize_t (*real)(int, void *, size_t, position);                     \
                                                                                   \
        if (real == NULL)                                                          \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                             \
        return is_unreadable(fd, offset, n) ? -1 : real(fd, bytes, n, offset);     \
    }
READ(pread, off_t)
READ(pread64, off64_t)
/* clang-format on */

/* --- arrays --- */

static const pnc_filter fletcher32[] = {{PNC_FILTER_FLETCHER32, false, 0, NULL}};
static const uint32_t size_of_4[] = {4}, size_of_8[] = {8}, level[] = {2};
static const pnc_filter deflate_4[] = {{PNC_FILTER_SHUFFLE, true, 1, size_of_4}, {PNC_FILTER_DEFLATE, true, 1, level}};
static const pnc_filter deflate_8[] = {{PNC_FILTER_SHUFFLE, true, 1, size_of_8},
                                       {PNC_FILTER_DEFLATE, true, 1, level},
                                       {PNC_FILTER_FLETCHER32, false, 0, NULL}};

/* lengths: of dimensions that do not grow, and the most that the test uses of those that do. */
static const struct {
    int elem_size, ndims;
    uint32_t growing;
    int64_t lengths[MOST_DIMS], chunk[MOST_DIMS];
    pnc_filter_chain filters;
} kinds[NARRAYS] = {
    {4, 1, 0, {1000}, {64}, {0, NULL}},
    {4, 2, 0, {37, 53}, {10, 9}, {2, deflate_4}},
    {8, 3, 1, {12, 7, 11}, {1, 4, 11}, {3, deflate_8}},
    {2, 3, 1, {25, 9, 4}, {5, 3, 3}, {0, NULL}},
    {1, 2, 0, {63, 41}, {8, 50}, {1, fletcher32}}, /* a chunk is longer than the second dimension */
    {4, 4, 0, {5, 6, 7, 8}, {2, 6, 3, 8}, {2, deflate_4}},
    {8, 2, 3, {20, 30}, {4, 4}, {0, NULL}},
    {4, 1, 1, {900}, {7}, {2, deflate_4}},
    {1, 1, 0, {3}, {3}, {0, NULL}},
};

static pnc_chunk_array arrays[NARRAYS];
static int64_t begins[NARRAYS];
static int64_t shapes[NARRAYS][MOST_DIMS], extents_of[NARRAYS][MOST_DIMS];
static unsigned char *models[NARRAYS];   /* of kinds[i].lengths */
static pnc_chunk_place *placed[NARRAYS]; /* the index of the file: of kinds[i].lengths in row-major order */

static int64_t count_elements(int i)
{
    int64_t n = 1;

    for (int d = 0; d < kinds[i].ndims; d++)
        n *= kinds[i].lengths[d];
    return n;
}

static int64_t count_along_dimension(int64_t length, int64_t chunk)
{
    return (length + chunk - 1) / chunk;
}

static int64_t count_in_grid(int i, const int64_t *lengths)
{
    int64_t n = 1;

    for (int d = 0; d < kinds[i].ndims; d++)
        n *= count_along_dimension(lengths[d], kinds[i].chunk[d]);
    return n;
}

static void fill_array(int i)
{
    pnc_chunk_array *a = &arrays[i];

    for (int k = 0; k < 8; k++) {
        a->fill[k] = (unsigned char)(0x81 + 16 * k + i);
        a->beyond[k] = (unsigned char)(0x19 + 16 * k);
    }
    models[i] = malloc((size_t)(count_elements(i) * a->elem_size));
    for (int64_t k = 0; k < count_elements(i); k++)
        memcpy(models[i] + k * a->elem_size, a->fill, (size_t)a->elem_size);
    placed[i] = malloc((size_t)count_in_grid(i, kinds[i].lengths) * sizeof *placed[i]);
    for (int64_t k = 0; k < count_in_grid(i, kinds[i].lengths); k++)
        placed[i][k].offset = -1;
}

static void make_arrays(void)
{
    int64_t begin = ARRAYS_BEGIN;

    for (int i = 0; i < NARRAYS; i++) {
        pnc_chunk_array *a = &arrays[i];
        int64_t bytes = kinds[i].elem_size;

        *a = (pnc_chunk_array){.name = "v", .varid = i, .elem_size = kinds[i].elem_size, .ndims = kinds[i].ndims};
        begins[i] = begin;
        a->shape = shapes[i];
        a->extent = extents_of[i];
        a->chunk = kinds[i].chunk;
        a->growing = kinds[i].growing;
        a->first = i;
        a->filters = kinds[i].filters;
        for (int d = 0; d < a->ndims; d++) {
            bool grows = (a->growing >> d & 1) != 0;

            shapes[i][d] = grows ? INT64_C(1) << (20 - 5 * d) : kinds[i].lengths[d];
            extents_of[i][d] = grows ? 0 : kinds[i].lengths[d];
            bytes *= shapes[i][d];
        }
        begin += bytes;
        fill_array(i);
    }
}

static void free_arrays(void)
{
    for (int i = 0; i < NARRAYS; i++) {
        free(models[i]);
        free(placed[i]);
    }
}

/* --- the index --- */

static pnc_chunk_place *find_in_index(int array, const int64_t *index)
{
    int64_t number = 0;

    for (int d = 0; d < kinds[array].ndims; d++)
        number = number * count_along_dimension(kinds[array].lengths[d], kinds[array].chunk[d]) +
                 index[d] / kinds[array].chunk[d];
    return &placed[array][number];
}

static int find_place(void *own, int64_t array, const int64_t *index, bool is_first, pnc_chunk_place *out,
                      pnc_error *error)
{
    (void)own, (void)is_first, (void)error;
    *out = *find_in_index((int)array, index);
    return NC_NOERR;
}

/* The bytes of new chunks are between the ends, and no two chunks share any. */
static bool check_places(int64_t before, int64_t end, const pnc_chunk_record *records, int64_t n)
{
    bool good = true;

    for (int64_t i = 0; i < n; i++) {
        const pnc_chunk_place *p = &records[i].place;

        good = good && p->offset >= before && p->offset + p->bytes <= end;
        for (int64_t k = 0; k < i; k++)
            good = good && !(records[k].array == records[i].array && records[k].chunk == records[i].chunk) &&
                   (p->offset >= records[k].place.offset + records[k].place.bytes ||
                    records[k].place.offset >= p->offset + p->bytes);
    }
    return good;
}

/* All ranks add what each has written. Returns the number of chunks, or -1. */
static int64_t register_chunks(pnc_store *store, int64_t before)
{
    int bytes[64], starts[64] = {0}, own, total = 0;
    const pnc_chunk_record *records;
    int64_t n, index[MOST_DIMS];
    pnc_chunk_record *all;
    bool good;

    pnc_chunks_records_take(pnc_chunks_store_get_container(store), &records, &n);
    own = (int)(n * (int64_t)sizeof *records);
    MPI_Allgather(&own, 1, MPI_INT, bytes, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < t_nprocs; r++) {
        starts[r] = total;
        total += bytes[r];
    }
    all = malloc((size_t)total + 1);
    MPI_Allgatherv(records, own, MPI_BYTE, all, bytes, starts, MPI_BYTE, MPI_COMM_WORLD);
    n = total / (int64_t)sizeof *all;
    good = t_local(check_places(before, pnc_chunks_end_get(pnc_chunks_store_get_container(store)), all, n),
                   "places of chunks");
    for (int64_t i = 0; i < n; i++) {
        pnc_chunks_store_find_index(store, all[i].array, all[i].chunk, index);
        *find_in_index((int)all[i].array, index) = all[i].place;
    }
    free(all);
    return good ? n : -1;
}

/* --- another container: a folder with a file for each chunk --- */

static bool in_folder;
static char folder[4096];

typedef struct chunk_path {
    char text[4096 + 64];
} chunk_path;

static chunk_path find_path(const pnc_chunk_item *chunk, const char *suffix)
{
    chunk_path path;

    snprintf(path.text, sizeof path.text, "%s/%lld.%lld%s", folder, (long long)chunk->array, (long long)chunk->chunk,
             suffix);
    return path;
}

/* What follows the bytes of a chunk is their mask. */
static int find_in_folder(pnc_container *c, const pnc_chunk_item *chunk, const int64_t *index, pnc_chunk_place *out,
                          pnc_error *error)
{
    FILE *f = fopen(find_path(chunk, "").text, "rb");

    (void)c, (void)index, (void)error;
    *out = (pnc_chunk_place){.offset = -1};
    if (f == NULL)
        return NC_NOERR;
    out->offset = fseek(f, -(long)sizeof out->mask, SEEK_END) == 0 ? 0 : -1;
    out->bytes = ftell(f);
    if (fread(&out->mask, sizeof out->mask, 1, f) != 1)
        out->offset = -1;
    fclose(f);
    return NC_NOERR;
}

static int read_from_folder(pnc_container *c, const pnc_chunk_item *chunk, const pnc_chunk_place *place, void *to,
                            pnc_error *error)
{
    FILE *f = fopen(find_path(chunk, "").text, "rb");
    bool good = f != NULL && fread(to, (size_t)place->bytes, 1, f) == 1;

    (void)c;
    if (f != NULL)
        fclose(f);
    return good ? NC_NOERR : pnc_error_set(error, NC_EREAD, "a chunk cannot be read");
}

static int prepare_for_folder(pnc_container *c, pnc_stored_chunk *chunk, const int64_t *index, pnc_error *error)
{
    (void)c, (void)index, (void)error;
    chunk->is_new = true;
    return NC_NOERR;
}

static int place_in_folder(pnc_container *c, pnc_chunk_item *chunks, bool *more, pnc_error *error)
{
    (void)c, (void)chunks, (void)error;
    MPI_Allreduce(MPI_IN_PLACE, more, 1, MPI_C_BOOL, MPI_LOR, MPI_COMM_WORLD);
    return NC_NOERR;
}

/* Replaced whole. */
static int write_to_folder(pnc_container *c, const pnc_stored_chunk *chunk, const void *bytes, int64_t length,
                           pnc_error *error)
{
    chunk_path name = find_path(&chunk->item, ""), temporary = find_path(&chunk->item, "~");
    FILE *f = fopen(temporary.text, "wb");
    bool good = f != NULL && fwrite(bytes, (size_t)length, 1, f) == 1 &&
                fwrite(&chunk->place.mask, sizeof chunk->place.mask, 1, f) == 1;

    (void)c;
    if (f != NULL)
        good = fclose(f) == 0 && good;
    if (good && length == chunk->place.bytes && rename(temporary.text, name.text) == 0)
        return NC_NOERR;
    return pnc_error_set(error, NC_EWRITE, "a chunk cannot be written");
}

static void adopt_in_folder(pnc_container *c, const pnc_stored_chunk *chunk)
{
    (void)c, (void)chunk;
}

static void free_in_folder(pnc_container *c)
{
    (void)c;
}

static const pnc_container_ops folder_operations = {.find = find_in_folder,
                                                    .read = read_from_folder,
                                                    .prepare = prepare_for_folder,
                                                    .place = place_in_folder,
                                                    .write = write_to_folder,
                                                    .adopt = adopt_in_folder,
                                                    .free = free_in_folder};

static void empty_folder(void)
{
    DIR *dir = t_rank == 0 ? opendir(folder) : NULL;
    char path[sizeof folder + 256];

    if (dir == NULL)
        return;
    for (const struct dirent *d = readdir(dir); d != NULL; d = readdir(dir)) {
        snprintf(path, sizeof path, "%s/%s", folder, d->d_name);
        (void)unlink(path);
    }
    closedir(dir);
}

/* --- a Zarr store --- */

static bool in_zarr;
static bool has_shards;
static pnc_folder zarr_folder = {.fd = -1};
static pnc_zarr_array zarr_arrays[NARRAYS];
static pnc_zarr_chunks zarr_chunks[NARRAYS];
static pnc_filter required[NARRAYS][4]; /* a chunk has no mask there */
static int64_t shards[NARRAYS][MOST_DIMS], shard_lengths[NARRAYS][MOST_DIMS], zarr_along[NARRAYS][MOST_DIMS];

/* Shards of 1 to 3 chunks along each dimension. */
static void make_zarr_arrays(void)
{
    static char names[NARRAYS][16];

    for (int i = 0; i < NARRAYS; i++) {
        snprintf(names[i], sizeof names[i], "v%d", i);
        for (int d = 0; d < kinds[i].ndims; d++) {
            shards[i][d] = has_shards ? 1 + (i + d) % 3 : 1;
            shard_lengths[i][d] = shards[i][d] * kinds[i].chunk[d];
            zarr_along[i][d] = (shapes[i][d] - 1) / kinds[i].chunk[d] + 1;
        }
        for (int k = 0; k < kinds[i].filters.nfilters; k++) {
            required[i][k] = kinds[i].filters.filters[k];
            required[i][k].is_optional = false;
        }
        arrays[i].filters.filters = required[i];
        arrays[i].shard = has_shards ? shards[i] : NULL;
        zarr_arrays[i] = (pnc_zarr_array){.path = names[i],
                                          .version = 3,
                                          .ndims = kinds[i].ndims,
                                          .shape = shapes[i],
                                          .chunks = shard_lengths[i],
                                          .inner = has_shards ? kinds[i].chunk : NULL,
                                          .index = {.is_at_start = i % 3 != 1, .has_sum = i % 2 == 0},
                                          .has_prefix = true,
                                          .separator = i % 2 == 0 ? '.' : '/'};
        zarr_chunks[i] = (pnc_zarr_chunks){names[i], &zarr_arrays[i], zarr_along[i]};
    }
}

static int64_t zarr_id; /* of each container another one: what an earlier one has left is not its */

/* For all programs. */
static int commit_zarr(pnc_container *container, pnc_error *error)
{
    pnc_zarr_changes changes = {0};
    int err = pnc_zarr_container_update(container, &changes, error);

    if (err == NC_NOERR)
        err = pnc_zarr_changes_apply(&zarr_folder.objects, zarr_id, &changes, error);
    if (err == NC_NOERR)
        pnc_zarr_container_finish(container);
    pnc_zarr_changes_free(&changes);
    return err;
}

/* For the other ranks only. */
static int show_zarr(pnc_container *container, pnc_error *error)
{
    int err = pnc_zarr_container_display(container, error);

    MPI_Barrier(MPI_COMM_WORLD);
    pnc_zarr_container_set_shown(container);
    return err;
}

static bool flush_zarr(pnc_store *store, bool commits)
{
    pnc_error error = {0};
    pnc_container *container = pnc_chunks_store_get_container(store);
    int err = commits ? commit_zarr(container, &error) : show_zarr(container, &error);
    bool good = t_local(err == NC_NOERR, "flush of the container: %s", error.text);

    MPI_Barrier(MPI_COMM_WORLD);
    pnc_chunks_store_discard(store);
    pnc_zarr_container_discard(pnc_chunks_store_get_container(store));
    return good;
}

static int agree_on_rounds(void *own, bool *more, pnc_error *error)
{
    (void)own, (void)error;
    return MPI_Allreduce(MPI_IN_PLACE, more, 1, MPI_C_BOOL, MPI_LOR, MPI_COMM_WORLD) == MPI_SUCCESS ? NC_NOERR
                                                                                                    : NC_EMPI;
}

static pnc_container *create_container(pnc_store *store, int64_t end)
{
    static pnc_container toy = {&folder_operations};

    if (in_zarr) {
        make_zarr_arrays();
        return pnc_zarr_container_create(&zarr_folder.objects, ++zarr_id, zarr_chunks, agree_on_rounds, NULL);
    }
    return in_folder ? &toy : pnc_chunks_file_create(store, &(pnc_file_index){.find = find_place}, end);
}

/* --- random boxes --- */

static uint64_t state = 11;

static int64_t below(int64_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)n);
}

typedef struct box {
    int array;
    int64_t start[MOST_DIMS], count[MOST_DIMS];
} box;

/* Small, or along a whole dimension. */
static box draw_box(int array)
{
    box b = {.array = array};

    for (int d = 0; d < kinds[array].ndims; d++) {
        int64_t length = kinds[array].lengths[d];

        b.start[d] = below(3) == 0 ? 0 : below(length);
        b.count[d] = below(2) == 0 ? length - b.start[d] : 1 + below(length - b.start[d]);
    }
    return b;
}

/* What is written in a round: equal for all ranks, compressible for some arrays and rounds only. */
static void make_value(int round, int array, int64_t element, unsigned char *to)
{
    uint64_t x = (uint64_t)round * 1000003u + (uint64_t)(array % 2 == 0 ? element / 5 : element);

    if (round % 3 == 0)
        x *= 0x9E3779B97F4A7C15u;
    memcpy(to, &x, (size_t)kinds[array].elem_size);
}

/* --- values by addresses in arrays --- */

static pnc_chunk_array wide;

/* The array that has an address, and its number in its store. */
static const pnc_chunk_array *find_array_at(int64_t address, int64_t *number)
{
    int i = NARRAYS - 1;

    *number = 0;
    if (address < ARRAYS_BEGIN)
        return &wide;
    while (address < begins[i])
        i--;
    *number = i;
    return &arrays[i];
}

/* Memory of the values of an extent. */
typedef struct memory {
    char *at;
    int64_t size; /* of an element */
} memory;

static void pack_memory(void *own, int64_t first, int64_t n, void *to)
{
    const memory *m = own;

    memcpy(to, m->at + first * m->size, (size_t)(n * m->size));
}

static const void *look_at_memory(void *own, int64_t first)
{
    const memory *m = own;

    return m->at + first * m->size;
}

static void unpack_memory(void *own, void *of, int64_t first, int64_t n, const void *from)
{
    const memory *m = of;

    (void)own;
    memcpy(m->at + first * m->size, from, (size_t)(n * m->size));
}

/* The hyperslabs of an extent. */
static int visit_extent(pnc_store *store, pnc_extent extent, memory *m, bool is_put, bool collective, pnc_error *error)
{
    int64_t number, start[MOST_DIMS], count[MOST_DIMS], value = 0;
    const pnc_chunk_array *a = find_array_at(extent.offset, &number);
    int64_t first = (extent.offset - (a == &wide ? 0 : begins[number])) / a->elem_size,
            n = extent.length / a->elem_size;
    const pnc_chunk_values values = {.own = m, .pack = pack_memory, .look = look_at_memory};
    int err = is_put ? pnc_chunks_put_check(store, number, error) : NC_NOERR;

    m->size = a->elem_size;
    for (int64_t taken; n > 0 && err == NC_NOERR; first += taken, n -= taken, value += taken) {
        taken = pnc_array_range_take(a->ndims, a->shape, first, n, start, count);
        const pnc_array_slab slab = {.start = start, .count = count, .first = value};

        err = is_put ? pnc_chunks_slab_put(store, number, &slab, &values, collective, error)
                     : pnc_chunks_slab_get(store, number, &slab, m, error);
    }
    return err;
}

static int put_extents(pnc_store *store, const pnc_extent *extents, int64_t n, const void *bytes, bool collective,
                       pnc_error *error)
{
    char *at = (char *)(uintptr_t)bytes;
    int err = NC_NOERR;

    for (int64_t i = 0; i < n && err == NC_NOERR; at += extents[i++].length)
        err = visit_extent(store, extents[i], &(memory){.at = at}, true, collective, error);
    return pnc_chunks_put_end(store, collective, err, error);
}

static int get_extents(pnc_store *store, const pnc_extent *extents, int64_t n, void *bytes, bool collective,
                       pnc_error *error)
{
    static memory memories[MOST_EXTENTS];
    const pnc_chunk_values values = {.unpack = unpack_memory};
    int err = pnc_chunks_get_begin(store, &values, collective, error);
    char *at = bytes;

    for (int64_t i = 0; i < n && err == NC_NOERR; at += extents[i++].length) {
        memories[i].at = at;
        err = visit_extent(store, extents[i], &memories[i], false, collective, error);
    }
    return pnc_chunks_get_end(store, collective, err, error);
}

/* Visits the rows of a box: extents of the store, and elements of the model. */
typedef struct rows {
    int64_t n, bytes;
    pnc_extent extents[MOST_EXTENTS];
    int64_t element[MOST_EXTENTS]; /* the first one, in the model */
    int64_t count[MOST_EXTENTS];
    int array[MOST_EXTENTS];
    int64_t index[MOST_EXTENTS][MOST_DIMS];
} rows;

static void add_rows(rows *r, const box *b)
{
    const pnc_chunk_array *a = &arrays[b->array];
    int last = a->ndims - 1;
    int64_t at[MOST_DIMS] = {0}, n = 1;

    for (int d = 0; d < last; d++)
        n *= b->count[d];
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i, address = 0, element = 0, k = r->n++;

        for (int d = last - 1; d >= 0; d--) {
            at[d] = b->start[d] + rest % b->count[d];
            rest /= b->count[d];
        }
        at[last] = b->start[last];
        for (int d = 0; d <= last; d++) {
            address = address * shapes[b->array][d] + at[d];
            element = element * kinds[b->array].lengths[d] + at[d];
        }
        r->extents[k] = (pnc_extent){begins[b->array] + address * a->elem_size, b->count[last] * a->elem_size};
        r->element[k] = element;
        r->count[k] = b->count[last];
        r->array[k] = b->array;
        memcpy(r->index[k], at, sizeof at);
        r->bytes += r->extents[k].length;
    }
}

/* Of ascending arrays; the same on all ranks for the same `state`. */
static void draw_rows(rows *r)
{
    r->n = r->bytes = 0;
    for (int i = 0; i < NARRAYS; i++)
        if (below(3) == 0) {
            box b = draw_box(i);

            add_rows(r, &b);
        }
}

static void make_values(const rows *r, int round, unsigned char *to)
{
    for (int64_t k = 0; k < r->n; k++)
        for (int64_t e = 0; e < r->count[k]; e++, to += kinds[r->array[k]].elem_size)
            make_value(round, r->array[k], r->element[k] + e, to);
}

static void write_model(const rows *r, const unsigned char *values)
{
    for (int64_t k = 0; k < r->n; values += r->extents[k].length, k++) {
        int i = r->array[k], last = kinds[i].ndims - 1;

        memcpy(models[i] + r->element[k] * kinds[i].elem_size, values, (size_t)r->extents[k].length);
        for (int d = 0; d <= last; d++) {
            int64_t end = r->index[k][d] + (d == last ? r->count[k] : 1);

            if (end > extents_of[i][d])
                extents_of[i][d] = end;
        }
    }
}

/* The model, as the extents hide it. */
static void read_model(const rows *r, unsigned char *to)
{
    for (int64_t k = 0; k < r->n; k++) {
        int i = r->array[k], size = kinds[i].elem_size, last = kinds[i].ndims - 1;

        for (int64_t e = 0; e < r->count[k]; e++, to += size) {
            bool is_stored = r->index[k][last] + e < extents_of[i][last];

            for (int d = 0; d < last; d++)
                is_stored = is_stored && r->index[k][d] < extents_of[i][d];
            memcpy(to, is_stored ? models[i] + (r->element[k] + e) * size : arrays[i].beyond, (size_t)size);
        }
    }
}

/* --- rounds --- */

static rows own_rows, other_rows;
static unsigned char values[1 << 20], back[1 << 20];

/* Cut each extent. */
static int64_t cut_extents(const rows *r, pnc_extent *to)
{
    int64_t n = 0;

    for (int64_t k = 0; k < r->n; k++) {
        int64_t size = kinds[r->array[k]].elem_size, front = below(r->extents[k].length) / size * size;

        if (front > 0)
            to[n++] = (pnc_extent){r->extents[k].offset, front};
        to[n++] = (pnc_extent){r->extents[k].offset + front, r->extents[k].length - front};
    }
    return n;
}

/* Each rank has its own rows, and knows those of the others. Returns the code of the write. */
static int write_round(pnc_store *store, int round, bool is_collective, bool is_cut, pnc_error *error)
{
    static pnc_extent cut[2 * MOST_EXTENTS];
    int64_t n;
    int err;

    for (int r = 0; r < t_nprocs; r++) {
        rows *drawn = r == t_rank ? &own_rows : &other_rows;

        draw_rows(drawn);
        if (below(4) == 0)
            drawn->n = drawn->bytes = 0; /* one rank has nothing to do */
        make_values(drawn, round, values);
        write_model(drawn, values);
    }
    make_values(&own_rows, round, values);
    uint64_t kept = state;
    n = is_cut ? cut_extents(&own_rows, cut) : own_rows.n;
    state = kept;
    err = put_extents(store, is_cut ? cut : own_rows.extents, n, values, is_collective, error);
    pnc_chunks_store_update(store);
    return err;
}

/* Rows that each rank draws for itself. */
static bool read_round(pnc_store *store, bool is_collective)
{
    uint64_t kept = state;
    pnc_error error = {0};
    int err;

    state += (uint64_t)t_rank;
    below(2);
    draw_rows(&other_rows);
    state = kept;
    below(2);
    memset(back, 0x77, sizeof back);
    read_model(&other_rows, values);
    err = get_extents(store, other_rows.extents, other_rows.n, back, is_collective, &error);
    return t_local(err == NC_NOERR && memcmp(back, values, (size_t)other_rows.bytes) == 0, "%s get: %s",
                   is_collective ? "collective" : "independent", error.text);
}

/* What this rank has just written, it reads. */
static bool read_own(pnc_store *store)
{
    pnc_error error = {0};
    int err;

    if (in_zarr || in_folder) /* other ranks replace files of chunks before they leave a put */
        MPI_Barrier(MPI_COMM_WORLD);
    read_model(&own_rows, values);
    err = get_extents(store, own_rows.extents, own_rows.n, back, false, &error);
    return t_local(err == NC_NOERR && memcmp(back, values, (size_t)own_rows.bytes) == 0, "own values: %s", error.text);
}

static void renew_store(pnc_store *store, int64_t end)
{
    pnc_chunks_index_adopt(pnc_chunks_store_get_container(store), end);
    pnc_chunks_store_discard(store);
}

static bool flush_store(pnc_store *store, int64_t *end)
{
    static int flushes;
    pnc_error error = {0};
    int err = pnc_chunks_store_flush(store, &error);
    bool good = t_local(err == NC_NOERR && !pnc_chunks_store_is_dirty(store), "flush: %s", error.text);

    if (in_zarr)
        return flush_zarr(store, flushes++ % 2 == 0) && good;
    if (in_folder) {
        MPI_Barrier(MPI_COMM_WORLD);
        pnc_chunks_store_discard(store);
        return good;
    }
    good &= t_local(register_chunks(store, *end) >= 0, "records");
    *end = pnc_chunks_end_get(pnc_chunks_store_get_container(store)) + below(100); /* metadata are there, for example */
    renew_store(store, *end);
    return good;
}

static int open_file(const char *path, pnc_open_purpose purpose, pnc_store **store, pnc_error *error)
{
    pnc_open_call call = {.comm = MPI_COMM_WORLD, .path = path, .purpose = purpose, .info = MPI_INFO_NULL};

    return pnc_driver_file_open(&pnc_store_mpiio, call, store, error);
}

static char spill_folder[4096];
static int nthreads; /* of each rank that encode and decode, too */
static int nbehind;  /* of these: after the put */

static pnc_store *open_chunks(const char *path, pnc_open_purpose purpose, int64_t end, int64_t dirty_bytes)
{
    pnc_chunk_source source = {.narrays = NARRAYS,
                               .arrays = arrays,
                               .cache_bytes = 20000,
                               .codecs = pnc_host_codecs_get(),
                               .is_writable = purpose != PNC_OPEN_READ,
                               .dirty_bytes = dirty_bytes,
                               .nthreads = nthreads,
                               .nbehind = nbehind,
                               .spill_folder = spill_folder};
    pnc_store *store = NULL;
    pnc_error error = {0};
    int err = open_file(path, purpose, &store, &error);

    t_local(err == NC_NOERR, "open: %s", error.text);
    source.container = create_container(store, end);
    return pnc_chunks_store_create(store, &source);
}

static bool close_store(pnc_store *store)
{
    pnc_error error = {0};

    return t_local(store->ops->close(store, &error) == NC_NOERR, "close: %s", error.text);
}

static bool run_rounds(pnc_store *store, int first, int n, int64_t *end)
{
    bool good = true;

    for (int round = first; round < first + n; round++) {
        bool is_collective = below(3) > 0, is_cut = below(4) == 0;
        pnc_error error = {0};
        int err = write_round(store, round, is_collective, is_cut, &error);

        good &= t_local(err == NC_NOERR, "round %d: %s", round, error.text);
        if (!is_collective)
            good &= read_own(store);
        if (below(2) == 0)
            good &= read_round(store, true);
        else if (!is_collective || below(3) == 0)
            good &= flush_store(store, end) && read_round(store, false);
        good &= t_local(good, "up to round %d", round);
    }
    return good;
}

/* Where the chunks are, for a message. */
static const char *get_place(void)
{
    if (in_folder)
        return ", in a folder";
    if (in_zarr)
        return has_shards ? ", in shards of Zarr" : ", in chunks of Zarr";
    return "";
}

/* The next handle sees all. */
static bool end_store(pnc_store *store, int64_t *end)
{
    bool good = flush_store(store, end);

    if (in_zarr)
        good &= flush_zarr(store, true);
    return close_store(store) && good;
}

static void test_rounds(int64_t dirty_bytes, int n)
{
    const char *path = t_path("chunks.bin");
    int64_t end = FILE_BYTES;
    bool good = true;
    pnc_store *store;

    make_arrays();
    if (in_folder)
        empty_folder();
    MPI_Barrier(MPI_COMM_WORLD);
    store = open_chunks(path, PNC_OPEN_REPLACE, end, dirty_bytes);
    t_check(store != NULL && store->has_arrays && !store->has_collective, "a store of chunks");
    good &= run_rounds(store, 0, n, &end);
    good &= end_store(store, &end);
    MPI_Barrier(MPI_COMM_WORLD);
    store = open_chunks(path, PNC_OPEN_UPDATE, end, dirty_bytes);
    for (int i = 0; i < 4; i++)
        good &= read_round(store, i % 2 == 0);
    good &= run_rounds(store, n, n, &end);
    good &= end_store(store, &end);
    MPI_Barrier(MPI_COMM_WORLD);
    store = open_chunks(path, PNC_OPEN_READ, end, 0);
    for (int i = 0; i < 20; i++)
        good &= read_round(store, i % 2 == 0);
    good &= close_store(store);
    free_arrays();
    t_check(good, "%d rounds of puts and gets, at most %d bytes wait%s, %d threads, %d of them behind", 2 * n,
            (int)dirty_bytes, get_place(), nthreads, nbehind);
}

static int64_t get_file_size(const char *path)
{
    FILE *f = fopen(path, "rb");
    int64_t size = f != NULL && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;

    if (f != NULL)
        fclose(f);
    return size;
}

/* The store of chunks needs no file. */
static void test_folder(int n)
{
    in_folder = true;
    snprintf(folder, sizeof folder, "%s", t_path("folder"));
    if (t_rank == 0)
        (void)mkdir(folder, 0777);
    test_rounds(3000, n);
    empty_folder();
    if (t_rank == 0)
        (void)rmdir(folder);
    t_check(get_file_size(t_path("chunks.bin")) == 0, "nothing is in the file");
    in_folder = false;
}

static void test_zarr(int n, bool with_shards)
{
    pnc_error error = {0};
    char path[4096];

    in_zarr = true;
    has_shards = with_shards;
    snprintf(path, sizeof path, "%s", t_path("chunks.zarr"));
    if (t_rank == 0)
        (void)mkdir(path, 0777);
    MPI_Barrier(MPI_COMM_WORLD);
    t_check(pnc_folder_root_open(&zarr_folder, path, &error) == NC_NOERR, "a folder: %s", error.text);
    test_rounds(3000, n);
    if (t_rank == 0)
        t_local(pnc_folder_content_delete(&zarr_folder, &error) == NC_NOERR && rmdir(path) == 0, "delete: %s",
                error.text);
    pnc_folder_root_close(&zarr_folder);
    t_check(get_file_size(t_path("chunks.bin")) == 0, "nothing is in the file");
    in_zarr = false;
}

/* --- one array, of more than fits in a message, a list of runs, a round --- */

static const pnc_filter fast[] = {{PNC_FILTER_SHUFFLE, true, 1, size_of_4}, {PNC_FILTER_DEFLATE, true, 1, level}};

enum { WIDE_ROWS = 1200, WIDE_COLUMNS = 2500 };
static int64_t wide_shape[2] = {WIDE_ROWS, WIDE_COLUMNS}, wide_chunk[2];
static pnc_chunk_array wide;
static pnc_chunk_place wide_places[WIDE_ROWS * 10];

static int64_t find_wide(const int64_t *index)
{
    int64_t along = (WIDE_COLUMNS + wide_chunk[1] - 1) / wide_chunk[1];

    return index[0] / wide_chunk[0] * along + index[1] / wide_chunk[1];
}

static int find_wide_place(void *own, int64_t array, const int64_t *index, bool is_first, pnc_chunk_place *out,
                           pnc_error *error)
{
    (void)own, (void)array, (void)is_first, (void)error;
    *out = wide_places[find_wide(index)];
    return NC_NOERR;
}

static uint32_t wide_value(int64_t row, int64_t column)
{
    return (uint32_t)(row * WIDE_COLUMNS + column) * 2654435761u >> (row % 3 * 8);
}

/* Every t_nprocs-th row, or columns in blocks. */
static int64_t make_wide_extents(bool by_rows, pnc_extent *out)
{
    int64_t n = 0, begin = WIDE_COLUMNS * t_rank / t_nprocs, end = WIDE_COLUMNS * (t_rank + 1) / t_nprocs;

    for (int64_t row = 0; row < WIDE_ROWS; row++) {
        int64_t at = 4 * WIDE_COLUMNS * row;

        if (!by_rows)
            out[n++] = (pnc_extent){at + 4 * begin, 4 * (end - begin)};
        else if (row % t_nprocs == t_rank)
            out[n++] = (pnc_extent){at, 4 * WIDE_COLUMNS};
    }
    return n;
}

static int64_t make_wide_values(const pnc_extent *extents, int64_t n, uint32_t *out)
{
    int64_t count = 0;

    for (int64_t i = 0; i < n; i++)
        for (int64_t e = extents[i].offset / 4, end = e + extents[i].length / 4; e < end; e++)
            out[count++] = wide_value(e / WIDE_COLUMNS, e % WIDE_COLUMNS);
    return count * 4;
}

static int64_t wide_dirty_bytes;

static pnc_store *open_wide(const char *path, pnc_open_purpose purpose, int64_t end)
{
    pnc_chunk_source source = {.narrays = 1,
                               .arrays = &wide,
                               .cache_bytes = wide_dirty_bytes > 0 ? wide_dirty_bytes : 16 << 20, /* or all of it */
                               .codecs = pnc_host_codecs_get(),
                               .is_writable = purpose != PNC_OPEN_READ,
                               .dirty_bytes = wide_dirty_bytes,
                               .nthreads = nthreads,
                               .nbehind = nbehind,
                               .spill_folder = spill_folder};
    pnc_store *store = NULL;
    pnc_error error = {0};

    t_local(open_file(path, purpose, &store, &error) == NC_NOERR, "open: %s", error.text);
    source.container = pnc_chunks_file_create(store, &(pnc_file_index){.find = find_wide_place}, end);
    return pnc_chunks_store_create(store, &source);
}

static void make_wide(int64_t height, int64_t width, pnc_filter_chain filters)
{
    wide_chunk[0] = height;
    wide_chunk[1] = width;
    wide = (pnc_chunk_array){.name = "wide", .elem_size = 4};
    wide.ndims = 2;
    wide.shape = wide.extent = wide_shape;
    wide.chunk = wide_chunk;
    wide.filters = filters;
    for (size_t i = 0; i < sizeof wide_places / sizeof *wide_places; i++)
        wide_places[i] = (pnc_chunk_place){.offset = -1};
}

static void keep_wide_places(pnc_store *store)
{
    const pnc_chunk_record *records;
    int64_t n, index[2];

    pnc_chunks_records_take(pnc_chunks_store_get_container(store), &records, &n);
    for (int64_t i = 0; i < n; i++) {
        pnc_chunks_store_find_index(store, 0, records[i].chunk, index);
        wide_places[find_wide(index)] = records[i].place;
    }
    MPI_Allreduce(MPI_IN_PLACE, wide_places, (int)(sizeof wide_places / 8), MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    renew_store(store, pnc_chunks_end_get(pnc_chunks_store_get_container(store)));
}

static bool read_wide(pnc_store *store, bool by_rows, bool is_collective, uint32_t *expected, uint32_t *found)
{
    static pnc_extent extents[WIDE_ROWS];
    int64_t n = make_wide_extents(by_rows, extents), bytes = make_wide_values(extents, n, expected);
    pnc_error error = {0};
    int err = get_extents(store, extents, n, found, is_collective, &error);

    return t_local(err == NC_NOERR && memcmp(expected, found, (size_t)bytes) == 0, "read: %s", error.text);
}

static void test_wide(int64_t height, int64_t width, pnc_filter_chain filters)
{
    static pnc_extent extents[WIDE_ROWS];
    uint32_t *expected = malloc(4 * WIDE_ROWS * WIDE_COLUMNS), *found = malloc(4 * WIDE_ROWS * WIDE_COLUMNS);
    const char *path = t_path("chunks.bin");
    pnc_error error = {0};
    bool good = true;
    int64_t n;

    make_wide(height, width, filters);
    pnc_store *store = open_wide(path, PNC_OPEN_REPLACE, FILE_BYTES);
    n = make_wide_extents(true, extents);
    make_wide_values(extents, n, expected);
    good &= t_local(put_extents(store, extents, n, expected, true, &error) == NC_NOERR, "write: %s", error.text);
    if (nbehind > 0) /* what is encoded behind the put is written by a later call */
        good &= t_local(pnc_chunks_store_flush(store, &error) == NC_NOERR, "flush: %s", error.text);
    good &= t_local(!pnc_chunks_store_is_dirty(store), "all chunks are complete");
    good &= read_wide(store, false, true, expected, found);
    keep_wide_places(store);
    good &= read_wide(store, false, false, expected, found);
    good &= close_store(store);
    MPI_Barrier(MPI_COMM_WORLD);
    store = open_wide(path, PNC_OPEN_READ, 0);
    good &= read_wide(store, true, true, expected, found);
    good &= read_wide(store, false, true, expected, found);
    good &= close_store(store);
    free(expected);
    free(found);
    t_check(good, "12 MB in chunks of %d rows and %d columns, %d filters", (int)height, (int)width, filters.nfilters);
}

/* One value in each row, in all chunks: these do not have memory at the same time. First in the program, as memory
 * that was used before would hide it. */
static void test_scattered(void)
{
    static pnc_extent extents[WIDE_ROWS];
    static uint32_t expected[WIDE_ROWS], found[WIDE_ROWS];
    pnc_error error = {0};
    int64_t before;
    bool good = true;

    make_wide(100, 250, (pnc_filter_chain){0, NULL});
    wide_dirty_bytes = 300000;
    pnc_store *store = open_wide(t_path("chunks.bin"), PNC_OPEN_REPLACE, FILE_BYTES);
    wide_dirty_bytes = 0;
    before = pnc_memory_get_peak();
    for (int turn = 0; turn < 3; turn++) {
        for (int64_t row = 0; row < WIDE_ROWS; row++)
            extents[row] = (pnc_extent){4 * (row * WIDE_COLUMNS + (row * 370 + t_rank) % WIDE_COLUMNS), 4};
        make_wide_values(extents, WIDE_ROWS, expected);
        good &= t_local(put_extents(store, extents, WIDE_ROWS, expected, true, &error) == NC_NOERR, "write: %s",
                        error.text);
        if (turn == 1)
            good &= t_local(pnc_chunks_store_flush(store, &error) == NC_NOERR, "flush: %s", error.text);
    }
    good &=
        t_local(pnc_memory_get_peak() - before < 3000000, "%d bytes of memory", (int)(pnc_memory_get_peak() - before));
    good &= t_local(get_extents(store, extents, WIDE_ROWS, found, true, &error) == NC_NOERR &&
                        memcmp(found, expected, sizeof found) == 0,
                    "read: %s", error.text);
    good &= t_local(pnc_chunks_store_flush(store, &error) == NC_NOERR && !pnc_chunks_store_is_dirty(store), "flush: %s",
                    error.text);
    good &= close_store(store);
    t_check(good, "a value in each row of chunks of 12 MB has less than 3 MB of memory");
}

/* One rank puts every other row at once: no chunk is complete, and what waits is bounded during the put. */
static void test_bounded(void)
{
    enum { ROWS = WIDE_ROWS / 2 };
    static pnc_extent extents[ROWS];
    uint32_t *expected = malloc(4 * ROWS * WIDE_COLUMNS), *found = malloc(4 * ROWS * WIDE_COLUMNS);
    int64_t before = 0, used = 0;
    pnc_error error = {0};

    make_wide(100, 250, (pnc_filter_chain){0, NULL});
    wide_dirty_bytes = 300000;
    pnc_store *store = open_wide(t_path("chunks.bin"), PNC_OPEN_REPLACE, FILE_BYTES);
    wide_dirty_bytes = 0;
    for (int64_t i = 0; i < ROWS; i++)
        extents[i] = (pnc_extent){4 * WIDE_COLUMNS * 2 * i, 4 * WIDE_COLUMNS};
    make_wide_values(extents, ROWS, expected);
    before = pnc_memory_get_peak();
    t_check(put_extents(store, extents, ROWS, expected, false, &error) == NC_NOERR, "put: %s", error.text);
    used = pnc_memory_get_peak() - before;
    t_check(used < 3000000, "every other row of 12 MB in one put: %d bytes of memory", (int)used);
    t_check(get_extents(store, extents, ROWS, found, false, &error) == NC_NOERR &&
                memcmp(found, expected, 4 * ROWS * WIDE_COLUMNS) == 0,
            "and the rows are there: %s", error.text);
    t_check(close_store(store), "close");
    free(expected);
    free(found);
}

static void invert(uint32_t *of, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        of[i] = ~of[i];
}

/* Independent writes of more than may wait in memory: all values twice, the first time wrong. Ranks read their own, and
 * after a flush those of others. */
static void test_spilled(void)
{
    static pnc_extent extents[WIDE_ROWS];
    uint32_t *expected = malloc(4 * WIDE_ROWS * WIDE_COLUMNS), *found = malloc(4 * WIDE_ROWS * WIDE_COLUMNS);
    pnc_error error = {0};
    int64_t before, n, bytes;
    bool good = true;

    make_wide(100, 250, (pnc_filter_chain){2, fast});
    wide_dirty_bytes = 300000;
    pnc_store *store = open_wide(t_path("chunks.bin"), PNC_OPEN_REPLACE, FILE_BYTES);
    wide_dirty_bytes = 0;
    before = pnc_memory_get_peak();
    n = make_wide_extents(true, extents);
    bytes = make_wide_values(extents, n, expected);
    for (int turn = 1; turn >= 0; turn--) {
        if (turn > 0)
            invert(expected, bytes / 4);
        for (int64_t i = 0, at = 0; i < n && good; at += extents[i].length / 4, i++) {
            good &= t_local(put_extents(store, &extents[i], 1, expected + at, false, &error) == NC_NOERR, "write: %s",
                            error.text);
            if (i % 50 == 0)
                good &= t_local(get_extents(store, extents, i / 2 + 1, found, false, &error) == NC_NOERR &&
                                    memcmp(found, expected, (size_t)(extents[0].length * (i / 2 + 1))) == 0,
                                "own values after write %d of turn %d: %s", (int)i, turn, error.text);
        }
        if (turn > 0)
            invert(expected, bytes / 4);
    }
    good &= read_wide(store, true, false, expected, found);
    good &= t_local(pnc_chunks_store_flush(store, &error) == NC_NOERR && !pnc_chunks_store_is_dirty(store), "flush: %s",
                    error.text);
    good &=
        t_local(pnc_memory_get_peak() - before < 6000000, "%d bytes of memory", (int)(pnc_memory_get_peak() - before));
    good &= read_wide(store, false, true, expected, found);
    keep_wide_places(store);
    good &= read_wide(store, false, false, expected, found);
    good &= close_store(store);
    free(expected);
    free(found);
    t_check(good, "independent writes of 24 MB keep less than 6 MB in memory");
}

/* --- errors --- */

/* No space for what does not fit in memory: a write says so, and the values that it has kept are not lost. */
static void test_failed_spill(void)
{
    static pnc_extent extents[WIDE_ROWS];
    uint32_t *expected = malloc(4 * WIDE_ROWS * WIDE_COLUMNS), *found = malloc(4 * WIDE_ROWS * WIDE_COLUMNS);
    char kept[sizeof spill_folder];
    int64_t n, written = 0;
    pnc_error error = {0};
    int err = NC_NOERR;

    strcpy(kept, spill_folder);
    strcat(spill_folder, "/nothing");
    make_wide(100, 250, (pnc_filter_chain){2, fast});
    wide_dirty_bytes = 300000;
    pnc_store *store = open_wide(t_path("chunks.bin"), PNC_OPEN_REPLACE, FILE_BYTES);
    wide_dirty_bytes = 0;
    n = make_wide_extents(true, extents);
    make_wide_values(extents, n, expected);
    for (int64_t at = 0; err == NC_NOERR && written < n; at += extents[written++].length / 4)
        err = put_extents(store, &extents[written], 1, expected + at, false, &error);
    t_check(t_nprocs == 1 ? err == NC_NOERR
                          : err == NC_EWRITE && written < n && strstr(error.text, "/nothing") != NULL &&
                                strstr(error.text, "TMPDIR") != NULL,
            "no folder for temporary files: %s", error.text);
    written -= t_nprocs > 1; /* the last one is not complete */
    pnc_error_clear(&error);
    err = get_extents(store, extents, written, found, false, &error);
    t_check(err == NC_NOERR && memcmp(found, expected, (size_t)(written * extents[0].length)) == 0,
            "own values are there: %s", error.text);
    strcpy(spill_folder, kept);
    t_check(pnc_chunks_store_flush(store, &error) == NC_NOERR && !pnc_chunks_store_is_dirty(store), "flush: %s",
            error.text);
    err = get_extents(store, extents, written, found, true, &error);
    t_check(err == NC_NOERR && memcmp(found, expected, (size_t)(written * extents[0].length)) == 0,
            "they are in the file: %s", error.text);
    t_check(close_store(store), "close");
    free(expected);
    free(found);
}

/* What the temporary files of the last rank have lost is an error of it; all other values come to the file. */
static void test_unreadable_spill(void)
{
    static pnc_extent extents[WIDE_ROWS];
    uint32_t *expected = malloc(4 * WIDE_ROWS * WIDE_COLUMNS), *found = malloc(4 * WIDE_ROWS * WIDE_COLUMNS);
    bool is_last = t_rank == t_nprocs - 1;
    int64_t n, nlost = 0, nwrong = 0, count;
    pnc_error error = {0};
    pnc_store *store;
    int err = NC_NOERR;

    make_wide(100, 250, (pnc_filter_chain){2, fast});
    wide_dirty_bytes = 300000;
    store = open_wide(t_path("chunks.bin"), PNC_OPEN_REPLACE, FILE_BYTES);
    wide_dirty_bytes = 0;
    n = make_wide_extents(true, extents);
    count = make_wide_values(extents, n, expected) / 4;
    for (int64_t i = 0, at = 0; i < n && err == NC_NOERR; at += extents[i++].length / 4)
        err = put_extents(store, &extents[i], 1, expected + at, false, &error);
    t_check(err == NC_NOERR, "independent writes: %s", error.text);
    unreadable_from = is_last ? 200000 : INT64_MAX;
    unreadable_to = is_last ? 210000 : 0;
    err = pnc_chunks_store_flush(store, &error);
    unreadable_from = INT64_MAX;
    unreadable_to = 0;
    t_check(err == (is_last ? NC_EREAD : NC_NOERR) && (!is_last || strstr(error.text, "wide") != NULL) &&
                !pnc_chunks_store_is_dirty(store),
            "a part of a temporary file cannot be read: %s", error.text);
    pnc_error_clear(&error);
    err = get_extents(store, extents, n, found, true, &error);
    for (int64_t i = 0; i < count; i++) {
        nlost += found[i] != expected[i] && found[i] == 0;
        nwrong += found[i] != expected[i] && found[i] != 0;
    }
    t_check(err == NC_NOERR && nwrong == 0 && (is_last ? nlost > 0 && nlost < 50000 : nlost == 0),
            "%d values of the last rank are lost, %d wrong: %s", (int)nlost, (int)nwrong, error.text);
    t_check(pnc_chunks_store_flush(store, &error) == NC_NOERR && close_store(store), "close: %s", error.text);
    free(expected);
    free(found);
}

static int failing_writes; /* of the inner store: so many fail */
static const pnc_store_ops *true_ops;

static int fail_some_writes(pnc_store *store, const pnc_extent *list, int64_t n, const void *buf, pnc_error *error)
{
    if (failing_writes > 0) {
        failing_writes--;
        return pnc_error_set(error, NC_EWRITE, "no space in this test");
    }
    return true_ops->write(store, list, n, buf, error);
}

/* A write at the last rank fails once: its chunks keep their values, and the others are not affected. */
static void test_failed_write(void)
{
    static pnc_store_ops ops;
    static pnc_extent extents[WIDE_ROWS];
    uint32_t *expected = malloc(4 * WIDE_ROWS * WIDE_COLUMNS), *found = malloc(4 * WIDE_ROWS * WIDE_COLUMNS);
    pnc_error error = {0};
    bool is_last = t_rank == t_nprocs - 1;
    pnc_store *store;
    int64_t n;

    make_wide(100, 250, (pnc_filter_chain){2, fast});
    store = open_wide(t_path("chunks.bin"), PNC_OPEN_REPLACE, FILE_BYTES);
    true_ops = store->inner->ops;
    ops = *true_ops;
    ops.write = fail_some_writes;
    store->inner->ops = &ops;
    failing_writes = is_last;
    n = make_wide_extents(false, extents);
    make_wide_values(extents, n, expected);
    int err = put_extents(store, extents, n, expected, true, &error);
    t_check(err == (is_last ? NC_EWRITE : NC_NOERR) && (error.text[0] != '\0') == is_last &&
                pnc_chunks_store_is_dirty(store) == is_last,
            "a write that fails at one rank: %s", error.text);
    t_check(read_wide(store, true, true, expected, found), "the values are there");
    pnc_error_clear(&error);
    t_check(pnc_chunks_store_flush(store, &error) == NC_NOERR && !pnc_chunks_store_is_dirty(store),
            "a flush writes them: %s", error.text);
    keep_wide_places(store);
    t_check(read_wide(store, true, false, expected, found), "the values are in the file");
    store->inner->ops = true_ops;
    t_check(close_store(store), "close");
    free(expected);
    free(found);
}

/* A filter that this library does not have: the ranks that put values return the error, and nothing waits. */
static void test_failed_filter(void)
{
    static const pnc_filter unknown[] = {{32099, false, 0, NULL}};
    static pnc_extent extents[WIDE_ROWS];
    uint32_t *expected = malloc(4 * WIDE_ROWS * WIDE_COLUMNS);
    pnc_error error = {0};
    pnc_store *store;
    int64_t n;

    make_wide(100, 2500, (pnc_filter_chain){1, unknown});
    store = open_wide(t_path("chunks.bin"), PNC_OPEN_REPLACE, FILE_BYTES);
    n = make_wide_extents(false, extents);
    make_wide_values(extents, n, expected);
    int err = put_extents(store, extents, n, expected, true, &error);
    t_check(err == NC_EFILTER && strstr(error.text, "wide") != NULL, "an unknown filter: %s", error.text);
    pnc_error_clear(&error);
    t_check(pnc_chunks_store_flush(store, &error) == NC_NOERR && !pnc_chunks_store_is_dirty(store),
            "a flush has nothing to write: %s", error.text);
    t_check(close_store(store), "close without them");
    free(expected);
}

/* A chunk whose bytes were damaged: an error at each rank that wants it, and at no other. */
static void test_damage(void)
{
    static pnc_extent extents[WIDE_ROWS];
    uint32_t *expected = malloc(4 * WIDE_ROWS * WIDE_COLUMNS);
    pnc_error error = {0};
    pnc_store *store;
    int64_t n;
    int err;

    make_wide(400, 2500, (pnc_filter_chain){1, fletcher32});
    store = open_wide(t_path("chunks.bin"), PNC_OPEN_REPLACE, FILE_BYTES);
    n = make_wide_extents(false, extents);
    make_wide_values(extents, n, expected);
    err = put_extents(store, extents, n, expected, true, &error);
    keep_wide_places(store);
    if (t_rank == 0 && err == NC_NOERR)
        err =
            store->inner->ops->write(store->inner, &(pnc_extent){wide_places[2].offset + 77, 4}, 1, "\1\2\3\4", &error);
    t_check(err == NC_NOERR && close_store(store), "a chunk is damaged: %s", error.text);
    store = open_wide(t_path("chunks.bin"), PNC_OPEN_READ, 0);
    /* rank 0 reads the first two chunks, the others all */
    err = get_extents(store, extents, t_rank == 0 ? 700 : n, expected, true, &error);
    t_check(err == (t_rank == 0 ? NC_NOERR : NC_EHDFERR) && (t_rank == 0 || strstr(error.text, "wide") != NULL),
            "it is an error for those who read it: %s", error.text);
    t_check(close_store(store), "close");
    free(expected);
}

static void test_refused(void)
{
    static const unsigned char contents[4 * WIDE_COLUMNS];
    static const char *const names[] = {"stored in one part", "chunks without filters", "unreadable", "read-only"};
    uint32_t value = 5;
    pnc_extent extent = {1 << 30, 4};

    for (int i = 0; i < 4; i++) {
        pnc_error error = {0};
        pnc_store *store;
        int err;

        make_wide(100, 250, (pnc_filter_chain){0, NULL});
        if (i == 0)
            wide.contents = contents;
        wide.chunk = i == 0 ? NULL : wide.chunk;
        wide.skips_partial = i == 1;
        wide.refusal = i == 2 ? "of this test" : NULL;
        store = open_wide(t_path("chunks.bin"), i == 3 ? PNC_OPEN_READ : PNC_OPEN_UPDATE, FILE_BYTES);
        err = put_extents(store, &extent, 1, &value, false, &error);
        t_check(err == (i == 3 ? NC_EPERM : NC_ENOTSUPPORT) && strstr(error.text, "\"wide\"") != NULL,
                "refused: %s: %s", names[i], error.text);
        t_check(pnc_chunks_store_flush(store, &error) == NC_NOERR && close_store(store), "close");
    }
}

/* Whether the values of some extents are there, for all ranks. */
static bool has_values(pnc_store *store, const pnc_extent *extents, int64_t n, const uint32_t *expected,
                       uint32_t *found, pnc_error *error)
{
    int64_t bytes = 0;

    for (int64_t i = 0; i < n; i++)
        bytes += extents[i].length;
    return get_extents(store, extents, n, found, true, error) == NC_NOERR &&
           memcmp(expected, found, (size_t)bytes) == 0;
}

static bool is_code_of_memory(int err)
{
    return err == NC_NOERR || err == NC_ENOMEM;
}

/* One allocation of a rank fails, whichever: no rank waits for another, and the next write is complete. */
static void test_memory_failure(int rank)
{
    enum { ROWS = 150 };
    static pnc_extent extents[WIDE_ROWS];
    uint32_t *expected = malloc(4 * WIDE_ROWS * WIDE_COLUMNS), *found = malloc(4 * WIDE_ROWS * WIDE_COLUMNS);
    bool good = true, has_failed = true;
    long position = 0;

    make_wide(40, 250, (pnc_filter_chain){2, fast});
    for (; has_failed; position += 1 + position / 10) {
        pnc_store *store = open_wide(t_path("chunks.bin"), PNC_OPEN_REPLACE, FILE_BYTES);
        pnc_error errors[4] = {{0}};
        int codes[3] = {0}, all;

        make_wide_extents(false, extents);
        make_wide_values(extents, ROWS, expected);
        allocation_arm(rank, position);
        codes[0] = put_extents(store, extents, ROWS, expected, true, &errors[0]);
        bool is_there = has_values(store, extents, ROWS, expected, found, &errors[1]);
        codes[1] = errors[1].code;
        codes[2] = pnc_chunks_store_flush(store, &errors[2]);
        has_failed = allocation_disarm(rank);
        all = codes[0] != NC_NOERR || codes[1] != NC_NOERR || codes[2] != NC_NOERR;
        MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        for (int i = 0; i < 3; i++)
            good &= t_local(is_code_of_memory(codes[i]) && codes[i] == errors[i].code, "allocation %ld: %s", position,
                            errors[i].text);
        good &= t_local(all || is_there, "allocation %ld: values without an error", position);
        codes[0] = put_extents(store, extents, ROWS, expected, true, &errors[3]);
        codes[1] = pnc_chunks_store_flush(store, &errors[3]);
        good &= t_local(has_values(store, extents, ROWS, expected, found, &errors[3]) && codes[0] == NC_NOERR &&
                            codes[1] == NC_NOERR && !pnc_chunks_store_is_dirty(store),
                        "after allocation %ld: %s", position, errors[3].text);
        good &= close_store(store);
    }
    t_check(good && (position > 20 || !allocation_can_fail()), "an allocation of rank %d fails: %ld", rank, position);
    free(expected);
    free(found);
}

/* Threads encode what puts have completed while the program goes on. When they write is not known: failed writes are
 * those of test_netcdf4_programs.py. */
static void test_behind(void)
{
    nthreads = 3;
    nbehind = 2;
    test_rounds(0, t_choose(20, 40, 1000));
    test_rounds(3000, t_choose(20, 40, 1000));
    test_folder(t_choose(10, 20, 1000));
    test_zarr(t_choose(10, 20, 1000), false);
    test_zarr(t_choose(10, 20, 1000), true);
    test_wide(500, 700, (pnc_filter_chain){2, fast});
    test_memory_failure(t_nprocs - 1);
    nthreads = nbehind = 0;
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    snprintf(spill_folder, sizeof spill_folder / 2, "%s", t_path("."));
    test_scattered();
    if (t_nprocs == 1)
        test_bounded();
    test_spilled();
    test_rounds(0, t_choose(40, 80, 1000));
    test_rounds(1, t_choose(30, 60, 1000));
    test_rounds(3000, t_choose(30, 60, 1000));
    nthreads = 3;
    test_rounds(3000, t_choose(10, 20, 1000));
    test_folder(t_choose(10, 20, 1000));
    test_wide(1200, 2500, (pnc_filter_chain){0, NULL});
    test_wide(500, 700, (pnc_filter_chain){2, fast});
    nthreads = 0;
    test_wide(500, 700, (pnc_filter_chain){2, fast});
    test_wide(1, 300, (pnc_filter_chain){0, NULL});
    test_wide(700, 6, (pnc_filter_chain){1, fletcher32});
    for (nthreads = 2; nthreads >= 0; nthreads -= 2)
        test_failed_write();
    nthreads = 0;
    test_failed_spill();
    if (t_nprocs > 1)
        test_unreadable_spill();
    for (nthreads = 2; nthreads >= 0; nthreads -= 2) {
        test_failed_filter();
        test_damage();
    }
    nthreads = 0;
    test_refused();
    test_memory_failure(0);
    nthreads = 2;
    test_memory_failure(t_nprocs - 1);
    nthreads = 0;
    test_behind();
    if (t_rank == 0)
        unlink(t_path("chunks.bin"));
    return t_finish();
}
