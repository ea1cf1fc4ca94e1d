/* Checks and repair of files with a reader. */
#include "tools/ncvalidator/stored.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array/walk.h"
#include "base/memory.h"
#include "base/path.h"
#include "formats/reader.h"
#include "host/writer.h"
#include "tools/common/message.h"

#define CHUNKS_MOST (INT64_C(1) << 24) /* of a variable; others are not checked, and a warning says so */

/* Bytes of a chunk, or of a variable in one part. */
typedef struct used_extent {
    int64_t offset, bytes;
    int varid;
} used_extent;

typedef struct examination {
    const tool_file *file;
    report *r;
    pnc_reader *reader;
    pnc_error error; /* of the reader */
    pnc_model model;
    used_extent *used;
    int64_t nused, capacity;
} examination;

static void add_finding(examination *e, pnc_severity severity, int code, int64_t at, const char *expected,
                        const char *format, ...) PNC_PRINTF(6, 7);

static void add_finding(examination *e, pnc_severity severity, int code, int64_t at, const char *expected,
                        const char *format, ...)
{
    char text[700];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    validator_finding_add(e->r, &(pnc_finding){severity, code, at, expected, text});
}

/* The message of the reader without the name of the file, which the report has. */
static const char *get_cause(const examination *e)
{
    size_t n = strlen(e->file->path);

    return strncmp(e->error.text, e->file->path, n) == 0 && strncmp(e->error.text + n, ": ", 2) == 0
               ? e->error.text + n + 2
               : e->error.text;
}

/* --- chunks --- */

static void note_extent(examination *e, int64_t offset, int64_t bytes, int varid)
{
    if (!pnc_memory_grow(&e->used, &e->capacity, e->nused + 1, sizeof *e->used)) {
        e->r->no_memory = true;
        return;
    }
    e->used[e->nused++] = (used_extent){offset, bytes, varid};
}

static void format_chunk(const pnc_var *var, const int64_t *index, char *text, size_t capacity)
{
    size_t used = (size_t)snprintf(text, capacity, "variable \"%.100s\", chunk (", var->name);

    for (int d = 0; d < var->ndims && used < capacity; d++)
        used += (size_t)snprintf(text + used, capacity - used, "%s%" PRId64, d > 0 ? ", " : "", index[d]);
    if (used < capacity)
        snprintf(text + used, capacity - used, ")");
}

/* Returns false if other chunks of the variable cannot be read either. */
static bool check_chunk(examination *e, int varid, const int64_t *index, void *bytes)
{
    const pnc_var *var = e->model.vars[varid];
    pnc_chunk_place place;
    char name[400];
    int err;

    pnc_error_clear(&e->error);
    format_chunk(var, index, name, sizeof name);
    err = pnc_formats_reader_find_chunk(e->reader, varid, index, &place);
    if (err != NC_NOERR) {
        add_finding(e, PNC_VIOLATION, err, 0, "an index by which each chunk is found, in the file", "%s: %s", name,
                    get_cause(e));
        return true;
    }
    if (place.offset < 0)
        return true;
    e->r->chunks++;
    e->r->bytes += place.bytes;
    note_extent(e, place.offset, place.bytes, varid);
    err = pnc_formats_reader_read_chunk(e->reader, varid, index, &place, bytes);
    if (err == NC_EFILTER) {
        add_finding(e, PNC_WARNING, NC_NOERR, place.offset, "filters that this library has", "%s was not read: %s",
                    name, get_cause(e));
        return false;
    }
    if (err != NC_NOERR)
        add_finding(e, PNC_VIOLATION, err, place.offset, "a chunk that its filters and its checksum accept", "%s: %s",
                    name, get_cause(e));
    return true;
}

static int check_chunks(examination *e, int varid)
{
    const pnc_stored *s = pnc_formats_reader_get_stored(e->reader, varid);
    const pnc_var *var = e->model.vars[varid];
    int64_t index[PNC_ARRAY_DIMS], along[PNC_ARRAY_DIMS];
    int64_t n = pnc_array_chunks_count(var->ndims, s->array.extent, s->array.chunk, along);
    const pnc_array_grid grid = {var->ndims, s->array.chunk, along};
    bool goes_on = true;
    int64_t bytes = (int64_t)pnc_type_get_size(var->type);
    void *chunk;

    if (n > CHUNKS_MOST) {
        add_finding(e, PNC_WARNING, NC_NOERR, 0, "at most 16777216 chunks in a variable",
                    "variable \"%s\" has %" PRId64 " chunks, which were not checked", var->name, n);
        return NC_NOERR;
    }
    for (int d = 0; d < var->ndims; d++)
        bytes *= s->array.chunk[d];
    chunk = pnc_memory_alloc(bytes, 1);
    if (chunk == NULL)
        return NC_ENOMEM;
    for (int64_t i = 0; i < n && goes_on; i++) {
        pnc_array_index_find(&grid, i, index);
        goes_on = check_chunk(e, varid, index, chunk);
    }
    pnc_memory_free(chunk);
    return NC_NOERR;
}

