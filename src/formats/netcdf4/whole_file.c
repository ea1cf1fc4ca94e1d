/* The steps: definitions for libhdf5, values, lengths and places of chunks, and at last the metadata. */
#include "formats/netcdf4/whole_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "array/walk.h"
#include "base/memory.h"
#include "base/minmax.h"
#include "format/storage.h"
#include "format/strings.h"
#include "formats/arrays.h"
#include "formats/netcdf4/descriptor.h"
#include "formats/netcdf4/netcdf4.h"
#include "formats/netcdf4/plugins.h"

#define PORTION_BYTES (INT64_C(1) << 20) /* of contiguous values */
enum { BATCH_CHUNKS = 4096 };            /* that are registered at once: 192 KiB for three dimensions */

typedef struct whole_file {
    const pnc_netcdf4_whole *from;
    pnc_file file;
    pnc_netcdf4_descriptor store;
    char *path; /* a copy */
    pnc_model model;
    pnc_netcdf4_metadata *metadata;
    pnc_region region; /* of paths and filters */
    const char **paths;
    pnc_codecs codecs;
    pnc_filter_worker worker;
} whole_file;

/* A variable while its chunks are written. */
typedef struct chunk_writer {
    int varid, ndims;
    const pnc_var *var;
    int64_t length[PNC_STORAGE_DIMS_MOST]; /* of its dimensions */
    int64_t along[PNC_ARRAY_DIMS];
    pnc_array_grid grid;
    int64_t nchunks;
    int64_t size, bytes; /* of an element, of a chunk */
    pnc_filter_chain filters;
    char *values, *chunk; /* what the variable has of a chunk; the chunk */
    int64_t *indices;     /* BATCH_CHUNKS of them, and their places */
    pnc_chunk_place *places;
    int64_t n, end; /* chunks in the batch; where the next one is written */
} chunk_writer;

static int lack_whole_memory(const whole_file *w)
{
    return pnc_error_set(w->file.error, NC_ENOMEM, "%s: no memory to write a netCDF-4 file", w->path);
}

/* --- the model --- */

static void reverse_elements(char *bytes, int64_t n, int64_t size)
{
    for (char *end = bytes + n * size; bytes < end; bytes += size)
        for (int64_t i = 0; i < size / 2; i++) {
            char byte = bytes[i];

            bytes[i] = bytes[size - 1 - i];
            bytes[size - 1 - i] = byte;
        }
}

static int check_whole_fill(const whole_file *w, const pnc_var *var, const pnc_att *att)
{
    if (strcmp(att->name, "_FillValue") != 0 || (att->type == var->type && att->len == 1))
        return NC_NOERR;
    return pnc_error_set(w->file.error, NC_EBADTYPE,
                         "%s: _FillValue of variable \"%s\" must be one value of type %s in a netCDF-4 file", w->path,
                         var->name, pnc_type_get_name(var->type));
}

static int copy_att(whole_file *w, pnc_atts *to, const pnc_att *att)
{
    int64_t size = pnc_type_get_size(att->type);
    char *value = pnc_memory_alloc(att->len * size, 1);
    int err;

    if (value == NULL)
        return lack_whole_memory(w);
    if (att->len > 0)
        memcpy(value, att->value, (size_t)(att->len * size));
    if (PNC_HOST_IS_LITTLE)
        reverse_elements(value, att->len, size);
    if (att->strings.lengths != NULL && pnc_format_model_get_rules(&w->model)->is_enhanced)
        err = pnc_format_atts_put_strings(&w->model, to, att->name, &att->strings, value, w->file.error);
    else
        err = pnc_format_atts_put(&w->model, to, att->name, att->type, att->len, value, w->file.error);
    pnc_memory_free(value);
    return err;
}

static int copy_whole_var(whole_file *w, const pnc_var *from)
{
    pnc_var *var;

    PNC_TRY(pnc_format_var_add(&w->model, from->name, from->type, from->ndims, from->dimids, w->file.error));
    var = w->model.vars[w->model.nvars - 1];
    if (from->storage == NULL)
        PNC_TRY(pnc_format_storage_add(&w->model, var, w->file.error));
    else if (pnc_format_storage_copy(&w->model, var, from) != NC_NOERR)
        return lack_whole_memory(w);
    if (var->type != NC_CHAR)
        PNC_TRY(pnc_format_storage_set_endian(var, var->storage->endian, w->file.error));
    for (int i = 0; i < from->atts.n; i++) {
        PNC_TRY(check_whole_fill(w, var, from->atts.at[i]));
        PNC_TRY(copy_att(w, &var->atts, from->atts.at[i]));
    }
    return NC_NOERR;
}

