/* References to the chunks of a netCDF-4 file, which have the filters of numcodecs. Where a reader of Zarr would not
 * find the bytes that it expects, they are within the references: values that are compact in the metadata, and chunks
 * that were stored without one of the filters. */
#include "config.h" /* open_memstream, realpath */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "host/codecs.h"
#include "tools/common/json.h"
#include "tools/common/message.h"
#include "tools/ncoffsets/chunks.h"
#include "tools/ncoffsets/references.h"
#include "tools/ncoffsets/zarr.h"

typedef struct chunk_references {
    const options *options;
    const tool_file *file;
    FILE *out;
    const char *url;
    int varid;
    const pnc_var *var;
    const pnc_netcdf4_storage *storage;
    int64_t written;                     /* chunks of the variable that have a reference */
    pnc_filter_worker worker;            /* that encodes chunks */
    pnc_filter filters[PNC_FILTER_MOST]; /* of the variable, none of which may be left out */
    pnc_error error;
} chunk_references;

static void begin_member(const chunk_references *r)
{
    fputs(",\n\"", r->out);
    tool_json_part_write(r->out, r->var->name, strlen(r->var->name));
    fputc('/', r->out);
}

static void write_place(const chunk_references *r, int64_t offset, int64_t bytes)
{
    fputs("\": [", r->out);
    tool_json_string_write(r->out, r->url);
    fprintf(r->out, ", %" PRId64 ", %" PRId64 "]", offset, bytes);
}

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

static int fail_to_encode(const chunk_references *r, int err)
{
    tool_error_print("%s: variable %s: %s", r->file->path, r->var->name,
                     r->error.code != NC_NOERR ? r->error.text : "not enough memory for a chunk");
    return err;
}

/* With all filters. */
static int write_encoded(chunk_references *r, const offsets_chunk *chunk)
{
    const pnc_filter_chain chain = {r->storage->filters.nfilters, r->filters};
    unsigned char *bytes = pnc_memory_alloc(chunk->bytes, 1);
    const void *stored = NULL;
    int64_t n = 0;
    uint32_t mask;
    int err;

    if (bytes == NULL)
        return fail_to_encode(r, NC_ENOMEM);
    err = tool_file_read_chunk(r->file, r->varid, chunk->index, &chunk->place, bytes);
    if (err == NC_NOERR) {
        err = pnc_filter_chunk_encode(&r->worker, &chain, bytes, chunk->bytes, &stored, &n, &mask, &r->error);
        if (err != NC_NOERR)
            fail_to_encode(r, err);
    }
    if (err == NC_NOERR)
        write_base64(r->out, stored, n);
    pnc_memory_free(bytes);
    return err;
}

static bool lacks_filters(const chunk_references *r, const offsets_chunk *chunk)
{
    for (int d = 0; d < r->var->ndims && r->storage->skips_partial; d++)
        if (r->storage->chunk[d] > r->storage->extent[d] - chunk->index[d])
            return true;
    return chunk->place.mask != 0;
}

static int write_chunk(void *with, const offsets_chunk *chunk)
{
    chunk_references *r = with;

    begin_member(r);
    for (int d = 0; d < r->var->ndims; d++)
        fprintf(r->out, "%s%" PRId64, d > 0 ? "." : "", chunk->index[d] / r->storage->chunk[d]);
    r->written++;
    if (lacks_filters(r, chunk))
        return write_encoded(r, chunk);
    write_place(r, chunk->place.offset, chunk->place.bytes);
    return NC_NOERR;
}

/* Values in one part are divided as those of a classic file; compact ones are one chunk. */
static void write_parts(chunk_references *r, const zarr_chunks *chunks)
{
    const pnc_netcdf4_storage *s = r->storage;

    for (int64_t i = 0; i < chunks->number; i++) {
        if (s->layout == PNC_NETCDF4_COMPACT ? s->nbytes == 0 : s->address < 0)
            return;
        begin_member(r);
        offsets_zarr_key_write(r->out, r->var, chunks, 0, i);
        if (s->layout == PNC_NETCDF4_COMPACT)
            write_base64(r->out, s->bytes, s->nbytes);
        else
            write_place(r, s->address + i * chunks->size, chunks->size);
        r->written++;
    }
}

/* --- variables --- */

static int write_document(const chunk_references *r, const zarr_array *array)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    bool complete = false;

    if (stream != NULL) {
        if (array != NULL)
            offsets_zarr_stored_array_write(stream, array);
        else if (r->var != NULL)
            offsets_zarr_array_write_attributes(stream, &r->file->model, r->var);
        else
            offsets_zarr_group_write_attributes(stream, &r->file->model);
        complete = ferror(stream) == 0;
        complete = fclose(stream) == 0 && complete;
    }
    if (complete) {
        if (r->var != NULL)
            begin_member(r);
        else
            fputs(",\n\"", r->out);
        fputs(array != NULL ? ".zarray\": " : ".zattrs\": ", r->out);
        tool_json_text_write(r->out, text, length);
    } else {
        tool_error_print("%s: not enough memory for its attributes", r->file->path);
    }
    free(text);
    return complete ? NC_NOERR : NC_ENOMEM;
}

