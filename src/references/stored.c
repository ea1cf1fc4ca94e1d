/* References to the chunks of files that have readers, which have the filters of numcodecs. Where a reader of Zarr
 * would not find the bytes that it expects, they are within the references: values that are compact in the metadata,
 * and chunks that were stored without one of the filters. */
#include <inttypes.h>
#include <string.h>

#include "array/walk.h"
#include "base/memory.h"
#include "base/minmax.h"
#include "format/storage.h"
#include "host/codecs.h"
#include "references/chunks.h"
#include "references/json.h"
#include "references/references.h"
#include "references/stored_var.h"
#include "references/zarr.h"

/* A variable in the files so far. */
typedef struct listed_var {
    bool is_listed, has_gaps; /* has_gaps: some values need a fill value that is not declared */
    bool is_short;            /* some of these are beyond the extent of the dataset */
    unsigned char *values;    /* that will be within the references */
    int64_t nbytes, capacity;
} listed_var;

struct pnc_stored_references {
    pnc_references *all;
    pnc_reader *first;
    listed_var *listed;       /* of the model of the first file */
    pnc_filter_worker worker; /* that encodes chunks */
};

/* --- chunks --- */

static void write_within(FILE *out, const void *bytes, int64_t n)
{
    fputs("\": ", out);
    pnc_references_base64_write(out, bytes, n);
}

int pnc_references_chunk_encode(pnc_references_var *r, const void *values, int64_t bytes, const void **stored,
                                int64_t *n)
{
    const pnc_filter_chain chain = {r->storage->array.filters.nfilters, r->filters};
    uint32_t mask;
    int err = pnc_filter_chunk_encode(r->worker, &chain, values, bytes, stored, n, &mask, r->all->error);

    if (err != NC_NOERR)
        pnc_error_add_context(r->all->error, "%s: variable %s", r->all->path, r->var->name);
    return err;
}

/* With all filters. */
static int write_encoded(pnc_references_var *r, const pnc_references_chunk *chunk)
{
    unsigned char *bytes = pnc_memory_alloc(chunk->bytes, 1);
    const void *stored = NULL;
    int64_t n = 0;
    int err;

    if (bytes == NULL)
        return pnc_error_set(r->all->error, NC_ENOMEM, "%s: variable %s: not enough memory for a chunk", r->all->path,
                             r->var->name);
    err = pnc_formats_reader_read_chunk(r->reader, r->varid, chunk->index, &chunk->place, bytes);
    if (err == NC_NOERR)
        err = pnc_references_chunk_encode(r, bytes, chunk->bytes, &stored, &n);
    if (err == NC_NOERR)
        write_within(r->out, stored, n);
    pnc_memory_free(bytes);
    return err;
}

static bool lacks_filters(const pnc_references_var *r, const pnc_references_chunk *chunk)
{
    for (int d = 0; d < r->var->ndims && r->storage->array.skips_partial; d++)
        if (r->storage->array.chunk[d] > r->storage->array.extent[d] - chunk->index[d])
            return true;
    return chunk->place.mask != 0;
}

void pnc_references_chunk_begin(const pnc_references_var *r, const int64_t *index)
{
    int64_t number;

    pnc_references_key_begin(r->all, r->var);
    for (int d = 0; d < r->var->ndims; d++) {
        number = index[d] / r->storage->array.chunk[d] + (d == 0 ? r->before : 0);
        fprintf(r->out, "%s%" PRId64, d > 0 ? "." : "", number);
    }
}

static int write_chunk(void *with, const pnc_references_chunk *chunk)
{
    pnc_references_var *r = with;

    pnc_references_chunk_begin(r, chunk->index);
    r->written++;
    if (lacks_filters(r, chunk))
        return write_encoded(r, chunk);
    pnc_references_extent_write(r->all, chunk->place.offset, chunk->place.bytes);
    return NC_NOERR;
}

