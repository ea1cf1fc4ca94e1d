/* The file is looked at when its size or time has changed, each time by a new process: what is read while a program
 * writes may be anything, and can neither end this program nor leave a part of a record in its output. A process that
 * fails is an error only if the file stays as it is.
 *
 *   poll ---- changed ----> look: all records but the last one, which may not be complete
 *    ^  \---- unchanged since a poll ----> look: the last one, too
 */
#include "config.h" /* system extensions */

#include "tools/ncmpidump/follow.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/minmax.h"
#include "tools/common/message.h"
#include "tools/ncmpidump/dump.h"
#include "tools/ncmpidump/reader.h"

#define POLL_SECONDS 0.5
#define PATIENCE_SECONDS 10.0 /* with a file that cannot be read, and does not change */
enum { STATUS_FAILED = 1, STATUS_FATAL = 2 };
#define TEXT_MOST (INT64_C(64) << 20) /* of one look */

/* What was seen and printed. A file with other definitions or another first record is another file. */
typedef struct follow_state {
    bool has_begun;
    int64_t next;                         /* record to print */
    int64_t end;                          /* of those that were printed: more than next if one has changed */
    uint64_t definitions, first, printed; /* digests: also of the first record, and of the last one printed */
    bool has_first;
    /* results of a look */
    bool is_other; /* another file than before */
    bool is_held;  /* there are records that are not printed yet */
    bool has_more; /* which need not be waited for */
} follow_state;

/* --- the child: one look --- */

static uint64_t add_text(uint64_t digest, const char *text)
{
    return pnc_digest_add(digest, text, (int64_t)strlen(text) + 1);
}

static uint64_t describe_definitions(const dump_file *file)
{
    const pnc_model *model = &file->input.model;
    uint64_t digest = PNC_DIGEST_START;

    for (int i = 0; i < model->ndims; i++) {
        digest = add_text(digest, model->dims[i]->name);
        digest = pnc_digest_add(digest, (const char *)&model->dims[i]->len, (int64_t)sizeof model->dims[i]->len);
    }
    for (int i = 0; i < model->nvars; i++) {
        digest = add_text(digest, model->vars[i]->name);
        digest = pnc_digest_add(digest, (const char *)&model->vars[i]->type, (int64_t)sizeof model->vars[i]->type);
        digest = pnc_digest_add(digest, (const char *)model->vars[i]->dimids,
                                model->vars[i]->ndims * (int64_t)sizeof *model->vars[i]->dimids);
    }
    return digest;
}

static bool is_followed(const dump_file *file, const dump_variable *variable)
{
    return variable->ndims > 0 && variable->dimids[0] == file->unlimited && dump_variable_is_wanted(file, variable);
}

static int add_values(const dump_file *file, const dump_variable *variable, int64_t record, uint64_t *digest)
{
    int64_t *shape = pnc_memory_alloc(variable->ndims, sizeof *shape);
    dump_reader reader = {0};
    int err = NC_ENOMEM;

    if (shape != NULL) {
        tool_file_get_shape(&file->input, variable->var, shape);
        shape[0] = 1;
        err = dump_reader_init(file, variable, shape, &reader);
    }
    while (err == NC_NOERR && tool_blocks_next(&reader.blocks)) {
        reader.blocks.start[0] = record;
        err = dump_reader_read(&reader);
        reader.blocks.start[0] = 0;
        if (err == NC_NOERR && variable->type->class != CDL_STRING)
            *digest = pnc_digest_add(*digest, reader.block, reader.blocks.length * (int64_t)variable->type->size);
    }
    dump_reader_free(&reader);
    pnc_memory_free(shape);
    return err;
}

/* Call `each` for all variables that are followed. */
static int visit_variables(const dump_file *file, int64_t record,
                           int (*each)(const dump_file *, const dump_variable *, int64_t, uint64_t *), uint64_t *digest)
{
    int err = NC_NOERR;

    for (int i = 0; err == NC_NOERR && i < file->nvars; i++) {
        dump_variable variable;

        err = dump_variable_load(file, i, &variable);
        if (err == NC_NOERR && is_followed(file, &variable))
            err = each(file, &variable, record, digest);
        dump_variable_free(&variable);
    }
    return err;
}

