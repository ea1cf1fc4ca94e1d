/* CDL to a netCDF file. Values are written at their offsets as they are read, but values of many small records are
 * collected first (records.h). Fill values, padding and header follow when the number of records is known.
 *
 * For a netCDF-4 file they are collected so in an unlinked temporary file, without a header, from which its chunks are
 * made at the end (netcdf4.h). */
#include "config.h" /* system extensions */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/types.h"
#include "format/codec.h"
#include "format/layout.h"
#include "host/bytes.h"
#include "tools/ncmpigen/gen.h"
#include "tools/ncmpigen/netcdf4.h"
#include "tools/ncmpigen/records.h"

enum { BUFFER_BYTES = 1 << 20 };

typedef struct binary {
    const gen_options *options;
    const pnc_model *model;
    tool_output output;
    int file;
    FILE *spool;          /* of a netCDF-4 file: `file` is its descriptor */
    int64_t *counts;      /* elements with values in the text, for each variable */
    gen_records *records; /* NULL: values of record variables are written at once too */
    char *buffer;         /* `used` bytes that belong at offset begin of the file */
    int64_t begin, used;
} binary;

static int write_failed(const binary *b, int number, pnc_error *error)
{
    return pnc_error_set(error, number == ENOSPC ? NC_ENO_SPACE : NC_EWRITE, "%s: cannot be written: %s",
                         b->output.path, strerror(number));
}

static int flush(binary *b, pnc_error *error)
{
    int number = pnc_host_bytes_write(b->file, b->begin, b->buffer, b->used);
    if (number != 0)
        return write_failed(b, number, error);
    b->begin += b->used;
    b->used = 0;
    return NC_NOERR;
}

static int put(void *with, int64_t at, const char *bytes, int64_t n, pnc_error *error)
{
    binary *b = with;
    int err = NC_NOERR;
    if (at != b->begin + b->used) {
        err = flush(b, error);
        b->begin = at;
    }
    while (err == NC_NOERR && n > 0) {
        int64_t some = n < BUFFER_BYTES - b->used ? n : BUFFER_BYTES - b->used;
        memcpy(b->buffer + b->used, bytes, (size_t)some);
        b->used += some;
        bytes += some;
        n -= some;
        if (b->used == BUFFER_BYTES)
            err = flush(b, error);
    }
    return err;
}

static bool is_netcdf4(const pnc_model *model)
{
    return model->format == NC_FORMAT_NETCDF4 || model->format == NC_FORMAT_NETCDF4_CLASSIC;
}

/* After an error, discard releases what was allocated. */
static int open_output(binary *b, const char *path, pnc_error *error)
{
    b->counts = pnc_memory_alloc_zeroed((int64_t)b->model->nvars + 1, sizeof *b->counts);
    b->buffer = pnc_memory_alloc(BUFFER_BYTES, 1);
    if (b->counts == NULL || b->buffer == NULL)
        return pnc_error_set(error, NC_ENOMEM, "%s: not enough memory", path);
    PNC_TRY(gen_output_begin(b->options, path, &b->output, error));
    if (is_netcdf4(b->model)) {
        PNC_TRY(gen_spool_create(b->output.path, &b->spool, error));
        b->file = fileno(b->spool);
    } else {
        b->file = open(b->output.temporary, O_WRONLY);
    }
    if (b->file < 0)
        return pnc_error_set(error, NC_EFILE, "%s: cannot be written: %s", path, strerror(errno));
    if (!gen_records_is_worthwhile(b->model))
        return NC_NOERR;
    return gen_records_begin(b->output.path, b->model, &b->records, error);
}

static int take_header(void *with, const pnc_model *model, const char *name, pnc_error *error)
{
    binary *b = with;
    char *path = gen_path_make(b->options, name, b->options->cdf ? ".cdf" : ".nc", error);
    if (path == NULL)
        return error->code;
    b->model = model;
    int err = open_output(b, path, error);
    pnc_memory_free(path);
    return err;
}

/* Values of a record variable are contiguous in the file only up to the end of a record. */
static int take_values(void *with, int varid, int64_t first, const void *bytes, int64_t n, pnc_error *error)
{
    binary *b = with;
    const pnc_var *var = b->model->vars[varid];
    const char *from = bytes;
    int64_t size = (int64_t)pnc_type_get_size(var->type), unit = gen_var_count_elements(var);
    int err = NC_NOERR;
    if (!var->is_record)
        return put(b, var->classic.begin + first * size, from, n * size, error);
    if (b->records != NULL)
        return gen_records_keep(b->records, varid, first, bytes, n, error);
    while (err == NC_NOERR && n > 0) {
        int64_t within = first % unit, some = n < unit - within ? n : unit - within;
        err = put(b, var->classic.begin + first / unit * b->model->classic.recsize + within * size, from, some * size,
                  error);
        from += some * size;
        first += some;
        n -= some;
    }
    return err;
}

static int take_end(void *with, int varid, int64_t n, pnc_error *error)
{
    binary *b = with;
    (void)error;
    if (n > b->counts[varid])
        b->counts[varid] = n;
    return NC_NOERR;
}