static int make_model(whole_file *w)
{
    const pnc_model *from = w->from->model;

    pnc_format_model_init_rules(&w->model, from->format, pnc_netcdf4_rules_get(from->format));
    w->model.little = PNC_HOST_IS_LITTLE;
    for (int i = 0; i < from->ndims; i++)
        PNC_TRY(pnc_format_dim_add(&w->model, from->dims[i]->name, from->dims[i]->len, w->file.error));
    w->model.numrecs = from->numrecs;
    for (int i = 0; i < from->nvars; i++)
        PNC_TRY(copy_whole_var(w, from->vars[i]));
    for (int i = 0; i < from->gatts.n; i++)
        PNC_TRY(copy_att(w, &w->model.gatts, from->gatts.at[i]));
    return pnc_formats_chunks_choose(&w->model, 0, w->file.error);
}

/* --- values --- */

/* Values in the byte order of the variable. */
static int get_values(whole_file *w, int varid, const int64_t *start, const int64_t *count, char *values)
{
    const pnc_var *var = w->model.vars[varid];

    PNC_TRY(w->from->read(w->from->with, varid, start, count, values, w->file.error));
    if (var->little)
        reverse_elements(values, pnc_array_elements_count(var->ndims, count), pnc_type_get_size(var->type));
    return NC_NOERR;
}

/* The most that follows `start` in row-major order, and has at most `most` elements: along one dimension, with all of
 * those behind it. */
static void choose_portion(const pnc_var *var, const int64_t *start, int64_t most, int64_t *count)
{
    bool is_whole = true; /* so far, from the last dimension on */

    for (int d = var->ndims - 1; d >= 0; d--) {
        count[d] = is_whole ? pnc_max64(pnc_min64(var->shape[d] - start[d], most), 1) : 1;
        is_whole = is_whole && count[d] == var->shape[d];
        most /= count[d];
    }
}

/* Move start behind what was taken; false at the end. */
static bool skip_portion(const pnc_var *var, const int64_t *count, int64_t *start)
{
    int d = var->ndims - 1;

    while (d >= 0 && count[d] == var->shape[d])
        d--;
    for (; d >= 0; d--) {
        start[d] += count[d];
        if (start[d] < var->shape[d])
            return true;
        start[d] = 0;
    }
    return false;
}

static int write_contiguous(whole_file *w, int varid)
{
    const pnc_var *var = w->model.vars[varid];
    int64_t start[PNC_STORAGE_DIMS_MOST] = {0}, count[PNC_STORAGE_DIMS_MOST];
    int64_t size = pnc_type_get_size(var->type), at, bytes;
    char *values = pnc_memory_alloc(pnc_min64(var->size, PORTION_BYTES), 1);
    int err = values == NULL ? lack_whole_memory(w) : NC_NOERR;

    if (err == NC_NOERR)
        err = pnc_netcdf4_metadata_get_address(w->metadata, w->paths[varid], &at);
    while (err == NC_NOERR) {
        choose_portion(var, start, PORTION_BYTES / size, count);
        bytes = pnc_array_elements_count(var->ndims, count) * size;
        err = get_values(w, varid, start, count, values);
        if (err == NC_NOERR)
            err = pnc_file_range_write(&w->file, (pnc_extent){at, bytes}, values);
        at += bytes;
        if (!skip_portion(var, count, start))
            break;
    }
    pnc_memory_free(values);
    return err;
}

/* HDF5 has at most 64 KiB of such a variable, which creating it has checked. */
static int write_compact(whole_file *w, int varid)
{
    const pnc_var *var = w->model.vars[varid];
    const int64_t start[PNC_STORAGE_DIMS_MOST] = {0};
    char *values = pnc_memory_alloc(var->size, 1);
    int err = values == NULL ? lack_whole_memory(w) : NC_NOERR;

    if (err == NC_NOERR)
        err = get_values(w, varid, start, var->shape, values);
    if (err == NC_NOERR)
        err = pnc_netcdf4_metadata_write_compact(w->metadata, w->paths[varid], values, var->size);
    pnc_memory_free(values);
    return err;
}

