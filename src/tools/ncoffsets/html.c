/* The page is page.html; the header of the file takes the place of one of its lines, as JSON. */
#include "config.h" /* open_memstream */

#include "tools/ncoffsets/html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "tools/common/json.h"
#include "tools/common/message.h"

static const char *const page[] = {
#include "tools/ncoffsets/page.h"
};

static void write_dim(FILE *out, const pnc_model *model, int dimid)
{
    char length[40];

    snprintf(length, sizeof length, " = %" PRId64, pnc_format_dim_get_length(model, dimid));
    fputc('"', out);
    tool_json_part_write(out, model->dims[dimid]->name, strlen(model->dims[dimid]->name));
    fprintf(out, "%s\"", length);
}

static void write_variable(FILE *out, const pnc_model *model, const pnc_var *var)
{
    fputs("{\"name\": ", out);
    tool_json_string_write(out, var->name);
    fprintf(out, ", \"type\": \"%s\", \"begin\": %" PRId64 ", \"size\": %" PRId64 ", \"record\": %s, \"dims\": [",
            pnc_type_get_name(var->type), var->classic.begin, var->size, var->is_record ? "true" : "false");
    for (int d = 0; d < var->ndims; d++) {
        fputs(d > 0 ? ", " : "", out);
        write_dim(out, model, var->dimids[d]);
    }
    fputs("]}", out);
}

static void write_model(FILE *out, const tool_file *file, const options *o)
{
    const pnc_model *model = &file->model;

    fputs("{\"name\": ", out);
    tool_json_string_write(out, pnc_path_get_name(file->path));
    fprintf(out,
            ", \"format\": %d, \"size\": %" PRId64 ", \"header\": %" PRId64 ", \"align\": %" PRId64
            ", \"begin_rec\": %" PRId64 ", \"recsize\": %" PRId64 ", \"numrecs\": %" PRId64 ", \"variables\": [",
            model->format, file->size, model->classic.header_size, o->align, model->classic.begin_rec,
            model->nrecvars > 0 ? model->classic.recsize : 0, model->nrecvars > 0 ? model->numrecs : 0);
    for (int i = 0; i < model->nvars; i++) {
        fputs(i > 0 ? ",\n" : "\n", out);
        write_variable(out, model, model->vars[i]);
    }
    fputs("]}\n", out);
}

/* Names must not end the element of the page that contains them. */
static void write_escaped(FILE *out, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] == '<')
            fputs("\\u003c", out);
        else
            fputc(text[i], out);
}

int offsets_page_write(const tool_file *file, const options *o, FILE *out)
{
    char *text = NULL;
    size_t length;
    FILE *data = open_memstream(&text, &length);
    bool complete = false;

    if (data != NULL) {
        write_model(data, file, o);
        complete = ferror(data) == 0;
        complete = fclose(data) == 0 && complete;
    }
    for (size_t i = 0; complete && i < sizeof page / sizeof *page; i++) {
        if (strcmp(page[i], "@DATA@") == 0)
            write_escaped(out, text, length);
        else
            fprintf(out, "%s\n", page[i]);
    }
    free(text);
    if (complete)
        return NC_NOERR;
    tool_error_print("%s: not enough memory for a page about this file", file->path);
    return NC_ENOMEM;
}