/* Values in one part are divided as those of a classic file; compact ones are one chunk. */
static void write_parts(pnc_references_var *r, const pnc_zarr_chunks *chunks)
{
    const pnc_stored *s = r->storage;

    for (int64_t i = 0; i < chunks->number; i++) {
        if (s->layout == NC_COMPACT ? s->nbytes == 0 : s->address < 0)
            return;
        pnc_references_key_begin(r->all, r->var);
        pnc_references_key_write(r->out, r->var, chunks, 0, i);
        if (s->layout == NC_COMPACT)
            write_within(r->out, s->array.contents, s->nbytes);
        else
            pnc_references_extent_write(r->all, s->address + i * chunks->size, chunks->size);
        r->written++;
    }
}

/* --- variables --- */

static int write_chunked_var(pnc_references_var *r, const pnc_model *model, listed_var *listed)
{
    const pnc_chunk_array *a = &r->storage->array;

    for (int i = 0; i < a->filters.nfilters; i++) {
        r->filters[i] = a->filters.filters[i];
        r->filters[i].is_optional = false;
    }
    PNC_TRY(pnc_references_chunks_scan(r->reader, model, r->varid, write_chunk, r));
    for (int d = 0; d < r->var->ndims; d++)
        listed->is_short |= a->extent[d] != r->var->shape[d];
    return pnc_references_gaps_write(r, &listed->has_gaps);
}

static void choose_parts(const pnc_references *all, const pnc_var *var, const pnc_stored *s, pnc_zarr_chunks *chunks)
{
    pnc_references_chunks_choose(var, s->layout == NC_COMPACT ? INT64_MAX : all->chunk, chunks);
}

static int write_one_part(pnc_references_var *r, listed_var *listed)
{
    pnc_zarr_chunks chunks;

    choose_parts(r->all, r->var, r->storage, &chunks);
    write_parts(r, &chunks);
    return r->written > 0 ? NC_NOERR : pnc_references_gap_parts_write(r, &chunks, &listed->has_gaps);
}

/* Of a variable that will be within the references. */
static int keep_decoded(pnc_stored_references *s, pnc_reader *reader, const pnc_model *model, int varid,
                        listed_var *listed)
{
    int64_t start[PNC_STORAGE_DIMS_MOST] = {0}, bytes;
    const pnc_var *var = model->vars[varid];

    bytes = pnc_array_elements_count(var->ndims, var->shape) * (int64_t)pnc_type_get_size(var->type);
    if (!pnc_memory_grow(&listed->values, &listed->capacity, listed->nbytes + bytes, 1))
        return pnc_error_set(s->all->error, NC_ENOMEM, "%s: variable %s: not enough memory", s->all->path, var->name);
    if (bytes > 0)
        PNC_TRY(pnc_formats_reader_read(reader, varid, start, var->shape, listed->values + listed->nbytes));
    listed->nbytes += bytes;
    return NC_NOERR;
}

static void write_kept(const pnc_stored_references *s, const pnc_var *var, const listed_var *listed)
{
    if (listed->nbytes == 0)
        return;
    pnc_references_key_begin(s->all, var);
    for (int d = 0; d < var->ndims; d++)
        fputs(d > 0 ? ".0" : "0", s->all->out);
    write_within(s->all->out, listed->values, listed->nbytes);
}

static bool is_within(const pnc_references *all, int varid)
{
    return all->within != NULL && all->within[varid];
}

/* Of a file, behind `records` of others. */
static int write_places(pnc_stored_references *s, pnc_reader *reader, const pnc_model *model, int varid,
                        int64_t records, listed_var *listed)
{
    pnc_references_var r = {.all = s->all,
                            .worker = &s->worker,
                            .reader = reader,
                            .out = s->all->out,
                            .varid = varid,
                            .var = model->vars[varid],
                            .storage = pnc_formats_reader_get_stored(reader, varid)};

    if (r.storage->layout == NC_CHUNKED) {
        r.before = records > 0 ? records / r.storage->array.chunk[0] : 0;
        return write_chunked_var(&r, model, listed);
    }
    return write_one_part(&r, listed);
}

