/* Files without MPI. */
#include "tools/common/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/path.h"
#include "convert/convert.h"
#include "format/codec.h"
#include "host/bytes.h"
#include "tools/common/message.h"
#include "tools/common/output.h"

enum { FIRST_BYTES = 64 * 1024 };

static int failed(const tool_file *file, int code, const char *cause)
{
    tool_error_print("%s: %s", file->path, cause);
    return code;
}

static int open_failed(const tool_file *file, int number)
{
    switch (number) {
    case ENOENT:
        tool_error_print("%s: %s%s", file->path, strerror(number), pnc_path_explain_missing(file->path));
        return NC_ENOENT;
    case EACCES: return failed(file, NC_EACCESS, strerror(number));
    default: return failed(file, NC_EFILE, strerror(number));
    }
}

int tool_file_open_bytes(const char *path, tool_file *file)
{
    struct stat facts;

    *file = (tool_file){.path = path, .fd = -1};
    /* opening a FIFO without a writer must not block */
    file->fd = open(pnc_path_strip(path), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file->fd < 0)
        return open_failed(file, errno);
    if (fstat(file->fd, &facts) != 0)
        return failed(file, NC_EFILE, strerror(errno));
    file->is_folder = S_ISDIR(facts.st_mode);
    if (file->is_folder && pnc_formats_readers_find_folder(file->fd) == NULL)
        return failed(file, NC_EFILE, "this is a folder, and no Zarr store");
    if (!S_ISREG(facts.st_mode) && !file->is_folder)
        return failed(file, NC_EFILE, "this is not a regular file");
    file->size = file->is_folder ? 0 : facts.st_size;
    return tool_input_is_stdout(path) ? NC_EINVAL : NC_NOERR;
}

void tool_file_close(tool_file *file)
{
    pnc_format_model_free(&file->model);
    pnc_formats_reader_close(file->reader);
    pnc_memory_free(file->error);
    file->reader = NULL;
    file->error = NULL;
    if (file->fd >= 0)
        close(file->fd); /* opened for reading: an error of close loses no data */
    file->fd = -1;
}

int tool_file_read(const tool_file *file, int64_t offset, void *bytes, int64_t n)
{
    int number = pnc_host_bytes_read(file->fd, offset, bytes, n);

    if (number == 0)
        return NC_NOERR;
    tool_error_print("%s: cannot read %lld bytes at byte %lld: %s", file->path, (long long)n, (long long)offset,
                     number > 0 ? strerror(number) : "the file is truncated");
    return NC_EREAD;
}

/* As above, for data: bytes beyond the end of the file read as zeros. */
static int read_data(const tool_file *file, int64_t offset, char *bytes, int64_t n)
{
    int64_t present = offset < file->size ? file->size - offset : 0;

    if (present > n)
        present = n;
    memset(bytes + present, 0, (size_t)(n - present));
    return tool_file_read(file, offset, bytes, present);
}

/* Read up to offset `upto`, after the *n bytes already read. */
static int read_more(const tool_file *file, int64_t upto, char **bytes, int64_t *n)
{
    char *larger;

    upto = upto < file->size ? upto : file->size;
    larger = pnc_memory_resize(*bytes, upto, 1);
    if (larger == NULL)
        return failed(file, NC_ENOMEM, "not enough memory for the header");
    *bytes = larger;
    PNC_TRY(tool_file_read(file, *n, *bytes + *n, upto - *n));
    *n = upto;
    return NC_NOERR;
}

static int read_classic_header(tool_file *file, const pnc_observer *observer, char **bytes, int64_t *n)
{
    int64_t need = FIRST_BYTES;
    pnc_error error = {0};
    int code;

    do {
        PNC_TRY(read_more(file, need, bytes, n));
        pnc_format_model_free(&file->model);
        code = observer != NULL ? pnc_format_header_examine(*bytes, *n, file->size, observer, &file->model, &need)
                                : pnc_format_header_decode(*bytes, *n, file->size, &file->model, &need, &error);
    } while (code == PNC_NEED_MORE_BYTES);
    return code != NC_NOERR && observer == NULL ? failed(file, code, error.text) : NC_NOERR;
}

/* --- readers --- */

const pnc_reader_ops *tool_file_find_reader(const tool_file *file)
{
    char front[FIRST_BYTES];
    int64_t n = file->size < FIRST_BYTES ? file->size : FIRST_BYTES;

    if (file->is_folder)
        return pnc_formats_readers_find_folder(file->fd);
    return pnc_host_bytes_read(file->fd, 0, front, n) == 0 ? pnc_formats_readers_find(front, n) : NULL;
}