static int compare_extents(const void *a, const void *b)
{
    const used_extent *x = a, *y = b;

    return (x->offset > y->offset) - (x->offset < y->offset);
}

static void check_overlaps(examination *e)
{
    if (e->nused > 1)
        qsort(e->used, (size_t)e->nused, sizeof *e->used, compare_extents);
    for (int64_t i = 1; i < e->nused; i++) {
        const used_extent *a = &e->used[i - 1], *b = &e->used[i];

        if (b->offset - a->offset < a->bytes && b->bytes > 0)
            add_finding(e, PNC_VIOLATION, NC_EHDFERR, b->offset, "bytes of its own for each chunk",
                        "chunks of \"%.100s\" and \"%.100s\" share bytes", e->model.vars[a->varid]->name,
                        e->model.vars[b->varid]->name);
    }
}

/* --- attributes --- */

static void check_fill_value(examination *e, const pnc_var *var)
{
    int at = pnc_format_atts_find(&var->atts, "_FillValue");
    const pnc_att *att = at >= 0 ? var->atts.at[at] : NULL;

    if (att != NULL && var->type < NC_STRING && (att->type != var->type || att->len != 1))
        add_finding(e, PNC_WARNING, NC_NOERR, 0, "one _FillValue of the type of its variable",
                    "variable \"%.100s\" has %" PRId64 " of type %s", var->name, att->len,
                    pnc_type_get_name(att->type));
}

static void check_number_att(examination *e, const pnc_var *var, const char *name)
{
    int at = pnc_format_atts_find(&var->atts, name);
    const pnc_att *att = at >= 0 ? var->atts.at[at] : NULL;

    if (att != NULL && (att->type == NC_CHAR || att->len != 1))
        add_finding(e, PNC_WARNING, NC_NOERR, 0, "one number in scale_factor and add_offset",
                    "variable \"%.100s\": %s has %" PRId64 " values of type %s", var->name, name, att->len,
                    pnc_type_get_name(att->type));
}

static void check_text_att(examination *e, const pnc_var *var, const char *name)
{
    int at = pnc_format_atts_find(&var->atts, name);

    if (at >= 0 && var->atts.at[at]->type != NC_CHAR)
        add_finding(e, PNC_WARNING, NC_NOERR, 0, "a text in units, calendar, long_name and standard_name",
                    "variable \"%.100s\": %s is a number", var->name, name);
}

static void check_attributes(examination *e, const pnc_var *var)
{
    static const char *const texts[] = {"units", "calendar", "long_name", "standard_name"};

    check_fill_value(e, var);
    check_number_att(e, var, "scale_factor");
    check_number_att(e, var, "add_offset");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_text_att(e, var, texts[i]);
}

/* --- the file --- */

static int check_variables(examination *e)
{
    for (int i = 0; i < e->model.nvars; i++) {
        const pnc_stored *s = pnc_formats_reader_get_stored(e->reader, i);
        const pnc_var *var = e->model.vars[i];

        e->r->variables++;
        check_attributes(e, var);
        if (s->is_alias) /* checked as that of another variable */
            continue;
        if (s->layout == NC_CHUNKED)
            PNC_TRY(check_chunks(e, i));
        else if (s->layout == NC_UNKNOWN_STORAGE)
            add_finding(e, PNC_WARNING, NC_NOERR, 0, "types that this library reads",
                        "the values of variable \"%.100s\" were not checked", var->name);
        else if (s->layout == NC_CONTIGUOUS && s->address >= 0)
            note_extent(e, s->address, var->size, i);
    }
    if (!e->r->reader->has_objects)
        check_overlaps(e);
    return NC_NOERR;
}

static void add_stray(void *own, const char *key, const char *why)
{
    add_finding(own, PNC_WARNING, NC_NOERR, 0, "objects of the dataset only", "%.300s %s", key, why);
}

static int load_metadata(examination *e)
{
    char *bytes = NULL;
    int64_t n = 0;
    int err = pnc_formats_reader_open(e->r->reader, e->file->fd, e->file->path, e->file->size, &e->error, &e->reader);

    if (err == NC_NOERR)
        err = pnc_formats_reader_load(e->reader, &bytes, &n);
    if (err == NC_NOERR)
        err = pnc_formats_reader_adopt(e->reader, bytes, n, &e->model);
    pnc_memory_free(bytes);
    return err;
}