static int write_chunked(chunk_references *r)
{
    zarr_array array = {.var = r->var, .storage = r->storage, .lengths = r->storage->chunk, .has_filters = true};
    offsets_chunk_sum sum = {0};

    for (int i = 0; i < r->storage->filters.nfilters; i++) {
        r->filters[i] = r->storage->filters.filters[i];
        r->filters[i].is_optional = false;
    }
    PNC_TRY(offsets_chunks_add(r->file, r->varid, &sum));
    PNC_TRY(offsets_chunks_scan(r->file, r->varid, write_chunk, r));
    for (int d = 0; d < r->var->ndims; d++)
        array.has_gaps |= r->storage->extent[d] != r->var->shape[d];
    array.has_gaps |= sum.written < sum.chunks;
    return write_document(r, &array);
}

static int write_one_part(chunk_references *r)
{
    enum { DEFAULT_CHUNK = 16 << 20 };
    int64_t lengths[PNC_STORAGE_DIMS_MOST], most = r->options->chunk > 0 ? r->options->chunk : DEFAULT_CHUNK;
    zarr_array array = {.var = r->var, .storage = r->storage, .lengths = lengths};
    zarr_chunks chunks;

    offsets_zarr_chunks_choose(r->var, r->storage->layout == PNC_NETCDF4_COMPACT ? INT64_MAX : most, &chunks);
    for (int d = 0; d < r->var->ndims; d++)
        lengths[d] = offsets_zarr_chunk_get_length(r->var, &chunks, d);
    write_parts(r, &chunks);
    array.has_gaps = r->written == 0;
    return write_document(r, &array);
}

/* Why a reader of Zarr could not read the values; NULL: it can. */
static const char *find_obstacle(const chunk_references *r)
{
    bool has_checksum = false;

    if (r->storage->layout == PNC_NETCDF4_UNREADABLE)
        return "its values are not read";
    if (strchr(r->var->name, '/') != NULL)
        return "it is in a group";
    for (int i = 0; i < r->storage->filters.nfilters; i++) {
        int id = r->storage->filters.filters[i].id;

        if (!offsets_zarr_filter_is_known(id))
            return "numcodecs has no such filter: ncmpicopy writes other ones";
        if (id == PNC_FILTER_SHUFFLE && has_checksum && pnc_type_get_size(r->var->type) > 4)
            return "its values are shuffled with their checksum, which numcodecs does not undo";
        has_checksum |= id == PNC_FILTER_FLETCHER32;
    }
    return NULL;
}

static int write_variable(chunk_references *r, int varid)
{
    const char *obstacle;

    r->varid = varid;
    r->var = r->file->model.vars[varid];
    r->storage = pnc_netcdf4_reader_get_storage(tool_file_get_reader(r->file), varid);
    r->written = 0;
    if (!tool_names_contain(&r->options->variables, r->var->name))
        return NC_NOERR;
    obstacle = find_obstacle(r);
    if (obstacle != NULL) {
        tool_warning_print("warning: %s: variable %s is left out: %s", r->file->path, r->var->name, obstacle);
        return NC_NOERR;
    }
    PNC_TRY(r->storage->layout == PNC_NETCDF4_CHUNKED ? write_chunked(r) : write_one_part(r));
    return write_document(r, NULL);
}

int offsets_chunks_write_references(const tool_file *file, const options *o, FILE *out)
{
    chunk_references r = {.options = o, .file = file, .out = out};
    char *url;
    int err;

    if (o->npaths > 1)
        return tool_file_check_classic(file, "references to several files are joined by kerchunk.combine, not here");
    url = offsets_url_make(file->path, o->url);
    if (url == NULL) {
        tool_error_print("%s: its absolute path is not known: %s", file->path, strerror(errno));
        return NC_EFILE;
    }
    r.url = url;
    pnc_filter_worker_init(&r.worker, pnc_host_codecs_get());
    fputs("{\"version\": 1, \"refs\": {\n\".zgroup\": \"{\\\"zarr_format\\\":2}\"", out);
    err = write_document(&r, NULL);
    for (int i = 0; i < file->model.nvars && err == NC_NOERR; i++)
        err = write_variable(&r, i);
    tool_warnings_finish();
    if (err == NC_NOERR)
        fputs("\n}}\n", out);
    pnc_filter_worker_free(&r.worker);
    free(url);
    return err;
}
