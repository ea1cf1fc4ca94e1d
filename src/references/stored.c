/* References to the chunks of a file that has a reader, which have the filters of numcodecs. Where a reader of Zarr
 * would not find the bytes that it expects, they are within the references: values that are compact in the metadata,
 * and chunks that were stored without one of the filters. */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "format/storage.h"
#include "host/codecs.h"
#include "references/chunks.h"
#include "references/references.h"
#include "references/zarr.h"

typedef struct stored_references {
    const pnc_references *all;
    pnc_reader *reader;
    FILE *out;
    int varid;
    const pnc_var *var;
    const pnc_stored *storage;
    int64_t written;                     /* chunks of the variable that have a reference */
    pnc_filter_worker worker;            /* that encodes chunks */
    pnc_filter filters[PNC_FILTER_MOST]; /* of the variable, none of which may be left out */
} stored_references;

static void write_base64(FILE *out, const unsigned char *bytes, int64_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    fputs("\": \"base64:", out);
    for (int64_t i = 0; i < n; i += 3) {
        unsigned group = (unsigned)bytes[i] << 16 | (i + 1 < n ? (unsigned)bytes[i + 1] << 8 : 0) |
                         (i + 2 < n ? (unsigned)bytes[i + 2] : 0);

        fputc(digits[group >> 18], out);
        fputc(digits[group >> 12 & 63], out);
        fputc(i + 1 < n ? digits[group >> 6 & 63] : '=', out);
        fputc(i + 2 < n ? digits[group & 63] : '=', out);
    }
    fputc('"', out);
}

/* --- chunks --- */

/* With all filters. */
static int write_encoded(stored_references *r, const pnc_references_chunk *chunk)
{
    const pnc_filter_chain chain = {r->storage->array.filters.nfilters, r->filters};
    unsigned char *bytes = pnc_memory_alloc(chunk->bytes, 1);
    const void *stored = NULL;
    int64_t n = 0;
    uint32_t mask;
    int err;

    if (bytes == NULL)
        return pnc_error_set(r->all->error, NC_ENOMEM, "%s: variable %s: not enough memory for a chunk", r->all->path,
                             r->var->name);
    err = pnc_formats_reader_read_chunk(r->reader, r->varid, chunk->index, &chunk->place, bytes);
    if (err == NC_NOERR) {
        err = pnc_filter_chunk_encode(&r->worker, &chain, bytes, chunk->bytes, &stored, &n, &mask, r->all->error);
        if (err != NC_NOERR)
            pnc_error_add_context(r->all->error, "%s: variable %s", r->all->path, r->var->name);
    }
    if (err == NC_NOERR)
        write_base64(r->out, stored, n);
    pnc_memory_free(bytes);
    return err;
}

static bool lacks_filters(const stored_references *r, const pnc_references_chunk *chunk)
{
    for (int d = 0; d < r->var->ndims && r->storage->array.skips_partial; d++)
        if (r->storage->array.chunk[d] > r->storage->array.extent[d] - chunk->index[d])
            return true;
    return chunk->place.mask != 0;
}

static int write_chunk(void *with, const pnc_references_chunk *chunk)
{
    stored_references *r = with;

    pnc_references_key_begin(r->all, r->var);
    for (int d = 0; d < r->var->ndims; d++)
        fprintf(r->out, "%s%" PRId64, d > 0 ? "." : "", chunk->index[d] / r->storage->array.chunk[d]);
    r->written++;
    if (lacks_filters(r, chunk))
        return write_encoded(r, chunk);
    pnc_references_extent_write(r->all, chunk->place.offset, chunk->place.bytes);
    return NC_NOERR;
}

/* Values in one part are divided as those of a classic file; compact ones are one chunk. */
static void write_parts(stored_references *r, const pnc_zarr_chunks *chunks)
{
    const pnc_stored *s = r->storage;

    for (int64_t i = 0; i < chunks->number; i++) {
        if (s->layout == NC_COMPACT ? s->nbytes == 0 : s->address < 0)
            return;
        pnc_references_key_begin(r->all, r->var);
        pnc_references_key_write(r->out, r->var, chunks, 0, i);
        if (s->layout == NC_COMPACT)
            write_base64(r->out, s->array.contents, s->nbytes);
        else
            pnc_references_extent_write(r->all, s->address + i * chunks->size, chunks->size);
        r->written++;
    }
}

