/* Documents and chunks of Zarr without MPI, for test_zarr_documents.py.
 *
 * zarr_documents print FOLDER: what the documents in it say, a line for each fact
 * zarr_documents values FOLDER ARRAY: its values, in the order of bytes that the array has, on stdout
 * zarr_documents write FOLDER: a store with arrays of all types and codecs, with values
 * zarr_documents again FOLDER: read the documents, make a model of them, and write what has changed; prints their keys
 *
 * An error goes to stderr, status 1. */
#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "filter/filter.h"
#include "formats/zarr/document.h"
#include "formats/zarr/index.h"
#include "host/codecs.h"
#include "host/json.h"

enum { DOCUMENTS = 4000, PATH = 4096 };

static pnc_zarr_document documents[DOCUMENTS];
static int64_t ndocuments;
static pnc_region region;
static pnc_error error;

static void require(int err)
{
    if (err == NC_NOERR)
        return;
    fprintf(stderr, "%d: %s\n", err, error.text);
    exit(1);
}

/* NULL: there is no such file. */
static char *read_file(const char *path, int64_t *n)
{
    FILE *file = fopen(path, "rb");
    char *bytes;

    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        return NULL;
    *n = ftell(file);
    rewind(file);
    bytes = malloc((size_t)*n + 1);
    if (bytes == NULL || fread(bytes, 1, (size_t)*n, file) != (size_t)*n)
        exit(2);
    fclose(file);
    return bytes;
}