int validator_stored_examine(tool_file *file, report *r)
{
    examination e = {.file = file, .r = r};
    int err = load_metadata(&e);

    file->model.format = NC_FORMAT_NETCDF4;
    if (err == NC_NOERR) {
        err = check_variables(&e);
        if (err == NC_NOERR)
            err = pnc_formats_reader_find_strays(e.reader, false, add_stray, &e);
    } else if (err != NC_ENOMEM && err != NC_ENOTBUILT) {
        add_finding(&e, PNC_VIOLATION, err, 0, "metadata that HDF5 reads", "%s", get_cause(&e));
        err = NC_NOERR;
    }
    if (err != NC_NOERR || r->no_memory) {
        err = err != NC_NOERR ? err : NC_ENOMEM;
        tool_error_print("%s: %s", file->path, e.error.code == err ? get_cause(&e) : pnc_error_get_text(err));
    }
    pnc_format_model_free(&e.model);
    pnc_formats_reader_close(e.reader);
    pnc_memory_free(e.used);
    return err;
}

/* --- repair --- */

static void count_stray(void *own, const char *key, const char *why)
{
    repair_log *log = own;

    log->changed = true;
    validator_step_add(log, true, "%.300s %s: it was deleted", key, why);
}

/* Delete what is in a folder and belongs to nothing. */
static int delete_strays(const pnc_reader_ops *reader, int fd, const char *path, repair_log *log, pnc_error *error)
{
    pnc_reader *r = NULL;
    pnc_model model = {.nvars = 0};
    char *bytes = NULL;
    int64_t n = 0;
    int err = pnc_formats_reader_open(reader, fd, path, 0, error, &r);

    if (err == NC_NOERR)
        err = pnc_formats_reader_load(r, &bytes, &n);
    if (err == NC_NOERR)
        err = pnc_formats_reader_adopt(r, bytes, n, &model);
    if (err == NC_NOERR)
        err = pnc_formats_reader_find_strays(r, true, count_stray, log);
    pnc_memory_free(bytes);
    pnc_format_model_free(&model);
    pnc_formats_reader_close(r);
    return err;
}

/* No other program may write to a folder meanwhile. */
static int hold_folder(const char *path, const repair_choice *choice, pnc_host_writer **out, pnc_error *error)
{
    char why[PNC_HOST_WHY_BYTES];
    pnc_held held = pnc_host_writer_begin(pnc_path_strip(path), out, why, sizeof why);

    if (held == PNC_HELD || (held == PNC_HELD_UNKNOWN && choice->assumes_dead))
        return NC_NOERR;
    return pnc_error_set(error, NC_EINTERRUPTED, "%s: %s", path,
                         held == PNC_HELD_BY_OTHERS ? why
                                                    : "there are no locks that show whether another program writes to "
                                                      "it: if none does, --assume-dead repairs it");
}

static int repair_folder(const pnc_reader_ops *reader, int fd, const char *path, const repair_choice *choice,
                         repair_log *log, pnc_error *error)
{
    pnc_host_writer *writer = NULL;
    bool was_interrupted = false;
    int err;

    PNC_TRY(hold_folder(path, choice, &writer, error));
    err = reader->repair(fd, path, 0, &was_interrupted, error);
    if (was_interrupted && err == NC_NOERR)
        validator_step_add(log, true, "the changes that a program had begun to make are complete");
    log->changed = was_interrupted;
    if (err == NC_NOERR)
        err = delete_strays(reader, fd, path, log, error);
    if (writer != NULL)
        pnc_host_writer_end(writer);
    return err;
}

static int repair_metadata(const pnc_reader_ops *reader, int fd, const char *path, int64_t size, repair_log *log,
                           pnc_error *error)
{
    bool was_interrupted = false;
    int err = reader->repair(fd, path, size, &was_interrupted, error);

    log->changed = was_interrupted;
    if (err == NC_NOERR && was_interrupted)
        validator_step_add(log, true, "the metadata that a program had begun to write are complete");
    else if (err == NC_NOERR)
        validator_step_add(log, true, "no write of metadata was interrupted: nothing was changed");
    return err;
}

int validator_stored_repair(const pnc_reader_ops *reader, const char *path, const repair_choice *choice,
                            repair_log *log)
{
    bool is_folder = reader->find_strays != NULL;
    int fd = open(path, (is_folder ? O_RDONLY : O_RDWR) | O_CLOEXEC), err;
    struct stat facts;
    pnc_error error = {0};

    if (fd < 0 || fstat(fd, &facts) != 0) {
        tool_error_print("%s: cannot be written: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return NC_EWRITE;
    }
    err = is_folder ? repair_folder(reader, fd, path, choice, log, &error)
                    : repair_metadata(reader, fd, path, facts.st_size, log, &error);
    if (err != NC_NOERR)
        tool_error_print("%s", error.text);
    if (close(fd) != 0 && err == NC_NOERR) {
        tool_error_print("%s: cannot be written: %s", path, strerror(errno));
        err = NC_EWRITE;
    }
    return err;
}