/* --- variables --- */

static void write_stored_array(FILE *out, const pnc_references *r, const pnc_var *var, const void *array)
{
    (void)var;
    pnc_references_stored_array_write(out, r->model, array);
}

static int write_documents(const stored_references *r, const pnc_zarr_array *array)
{
    PNC_TRY(pnc_references_document_write(r->all, r->var, write_stored_array, array));
    return pnc_references_document_write(r->all, r->var, NULL, NULL);
}

static int write_chunked_var(stored_references *r)
{
    pnc_zarr_array array = {
        .var = r->var, .storage = r->storage, .lengths = r->storage->array.chunk, .has_filters = true};

    for (int i = 0; i < r->storage->array.filters.nfilters; i++) {
        r->filters[i] = r->storage->array.filters.filters[i];
        r->filters[i].is_optional = false;
    }
    PNC_TRY(pnc_references_chunks_scan(r->reader, r->all->model, r->varid, write_chunk, r));
    for (int d = 0; d < r->var->ndims; d++)
        array.has_gaps |= r->storage->array.extent[d] != r->var->shape[d];
    array.has_gaps |= r->written < pnc_references_chunks_count(r->storage, r->var->ndims);
    return write_documents(r, &array);
}

static int write_one_part(stored_references *r)
{
    int64_t lengths[PNC_STORAGE_DIMS_MOST];
    pnc_zarr_array array = {.var = r->var, .storage = r->storage, .lengths = lengths};
    pnc_zarr_chunks chunks;

    pnc_references_chunks_choose(r->var, r->storage->layout == NC_COMPACT ? INT64_MAX : r->all->chunk, &chunks);
    for (int d = 0; d < r->var->ndims; d++)
        lengths[d] = pnc_references_chunk_get_length(r->var, &chunks, d);
    write_parts(r, &chunks);
    array.has_gaps = r->written == 0;
    return write_documents(r, &array);
}

/* Why a reader of Zarr could not read the values; NULL: it can. */
static const char *find_obstacle(const stored_references *r)
{
    bool has_checksum = false;

    if (r->storage->layout == NC_UNKNOWN_STORAGE)
        return "its values are not read";
    if (strchr(r->var->name, '/') != NULL)
        return "it is in a group";
    for (int i = 0; i < r->storage->array.filters.nfilters; i++) {
        int id = r->storage->array.filters.filters[i].id;

        if (!pnc_references_filter_is_known(id))
            return "numcodecs has no such filter: ncmpicopy writes other ones";
        if (id == PNC_FILTER_SHUFFLE && has_checksum && pnc_type_get_size(r->var->type) > 4)
            return "its values are shuffled with their checksum, which numcodecs does not undo";
        has_checksum |= id == PNC_FILTER_FLETCHER32;
    }
    return NULL;
}

static int write_variable(stored_references *r, int varid)
{
    const char *obstacle;

    r->varid = varid;
    r->var = r->all->model->vars[varid];
    r->storage = pnc_formats_reader_get_stored(r->reader, varid);
    r->written = 0;
    if (!pnc_references_var_is_listed(r->all, r->var))
        return NC_NOERR;
    obstacle = find_obstacle(r);
    if (obstacle == NULL)
        return r->storage->layout == NC_CHUNKED ? write_chunked_var(r) : write_one_part(r);
    if (r->all->leave_out != NULL)
        r->all->leave_out(r->all->with, r->var->name, obstacle);
    return NC_NOERR;
}

int pnc_references_stored_write(const pnc_references *all, pnc_reader *reader)
{
    stored_references r = {.all = all, .reader = reader, .out = all->out};
    int err;

    pnc_filter_worker_init(&r.worker, pnc_host_codecs_get());
    err = pnc_references_document_write(all, NULL, NULL, NULL);
    for (int i = 0; i < all->model->nvars && err == NC_NOERR; i++)
        err = write_variable(&r, i);
    pnc_filter_worker_free(&r.worker);
    return err;
}
