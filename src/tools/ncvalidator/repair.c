/* Repairs after an interrupted writer.
 *
 * The library writes the data of a record before it increases the number of records in the header: the file may have
 * more records than the header counts. A truncated copy has fewer.
 *
 * When a header grows, the library leaves a journal until all data have moved (src/growth). Other writers have none.
 * If they move the data up, the last bytes first, and write the new header last, a valid header is either the old one,
 * with data moved from some offset on, or the new one, with all data moved. If they write the header first, the ends of
 * new variables may be missing. */
#include "tools/ncvalidator/repair.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "format/codec.h"
#include "format/layout.h"
#include "host/bytes.h"
#include "tools/common/json.h"
#include "tools/common/message.h"
#include "tools/common/progress.h"
#include "tools/ncvalidator/shift.h"

enum { PORTION = 1 << 20 };

void validator_step_add(repair_log *log, bool certain, const char *format, ...)
{
    va_list args;

    log->uncertain = log->uncertain || !certain;
    if (log->n == REPAIR_STEPS) {
        log->left_out++;
        return;
    }
    log->steps[log->n].certain = certain;
    va_start(args, format);
    vsnprintf(log->steps[log->n].text, sizeof log->steps[0].text, format, args);
    va_end(args);
    log->n++;
}

static int write_failed(const char *path)
{
    int number = errno;

    tool_error_print("%s: cannot be written: %s", path, strerror(number));
    return number == ENOSPC ? NC_ENO_SPACE : NC_EWRITE;
}

/* A file that is being repaired. */
typedef struct target {
    const char *path;
    tool_file file; /* for reading; its model is that of the file before the repair */
    int fd;         /* for writing */
    const repair_choice *choice;
    repair_log *log;
} target;

static int put(const target *t, int64_t at, const void *bytes, int64_t n)
{
    t->log->changed = true;
    errno = pnc_host_bytes_write(t->fd, at, bytes, n);
    return errno == 0 ? NC_NOERR : write_failed(t->path);
}

static int set_size(const target *t, int64_t size)
{
    t->log->changed = true;
    return ftruncate(t->fd, (off_t)size) == 0 ? NC_NOERR : write_failed(t->path);
}

static int open_target(const char *path, const tool_file *file, repair_log *log, target *t)
{
    *t = (target){.path = path, .log = log};
    t->fd = open(path, O_RDWR | O_CLOEXEC);
    if (t->fd < 0)
        return write_failed(path);
    t->file = *file;
    t->file.path = path;
    t->file.fd = t->fd;
    return NC_NOERR;
}

static int close_target(target *t, int err)
{
    if (err == NC_NOERR && fsync(t->fd) != 0 && errno != EINVAL)
        err = write_failed(t->path);
    if (close(t->fd) != 0 && err == NC_NOERR)
        err = write_failed(t->path);
    return err;
}

static int null_padding(target *t, const report *r)
{
    int64_t fields = 0;
    int err = NC_NOERR;

    for (int i = 0; i < r->n && err == NC_NOERR; i++) {
        const finding *f = &r->list[i];

        if (strcmp(f->expected, PNC_RULE_PADDING) != 0)
            continue;
        err = put(t, f->at, "\0\0\0", -f->at & 3);
        fields++;
    }
    if (err == NC_NOERR && fields > 0)
        validator_step_add(t->log, true, "the padding after %" PRId64 " field%s of the header was set to null", fields,
                           fields == 1 ? "" : "s");
    return err;
}

int validator_padding_repair(const char *path, const report *r, repair_log *log)
{
    target t;
    int err = open_target(path, &(tool_file){.path = path}, log, &t);

    return err != NC_NOERR ? err : close_target(&t, null_padding(&t, r));
}

/* --- records --- */

/* Records that are completely in the file. The padding after the last one may be missing. */
static int64_t whole_records(const pnc_model *model, int64_t file_size)
{
    int64_t end = 0;

    for (int i = 0; i < model->nvars; i++) {
        const pnc_var *var = model->vars[i];

        if (var->is_record && var->classic.begin + var->size > end)
            end = var->classic.begin + var->size;
    }
    return file_size < end ? 0 : (file_size - end) / model->classic.recsize + 1;
}

