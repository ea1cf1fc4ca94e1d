/* Writes netCDF-4 files by the metadata functions alone, as a script from stdin says, for test_netcdf4_define.py. One
 * command a line:
 *
 * create PATH VERSION | open PATH | close
 * dim NAME LENGTH | var NAME TYPE DIMID.. | storage VARID LAYOUT CHUNK.. | filter VARID ID OPTIONAL PARAMETER..
 * endian VARID BIG | att VARID NAME TYPE HEX | rename_att VARID NAME NAME | delete_att VARID NAME
 * rename_dim DIMID NAME | rename_var VARID NAME | length DIMID LENGTH
 * define | extend VARID | chunk VARID MASK HEX INDEX.. | values VARID HEX | chunks VARID FIRST N HEX | commit
 * find VARID INDEX.. | pending | end | show
 *
 * chunks are encoded by the filters of the variable, and put behind what is allocated. "chunks" writes N of them along
 * the first dimension. An error is printed as "error NAME TEXT"; the program goes on. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "drivers/driver.h"
#include "file/file.h"
#include "format/storage.h"
#include "formats/netcdf4/metadata.h"
#include "host/codecs.h"

enum { WORDS = 80, VARS = 4096, LONGEST = 1 << 20 };

static const pnc_rules rules = {.name = "netCDF-4",
                                .last_type = NC_UINT64,
                                .most_dim_length = INT64_MAX,
                                .most_att_length = INT64_MAX / 16,
                                .most_var_dims = 32};

static pnc_error error;
static pnc_file file;
static pnc_netcdf4_metadata *metadata;
static pnc_model before, now;
static bool has_before;
static pnc_region region;
static const char *paths[VARS];
static pnc_filter_chain chains[VARS]; /* of variables that were found in the file */
static int64_t next;                  /* address of the next chunk */
static pnc_filter_worker worker;
static pnc_netcdf4_writer description;

static int report(int err)
{
    if (err != NC_NOERR)
        printf("error %s %s\n", pnc_error_get_name(err), error.text);
    pnc_error_clear(&error);
    return err;
}

static int64_t number_of(const char *word)
{
    return strtoll(word, NULL, 10);
}

/* The bytes of a word, "-" for none; at most n of them. */
static int64_t decode_hex(const char *word, unsigned char *out)
{
    int64_t n = 0;
    unsigned byte;

    for (; word[0] != '-' && word[0] != '\0'; word += 2) {
        if (sscanf(word, "%2x", &byte) != 1)
            exit(2);
        out[n++] = (unsigned char)byte;
    }
    return n;
}

static void *decode(const char *word, int64_t *n)
{
    unsigned char *bytes = malloc(strlen(word) / 2 + 1);

    if (bytes == NULL)
        exit(2);
    *n = decode_hex(word, bytes);
    return bytes;
}

/* --- files --- */

static int open_store(const char *path, pnc_open_purpose purpose)
{
    pnc_open_call call = {.comm = MPI_COMM_SELF, .path = path, .purpose = purpose, .info = MPI_INFO_NULL};

    file = (pnc_file){.path = strdup(path), .comm = MPI_COMM_SELF, .nprocs = 1, .error = &error};
    file.driver = pnc_driver_get(pnc_driver_find("mpiio"), NULL);
    return pnc_driver_file_open(file.driver, call, &file.store, &error);
}

/* What is defined is what the file has. */
static void keep_before(void)
{
    if (has_before)
        pnc_format_model_free(&before);
    if (pnc_format_model_copy(&before, &now) != NC_NOERR)
        exit(2);
    has_before = true;
}

static int load_definitions(int64_t size)
{
    pnc_netcdf4_storage *storage;
    int err;

    description = (pnc_netcdf4_writer){0};
    PNC_TRY(pnc_netcdf4_metadata_describe(metadata, PNC_NETCDF4_ROOT, 0, &description));
    err = pnc_netcdf4_description_decode(description.bytes, description.n, size, &now, &region, &storage, &error);
    for (int v = 0; err == NC_NOERR && v < now.nvars; v++) {
        paths[v] = storage[v].path;
        chains[v] = storage[v].filters;
    }
    now.rules = &rules;
    if (err == NC_NOERR)
        keep_before();
    return err;
}

static int open_file(const char *path)
{
    int64_t size;

    PNC_TRY(open_store(path, PNC_OPEN_UPDATE));
    PNC_TRY(pnc_file_get_size(&file, &size));
    PNC_TRY(pnc_netcdf4_metadata_open(&file, size, true, &metadata));
    next = pnc_netcdf4_metadata_get_end(metadata);
    return load_definitions(size);
}

