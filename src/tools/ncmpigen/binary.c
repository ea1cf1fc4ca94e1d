/* CDL to a netCDF file: values go to their places as they come, but those of many small records wait (records.h);
 * header, fill values and padding come last, when the number of records is known. */
#include "config.h" /* system extensions */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/types.h"
#include "format/codec.h"
#include "format/layout.h"
#include "tools/common/output.h"
#include "tools/ncmpigen/gen.h"
#include "tools/ncmpigen/records.h"

enum { BUFFER_BYTES = 1 << 20 };

typedef struct binary {
    const gen_options *options;
    const pnc_model *model;
    tool_output output;
    int file;
    int64_t *counts;      /* elements that the text has of each variable */
    gen_records *records; /* NULL: also those of record variables go to their places at once */
    char *buffer;         /* what goes to bytes begin..begin + used */
    int64_t begin, used;
} binary;

static int flush(binary *b, pnc_error *error)
{
    for (int64_t done = 0; done < b->used;) {
        ssize_t n = pwrite(b->file, b->buffer + done, (size_t)(b->used - done), b->begin + done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return pnc_error_set(error, errno == ENOSPC ? NC_ENO_SPACE : NC_EWRITE, "%s: cannot be written: %s",
                                 b->output.path, strerror(errno));
        done += n;
    }
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

static int take_header(void *with, const pnc_model *model, const char *name, pnc_error *error)
{
    binary *b = with;
    char *path = gen_path_make(b->options, name, b->options->cdf ? ".cdf" : ".nc", error);
    if (path == NULL)
        return error->code;
    b->model = model;
    b->counts = pnc_memory_alloc_zeroed((int64_t)model->nvars + 1, sizeof *b->counts);
    b->buffer = pnc_memory_alloc(BUFFER_BYTES, 1);
    int err =
        b->counts && b->buffer != NULL ? NC_NOERR : pnc_error_set(error, NC_ENOMEM, "%s: not enough memory", path);
    if (err == NC_NOERR)
        err = tool_output_begin(path, true, &b->output, error);
    if (err == NC_NOERR) {
        b->file = open(b->output.temporary, O_WRONLY);
        if (b->file < 0)
            err = pnc_error_set(error, NC_EFILE, "%s: cannot be written: %s", path, strerror(errno));
    }
    if (err == NC_NOERR && gen_records_is_worthwhile(model))
        err = gen_records_begin(b->output.path, &b->records, error);
    pnc_memory_free(path);
    return err;
}

/* A run of values of a record variable ends with its record. */
static int take_values(void *with, int varid, int64_t first, const void *bytes, int64_t n, pnc_error *error)
{
    binary *b = with;
    const pnc_var *var = b->model->vars[varid];
    const char *from = bytes;
    int64_t size = (int64_t)pnc_type_get_size(var->type), unit = gen_var_count_elements(var);
    int err = NC_NOERR;
    if (!var->is_record)
        return put(b, var->begin + first * size, from, n * size, error);
    if (b->records)
        return gen_records_keep(b->records, b->model, varid, first, bytes, n, error);
    while (err == NC_NOERR && n > 0) {
        int64_t within = first % unit, some = n < unit - within ? n : unit - within;
        err = put(b, var->begin + first / unit * b->model->recsize + within * size, from, some * size, error);
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

/* Bytes at..end with the variable's fill value; at is a multiple of its size from where values begin. */
static int fill(binary *b, const pnc_var *var, int64_t at, int64_t end, pnc_error *error)
{
    char values[4096];
    int64_t size = (int64_t)pnc_type_get_size(var->type);
    int err = NC_NOERR;
    for (int64_t i = 0; i < (int64_t)sizeof values; i += size)
        pnc_format_var_get_fill_value(var, values + i);
    while (err == NC_NOERR && at < end) {
        int64_t some = end - at < (int64_t)sizeof values ? end - at : (int64_t)sizeof values;
        err = put(b, at, values, some, error);
        at += some;
    }
    return err;
}

/* Fill elements without values, and write the padding after the others. */
static int fill_variable(binary *b, const pnc_model *model, int varid, pnc_error *error)
{
    const pnc_var *var = model->vars[varid];
    int64_t bytes = pnc_format_var_get_padded_size(model, var);
    int64_t records = var->is_record ? model->numrecs : 1, given = b->counts[varid] / gen_var_count_elements(var);
    int err = NC_NOERR;
    for (int64_t i = bytes > var->size ? 0 : given; err == NC_NOERR && i < records; i++) {
        int64_t begin = var->begin + i * model->recsize;
        err = fill(b, var, begin + (i < given ? var->size : 0), begin + bytes, error);
    }
    return err;
}

static int put_header(binary *b, const pnc_model *model, pnc_error *error)
{
    pnc_model copy;
    int64_t size = pnc_format_header_get_size(model);
    char *bytes = pnc_memory_alloc(size, 1);
    int err = bytes ? pnc_format_model_copy(&copy, model) : NC_ENOMEM;
    if (err == NC_NOERR) {
        pnc_format_header_encode(&copy, bytes);
        err = put(b, 0, bytes, size, error);
        pnc_format_model_free(&copy);
    } else {
        pnc_error_set(error, err, "%s: not enough memory for its header", b->output.path);
    }
    pnc_memory_free(bytes);
    return err;
}

static void free_all(binary *b)
{
    if (b->file >= 0)
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
    return failed ? pnc_error_set(error, errno == ENOSPC ? NC_ENO_SPACE : NC_EWRITE, "%s: cannot be written: %s",
                                  b->output.path, strerror(errno))
                  : NC_NOERR;
}

static int finish(void *with, const pnc_model *model, pnc_error *error)
{
    binary *b = with;
    int err = NC_NOERR;
    for (int i = 0; err == NC_NOERR && i < model->nvars && !b->options->no_fill; i++)
        if (!b->records || !model->vars[i]->is_record)
            err = fill_variable(b, model, i, error);
    if (err == NC_NOERR && b->records)
        err = gen_records_write(b->records, model, !b->options->no_fill, put, b, error);
    if (err == NC_NOERR)
        err = put_header(b, model, error);
    if (err == NC_NOERR)
        err = flush(b, error);
    if (err == NC_NOERR)
        err = close_file(b, pnc_format_layout_get_file_end(model), error);
    if (err == NC_NOERR)
        err = tool_output_commit(&b->output, error);
    if (err == NC_NOERR)
        free_all(b);
    return err;
}

static int begin(const gen_options *options, pnc_cdl_sink *sink, pnc_error *error)
{
    binary *b = pnc_memory_alloc_zeroed(1, sizeof *b);
    if (!b)
        return pnc_error_set(error, NC_ENOMEM, "not enough memory");
    b->options = options;
    b->file = -1;
    *sink = (pnc_cdl_sink){.header = take_header, .values = take_values, .end = take_end, .with = b};
    return NC_NOERR;
}

const gen_kind gen_binary = {begin, finish, discard};