/* Records of which the file has at least a byte. */
static int64_t begun_records(const pnc_model *model, int64_t file_size)
{
    return file_size <= model->classic.begin_rec
               ? 0
               : (file_size - model->classic.begin_rec - 1) / model->classic.recsize + 1;
}

static int write_numrecs(target *t, int64_t numrecs)
{
    char bytes[8];

    t->file.model.numrecs = numrecs;
    return put(t, 4, bytes, pnc_format_numrecs_encode(&t->file.model, bytes));
}

/* Records without a byte in the file have no values to lose. */
static int lower_numrecs(target *t, int64_t begun)
{
    int64_t counted = t->file.model.numrecs;

    validator_step_add(t->log, true,
                       "the number of records was changed to %" PRId64 " from %" PRId64
                       ": the file ends before the other records, whose data are lost",
                       begun, counted);
    return write_numrecs(t, begun);
}

/* Only on request: bytes after the last record may be anything. */
static int raise_numrecs(target *t, int64_t whole)
{
    int64_t counted = t->file.model.numrecs;

    if (!t->choice->raise_records) {
        validator_step_add(t->log, false,
                           "the file is long enough for %" PRId64 " records, %" PRId64
                           " are counted: if a writer ended before it counted the others, --raise-records counts them",
                           whole, counted);
        return NC_NOERR;
    }
    validator_step_add(
        t->log, false,
        "the number of records was changed to %" PRId64 " from %" PRId64
        ": the file is long enough for them; check the values of the last ones, which a writer may not have completed",
        whole, counted);
    return write_numrecs(t, whole);
}

static int repair_streaming(target *t, bool streaming)
{
    if (!streaming)
        return NC_NOERR;
    validator_step_add(t->log, true, "the number of records was set to %" PRId64 ", from the size of the file",
                       t->file.model.numrecs);
    return write_numrecs(t, t->file.model.numrecs);
}

/* --- the end of the file --- */

/* Write fill values to the part of a variable, or of one record of it, from byte `begin` that is beyond the end of the
 * file. */
static int fill_rest(target *t, const pnc_var *var, int64_t begin)
{
    int64_t size = (int64_t)pnc_type_get_size(var->type), end = begin + var->size, at = t->file.size;
    int64_t n = PORTION / size * size;
    char *fill;
    int err = NC_NOERR;

    if (at < begin)
        at = begin;
    at = begin + (at - begin) / size * size; /* a truncated element is lost as a whole */
    if (at >= end)
        return NC_NOERR;
    fill = pnc_memory_alloc(n, 1);
    if (fill == NULL) {
        tool_error_print("%s: not enough memory for fill values", t->path);
        return NC_ENOMEM;
    }
    for (int64_t i = 0; i < n; i += size)
        pnc_format_var_get_fill_value(&t->file.model, var, fill + i);
    validator_step_add(t->log, at == begin && !var->is_record,
                       "variable \"%.80s\"%s: %s fill values: %" PRId64 " elements that the file does not have",
                       var->name, var->is_record ? ", last record" : "",
                       at == begin ? "was probably never written, and has" : "its end is lost, and has",
                       (end - at) / size);
    for (; at < end && err == NC_NOERR; at += n)
        err = put(t, at, fill, end - at < n ? end - at : n);
    pnc_memory_free(fill);
    return err;
}

/* The end given by an invalid header may exceed any disk. */
static bool is_too_large(target *t, int64_t end)
{
    if (end - t->file.size <= t->file.size + ((int64_t)64 << 20))
        return false;
    validator_step_add(t->log, false,
                       "%" PRId64 " bytes are missing at the end, far more than the file has: it was not extended",
                       end - t->file.size);
    return true;
}

static int complete_end(target *t)
{
    const pnc_model *model = &t->file.model;
    int64_t end = pnc_format_layout_get_file_end(model);
    int err = NC_NOERR;

    if (t->file.size >= end || is_too_large(t, end))
        return NC_NOERR;
    for (int i = 0; i < model->nvars && err == NC_NOERR; i++) {
        const pnc_var *var = model->vars[i];

        if (!var->is_record)
            err = fill_rest(t, var, var->classic.begin);
        else if (model->numrecs > 0) /* no earlier record is cut */
            err = fill_rest(t, var, var->classic.begin + (model->numrecs - 1) * model->classic.recsize);
    }
    if (err == NC_NOERR && t->file.size >= pnc_format_layout_get_data_end(model))
        validator_step_add(t->log, true, "padding was added at the end of the file");
    return err != NC_NOERR ? err : set_size(t, end);
}