/* --- chunks --- */

/* Copy values to the begin of a chunk; the rest has fill values. */
static void place_values(const whole_file *w, chunk_writer *c, const int64_t *count)
{
    static const int64_t begin[PNC_ARRAY_DIMS];
    const pnc_array_slab slab = {.start = begin, .count = count};
    pnc_packed_values packed = {c->values, (int)c->size};
    const pnc_chunk_values values = pnc_chunks_packed_get_values(&packed);
    pnc_array_walk walk;
    pnc_box box;
    char fill[8];

    pnc_format_var_get_fill_value(&w->model, c->var, fill);
    for (int64_t at = 0; at < c->bytes; at += c->size)
        memcpy(c->chunk + at, fill, (size_t)c->size);
    pnc_array_walk_init(&walk, &c->grid, &slab);
    (void)pnc_array_walk_next(&walk, &box);
    pnc_chunks_values_scatter(&box, &values, packed.size, (unsigned char *)c->chunk);
}

static int register_batch_of(whole_file *w, chunk_writer *c)
{
    if (c->n == 0)
        return NC_NOERR;
    pnc_netcdf4_metadata_raise_end(w->metadata, c->end);
    PNC_TRY(pnc_netcdf4_metadata_register(w->metadata, w->paths[c->varid], c->ndims, c->indices, c->places, c->n,
                                          &(bool){false})); /* nothing is freed in a new file */
    c->n = 0;
    c->end = pnc_netcdf4_metadata_get_end(w->metadata);
    return NC_NOERR;
}

static int write_chunk_at(whole_file *w, chunk_writer *c, const int64_t *start)
{
    const int64_t *chunk = c->var->storage->chunks;
    int64_t count[PNC_STORAGE_DIMS_MOST], stored_bytes;
    const char *values = c->values;
    const void *stored;
    uint32_t mask;

    for (int d = 0; d < c->ndims; d++)
        count[d] = pnc_min64(chunk[d], c->length[d] - start[d]);
    PNC_TRY(get_values(w, c->varid, start, count, c->values));
    if (pnc_array_elements_count(c->ndims, count) * c->size < c->bytes) {
        place_values(w, c, count);
        values = c->chunk;
    }
    PNC_TRY(pnc_filter_chunk_encode(&w->worker, &c->filters, values, c->bytes, &stored, &stored_bytes, &mask,
                                    w->file.error));
    PNC_TRY(pnc_file_range_write(&w->file, (pnc_extent){c->end, stored_bytes}, stored));
    memcpy(c->indices + c->n * c->ndims, start, (size_t)c->ndims * sizeof *start);
    c->places[c->n++] = (pnc_chunk_place){.offset = c->end, .bytes = stored_bytes, .mask = (int64_t)mask};
    c->end += stored_bytes;
    return c->n == BATCH_CHUNKS ? register_batch_of(w, c) : NC_NOERR;
}

static int write_each_chunk(whole_file *w, chunk_writer *c)
{
    int64_t start[PNC_ARRAY_DIMS];

    for (int64_t i = 0; i < c->nchunks; i++) {
        pnc_array_index_find(&c->grid, i, start);
        PNC_TRY(write_chunk_at(w, c, start));
    }
    return register_batch_of(w, c);
}

static int begin_chunks(whole_file *w, int varid, chunk_writer *c)
{
    const pnc_var *var = w->model.vars[varid];

    *c = (chunk_writer){.varid = varid, .ndims = var->ndims, .var = var, .size = pnc_type_get_size(var->type)};
    for (int d = 0; d < var->ndims; d++)
        c->length[d] = pnc_format_var_get_length(&w->model, var, d);
    c->grid = (pnc_array_grid){c->ndims, var->storage->chunks, c->along};
    c->nchunks = pnc_array_chunks_count(c->ndims, c->length, var->storage->chunks, c->along);
    c->bytes = pnc_array_elements_count(var->ndims, var->storage->chunks) * c->size;
    c->values = pnc_memory_alloc(c->bytes, 1);
    c->chunk = pnc_memory_alloc(c->bytes, 1);
    c->indices = pnc_memory_alloc(BATCH_CHUNKS * (int64_t)var->ndims, sizeof *c->indices);
    c->places = pnc_memory_alloc(BATCH_CHUNKS, sizeof *c->places);
    if (c->values == NULL || c->chunk == NULL || c->indices == NULL || c->places == NULL)
        return lack_whole_memory(w);
    c->end = pnc_netcdf4_metadata_get_end(w->metadata);
    if (var->storage->nfilters == 0)
        return NC_NOERR;
    return pnc_netcdf4_metadata_read_filters(w->metadata, w->paths[varid], &w->region, &c->filters);
}