static bool is_document(const char *name)
{
    static const char *const names[] = {"zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static void read_folder(const char *top, const char *path)
{
    char full[PATH];
    struct dirent **names;
    int n;

    snprintf(full, sizeof full, "%s/%s", top, path);
    n = scandir(full, &names, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        const char *name = names[i]->d_name;
        char key[PATH / 2];
        struct stat facts;

        snprintf(key, sizeof key, "%s%s%s", path, path[0] != '\0' ? "/" : "", name);
        snprintf(full, sizeof full, "%s/%s", top, key);
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || stat(full, &facts) != 0)
            continue;
        if (S_ISDIR(facts.st_mode)) {
            read_folder(top, key);
        } else if (is_document(name) && ndocuments < DOCUMENTS) {
            pnc_zarr_document *d = &documents[ndocuments++];

            d->key = strdup(key);
            d->bytes = read_file(full, &d->n);
        }
    }
}

static void decode(const char *top, pnc_zarr_store *store)
{
    read_folder(top, "");
    require(pnc_zarr_store_decode(pnc_host_json_get(), documents, ndocuments, PNC_ZARR_GROUPS_BY_PATH, &region, store,
                                  &error));
}

/* --- print --- */

static void print_hex(const void *bytes, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        printf("%02x", ((const unsigned char *)bytes)[i]);
}

static void print_numbers(const char *name, int n, const int64_t *numbers)
{
    printf(" %s=", name);
    for (int i = 0; i < n; i++)
        printf("%s%" PRId64, i > 0 ? "," : "", numbers[i]);
}

static void print_atts(const char *path, int n, const pnc_att *atts)
{
    for (int i = 0; i < n; i++) {
        printf("attribute %s\t%s\t%d\t%" PRId64 "\t%" PRId64 "\t", path, atts[i].name, atts[i].type, atts[i].len,
               atts[i].strings.n);
        print_hex(atts[i].value, atts[i].len * (int64_t)pnc_type_get_size(atts[i].type));
        printf("\n");
    }
}

static void print_array(const pnc_zarr_store *store, const pnc_zarr_array *a)
{
    printf("array %s\tversion=%d type=%d content=%d big=%d", a->path, a->version, a->type, (int)a->content,
           a->is_big_endian);
    print_numbers("shape", a->ndims, a->shape);
    printf(" dims=");
    for (int i = 0; i < a->ndims; i++)
        printf("%s%s", i > 0 ? "," : "", store->dims[a->dimids[i]].name);
    if (a->refusal != NULL) {
        printf(" refusal=%s\n", a->refusal);
    } else {
        print_numbers("chunks", a->ndims, a->chunks);
        if (a->inner != NULL)
            print_numbers("inner", a->ndims, a->inner);
        printf(" filters=");
        for (int i = 0; i < a->filters.nfilters; i++)
            printf("%s%s", i > 0 ? "," : "", pnc_filter_name_get(a->filters.filters[i].id));
        printf(" fill=");
        print_hex(a->fill, a->has_fill ? (int64_t)pnc_type_get_size(a->type) : 0);
        printf("\n");
    }
    print_atts(a->path, a->natts, a->atts);
}

static void print_store(const char *top)
{
    pnc_zarr_store store;

    decode(top, &store);
    printf("store version=%d consolidated=%d\n", store.version, store.is_consolidated);
    for (int i = 0; i < store.ngroups; i++) {
        printf("group %s\n", store.groups[i].path);
        print_atts(store.groups[i].path, store.groups[i].natts, store.groups[i].atts);
    }
    for (int i = 0; i < store.ndims; i++)
        printf("dimension %s\t%" PRId64 "\t%d\n", store.dims[i].name, store.dims[i].length, store.dims[i].is_unlimited);
    for (int i = 0; i < store.narrays; i++)
        print_array(&store, &store.arrays[i]);
}

/* --- values --- */

static int64_t multiply(int n, const int64_t *lengths)
{
    int64_t product = 1;

    for (int i = 0; i < n; i++)
        product *= lengths[i];
    return product;
}

/* The next index in a box; false behind the last one. */
static bool step(int n, const int64_t *lengths, int64_t *at)
{
    for (int i = n - 1; i >= 0; i--) {
        if (++at[i] < lengths[i])
            return true;
        at[i] = 0;
    }
    return false;
}

/* The values of the chunk that begins at `first`, as far as the array has them: to the values, or from them. */
static void move_values(const pnc_zarr_array *a, const int64_t *first, const int64_t *lengths, char *chunk,
                        char *values, bool from_chunk)
{
    int64_t size = (int64_t)pnc_type_get_size(a->type), at[PNC_ZARR_DIMS_MOST] = {0}, place = 0;

    do {
        int64_t to = 0;
        bool is_inside = true;

        for (int i = 0; i < a->ndims; i++) {
            is_inside = is_inside && first[i] + at[i] < a->shape[i];
            to = to * a->shape[i] + first[i] + at[i];
        }
        if (is_inside && from_chunk)
            memcpy(values + to * size, chunk + place * size, (size_t)size);
        else if (is_inside)
            memcpy(chunk + place * size, values + to * size, (size_t)size);
        place++;
    } while (step(a->ndims, lengths, at));
}

static void fill_values(const pnc_zarr_array *a, char *values, int64_t n)
{
    int64_t size = (int64_t)pnc_type_get_size(a->type);

    for (int64_t i = 0; i < n; i++)
        for (int64_t b = 0; b < size; b++)
            values[i * size + b] = (char)a->fill[a->is_big_endian ? size - 1 - b : b];
}

static void decode_chunk(const pnc_zarr_array *a, const char *stored, int64_t n, const int64_t *first,
                         const int64_t *lengths, char *values)
{
    int64_t bytes = multiply(a->ndims, lengths) * (int64_t)pnc_type_get_size(a->type);
    char *chunk = malloc((size_t)bytes);
    pnc_filter_worker worker;

    pnc_filter_worker_init(&worker, pnc_host_codecs_get());
    require(pnc_filter_chunk_decode(&worker, &a->filters, stored, n, 0, chunk, bytes, &error));
    pnc_filter_worker_free(&worker);
    move_values(a, first, lengths, chunk, values, true);
    free(chunk);
}

static void decode_shard(const pnc_zarr_array *a, const char *shard, int64_t n, const int64_t *first, char *values)
{
    int64_t number = pnc_zarr_index_count(a), offset = pnc_zarr_index_get_offset(a, n);
    pnc_zarr_place *places = calloc((size_t)number, sizeof *places);
    int64_t at[PNC_ZARR_DIMS_MOST] = {0}, inside[PNC_ZARR_DIMS_MOST], grid[PNC_ZARR_DIMS_MOST], i = 0;

    require(pnc_zarr_index_decode(a, shard + (offset > 0 ? offset : 0), n, places, &error));
    for (int d = 0; d < a->ndims; d++)
        grid[d] = a->chunks[d] / a->inner[d];
    do {
        for (int d = 0; d < a->ndims; d++)
            inside[d] = first[d] + at[d] * a->inner[d];
        if (places[i].offset >= 0)
            decode_chunk(a, shard + places[i].offset, places[i].bytes, inside, a->inner, values);
        i++;
    } while (step(a->ndims, grid, at));
    free(places);
}

/* Loop over the files of an array. */
static bool begin_grid(const pnc_zarr_array *a, int64_t *grid)
{
    for (int d = 0; d < a->ndims; d++)
        grid[d] = (a->shape[d] + a->chunks[d] - 1) / a->chunks[d];
    return multiply(a->ndims, grid) > 0;
}

static void make_path(const char *top, const pnc_zarr_array *a, const int64_t *at, char *out)
{
    char key[PNC_ZARR_KEY_MOST];

    pnc_zarr_key_write(a, at, key);
    snprintf(out, PATH, "%s/%s/%s", top, a->path, key);
}

static char *read_values(const char *top, const pnc_zarr_array *a, int64_t *bytes)
{
    int64_t at[PNC_ZARR_DIMS_MOST] = {0}, grid[PNC_ZARR_DIMS_MOST], first[PNC_ZARR_DIMS_MOST], n = 0;
    int64_t number = multiply(a->ndims, a->shape);
    char *values = calloc((size_t)number + 1, pnc_type_get_size(a->type));

    fill_values(a, values, number);
    *bytes = number * (int64_t)pnc_type_get_size(a->type);
    if (!begin_grid(a, grid))
        return values;
    do {
        char path[PATH], *stored;

        make_path(top, a, at, path);
        for (int d = 0; d < a->ndims; d++)
            first[d] = at[d] * a->chunks[d];
        stored = read_file(path, &n);
        if (stored != NULL && a->inner != NULL)
            decode_shard(a, stored, n, first, values);
        else if (stored != NULL)
            decode_chunk(a, stored, n, first, a->chunks, values);
        free(stored);
    } while (step(a->ndims, grid, at));
    return values;
}

static void print_values(const char *top, const char *name)
{
    pnc_zarr_store store;
    int64_t bytes;

    decode(top, &store);
    for (int i = 0; i < store.narrays; i++)
        if (strcmp(store.arrays[i].path, name) == 0) {
            char *values = read_values(top, &store.arrays[i], &bytes);

            fwrite(values, 1, (size_t)bytes, stdout);
            free(values);
        }
}

/* --- write --- */

static void make_parents(char *path)
{
    for (char *c = strchr(path + 1, '/'); c != NULL; c = strchr(c + 1, '/')) {
        *c = '\0';
        (void)mkdir(path, 0777);
        *c = '/';
    }
}

static void write_bytes(const char *path, const void *bytes, int64_t n)
{
    char copy[PATH];
    FILE *file;

    snprintf(copy, sizeof copy, "%s", path);
    make_parents(copy);
    file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, (size_t)n, file) != (size_t)n || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

/* Documents that differ from those that were read; their keys on stdout. */
static void write_documents(const char *top, const pnc_zarr_store *store)
{
    const pnc_zarr_document *out;
    int64_t n;

    require(pnc_zarr_store_encode(pnc_host_json_get(), store, documents, ndocuments, &region, &out, &n, &error));
    for (int64_t i = 0; i < n; i++) {
        char path[PATH];

        snprintf(path, sizeof path, "%s/%s", top, out[i].key);
        printf("%s %s\n", out[i].is_unchanged ? "same" : "new", out[i].key);
        if (!out[i].is_unchanged)
            write_bytes(path, out[i].bytes, out[i].n);
    }
}

static void encode_chunk(const pnc_zarr_array *a, char *values, const int64_t *first, const int64_t *lengths,
                         char **out, int64_t *n)
{
    int64_t bytes = multiply(a->ndims, lengths) * (int64_t)pnc_type_get_size(a->type);
    char *chunk = calloc((size_t)bytes, 1);
    pnc_filter_worker worker;
    const void *stored;
    uint32_t mask;

    move_values(a, first, lengths, chunk, values, false);
    pnc_filter_worker_init(&worker, pnc_host_codecs_get());
    require(pnc_filter_chunk_encode(&worker, &a->filters, chunk, bytes, &stored, n, &mask, &error));
    *out = malloc((size_t)*n);
    memcpy(*out, stored, (size_t)*n);
    pnc_filter_worker_free(&worker);
    free(chunk);
}

/* The first chunk of a shard stays absent. */
static void write_shard(const char *path, const pnc_zarr_array *a, char *values, const int64_t *first)
{
    int64_t number = pnc_zarr_index_count(a), index_bytes = pnc_zarr_index_get_bytes(a), size = 0, i = 0, n;
    pnc_zarr_place *places = calloc((size_t)number, sizeof *places);
    int64_t at[PNC_ZARR_DIMS_MOST] = {0}, inside[PNC_ZARR_DIMS_MOST], grid[PNC_ZARR_DIMS_MOST];
    char *shard = malloc(1 << 20), *chunk;

    if (a->index.is_at_start)
        size = index_bytes;
    for (int d = 0; d < a->ndims; d++)
        grid[d] = a->chunks[d] / a->inner[d];
    do {
        for (int d = 0; d < a->ndims; d++)
            inside[d] = first[d] + at[d] * a->inner[d];
        places[i] = (pnc_zarr_place){-1, 0};
        if (i > 0) {
            encode_chunk(a, values, inside, a->inner, &chunk, &n);
            places[i] = (pnc_zarr_place){size, n};
            memcpy(shard + size, chunk, (size_t)n);
            size += n;
            free(chunk);
        }
        i++;
    } while (step(a->ndims, grid, at));
    pnc_zarr_index_encode(a, places, shard + (a->index.is_at_start ? 0 : size));
    write_bytes(path, shard, size + (a->index.is_at_start ? 0 : index_bytes));
    free(shard);
    free(places);
}

/* Value i of an array is i % 100, in its order of bytes. */
static char *make_values(const pnc_zarr_array *a)
{
    int64_t n = multiply(a->ndims, a->shape), size = (int64_t)pnc_type_get_size(a->type);
    char *values = calloc((size_t)n + 1, (size_t)size);

    for (int64_t i = 0; i < n; i++) {
        float single = (float)(i % 100);
        double wide = (double)(i % 100);
        uint64_t integer = (uint64_t)(i % 100);
        unsigned char bytes[8];

        memcpy(bytes, &integer, sizeof integer);
        if (a->type == NC_FLOAT)
            memcpy(bytes, &single, sizeof single);
        if (a->type == NC_DOUBLE)
            memcpy(bytes, &wide, sizeof wide);
        for (int64_t b = 0; b < size; b++)
            values[i * size + b] = (char)bytes[a->is_big_endian ? size - 1 - b : b];
    }
    return values;
}

static void write_values(const char *top, const pnc_zarr_array *a)
{
    int64_t at[PNC_ZARR_DIMS_MOST] = {0}, grid[PNC_ZARR_DIMS_MOST], first[PNC_ZARR_DIMS_MOST], n;
    char *values = make_values(a), *chunk, path[PATH];

    if (begin_grid(a, grid)) {
        do {
            for (int d = 0; d < a->ndims; d++)
                first[d] = at[d] * a->chunks[d];
            make_path(top, a, at, path);
            if (a->inner != NULL) {
                write_shard(path, a, values, first);
                continue;
            }
            encode_chunk(a, values, first, a->chunks, &chunk, &n);
            write_bytes(path, chunk, n);
            free(chunk);
        } while (step(a->ndims, grid, at));
    }
    free(values);
}

static void put_att(pnc_model *model, int varid, const char *name, int type, int64_t n, const void *value)
{
    require(pnc_format_atts_put(model, pnc_format_atts_get(model, varid), name, type, n, value, &error));
}

/* One of each type, in this order of names. */
static const char *const type_names[] = {"",       "byte",  "char",   "short", "int",   "float",
                                         "double", "ubyte", "ushort", "uint",  "int64", "uint64"};

static void define(pnc_model *model)
{
    static const float third = 1.0f / 3, scale[2] = {0.1f, 1e30f};
    static const double infinite[3] = {1.0 / 3, 1e300, -0.0};
    static const int64_t wide = INT64_C(1) << 40, one = 1;
    static const uint64_t widest = UINT64_MAX;
    int dimids[3];

    pnc_format_model_init_rules(model, NC_FORMAT_64BIT_DATA, &pnc_zarr_rules);
    model->little = PNC_HOST_IS_LITTLE;
    require(pnc_format_dim_add(model, "time", NC_UNLIMITED, &error));
    require(pnc_format_dim_add(model, "unused", 17, &error));
    require(pnc_format_dim_add(model, "y", 6, &error));
    require(pnc_format_dim_add(model, "x", 10, &error));
    pnc_format_dim_grow(model, 0, 5);
    put_att(model, NC_GLOBAL, "title", NC_CHAR, 8, "a \"title");
    put_att(model, NC_GLOBAL, "latin", NC_CHAR, 3, "a\xE9z");
    put_att(model, NC_GLOBAL, "empty", NC_CHAR, 0, "");
    put_att(model, NC_GLOBAL, "no_floats", NC_FLOAT, 0, &third);
    put_att(model, NC_GLOBAL, "third", NC_FLOAT, 1, &third);
    put_att(model, NC_GLOBAL, "scales", NC_FLOAT, 2, scale);
    put_att(model, NC_GLOBAL, "reals", NC_DOUBLE, 3, infinite);
    put_att(model, NC_GLOBAL, "wide", NC_INT64, 1, &wide);
    put_att(model, NC_GLOBAL, "narrow", NC_INT64, 1, &one);
    put_att(model, NC_GLOBAL, "widest", NC_UINT64, 1, &widest);
    for (int type = NC_BYTE; type <= NC_UINT64; type++) {
        unsigned char fill[8];

        for (int i = 0; i < 3; i++)
            dimids[i] = i == 0 ? 0 : i + 1;
        require(pnc_format_var_add(model, type_names[type], type, 3, dimids, &error));
        model->vars[type - 1]->little = type % 2 == 0 ? PNC_HOST_IS_LITTLE : !PNC_HOST_IS_LITTLE;
        memset(fill, 0x42, sizeof fill);
        put_att(model, type - 1, "_FillValue", type, 1, fill);
        put_att(model, type - 1, "units", NC_CHAR, 2, "K1");
    }
    require(pnc_format_var_add(model, "scalar", NC_DOUBLE, 0, dimids, &error));
    require(pnc_format_var_add(model, "x", NC_INT, 1, &(int){3}, &error));
    model->vars[NC_UINT64]->little = model->vars[NC_UINT64 + 1]->little = PNC_HOST_IS_LITTLE;
}

/* Each variable has other filters. */
static pnc_zarr_layout choose_layout(int varid, const pnc_var *var)
{
    static const int64_t shards[3] = {4, 6, 6}, chunks[3] = {2, 3, 6}, along_x[1] = {4};
    static const uint32_t level[] = {1};
    static uint32_t blosc[6][PNC_BLOSC_PARAMETERS], axes[32][PNC_TRANSPOSE_PARAMETERS_MOST];
    static pnc_filter filters[32][3];
    pnc_filter *f = filters[varid];
    uint32_t *p = blosc[varid % 6];
    bool is_sharded = varid % 2 == 1;
    pnc_zarr_layout layout = {.chunks = is_sharded ? shards : chunks, .inner = is_sharded ? chunks : NULL};
    int n = 0;

    if (varid % 5 == 4 && var->ndims == 3)
        f[n++] = (pnc_filter){PNC_FILTER_TRANSPOSE, false,
                              pnc_filter_transpose_set((uint32_t)pnc_type_get_size(var->type), 3, chunks,
                                                       (const int[]){2, 0, 1}, axes[varid]),
                              axes[varid]};
    p[PNC_BLOSC_CODEC] = varid % 6 == 3 ? PNC_BLOSC_LZ4 : (uint32_t)(varid % 6);
    p[PNC_BLOSC_LEVEL] = 5;
    p[PNC_BLOSC_SHUFFLE] = (uint32_t)(varid % 3);
    p[PNC_BLOSC_TYPE_SIZE] = (uint32_t)pnc_type_get_size(var->type);
    if (varid % 4 == 1)
        f[n++] = (pnc_filter){PNC_FILTER_GZIP, false, 1, level};
    else if (varid % 4 == 2)
        f[n++] = (pnc_filter){PNC_FILTER_ZSTD, false, 1, level};
    else if (varid % 4 == 3)
        f[n++] = (pnc_filter){PNC_FILTER_ZARR_BLOSC, false, PNC_BLOSC_PARAMETERS, p};
    if (varid % 3 == 0)
        f[n++] = (pnc_filter){PNC_FILTER_CRC32C, false, 0, NULL};
    layout.index = (pnc_zarr_index){.is_at_start = varid % 4 == 3, .has_sum = true};
    layout.filters = (pnc_filter_chain){n, f};
    if (var->ndims == 1) {
        layout.chunks = along_x;
        layout.inner = NULL;
    }
    if (var->ndims == 0)
        layout.inner = NULL;
    return layout;
}

static void write_store(const char *top)
{
    pnc_model model;
    pnc_zarr_layout layouts[32];
    pnc_zarr_store store;

    define(&model);
    for (int i = 0; i < model.nvars; i++)
        layouts[i] = choose_layout(i, model.vars[i]);
    require(pnc_zarr_store_make(&model, layouts, &region, &store, &error));
    write_documents(top, &store);
    for (int i = 0; i < store.narrays; i++)
        write_values(top, &store.arrays[i]);
    pnc_format_model_free(&model);
}

static void write_again(const char *top)
{
    pnc_zarr_layout *layouts;
    pnc_zarr_store store, made;
    pnc_model model = {0};

    decode(top, &store);
    require(pnc_zarr_model_make(&store, NC_FORMAT_64BIT_DATA, PNC_ZARR_GROUPS_LISTED, &model, &error));
    layouts = calloc((size_t)store.narrays + 1, sizeof *layouts);
    for (int i = 0; i < store.narrays; i++)
        layouts[i].existing = &store.arrays[i];
    require(pnc_zarr_store_make(&model, layouts, &region, &made, &error));
    write_documents(top, &made);
    pnc_format_model_free(&model);
    free(layouts);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "print") == 0)
        print_store(argv[2]);
    else if (argc == 4 && strcmp(argv[1], "values") == 0)
        print_values(argv[2], argv[3]);
    else if (argc == 3 && strcmp(argv[1], "write") == 0)
        write_store(argv[2]);
    else if (argc == 3 && strcmp(argv[1], "again") == 0)
        write_again(argv[2]);
    else
        return 2;
    pnc_region_free(&region);
    return 0;
}