static int compute_record(const dump_file *file, int64_t record, uint64_t *digest)
{
    *digest = PNC_DIGEST_START;
    return visit_variables(file, record, add_values, digest);
}

static int print_one(const dump_file *file, const dump_variable *variable, int64_t record, uint64_t *digest)
{
    (void)digest;
    return dump_record_print(file, variable, record);
}

/* Records of a classic file whose bytes are all there: the header may be ahead of them. */
static int64_t count_records(const dump_file *file)
{
    const pnc_model *model = &file->input.model;
    int64_t n = pnc_format_dim_get_length(model, file->unlimited);

    for (int i = 0; file->input.reader == NULL && i < model->nvars; i++) {
        const pnc_var *var = model->vars[i];
        int64_t space = file->input.size - var->classic.begin - var->size;

        if (var->is_record && model->classic.recsize > 0)
            n = pnc_min64(n, space < 0 ? 0 : space / model->classic.recsize + 1);
    }
    return n;
}

/* Whether this is another file than before, or the last record that was printed has changed since. */
static int compare_file(const dump_file *file, int64_t n, follow_state *s)
{
    uint64_t definitions = describe_definitions(file), first = 0, last;

    if (n > 0)
        PNC_TRY(compute_record(file, 0, &first));
    s->is_other = s->has_begun && (definitions != s->definitions || n < s->next || (s->has_first && first != s->first));
    if (!s->has_begun)
        s->next = file->options->from < 0 ? pnc_max64(n + file->options->from, 0) : file->options->from;
    if (s->is_other)
        s->next = s->end = 0;
    if (s->end > 0 && s->next == s->end) {
        PNC_TRY(compute_record(file, s->end - 1, &last));
        s->next -= last != s->printed;
    }
    s->has_begun = true;
    s->definitions = definitions;
    s->first = first;
    s->has_first = n > 0;
    return NC_NOERR;
}

/* with_last: the file has not changed since the poll before. */
static int print_records(const dump_file *file, bool with_last, follow_state *s)
{
    int64_t n = count_records(file), end = with_last ? n : n - 1;

    PNC_TRY(compare_file(file, n, s));
    for (; s->next < end && ftell(file->out) < TEXT_MOST; s->next++) {
        fprintf(file->out, "// record %lld%s\n", (long long)s->next, s->next < s->end ? ", which has changed" : "");
        PNC_TRY(visit_variables(file, s->next, print_one, NULL));
        PNC_TRY(compute_record(file, s->next, &s->printed));
        s->end = s->next + 1;
    }
    s->has_more = s->next < end;
    s->is_held = s->next < n;
    return NC_NOERR;
}

/* Standard error goes to a file, as what fails may be due to a program that is writing. */
static int look_once(const dump_options *options, bool with_last, FILE *text, FILE *errors, follow_state *s)
{
    dump_team team = {.rank = 0, .nprocs = 1};
    dump_file file;
    int err;

    if (dup2(fileno(errors), STDERR_FILENO) < 0)
        return NC_EFILE;
    err = dump_file_open(options, &team, &file);
    if (err == NC_NOERR && file.unlimited < 0) {
        tool_error_print("%s: the file has no record dimension, along which it could grow", options->path);
        err = NC_ENORECVARS;
    }
    if (err == NC_NOERR) {
        file.out = text;
        err = print_records(&file, with_last, s);
        if (fflush(text) != 0 || ferror(text)) {
            tool_error_print("a temporary file for records cannot be written: %s", strerror(errno));
            err = NC_EWRITE;
        }
    }
    return err;
}

/* --- the parent --- */

typedef struct follower {
    const dump_options *options;
    follow_state state;
    struct stat seen;
    FILE *text, *errors; /* of the child */
    bool is_fatal;       /* there is nothing to wait for */
} follower;

static double get_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void copy_file(FILE *from, FILE *to)
{
    char bytes[1 << 16];
    size_t n;

    rewind(from);
    while ((n = fread(bytes, 1, sizeof bytes, from)) > 0)
        fwrite(bytes, 1, n, to);
}