static int create_file(const char *path, int version)
{
    PNC_TRY(open_store(path, PNC_OPEN_REPLACE));
    pnc_format_model_init_rules(&now, version, &rules);
    now.little = PNC_HOST_IS_LITTLE;
    return pnc_netcdf4_metadata_create(&file, version, &metadata);
}

static int close_file(void)
{
    int err;

    pnc_netcdf4_metadata_close(metadata);
    metadata = NULL;
    err = file.store->ops->close(file.store, &error);
    free(file.path);
    pnc_format_model_free(&now);
    if (has_before)
        pnc_format_model_free(&before);
    has_before = false;
    pnc_region_free(&region);
    pnc_memory_free(description.bytes);
    description.bytes = NULL;
    return err;
}

/* --- definitions --- */

static int define_var(char **words, int n)
{
    int dimids[WORDS], err;

    for (int i = 3; i < n; i++)
        dimids[i - 3] = (int)number_of(words[i]);
    err = pnc_format_var_add(&now, words[1], (int)number_of(words[2]), n - 3, dimids, &error);
    if (err != NC_NOERR)
        return err;
    now.vars[now.nvars - 1]->little = PNC_HOST_IS_LITTLE;
    return pnc_format_storage_add(&now, now.vars[now.nvars - 1], &error);
}

static int set_storage(char **words, int n)
{
    int64_t chunks[WORDS];

    for (int i = 3; i < n; i++)
        chunks[i - 3] = number_of(words[i]);
    return pnc_format_storage_set_layout(&now, now.vars[number_of(words[1])], (int)number_of(words[2]),
                                         n > 3 ? chunks : NULL, &error);
}

static int set_filter(char **words, int n)
{
    uint32_t parameters[WORDS];
    pnc_filter filter = {(int)number_of(words[2]), number_of(words[3]) != 0, n - 4, parameters};

    for (int i = 4; i < n; i++)
        parameters[i - 4] = (uint32_t)number_of(words[i]);
    return pnc_format_storage_set_filter(&now, now.vars[number_of(words[1])], &filter, &error);
}

static int set_endian(char **words)
{
    pnc_var *var = now.vars[number_of(words[1])];

    var->little = number_of(words[2]) == 0;
    return pnc_format_storage_set_endian(var, var->little ? NC_ENDIAN_LITTLE : NC_ENDIAN_BIG, &error);
}

static pnc_atts *atts_of(const char *word)
{
    return pnc_format_atts_get(&now, (int)number_of(word));
}

static int put_att(char **words)
{
    int type = (int)number_of(words[3]), err;
    int64_t n;
    void *bytes = decode(words[4], &n);

    err = pnc_format_atts_put(&now, atts_of(words[1]), words[2], type, n / (int64_t)pnc_type_get_size(type), bytes,
                              &error);
    free(bytes);
    return err;
}

static int define(void)
{
    PNC_TRY(pnc_netcdf4_metadata_define(metadata, has_before ? &before : NULL, &now, &region, paths));
    keep_before();
    for (int v = 0; v < now.nvars; v++)
        printf("path %d %s\n", v, paths[v]);
    return NC_NOERR;
}

/* --- values --- */

/* Shuffle has the size of an element as its parameter in the file. No chunk leaves out deflate: where it is written
 * again with the same length, HDF5 1.10 does not note that it has the filter now. */
static pnc_filter_chain get_chain(int varid, pnc_filter *filters, uint32_t *size)
{
    const pnc_storage *storage = now.vars[varid]->storage;
    int n = storage != NULL ? storage->nfilters : chains[varid].nfilters;

    *size = (uint32_t)pnc_type_get_size(now.vars[varid]->type);
    for (int i = 0; i < n; i++) {
        filters[i] = storage != NULL ? storage->filters[i] : chains[varid].filters[i];
        filters[i].is_optional = false;
        if (filters[i].id == PNC_FILTER_SHUFFLE)
            filters[i] = (pnc_filter){PNC_FILTER_SHUFFLE, true, 1, size};
    }
    return (pnc_filter_chain){n, filters};
}