static int write_chunked(whole_file *w, int varid)
{
    chunk_writer c;
    int err = begin_chunks(w, varid, &c);

    if (err == NC_NOERR)
        err = write_each_chunk(w, &c);
    if (err != NC_NOERR)
        pnc_error_add_context(w->file.error, "variable \"%s\"", c.var->name);
    pnc_memory_free(c.values);
    pnc_memory_free(c.chunk);
    pnc_memory_free(c.indices);
    pnc_memory_free(c.places);
    return err;
}

static int write_var(whole_file *w, int varid)
{
    switch (w->model.vars[varid]->storage->layout) {
    case NC_CHUNKED: return w->from->is_written(w->from->with, varid) ? write_chunked(w, varid) : NC_NOERR;
    case NC_COMPACT: return write_compact(w, varid);
    default: return write_contiguous(w, varid);
    }
}

/* --- the file --- */

static int commit_metadata(whole_file *w)
{
    pnc_redo redo;
    int err;

    PNC_TRY(pnc_netcdf4_metadata_list(w->metadata, &redo));
    if (ftruncate(w->from->fd, (off_t)pnc_netcdf4_metadata_get_end(w->metadata)) != 0)
        err = pnc_error_set(w->file.error, errno == ENOSPC ? NC_ENO_SPACE : NC_EWRITE, "%s: cannot be written: %s",
                            w->path, strerror(errno));
    else
        err = pnc_netcdf4_redo_write(&redo, &w->file);
    if (err == NC_NOERR)
        err = pnc_netcdf4_redo_finish(&redo, &w->file);
    pnc_netcdf4_redo_free(&redo);
    return err;
}

static int write_all(whole_file *w)
{
    PNC_TRY(make_model(w));
    PNC_TRY(pnc_netcdf4_metadata_create(&w->file, w->model.format, &w->metadata));
    w->paths = pnc_memory_alloc_zeroed((int64_t)w->model.nvars + 1, sizeof *w->paths);
    if (w->paths == NULL)
        return lack_whole_memory(w);
    PNC_TRY(pnc_netcdf4_metadata_define(w->metadata, NULL, &w->model, &w->region, w->paths));
    for (int i = 0; i < w->model.nvars; i++)
        PNC_TRY(write_var(w, i));
    return commit_metadata(w);
}

static int check_att_names(const pnc_model *model, pnc_error *error)
{
    const pnc_rules *rules = pnc_netcdf4_rules_get(model->format);

    for (int v = NC_GLOBAL; v < model->nvars; v++) {
        const pnc_atts *atts = pnc_format_atts_get(model, v);

        for (int i = 0; i < atts->n; i++)
            PNC_TRY(pnc_format_att_name_check(rules, atts->at[i]->name, error));
    }
    return NC_NOERR;
}

int pnc_netcdf4_whole_write(const pnc_netcdf4_whole *whole, pnc_error *error)
{
    whole_file w = {.from = whole};
    int err;

    PNC_TRY(check_att_names(whole->model, error));
    w.path = pnc_string_copy(whole->path);
    if (w.path == NULL)
        return pnc_error_set(error, NC_ENOMEM, "%s: no memory for its name", whole->path);
    pnc_netcdf4_descriptor_init(&w.store, &w.file, whole->fd, w.path, error);
    w.codecs = pnc_netcdf4_codecs_get();
    pnc_filter_worker_init(&w.worker, &w.codecs);
    err = write_all(&w);
    pnc_netcdf4_metadata_close(w.metadata);
    pnc_filter_worker_free(&w.worker);
    pnc_format_model_free(&w.model);
    pnc_region_free(&w.region);
    pnc_memory_free(w.paths);
    pnc_memory_free(w.path);
    return err;
}