/* Of a listed variable of the first file, in this one. */
static int add_values(pnc_stored_references *s, int listed, pnc_reader *reader, const pnc_model *model, int varid)
{
    if (is_within(s->all, listed))
        return keep_decoded(s, reader, model, varid, &s->listed[listed]);
    return write_places(s, reader, model, varid, s->all->numrecs, &s->listed[listed]);
}

/* A reader of Zarr could not read the values. */
const char *pnc_references_obstacle_find(const pnc_var *var, const pnc_stored *storage)
{
    bool has_checksum = false;

    if (storage->layout == NC_UNKNOWN_STORAGE)
        return "its values are not read";
    if (strchr(var->name, '/') != NULL)
        return "it is in a group";
    for (int i = 0; i < storage->array.filters.nfilters; i++) {
        int id = storage->array.filters.filters[i].id;

        if (!pnc_references_filter_is_known(id))
            return "numcodecs has no such filter: ncmpicopy writes other ones";
        if (id == PNC_FILTER_SHUFFLE && has_checksum && pnc_type_get_size(var->type) > 4)
            return "its values are shuffled with their checksum, which numcodecs does not undo";
        has_checksum |= id == PNC_FILTER_FLETCHER32;
    }
    return NULL;
}

static bool can_list(const pnc_references *all, const pnc_var *var, const pnc_stored *storage)
{
    const char *obstacle;

    if (!pnc_references_var_is_listed(all, var))
        return false;
    obstacle = pnc_references_obstacle_find(var, storage);
    if (obstacle != NULL && all->leave_out != NULL)
        all->leave_out(all->with, var->name, obstacle);
    return obstacle == NULL;
}

/* --- documents --- */

static void write_stored_array(FILE *out, const pnc_references *r, const pnc_var *var, const void *array)
{
    (void)var;
    pnc_references_stored_array_write(out, r->model, array);
}

static bool is_joined_var(const pnc_references *all, const pnc_var *var)
{
    return var->ndims > 0 && var->dimids[0] == all->model->recdim;
}

static int64_t count_first(const pnc_references *all, const pnc_var *var)
{
    if (var->ndims == 0)
        return 0;
    return is_joined_var(all, var) ? all->numrecs : var->shape[0];
}

/* Of a chunk in the references. */
static void find_lengths(const pnc_stored_references *s, int varid, int64_t *lengths)
{
    const pnc_var *var = s->all->model->vars[varid];
    const pnc_stored *storage = pnc_formats_reader_get_stored(s->first, varid);
    pnc_zarr_chunks chunks;

    if (is_within(s->all, varid)) {
        for (int d = 0; d < var->ndims; d++)
            lengths[d] = pnc_max64(1, d == 0 ? count_first(s->all, var) : var->shape[d]);
    } else if (storage->layout == NC_CHUNKED) {
        for (int d = 0; d < var->ndims; d++)
            lengths[d] = storage->array.chunk[d];
    } else {
        choose_parts(s->all, var, storage, &chunks);
        for (int d = 0; d < var->ndims; d++)
            lengths[d] = pnc_references_chunk_get_length(var, &chunks, d);
    }
}

static int write_documents(const pnc_stored_references *s, int varid)
{
    const pnc_var *var = s->all->model->vars[varid];
    const pnc_stored *storage = pnc_formats_reader_get_stored(s->first, varid);
    int64_t lengths[PNC_STORAGE_DIMS_MOST];
    pnc_zarr_array array = {.var = var,
                            .storage = storage,
                            .lengths = lengths,
                            .first = count_first(s->all, var),
                            .has_filters = storage->layout == NC_CHUNKED && !is_within(s->all, varid),
                            .has_gaps = s->listed[varid].has_gaps,
                            .is_short = s->listed[varid].is_short};

    find_lengths(s, varid, lengths);
    if (is_within(s->all, varid))
        write_kept(s, var, &s->listed[varid]);
    PNC_TRY(pnc_references_document_write(s->all, var, write_stored_array, &array));
    return pnc_references_document_write(s->all, var, NULL, NULL);
}

