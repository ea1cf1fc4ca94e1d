/* ncoffsets: offsets of the variables of a file, as text and as a picture. */
#include <errno.h>
#include <string.h>

#include "tools/common/message.h"
#include "tools/common/output.h"
#include "tools/ncoffsets/offsets.h"

static int draw(const tool_file *file, const options *o, FILE *out)
{
    int err = offsets_picture_draw(file, o->align, out);

    if (err != NC_NOERR)
        tool_error_print("%s: not enough memory for a picture of this file", file->path);
    return err;
}

static int write_failed(const char *path)
{
    tool_error_print("%s: cannot be written: %s", path, strerror(errno));
    return NC_EWRITE;
}

/* Draw to the temporary file of an output that will have the name of --svg. */
static int draw_to_temporary(const tool_file *file, const options *o, const char *temporary)
{
    FILE *out = fopen(temporary, "w");
    bool written;
    int err;

    if (out == NULL)
        return write_failed(o->svg);
    err = draw(file, o, out);
    written = ferror(out) == 0;
    written = fclose(out) == 0 && written;
    return written || err != NC_NOERR ? err : write_failed(o->svg);
}

/* Whether a file is a picture: "<svg" near its begin, perhaps after comments. */
static bool is_picture(const char *head, size_t n)
{
    for (size_t i = 0; i + 4 <= n; i++)
        if (memcmp(head + i, "<svg", 4) == 0)
            return true;
    return false;
}

/* An existing picture is replaced. */
static int draw_to_file(const tool_file *file, const options *o)
{
    const tool_output_request request = {.path = o->svg,
                                         .inputs = &o->path,
                                         .ninputs = 1,
                                         .overwrite = o->overwrite,
                                         .streams = true,
                                         .is_kind = is_picture,
                                         .kind = "an SVG picture",
                                         .option = "-O"};
    pnc_error error = {0};
    tool_output output;
    int err = tool_output_begin(&request, &output, &error);

    if (err == NC_NOERR) {
        err = draw_to_temporary(file, o, output.temporary);
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

static int show(const tool_file *file, const options *o)
{
    if (o->check_gaps) {
        puts(offsets_file_has_gaps(&file->model) ? "1" : "0");
        return NC_NOERR;
    }
    if (o->json) {
        offsets_json_print(file, o);
        return NC_NOERR;
    }
    if (o->picture)
        return o->svg != NULL && !tool_path_is_stdout(o->svg) ? draw_to_file(file, o) : draw(file, o, stdout);
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
        if (err == NC_NOERR)
            err = show(&file, &o);
        status = err != NC_NOERR;
        tool_file_close(&file);
    }
    tool_names_free(&o.variables);
    return tool_program_end(tool_output_flush(o.path) == NC_NOERR ? status : 1);
}
