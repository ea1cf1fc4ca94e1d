/* ncoffsets: where the variables of a file lie, as text and as a picture. */
#include <errno.h>
#include <string.h>

#include "tools/common/message.h"
#include "tools/common/output.h"
#include "tools/ncoffsets/offsets.h"

static int draw_to_stdout(const tool_file *file, const options *o)
{
    int err = offsets_picture_draw(file, o->align, stdout);

    if (err != NC_NOERR)
        tool_error_print("%s: no memory for a picture of this file", file->path);
    return err;
}

static int write_failed(const char *path)
{
    tool_error_print("%s: cannot be written: %s", path, strerror(errno));
    return NC_EWRITE;
}

/* A picture that is there already is replaced: it was made to be looked at. */
static int draw_to_file(const tool_file *file, const options *o)
{
    pnc_error error = {0};
    tool_output output;
    FILE *out;
    int err = tool_output_begin(o->svg, true, &output, &error);

    if (err != NC_NOERR) {
        tool_error_print("%s", error.text);
        return err;
    }
    out = fopen(output.temporary, "w");
    err = out != NULL ? offsets_picture_draw(file, o->align, out) : write_failed(o->svg);
    if (out != NULL) {
        int bad = ferror(out) | fclose(out);

        if (bad != 0 && err == NC_NOERR)
            err = write_failed(o->svg);
    }
    if (err != NC_NOERR) {
        tool_output_discard(&output);
        return err;
    }
    err = tool_output_commit(&output, &error);
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
    if (o->picture)
        return o->svg != NULL ? draw_to_file(file, o) : draw_to_stdout(file, o);
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
    return tool_output_flush(o.path) == NC_NOERR ? status : 1;
}
