/* The list of offsets as JSON. docs/json.md specifies it. */
#include "tools/common/json.h"

#include <inttypes.h>

#include "tools/ncoffsets/offsets.h"

static void print_dimensions(const pnc_model *model)
{
    fputs("  \"dimensions\": [", stdout);
    for (int i = 0; i < model->ndims; i++) {
        fputs(i > 0 ? ",\n    {\"name\": " : "\n    {\"name\": ", stdout);
        tool_json_print_string(model->dims[i]->name);
        printf(", \"length\": %" PRId64 ", \"unlimited\": %s}", pnc_format_dim_get_length(model, i),
               i == model->recdim ? "true" : "false");
    }
    fputs(model->ndims > 0 ? "\n  ],\n" : "],\n", stdout);
}

static void print_variable(const pnc_model *model, int varid)
{
    const pnc_var *var = model->vars[varid];

    fputs("    {\"name\": ", stdout);
    tool_json_print_string(var->name);
    printf(", \"type\": \"%s\", \"dimensions\": [", pnc_type_get_name(var->type));
    for (int i = 0; i < var->ndims; i++) {
        fputs(i > 0 ? ", " : "", stdout);
        tool_json_print_string(model->dims[var->dimids[i]]->name);
    }
    printf("], \"record\": %s,\n     \"begin\": %" PRId64 ", \"end\": %" PRId64 ", \"size\": %" PRId64
           ", \"gap\": %" PRId64,
           var->is_record ? "true" : "false", var->classic.begin, var->classic.begin + var->size, var->size,
           var->classic.begin - offsets_var_find_previous_end(model, varid));
    if (var->classic.where >= 0)
        printf(", \"header_entry\": %" PRId64, var->classic.where);
    putchar('}');
}

void offsets_json_print(const tool_file *file, const options *o)
{
    const pnc_model *model = &file->model;
    int n = o->variables.n > 0 ? o->variables.n : model->nvars;

    fputs("{\n  \"file\": ", stdout);
    tool_json_print_string(file->path);
    printf(",\n  \"size\": %" PRId64 ",\n  \"format\": \"CDF-%d\",\n", file->size, model->format);
    printf("  \"header_size\": %" PRId64 ",\n  \"header_extent\": %" PRId64 ",\n", model->classic.header_size,
           model->classic.header_extent);
    printf("  \"records\": %" PRId64 ",\n  \"record_size\": %" PRId64 ",\n", model->numrecs, model->classic.recsize);
    print_dimensions(model);
    fputs("  \"variables\": [", stdout);
    for (int i = 0; i < n; i++) {
        fputs(i > 0 ? ",\n" : "\n", stdout);
        print_variable(model, o->variables.n > 0 ? pnc_format_var_find(model, o->variables.at[i]) : i);
    }
    puts(n > 0 ? "\n  ]\n}" : "]\n}");
}