/* Empty, for the next child, which shares the position. */
static bool empty_file(FILE *file)
{
    rewind(file);
    return ftruncate(fileno(file), 0) == 0;
}

/* The state of the child, from a pipe; false if it has failed. *is_fatal: it would again. */
static bool receive_state(int from, pid_t child, follow_state *state, bool *is_fatal)
{
    follow_state received;
    ssize_t n = 0;
    int status;

    for (size_t done = 0; done < sizeof received; done += (size_t)n) {
        n = read(from, (char *)&received + done, sizeof received - done);
        if (n < 0 && errno == EINTR)
            n = 0;
        else if (n <= 0)
            break;
    }
    close(from);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    *is_fatal = WIFEXITED(status) && WEXITSTATUS(status) == STATUS_FATAL;
    if (n <= 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return false;
    *state = received;
    return true;
}

/* Whether a child has printed what there is. */
static bool look(follower *f, bool with_last)
{
    follow_state state = f->state;
    int ends[2];
    pid_t child;

    fflush(stdout);
    if (!empty_file(f->text) || !empty_file(f->errors) || pipe(ends) != 0)
        return false;
    child = fork();
    if (child == 0) {
        close(ends[0]);
        int err = look_once(f->options, with_last, f->text, f->errors, &state);

        if (err != NC_NOERR)
            _exit(err == NC_ENORECVARS ? STATUS_FATAL : STATUS_FAILED);
        _exit(write(ends[1], &state, sizeof state) == sizeof state ? 0 : STATUS_FAILED);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return false;
    }
    return receive_state(ends[0], child, &f->state, &f->is_fatal);
}

/* What the child has found; NC_EWRITE if it cannot be printed. */
static int report_look(const follower *f)
{
    if (f->state.is_other)
        tool_error_print("%s: is another file now: its records are printed from the first one", f->options->path);
    copy_file(f->text, stdout);
    return tool_output_flush(f->options->path);
}

static bool has_changed(follower *f)
{
    struct stat now;
    bool is_same;

    if (stat(f->options->path, &now) != 0)
        memset(&now, 0, sizeof now);
    is_same = now.st_dev == f->seen.st_dev && now.st_ino == f->seen.st_ino && now.st_size == f->seen.st_size &&
              now.st_mtim.tv_sec == f->seen.st_mtim.tv_sec && now.st_mtim.tv_nsec == f->seen.st_mtim.tv_nsec;
    f->seen = now;
    return !is_same;
}

static int print_failure(const follower *f)
{
    copy_file(f->errors, stderr);
    if (ftell(f->errors) == 0)
        tool_error_print("%s: cannot be read", f->options->path);
    return 1;
}

static int follow_file(follower *f)
{
    const struct timespec pause = {.tv_nsec = (long)(POLL_SECONDS * 1e9)};
    double changed_at = get_seconds();
    bool is_failing = true; /* it was not looked at yet */

    for (;;) {
        bool changed = has_changed(f);

        if (changed)
            changed_at = get_seconds();
        if (changed || f->state.is_held || is_failing) {
            is_failing = !look(f, !changed);
            if (!is_failing && report_look(f) != NC_NOERR)
                return 1;
        }
        if (is_failing && !f->state.has_begun && (f->seen.st_ino == 0 || f->is_fatal))
            return print_failure(f);
        if (is_failing && get_seconds() - changed_at > PATIENCE_SECONDS)
            return print_failure(f);
        if (f->options->idle > 0 && !f->state.is_held && !is_failing && get_seconds() - changed_at >= f->options->idle)
            return 0;
        if (!f->state.has_more)
            nanosleep(&pause, NULL);
    }
}

int dump_records_watch(const dump_options *options)
{
    follower f = {.options = options, .text = tmpfile(), .errors = tmpfile()};
    int status = 1;

    if (f.text == NULL || f.errors == NULL)
        tool_error_print("a temporary file for records cannot be created: %s", strerror(errno));
    else
        status = follow_file(&f);
    if (f.text != NULL)
        fclose(f.text);
    if (f.errors != NULL)
        fclose(f.errors);
    return status;
}
