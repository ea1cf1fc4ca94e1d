/* References to the chunks of one file, or of several that are joined along the record dimension. Fixed-size variables
 * and attributes are those of the first file. */
#include "config.h" /* realpath */

#include "tools/ncoffsets/references.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/path.h"
#include "references/references.h"
#include "tools/common/message.h"
#include "tools/ncoffsets/join.h"

typedef struct references {
    const options *options;
    const tool_file *first;
    tool_relations relations; /* of its variables */
    pnc_references written;
    pnc_stored_references *stored; /* of files with readers */
} references;

/* --- files --- */

/* The name of the file in the references: its absolute path, or below the URL where it will be. To be freed; NULL
 * without memory. */
static char *make_url(const char *path, const char *prefix)
{
    const char *name = pnc_path_get_name(path);
    size_t length = prefix != NULL ? strlen(prefix) : 0;
    char *url;

    if (prefix == NULL)
        return realpath(path, NULL);
    url = malloc(length + strlen(name) + 2);
    if (url != NULL)
        sprintf(url, "%s%s%s", prefix, length > 0 && prefix[length - 1] == '/' ? "" : "/", name);
    return url;
}

static int write_file(references *r, const tool_file *file, bool first)
{
    char *url;

    r->written.path = file->path;
    PNC_TRY(pnc_references_size_check(&r->written, &file->model, file->size));
    if (!first)
        PNC_TRY(offsets_join_check(r->first, &r->relations, file, r->options));
    url = make_url(file->path, r->options->url);
    if (url == NULL) {
        tool_error_print("%s: its absolute path is not known: %s", file->path, strerror(errno));
        return NC_EFILE;
    }
    r->written.url = url;
    if (first)
        pnc_references_fixed_write(&r->written);
    pnc_references_records_write(&r->written, &file->model);
    r->written.url = NULL;
    free(url);
    return NC_NOERR;
}

/* After the first one. */
static int write_others(references *r, int (*write)(references *r, const tool_file *file))
{
    const options *o = r->options;
    int err = NC_NOERR;

    for (int i = 1; i < o->npaths && err == NC_NOERR; i++) {
        tool_file file;

        err = tool_file_open(o->paths[i], &file);
        if (err == NC_NOERR)
            err = write(r, &file);
        tool_file_close(&file);
    }
    r->written.path = r->first->path;
    return err;
}

static int write_other_classic(references *r, const tool_file *file)
{
    PNC_TRY(tool_file_check_classic(file, "only classic files are joined with a classic one"));
    return write_file(r, file, false);
}

static int write_classic(references *r)
{
    int err = write_file(r, r->first, true);

    if (err == NC_NOERR)
        err = write_others(r, write_other_classic);
    return err == NC_NOERR ? pnc_references_metadata_write(&r->written) : err;
}

/* --- files with readers --- */

/* Errors are those of the reader. */
static int write_chunks(references *r, const tool_file *file, bool is_first)
{
    char *url = make_url(file->path, r->options->url);
    int err;

    if (url == NULL) {
        tool_error_print("%s: its absolute path is not known: %s", file->path, strerror(errno));
        return NC_EFILE;
    }
    r->written.url = url;
    r->written.path = file->path;
    r->written.error = file->error;
    err = is_first ? pnc_references_stored_begin(&r->written, file->reader, &r->stored)
                   : pnc_references_stored_add(r->stored, file->reader, &file->model);
    r->written.url = NULL;
    free(url);
    if (err != NC_NOERR && file->error->code != NC_NOERR)
        tool_error_print("%s", file->error->text);
    r->written.error = r->first->error;
    return err;
}

static int write_other_stored(references *r, const tool_file *file)
{
    return write_chunks(r, file, false);
}

static int write_stored_files(references *r)
{
    int err = write_chunks(r, r->first, true), later;

    if (err == NC_NOERR)
        err = write_others(r, write_other_stored);
    later = pnc_references_stored_end(r->stored, err);
    if (err == NC_NOERR && later != NC_NOERR)
        tool_error_print("%s", r->written.error->text);
    return later;
}

/* All files are compared before the first reference is written. */
static int write_stored(references *r)
{
    bool *within = pnc_memory_alloc_zeroed(r->first->model.nvars + 1, sizeof *within);
    int err = NC_NOERR;

    if (within == NULL) {
        tool_error_print("%s: not enough memory", r->first->path);
        return NC_ENOMEM;
    }
    if (r->options->npaths > 1)
        err = offsets_join_check_stored(r->first, &r->relations, r->options, within);
    r->written.within = within;
    if (err == NC_NOERR)
        err = write_stored_files(r);
    r->written.within = NULL;
    pnc_memory_free(within);
    return err;
}

static bool selects(const void *with, const char *variable)
{
    const references *r = with;

    return tool_names_contain(&r->options->variables, variable);
}

static void report_left_out(const void *with, const char *variable, const char *why)
{
    const references *r = with;

    tool_warning_print("warning: %s: variable %s is left out: %s", r->first->path, variable, why);
}

int offsets_references_write(const tool_file *first, const options *o, FILE *out)
{
    pnc_error error = {0};
    references r = {.options = o, .first = first};
    int err;

    r.written = (pnc_references){.out = out,
                                 .path = first->path,
                                 .model = &first->model,
                                 .chunk = o->chunk > 0 ? o->chunk : PNC_REFERENCES_CHUNK,
                                 .selects = selects,
                                 .leave_out = report_left_out,
                                 .with = &r,
                                 .error = &error};
    pnc_references_list_begin(&r.written);
    err = tool_relations_init(&first->model, &r.relations);
    if (err != NC_NOERR)
        tool_error_print("%s: not enough memory", first->path);
    else
        err = first->reader != NULL ? write_stored(&r) : write_classic(&r);
    if (err != NC_NOERR && error.code != NC_NOERR)
        tool_error_print("%s", error.text);
    tool_relations_free(&r.relations);
    tool_warnings_finish();
    if (err == NC_NOERR)
        pnc_references_list_end(&r.written);
    return err;
}