static int begin_reader(tool_file *file, const pnc_reader_ops *ops)
{
    file->error = pnc_memory_alloc_zeroed(1, sizeof *file->error);
    if (file->error == NULL)
        return failed(file, NC_ENOMEM, "not enough memory for the header");
    return pnc_formats_reader_open(ops, file->fd, file->path, file->size, file->error, &file->reader);
}

static void reverse(char *value, int64_t n, size_t size)
{
    for (char *end = value + n * (int64_t)size; value < end; value += size)
        for (size_t i = 0; i < size / 2; i++) {
            char byte = value[i];

            value[i] = value[size - 1 - i];
            value[size - 1 - i] = byte;
        }
}

static void reverse_attributes(const pnc_atts *atts)
{
    for (int i = 0; i < atts->n; i++)
        if (atts->at[i]->value != NULL)
            reverse(atts->at[i]->value, atts->at[i]->len, pnc_type_get_size(atts->at[i]->type));
}

static void encode_attributes(pnc_model *model)
{
    if (!model->little)
        return;
    reverse_attributes(&model->gatts);
    for (int i = 0; i < model->nvars; i++)
        reverse_attributes(&model->vars[i]->atts);
    model->little = false;
}

/* The message of the reader, which names the file, unless it is about libhdf5. Returns code. */
static int reader_failed(const tool_file *file, int code)
{
    bool has_message = code != NC_NOERR && file->error != NULL && file->error->code != NC_NOERR;

    if (has_message && code == NC_ENOTBUILT)
        tool_error_print("%s: %s", file->path, file->error->text);
    else if (has_message)
        tool_error_print("%s", file->error->text);
    return code;
}

static int adopt_description(tool_file *file, const char *bytes, int64_t n)
{
    PNC_TRY(pnc_formats_reader_adopt(file->reader, bytes, n, &file->model));
    encode_attributes(&file->model);
    return NC_NOERR;
}

static int read_description(tool_file *file, const pnc_reader_ops *ops, char **bytes, int64_t *n)
{
    int err = begin_reader(file, ops);

    if (err == NC_NOERR)
        err = pnc_formats_reader_load(file->reader, bytes, n);
    if (err == NC_NOERR)
        err = adopt_description(file, *bytes, *n);
    return reader_failed(file, err);
}

bool tool_file_has_objects(const tool_file *file)
{
    return file->reader != NULL && file->reader->ops->has_objects;
}

int tool_file_check_classic(const tool_file *file, const char *why)
{
    if (file->reader == NULL)
        return NC_NOERR;
    tool_error_print("%s is a %s file: %s", file->path, file->reader->ops->name, why);
    return NC_ENOTSUPPORT;
}

/* --- any format --- */

int tool_file_read_header(tool_file *file, const pnc_observer *observer, char **bytes, int64_t *n)
{
    const pnc_reader_ops *ops = observer == NULL ? tool_file_find_reader(file) : NULL;

    *bytes = NULL;
    *n = 0;
    return ops != NULL ? read_description(file, ops, bytes, n) : read_classic_header(file, observer, bytes, n);
}

static int open_description(tool_file *file, const pnc_reader_ops *ops, const char *bytes, int64_t n)
{
    int err = begin_reader(file, ops);

    if (err == NC_NOERR)
        err = adopt_description(file, bytes, n);
    return reader_failed(file, err);
}

int tool_file_open_copy(const char *path, const char *header, int64_t n, int64_t size, tool_file *file)
{
    int64_t need;
    pnc_error error = {0};
    const pnc_reader_ops *ops;

    PNC_TRY(tool_file_open_bytes(path, file));
    file->size = size;
    ops = tool_file_find_reader(file);
    if (ops != NULL)
        return open_description(file, ops, header, n);
    int err = pnc_format_header_decode(header, n, size, &file->model, &need, &error);
    return err != NC_NOERR ? failed(file, err, error.text) : NC_NOERR;
}

int tool_file_open(const char *path, tool_file *file)
{
    char *bytes = NULL;
    int64_t n;
    int err = tool_file_open_bytes(path, file);

    if (err == NC_NOERR)
        err = tool_file_read_header(file, NULL, &bytes, &n);
    pnc_memory_free(bytes);
    return err;
}

pnc_shortage_kind tool_file_report_short(const tool_file *file, bool only_large)
{
    char text[PNC_SHORTAGE_TEXT];
    pnc_shortage shortage;

    if (file->reader != NULL)
        return PNC_SHORTAGE_NONE;
    pnc_format_shortage_find(&file->model, file->size, &shortage);
    if (only_large ? pnc_format_shortage_is_large(shortage.kind) : shortage.kind != PNC_SHORTAGE_NONE)
        tool_warning_print("warning: %s: %s", file->path, pnc_format_shortage_explain(&file->model, &shortage, text));
    return shortage.kind;
}