/* n of them along the first dimension, in one call. */
static int write_chunks(int varid, uint32_t left_out, const void *bytes, int64_t nbytes, const int64_t *index,
                        int64_t n, int64_t step)
{
    pnc_filter filters[PNC_FILTER_MOST];
    uint32_t size, mask = 0;
    pnc_filter_chain chain = get_chain(varid, filters, &size);
    const void *stored = bytes;
    int64_t stored_bytes = nbytes, *indices;
    int ndims = now.vars[varid]->ndims, err = NC_NOERR;
    pnc_chunk_place *places;
    bool moves = false;

    if (left_out != 0)
        mask = left_out;
    else
        PNC_TRY(pnc_filter_chunk_encode(&worker, &chain, bytes, nbytes, &stored, &stored_bytes, &mask, &error));
    next = pnc_max64(next, pnc_netcdf4_metadata_get_end(metadata));
    places = malloc((size_t)n * sizeof *places);
    indices = malloc((size_t)(n * ndims) * sizeof *indices);
    if (places == NULL || indices == NULL)
        exit(2);
    for (int64_t i = 0; i < n && err == NC_NOERR; i++) {
        places[i] = (pnc_chunk_place){next, stored_bytes, mask};
        memcpy(indices + i * ndims, index, (size_t)ndims * sizeof *indices);
        indices[i * ndims] += i * step;
        err = pnc_file_range_write(&file, (pnc_extent){next, stored_bytes}, stored);
        next += stored_bytes;
    }
    pnc_netcdf4_metadata_raise_end(metadata, next);
    if (err == NC_NOERR)
        err = pnc_netcdf4_metadata_register(metadata, paths[varid], ndims, indices, places, n, &moves);
    free(places);
    free(indices);
    return err;
}

static int write_chunk(char **words, int n)
{
    int64_t index[WORDS], nbytes;
    void *bytes = decode(words[3], &nbytes);
    int err;

    for (int i = 4; i < n; i++)
        index[i - 4] = number_of(words[i]);
    err = write_chunks((int)number_of(words[1]), (uint32_t)number_of(words[2]), bytes, nbytes, index, 1, 0);
    free(bytes);
    return err;
}

static int write_many(char **words)
{
    int varid = (int)number_of(words[1]), err;
    int64_t index[WORDS] = {0}, nbytes, step = now.vars[varid]->storage->chunks[0];
    void *bytes = decode(words[4], &nbytes);
    double begin = MPI_Wtime();

    index[0] = number_of(words[2]) * step;
    err = write_chunks(varid, 0, bytes, nbytes, index, number_of(words[3]), step);
    printf("seconds %.6f\n", MPI_Wtime() - begin);
    free(bytes);
    return err;
}

static int write_values(char **words)
{
    int varid = (int)number_of(words[1]), err;
    int64_t n, address;
    void *bytes = decode(words[2], &n);

    err = pnc_netcdf4_metadata_alloc_values(metadata, paths[varid], &address);
    if (err == NC_NOERR && address >= 0)
        err = pnc_file_range_write(&file, (pnc_extent){address, n}, bytes);
    else if (err == NC_NOERR)
        err = pnc_netcdf4_metadata_write_compact(metadata, paths[varid], bytes, n);
    free(bytes);
    return err;
}

static int extend(int varid)
{
    int64_t lengths[WORDS];

    for (int d = 0; d < now.vars[varid]->ndims; d++)
        lengths[d] = pnc_format_var_get_length(&now, now.vars[varid], d);
    return pnc_netcdf4_metadata_extend(metadata, paths[varid], now.vars[varid]->ndims, lengths);
}

static int find(char **words, int n)
{
    pnc_chunk_place place;
    int64_t index[WORDS];

    for (int i = 2; i < n; i++)
        index[i - 2] = number_of(words[i]);
    PNC_TRY(pnc_netcdf4_metadata_find_chunk(metadata, paths[number_of(words[1])], index, n - 2, &place));
    printf("place %lld %lld %lld\n", (long long)place.offset, (long long)place.bytes, (long long)place.mask);
    return NC_NOERR;
}

static int commit(void)
{
    pnc_redo redo;
    int err;

    PNC_TRY(pnc_netcdf4_metadata_list(metadata, &redo));
    err = pnc_netcdf4_redo_begin(&redo, &file);
    if (err == NC_NOERR)
        err = pnc_netcdf4_mark_write(&redo, &file);
    if (err == NC_NOERR)
        err = pnc_netcdf4_redo_write(&redo, &file);
    if (err == NC_NOERR)
        err = pnc_netcdf4_redo_finish(&redo, &file);
    pnc_netcdf4_redo_free(&redo);
    PNC_TRY(err);
    next = pnc_netcdf4_metadata_get_end(metadata);
    PNC_TRY(pnc_netcdf4_metadata_discard_writes(metadata));
    file.store->end->least_size = 0; /* the log is behind the end */
    return file.store->ops->set_size(file.store, next, &error);
}

