/* Differences as JSON. docs/json.md specifies it. */
#include "tools/common/json.h"

#include <stdarg.h>
#include <string.h>

#include "base/types.h"
#include "tools/diff/diff.h"

static void begin_entry(diff_run *run)
{
    fputs(run->entries++ > 0 ? ",\n    " : "\n    ", run->out);
}

void diff_json_begin(diff_run *run)
{
    if (run->out == NULL)
        return;
    fputs("{\n  \"files\": [", run->out);
    tool_json_string_write(run->out, run->sources[0]->path);
    fputs(", ", run->out);
    tool_json_string_write(run->out, run->sources[1]->path);
    fputs("],\n  \"differences\": [", run->out);
}

void diff_json_text_print(diff_run *run, const char *format, va_list args)
{
    char text[4 * NC_MAX_NAME];
    vsnprintf(text, sizeof text, format, args);
    begin_entry(run);
    fputs("{\"text\": ", run->out);
    tool_json_string_write(run->out, text + strspn(text, ": "));
    fputc('}', run->out);
}

static void write_value(const diff_run *run, int type, const void *value)
{
    const cdl_type *cdl = tool_cdl_type_find(type);
    if (type == NC_CHAR)
        tool_json_text_write(run->out, value, 1);
    else
        tool_json_number_write(run->out, cdl, tool_cdl_value_load(cdl, value));
}

static void write_text(const diff_run *run, const char *text)
{
    if (text != NULL)
        tool_json_string_write(run->out, text);
    else
        fputs("null", run->out);
}

/* texts: of strings, else NULLs. */
static void write_values(const diff_run *run, const diff_var *var, const diff_element *element,
                         const char *const texts[2])
{
    for (int i = 0; i < 2; i++) {
        fputs(i > 0 ? ", " : "], \"values\": [", run->out);
        if (var->type == NC_STRING)
            write_text(run, texts[i]);
        else
            write_value(run, var->type, i > 0 ? element->y : element->x);
    }
    fputc(']', run->out);
}

static void write_element(const diff_run *run, const diff_var *var, const char *name, const diff_element *element,
                          const char *const texts[2])
{
    const cdl_type *real = tool_cdl_type_find(NC_DOUBLE);
    bool whole = var->type != NC_FLOAT && var->type != NC_DOUBLE;
    int64_t rest = element->at, inner = 1;
    if (element->at < 0)
        return;
    for (int i = 1; i < var->ndims; i++)
        inner *= var->shape[i];
    fprintf(run->out, ",\n     \"%s\": {\"index\": [", name);
    for (int i = 0; i < var->ndims; i++) {
        fprintf(run->out, "%s%lld", i > 0 ? ", " : "", (long long)(rest / inner));
        rest %= inner;
        inner /= i + 1 < var->ndims ? var->shape[i + 1] : 1;
    }
    write_values(run, var, element, texts);
    if (diff_type_is_number(var->type)) {
        fputs(", \"absolute\": ", run->out);
        if (whole)
            fprintf(run->out, "%llu", (unsigned long long)element->whole);
        else
            tool_json_number_write(run->out, real, (cdl_value){.r = element->absolute});
        fputs(", \"relative\": ", run->out);
        tool_json_number_write(run->out, real, (cdl_value){.r = element->relative});
    }
    fputc('}', run->out);
}

void diff_json_result_print(diff_run *run, const diff_var *var, const diff_result *result, int64_t elements)
{
    begin_entry(run);
    fputs("{\"variable\": ", run->out);
    tool_json_string_write(run->out, var->name);
    fprintf(run->out, ", \"type\": \"%s\", \"elements\": %lld, \"differ\": %lld, \"nan_in_one\": %lld",
            pnc_type_get_name(var->type), (long long)elements, (long long)result->count, (long long)result->nans);
    if (run->options->unwritten)
        fprintf(run->out, ", \"unwritten_in_one\": %lld", (long long)result->unwritten);
    write_element(run, var, "first", &result->first, result->texts);
    write_element(run, var, "largest_absolute", &result->absolute, result->texts);
    write_element(run, var, "largest_relative", &result->relative, result->texts);
    fputc('}', run->out);
}

void diff_json_end(const diff_run *run, bool complete)
{
    if (run->out == NULL)
        return;
    fprintf(run->out, "%s],\n  \"complete\": %s,\n", run->entries > 0 ? "\n  " : "", complete ? "true" : "false");
    fprintf(run->out, "  \"same\": %s,\n  \"differences_in_header\": %lld,\n  \"differences_in_variables\": %lld\n}\n",
            complete && run->header == 0 && run->variables == 0 ? "true" : "false", (long long)run->header,
            (long long)run->variables);
}