/* --- an interrupted growth of the header --- */

static int roll_back(target *t, const shift *s, int64_t end)
{
    int err = validator_shift_undo(&t->file, s, end, t->fd);

    if (err == EIO)
        return NC_EREAD; /* the error was printed before */
    if (err != 0) {
        errno = err;
        return write_failed(t->path);
    }
    validator_step_add(t->log, false,
                       "an interrupted growth of the header was rolled back: the data from byte %" PRId64
                       " on had moved up by %" PRId64 " bytes",
                       s->from, s->distance);
    return set_size(t, end);
}

/* Data that another writer had begun to move. They show it only by equal bytes, which can have other reasons too: they
 * are moved back only on request. */
static int repair_shift(target *t, const shift *s, int64_t end)
{
    if (s->found == 1 && t->choice->undo_growth)
        return roll_back(t, s, end);
    if (s->found == 1)
        validator_step_add(
            t->log, false,
            "equal data suggest that a writer was interrupted while the header grew, after it had moved the data from "
            "byte %" PRId64 " on by %" PRId64 " bytes: if so, --undo-growth moves them back",
            s->from, s->distance);
    else
        validator_step_add(
            t->log, false,
            "the writer may have been interrupted while the header grew; the data, which do not show what "
            "part had moved, were not changed");
    return NC_NOERR;
}

/* Repair a file that is longer than its header requires. */
static int repair_surplus(target *t, int64_t whole)
{
    const pnc_model *model = &t->file.model;
    int64_t end = pnc_format_layout_get_file_end(model), surplus = t->file.size - end;
    bool records = model->nrecvars > 0 && surplus % model->classic.recsize == 0;
    shift s = {.found = 0};
    int err = NC_NOERR;

    if (!records || t->choice->undo_growth)
        err = validator_shift_find(&t->file, model->classic.header_extent, pnc_format_layout_get_data_end(model), end,
                                   &s);
    if (err != NC_NOERR)
        return err;
    if (s.found > 0)
        return repair_shift(t, &s, end);
    if (model->nrecvars > 0 && whole > model->numrecs)
        return raise_numrecs(t, whole);
    validator_step_add(t->log, false, "%" PRId64 " bytes after the last variable were not changed", surplus);
    return NC_NOERR;
}

static int repair_data(target *t, bool streaming)
{
    const pnc_model *model = &t->file.model;
    bool records = model->nrecvars > 0;
    int64_t begun = records ? begun_records(model, t->file.size) : 0;
    int err = repair_streaming(t, streaming);

    if (err == NC_NOERR && records && begun < model->numrecs)
        err = lower_numrecs(t, begun);
    if (err == NC_NOERR)
        err = complete_end(t);
    if (err == NC_NOERR && t->file.size > pnc_format_layout_get_file_end(model))
        err = repair_surplus(t, records ? whole_records(model, t->file.size) : 0);
    return err;
}

/* A file with a journal. A copy that has one is of a file whose program has ended. */
static int complete_growth(target *t, validator_hold *held, pnc_growth_outcome *outcome)
{
    validator_hold of_copy = {.fd = -1};
    int err;

    if (held != NULL)
        return validator_growth_repair(held, outcome);
    err = validator_hold_begin(t->path, true, true, &of_copy);
    if (err == NC_NOERR)
        err = validator_growth_repair(&of_copy, outcome);
    validator_hold_end(&of_copy);
    return err;
}

static int repair_growth(target *t, validator_hold *held, pnc_growth_outcome *outcome)
{
    PNC_TRY(complete_growth(t, held, outcome));
    t->log->changed = t->log->changed || *outcome != PNC_GROWTH_NONE;
    if (*outcome == PNC_GROWTH_COMPLETED)
        validator_step_add(t->log, true,
                           "an interrupted change of the header was completed from the journal in the file");
    else if (*outcome == PNC_GROWTH_REVERTED)
        validator_step_add(t->log, true,
                           "a change of the header ended before it changed anything: its journal was removed");
    return NC_NOERR;
}

