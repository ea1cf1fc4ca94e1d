/* ncoffsets: offsets of the variables of a file, as text, as a picture, and as references for readers of Zarr. */
#include <errno.h>
#include <string.h>

#include "tools/common/message.h"
#include "tools/common/output.h"
#include "tools/ncoffsets/chunks.h"
#include "tools/ncoffsets/html.h"
#include "tools/ncoffsets/offsets.h"
#include "tools/ncoffsets/references.h"

static int draw(const tool_file *file, const options *o, FILE *out)
{
    int err;

    if (file->reader != NULL)
        return offsets_chunks_draw(file, o, out);
    err = offsets_picture_draw(file, o->align, out);

    if (err != NC_NOERR)
        tool_error_print("%s: not enough memory for a picture of this file", file->path);
    return err;
}

static bool contains(const char *head, size_t n, const char *word)
{
    size_t length = strlen(word);

    for (size_t i = 0; i + length <= n; i++)
        if (memcmp(head + i, word, length) == 0)
            return true;
    return false;
}

/* Perhaps after comments. */
static bool is_picture(const char *head, size_t n)
{
    return contains(head, n, "<svg");
}

static bool is_page(const char *head, size_t n)
{
    return contains(head, n, "<html");
}

static bool is_references(const char *head, size_t n)
{
    return contains(head, n, "\"refs\"");
}

static int write_page(const tool_file *file, const options *o, FILE *out)
{
    return file->reader != NULL ? offsets_chunks_write_page(file, o, out) : offsets_page_write(file, o, out);
}

/* The forms that can be written to a file, and the existing files that they replace. */
static const struct {
    int (*write)(const tool_file *file, const options *o, FILE *out);
    bool (*is_kind)(const char *head, size_t n);
    const char *kind;
} forms[] = {[FORM_SVG] = {draw, is_picture, "an SVG picture"},
             [FORM_HTML] = {write_page, is_page, "a page in HTML"},
             [FORM_KERCHUNK] = {offsets_references_write, is_references, "a file of references"}};

static int write_failed(const char *path)
{
    tool_error_print("%s: cannot be written: %s", path, strerror(errno));
    return NC_EWRITE;
}

/* Write the temporary file of an output that will have the name o->output. */
static int write_temporary(const tool_file *file, const options *o, const char *temporary)
{
    FILE *out = fopen(temporary, "w");
    bool written;
    int err;

    if (out == NULL)
        return write_failed(o->output);
    err = forms[o->form].write(file, o, out);
    written = ferror(out) == 0;
    written = fclose(out) == 0 && written;
    return written || err != NC_NOERR ? err : write_failed(o->output);
}

static int write_output(const tool_file *file, const options *o)
{
    const tool_output_request request = {.path = o->output,
                                         .inputs = (const char *const *)o->paths,
                                         .ninputs = o->npaths,
                                         .overwrite = o->overwrite,
                                         .streams = true,
                                         .is_kind = forms[o->form].is_kind,
                                         .kind = forms[o->form].kind,
                                         .option = "-O"};
    pnc_error error = {0};
    tool_output output;
    int err = tool_output_begin(&request, &output, &error);

    if (err == NC_NOERR) {
        err = write_temporary(file, o, output.temporary);
        if (err != NC_NOERR) {
            tool_output_discard(&output);
            return err;
        }
        err = tool_output_commit(&output, &error);
    }
    if (err != NC_NOERR)
        tool_error_print("%s", error.text);
    return err;
}

/* The order of variables in a classic file, and its stripes, are not questions of a file with chunks. */
static int show_stored(const tool_file *file, const options *o)
{
    if (o->check_gaps || o->gaps || o->debug || o->align > 0)
        return tool_file_check_classic(file, "-x, -g, -d and --align do not apply, as its values are in chunks");
    return o->json ? offsets_chunks_print_json(file, o) : offsets_chunks_print(file, o);
}

static int show(const tool_file *file, const options *o)
{
    if (tool_file_has_objects(file) && o->form == FORM_KERCHUNK) {
        tool_error_print("%s is a Zarr store: readers of Zarr need no references to it", file->path);
        return NC_ENOTSUPPORT;
    }
    if (file->reader != NULL && (o->form == FORM_LIST || o->json))
        return show_stored(file, o);
    if (o->check_gaps) {
        puts(offsets_file_has_gaps(&file->model) ? "1" : "0");
        return NC_NOERR;
    }
    if (o->json) {
        offsets_json_print(file, o);
        return NC_NOERR;
    }
    if (o->form != FORM_LIST && o->output != NULL && !tool_path_is_stdout(o->output))
        return write_output(file, o);
    if (o->form != FORM_LIST)
        return forms[o->form].write(file, o, stdout);
    offsets_list_print(file, o);
    if (o->align > 0)
        offsets_alignment_print(file, o->align);
    return NC_NOERR;
}

int main(int argc, char **argv)
{
    options o;
    tool_file file;
    int status;

    tool_program_start("ncoffsets", argv);
    status = offsets_options_parse(argc, argv, &o);
    if (status < 0) {
        int err = tool_file_open(o.path, &file);

        if (err == NC_NOERR)
            err = tool_names_check(&o.variables, o.path, &file.model);
        if (err == NC_NOERR && o.form != FORM_KERCHUNK)
            (void)tool_file_report_short(&file, false);
        if (err == NC_NOERR)
            err = show(&file, &o);
        status = err != NC_NOERR;
        tool_file_close(&file);
    }
    tool_names_free(&o.variables);
    return tool_program_end(tool_output_flush(o.path) == NC_NOERR ? status : 1);
}