/* Write the variable's fill value to the bytes from at to end. at must be the offset of an element. */
static int fill(binary *b, const pnc_var *var, int64_t at, int64_t end, pnc_error *error)
{
    char values[4096];
    int64_t size = (int64_t)pnc_type_get_size(var->type);
    int err = NC_NOERR;
    for (int64_t i = 0; i < (int64_t)sizeof values; i += size)
        pnc_format_var_get_fill_value(b->model, var, values + i);
    while (err == NC_NOERR && at < end) {
        int64_t some = end - at < (int64_t)sizeof values ? end - at : (int64_t)sizeof values;
        err = put(b, at, values, some, error);
        at += some;
    }
    return err;
}

/* Fill elements without values, and write the padding after all elements. */
static int fill_variable(binary *b, const pnc_model *model, int varid, pnc_error *error)
{
    const pnc_var *var = model->vars[varid];
    int64_t bytes = pnc_format_var_get_padded_size(model, var);
    int64_t records = var->is_record ? model->numrecs : 1, given = b->counts[varid] / gen_var_count_elements(var);
    int err = NC_NOERR;
    for (int64_t i = bytes > var->size ? 0 : given; err == NC_NOERR && i < records; i++) {
        int64_t begin = var->classic.begin + i * model->classic.recsize;
        err = fill(b, var, begin + (i < given ? var->size : 0), begin + bytes, error);
    }
    return err;
}

static int put_header(binary *b, const pnc_model *model, pnc_error *error)
{
    pnc_model copy; /* the encoder needs a model that it may change */
    int64_t size = pnc_format_header_get_size(model);
    char *bytes = pnc_memory_alloc(size, 1);
    int err = bytes != NULL ? pnc_format_model_copy(&copy, model) : NC_ENOMEM;
    if (err != NC_NOERR) {
        err = pnc_error_set(error, err, "%s: not enough memory for its header", b->output.path);
        goto free_bytes;
    }
    pnc_format_header_encode(&copy, bytes);
    err = put(b, 0, bytes, size, error);
    pnc_format_model_free(&copy);
free_bytes:
    pnc_memory_free(bytes);
    return err;
}

static void free_all(binary *b)
{
    if (b->spool != NULL)
        fclose(b->spool);
    else if (b->file >= 0)
        close(b->file);
    gen_records_free(b->records);
    pnc_memory_free(b->counts);
    pnc_memory_free(b->buffer);
    pnc_memory_free(b);
}

static void discard(void *with)
{
    binary *b = with;
    tool_output_discard(&b->output);
    free_all(b);
}

static int close_file(binary *b, int64_t size, pnc_error *error)
{
    int failed = ftruncate(b->file, size) != 0;
    failed |= close(b->file) != 0;
    b->file = -1;
    return failed ? write_failed(b, errno, error) : NC_NOERR;
}

/* The file has a header, and ends behind the last variable. */
static int complete_classic(binary *b, const pnc_model *model, pnc_error *error)
{
    PNC_TRY(put_header(b, model, error));
    PNC_TRY(flush(b, error));
    return close_file(b, pnc_format_layout_get_file_end(model), error);
}

static int complete_netcdf4(binary *b, const pnc_model *model, pnc_error *error)
{
    const gen_values values = {.model = model,
                               .counts = b->counts,
                               .file = b->file,
                               .size = pnc_format_layout_get_file_end(model),
                               .fills = !b->options->no_fill};

    PNC_TRY(flush(b, error));
    if (ftruncate(b->file, values.size) != 0)
        return gen_spool_fail("written", error);
    return gen_netcdf4_write(&values, &b->output, error);
}

/* A variable of a netCDF-4 file in chunks whose values the text does not have has no chunks. */
static bool needs_fill(const binary *b, const pnc_model *model, int varid)
{
    return !b->options->no_fill && (!is_netcdf4(model) || gen_netcdf4_var_is_written(model, b->counts, true, varid));
}

static int finish(void *with, const pnc_model *model, pnc_error *error)
{
    binary *b = with;
    for (int i = 0; i < model->nvars; i++)
        if (needs_fill(b, model, i) && (b->records == NULL || !model->vars[i]->is_record))
            PNC_TRY(fill_variable(b, model, i, error));
    if (b->records != NULL)
        PNC_TRY(gen_records_write(b->records, model, !b->options->no_fill, put, b, error));
    PNC_TRY(is_netcdf4(model) ? complete_netcdf4(b, model, error) : complete_classic(b, model, error));
    PNC_TRY(tool_output_commit(&b->output, error));
    free_all(b);
    return NC_NOERR;
}

static int begin(const gen_options *options, pnc_cdl_sink *sink, pnc_error *error)
{
    binary *b = pnc_memory_alloc_zeroed(1, sizeof *b);
    if (b == NULL)
        return pnc_error_set(error, NC_ENOMEM, "not enough memory");
    b->options = options;
    b->file = -1;
    *sink = (pnc_cdl_sink){.header = take_header, .values = take_values, .end = take_end, .with = b};
    return NC_NOERR;
}

const gen_kind gen_binary = {begin, finish, discard};