/* --- files --- */

static int write_first(pnc_stored_references *s)
{
    const pnc_model *model = s->all->model;

    PNC_TRY(pnc_references_document_write(s->all, NULL, NULL, NULL));
    for (int i = 0; i < model->nvars; i++) {
        s->listed[i].is_listed = can_list(s->all, model->vars[i], pnc_formats_reader_get_stored(s->first, i));
        if (s->listed[i].is_listed)
            PNC_TRY(add_values(s, i, s->first, model, i));
    }
    if (model->recdim >= 0)
        s->all->numrecs = pnc_format_dim_get_length(model, model->recdim);
    return NC_NOERR;
}

int pnc_references_stored_begin(pnc_references *r, pnc_reader *reader, pnc_stored_references **out)
{
    pnc_stored_references *s = pnc_memory_alloc_zeroed(1, sizeof *s);

    *out = s;
    if (s == NULL)
        return pnc_error_set(r->error, NC_ENOMEM, "%s: not enough memory", r->path);
    s->all = r;
    s->first = reader;
    pnc_filter_worker_init(&s->worker, pnc_host_codecs_get());
    s->listed = pnc_memory_alloc_zeroed(r->model->nvars + 1, sizeof *s->listed);
    if (s->listed == NULL)
        return pnc_error_set(r->error, NC_ENOMEM, "%s: not enough memory", r->path);
    return write_first(s);
}

/* A program may have replaced the file since it was compared. */
static bool is_as_before(const pnc_var *a, const pnc_stored *first, const pnc_var *b, const pnc_stored *other,
                         bool within)
{
    bool same = a->type == b->type && a->ndims == b->ndims && a->little == b->little &&
                (within || first->layout == other->layout);

    for (int d = 0; same && d < a->ndims; d++)
        same = (d == 0 || a->shape[d] == b->shape[d]) &&
               (within || first->layout != NC_CHUNKED || first->array.chunk[d] == other->array.chunk[d]);
    return same;
}

int pnc_references_stored_add(pnc_stored_references *s, pnc_reader *reader, const pnc_model *model)
{
    const pnc_model *first = s->all->model;
    int64_t records = 0;

    for (int i = 0; i < first->nvars; i++) {
        int varid;

        if (!s->listed[i].is_listed || !is_joined_var(s->all, first->vars[i]))
            continue;
        varid = pnc_format_var_find(model, first->vars[i]->name);
        if (varid < 0 || !is_as_before(first->vars[i], pnc_formats_reader_get_stored(s->first, i), model->vars[varid],
                                       pnc_formats_reader_get_stored(reader, varid), is_within(s->all, i)))
            return pnc_error_set(s->all->error, NC_ESTALE, "%s: variable %s has changed since it was compared",
                                 s->all->path, first->vars[i]->name);
        records = model->vars[varid]->shape[0];
        PNC_TRY(add_values(s, i, reader, model, varid));
    }
    s->all->numrecs += records;
    return NC_NOERR;
}

int pnc_references_stored_end(pnc_stored_references *s, int err)
{
    if (s == NULL)
        return err;
    for (int i = 0; err == NC_NOERR && i < s->all->model->nvars; i++)
        if (s->listed[i].is_listed)
            err = write_documents(s, i);
    pnc_filter_worker_free(&s->worker);
    for (int i = 0; s->listed != NULL && i < s->all->model->nvars; i++)
        pnc_memory_free(s->listed[i].values);
    pnc_memory_free(s->listed);
    pnc_memory_free(s);
    return err;
}

int pnc_references_stored_write(pnc_references *r, pnc_reader *reader)
{
    pnc_stored_references *s;
    int err = pnc_references_stored_begin(r, reader, &s);

    return pnc_references_stored_end(s, err);
}