void tool_file_get_shape(const tool_file *file, const pnc_var *var, int64_t *shape)
{
    for (int i = 0; i < var->ndims; i++)
        shape[i] = pnc_format_dim_get_length(&file->model, var->dimids[i]);
}

/* skip: elements from the first one of the variable (or record) to the one at start; run: contiguous elements of the
 * block. */
static void locate(const pnc_var *var, const int64_t *start, const int64_t *count, int64_t *skip, int64_t *run)
{
    *skip = 0;
    *run = 1;
    for (int i = var->is_record; i < var->ndims; i++) {
        *skip = *skip * var->shape[i] + start[i];
        *run *= count[i];
    }
}

/* Kernels need two buffers: the second is a slice that fits in the first-level cache. */
static void make_native(int type, pnc_encoding encoding, int64_t n, char *values)
{
    static const char unused[8]; /* fill value: the same type on both sides, and nothing is out of range */
    pnc_kernel load = pnc_convert_kernel_find(PNC_GET, type, pnc_type_get_mem_type(type), encoding, NULL);
    int64_t size = (int64_t)pnc_type_get_size(type), now;
    char block[4096];

    for (; n > 0; n -= now, values += now * size) {
        now = n < (int64_t)sizeof block / size ? n : (int64_t)sizeof block / size;
        memcpy(block, values, (size_t)(now * size));
        load(values, block, now, unused);
    }
}

void tool_att_load(const pnc_att *att, void *values)
{
    if (att->len == 0)
        return;
    memcpy(values, att->value, (size_t)att->len * pnc_type_get_size(att->type));
    make_native(att->type, PNC_ENCODING_CDF5, att->len, values);
}

static int read_classic_block(const tool_file *file, const pnc_var *var, const int64_t *start, const int64_t *count,
                              char *bytes)
{
    int64_t skip, run, size = (int64_t)pnc_type_get_size(var->type), recsize = file->model.classic.recsize;
    int64_t first = var->is_record ? start[0] : 0, records = var->is_record ? count[0] : 1;
    int err = NC_NOERR;

    locate(var, start, count, &skip, &run);
    if (run * size == recsize) { /* records side by side */
        run *= records;
        records = 1;
    }
    for (int64_t r = 0; r < records && err == NC_NOERR; r++)
        err = read_data(file, var->classic.begin + (first + r) * recsize + skip * size, bytes + r * run * size,
                        run * size);
    return err;
}

static int find_varid(const tool_file *file, const pnc_var *var)
{
    int varid = 0;

    while (file->model.vars[varid] != var)
        varid++;
    return varid;
}

static int read_stored_block(const tool_file *file, const pnc_var *var, const int64_t *start, const int64_t *count,
                             void *values)
{
    pnc_error_clear(file->error);
    return reader_failed(file, pnc_formats_reader_read(file->reader, find_varid(file, var), start, count, values));
}

int tool_file_find_chunk(const tool_file *file, int varid, const int64_t *index, pnc_chunk_place *place)
{
    pnc_error_clear(file->error);
    return reader_failed(file, pnc_formats_reader_find_chunk(file->reader, varid, index, place));
}

int tool_file_read_chunk(const tool_file *file, int varid, const int64_t *index, const pnc_chunk_place *place,
                         void *chunk)
{
    pnc_error_clear(file->error);
    return reader_failed(file, pnc_formats_reader_read_chunk(file->reader, varid, index, place, chunk));
}

int tool_file_read_strings(const tool_file *file, const pnc_var *var, const int64_t *start, const int64_t *count,
                           pnc_reader_strings *strings)
{
    pnc_error_clear(file->error);
    return reader_failed(file,
                         pnc_formats_reader_read_strings(file->reader, find_varid(file, var), start, count, strings));
}

int tool_file_read_block(const tool_file *file, const pnc_var *var, const int64_t *start, const int64_t *count,
                         bool native, void *values)
{
    int64_t n = 1;

    if (file->reader != NULL)
        PNC_TRY(read_stored_block(file, var, start, count, values));
    else
        PNC_TRY(read_classic_block(file, var, start, count, values));
    for (int d = 0; d < var->ndims; d++)
        n *= count[d];
    if (native)
        make_native(var->type, (pnc_encoding){.little = var->little}, n, values);
    return NC_NOERR;
}