static int repair_other(target *t, const report *r)
{
    static const unsigned char ones[8] = {255, 255, 255, 255, 255, 255, 255, 255};
    unsigned char numrecs[8] = {0};
    size_t width = t->file.model.format == 5 ? 8 : 4;
    int64_t beyond = 0;

    for (int i = 0; i < r->n; i++)
        beyond += r->list[i].severity == PNC_VIOLATION;
    PNC_TRY(null_padding(t, r));
    if (beyond > 0) {
        validator_step_add(t->log, false,
                           "%" PRId64 " error%s of the header cannot be repaired; the data were not touched", beyond,
                           beyond == 1 ? "" : "s");
        return NC_NOERR;
    }
    PNC_TRY(tool_file_read(&t->file, 4, numrecs, (int64_t)width));
    return repair_data(t, memcmp(numrecs, ones, width) == 0);
}

int validator_file_repair(const tool_file *file, const report *r, const repair_choice *choice, const char *path,
                          validator_hold *held, repair_log *log)
{
    pnc_growth_outcome outcome = PNC_GROWTH_NONE;
    target t;
    int err = open_target(path, file, log, &t);

    if (err != NC_NOERR)
        return err;
    t.choice = choice;
    err = repair_growth(&t, held, &outcome);
    if (err == NC_NOERR && outcome == PNC_GROWTH_NONE)
        err = repair_other(&t, r);
    return close_target(&t, err);
}

/* A writer shows itself by the time of the last write, where nothing else does. */
static int check_unchanged(const tool_file *file, const struct stat *before)
{
    struct stat after;

    if (fstat(file->fd, &after) == 0 && after.st_size == before->st_size && after.st_size == file->size &&
        after.st_mtim.tv_sec == before->st_mtim.tv_sec && after.st_mtim.tv_nsec == before->st_mtim.tv_nsec)
        return NC_NOERR;
    tool_error_print(
        "%s: a program wrote to the file while it was copied: the copy would be a mixture; repair the file "
        "when that program has ended",
        file->path);
    return NC_EINTERRUPTED;
}

int validator_file_copy(const tool_file *file, const char *path, bool quiet)
{
    tool_progress progress;
    repair_log none = {.n = 0};
    char *bytes = pnc_memory_alloc(PORTION, 1);
    struct stat before;
    target t;
    int err;

    if (bytes == NULL) {
        tool_error_print("%s: not enough memory to copy the file", file->path);
        return NC_ENOMEM;
    }
    err = open_target(path, file, &none, &t);
    if (err != NC_NOERR) {
        pnc_memory_free(bytes);
        return err;
    }
    if (fstat(file->fd, &before) != 0)
        memset(&before, 0, sizeof before);
    tool_progress_begin(stderr, "copying", file->size, &progress);
    if (quiet)
        progress.out = NULL;
    for (int64_t at = 0, n; at < file->size && err == NC_NOERR; at += n) {
        n = file->size - at < PORTION ? file->size - at : PORTION;
        err = tool_file_read(file, at, bytes, n);
        if (err == NC_NOERR)
            err = put(&t, at, bytes, n);
        tool_progress_update(&progress, at + n);
    }
    tool_progress_wipe();
    if (err == NC_NOERR)
        err = check_unchanged(file, &before);
    pnc_memory_free(bytes);
    return close_target(&t, err);
}

void validator_repair_print(const repair_log *log, bool json)
{
    if (json)
        fputs(",\n  \"repairs\": [", stdout);
    for (int i = 0; i < log->n; i++) {
        const repair_step *step = &log->steps[i];

        if (json) {
            printf("%s\n    {\"certain\": %s, \"what\": ", i > 0 ? "," : "", step->certain ? "true" : "false");
            tool_json_print_string(step->text);
            putchar('}');
        } else {
            printf("%s: %s.\n", step->certain ? "Certain" : "Uncertain", step->text);
        }
    }
    if (log->left_out > 0 && !json)
        printf("And %d more like it.\n", log->left_out);
    if (json)
        putchar(']');
    else if (log->n == 0)
        puts("There was nothing to repair.");
}