/* --- the script --- */

static int rename_att(char **words)
{
    pnc_atts *atts = atts_of(words[1]);

    return pnc_format_atts_rename(&now, atts, pnc_format_atts_find(atts, words[2]), words[3], &error);
}

static int run_definition(char **words, int n)
{
    const char *what = words[0];

    if (strcmp(what, "dim") == 0)
        return pnc_format_dim_add(&now, words[1], number_of(words[2]), &error);
    if (strcmp(what, "var") == 0)
        return define_var(words, n);
    if (strcmp(what, "storage") == 0)
        return set_storage(words, n);
    if (strcmp(what, "filter") == 0)
        return set_filter(words, n);
    if (strcmp(what, "endian") == 0)
        return set_endian(words);
    if (strcmp(what, "att") == 0)
        return put_att(words);
    if (strcmp(what, "rename_att") == 0)
        return rename_att(words);
    if (strcmp(what, "delete_att") == 0)
        return pnc_format_atts_delete(atts_of(words[1]), pnc_format_atts_find(atts_of(words[1]), words[2]));
    if (strcmp(what, "rename_dim") == 0)
        return pnc_format_dim_rename(&now, (int)number_of(words[1]), words[2], &error);
    if (strcmp(what, "rename_var") == 0)
        return pnc_format_var_rename(&now, (int)number_of(words[1]), words[2], &error);
    if (strcmp(what, "length") == 0)
        return pnc_format_dim_grow(&now, (int)number_of(words[1]), number_of(words[2])) ? NC_NOERR : NC_EINVAL;
    exit(2);
}

static int show(void)
{
    for (int d = 0; d < now.ndims; d++)
        printf("dim %s %lld %d\n", now.dims[d]->name, (long long)pnc_format_dim_get_length(&now, d),
               now.dims[d]->unlimited);
    for (int v = 0; v < now.nvars; v++) {
        printf("var %s %d", now.vars[v]->name, now.vars[v]->type);
        for (int k = 0; k < now.vars[v]->ndims; k++)
            printf(" %d", now.vars[v]->dimids[k]);
        for (int i = 0; i < now.vars[v]->atts.n; i++)
            printf(" %s", now.vars[v]->atts.at[i]->name);
        printf("\n");
    }
    return NC_NOERR;
}

static int run_command(char **words, int n)
{
    const char *what = words[0];

    if (strcmp(what, "create") == 0)
        return create_file(words[1], (int)number_of(words[2]));
    if (strcmp(what, "open") == 0)
        return open_file(words[1]);
    if (strcmp(what, "close") == 0)
        return close_file();
    if (strcmp(what, "define") == 0)
        return define();
    if (strcmp(what, "extend") == 0)
        return extend((int)number_of(words[1]));
    if (strcmp(what, "chunk") == 0)
        return write_chunk(words, n);
    if (strcmp(what, "chunks") == 0)
        return write_many(words);
    if (strcmp(what, "values") == 0)
        return write_values(words);
    if (strcmp(what, "find") == 0)
        return find(words, n);
    if (strcmp(what, "commit") == 0)
        return commit();
    if (strcmp(what, "show") == 0)
        return show();
    if (strcmp(what, "pending") == 0)
        return printf("pending %lld\n", (long long)pnc_netcdf4_metadata_get_pending_bytes(metadata)) > 0 ? 0 : 1;
    if (strcmp(what, "end") == 0)
        return printf("end %lld\n", (long long)pnc_netcdf4_metadata_get_end(metadata)) > 0 ? 0 : 1;
    return run_definition(words, n);
}

int main(int argc, char **argv)
{
    char *line = malloc(LONGEST), *words[WORDS];

    MPI_Init(&argc, &argv);
    pnc_filter_worker_init(&worker, pnc_host_codecs_get());
    while (line != NULL && fgets(line, LONGEST, stdin) != NULL) {
        int n = 0;

        for (char *word = strtok(line, " \n"); word != NULL && n < WORDS; word = strtok(NULL, " \n"))
            words[n++] = word;
        if (n > 0)
            report(run_command(words, n));
        fflush(stdout);
    }
    pnc_filter_worker_free(&worker);
    free(line);
    MPI_Finalize();
    return 0;
}
