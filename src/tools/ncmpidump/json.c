/* The file as one JSON object (RFC 8259), with the member names of CF-JSON: dimensions, attributes, variables with
 * type, shape, attributes and data. The man page specifies it; programs rely on it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/json.h"
#include "tools/ncmpidump/dates.h"
#include "tools/ncmpidump/dump.h"
#include "tools/ncmpidump/team.h"

/* With the digits of -p, if it is given. */
static void write_number(const dump_file *file, const cdl_type *type, const cdl_format *format, cdl_value value)
{
    bool digits_given = type->code == NC_FLOAT ? file->options->float_digits_given : file->options->double_digits_given;
    char number[CDL_NUMBER_SIZE];
    if (type->class != CDL_REAL || !digits_given) {
        tool_json_number_write(file->out, type, value);
    } else if (!tool_json_special_write(file->out, type, value)) {
        tool_cdl_number_print(type, format, value, number);
        fputs(number, file->out);
    }
}

/* --- attributes --- */

static void write_values(const dump_file *file, const cdl_type *type, size_t length, const char *values)
{
    cdl_format format;
    if (type->class == CDL_TEXT) {
        tool_json_text_write(file->out, values, length);
        return;
    }
    dump_format_choose(file, type, &format);
    if (length != 1)
        fputc('[', file->out);
    for (size_t i = 0; i < length; i++) {
        fputs(i > 0 ? ", " : "", file->out);
        write_number(file, type, &format, tool_cdl_value_load(type, values + i * type->size));
    }
    if (length != 1)
        fputc(']', file->out);
}

static int write_attributes(const dump_file *file, int varid, int natts, const char *indent)
{
    int err = NC_NOERR;
    fprintf(file->out, "%s\"attributes\": {", indent);
    for (int i = 0; err == NC_NOERR && i < natts; i++) {
        const pnc_att *att = pnc_format_atts_get(&file->input.model, varid)->at[i];
        const cdl_type *type = tool_cdl_type_find(att->type);
        void *values = NULL;
        err = dump_attribute_load(file, att, &values);
        if (err == NC_NOERR) {
            fprintf(file->out, "%s\n%s  ", i > 0 ? "," : "", indent);
            tool_json_string_write(file->out, att->name);
            fprintf(file->out, ": {\"type\": \"%s\", \"data\": ", type->name);
            write_values(file, type, (size_t)att->len, values);
            fputc('}', file->out);
        }
        free(values);
    }
    if (natts > 0)
        fprintf(file->out, "\n%s", indent);
    fputc('}', file->out);
    return err;
}

/* --- data --- */

typedef struct json_array {
    const dump_file *file;
    const dump_variable *variable;
    int64_t *shape, *index;
    int ndims;   /* without the last dimension of char data, whose rows are strings */
    int64_t row; /* characters in a string */
    char *text;  /* the string that is being collected; `used` characters are present */
    int64_t used;
    cdl_format format;
    cal_units units;
    bool as_dates, has_fill;
    cdl_value fill;
} json_array;

static int start_array(const dump_file *file, const dump_variable *variable, json_array *array)
{
    int n = variable->ndims;
    *array = (json_array){.file = file, .variable = variable, .ndims = n, .row = 1};
    array->shape = calloc(2 * (size_t)n + 1, sizeof *array->shape);
    if (array->shape == NULL)
        return dump_memory_report(file, variable->name);
    array->index = array->shape + n;
    for (int i = 0; i < n; i++)
        array->shape[i] = file->dimensions[variable->dimids[i]].length;
    if (variable->type->class == CDL_TEXT) {
        array->row = n > 0 ? array->shape[n - 1] : 1;
        array->ndims -= n > 0;
        array->text = malloc((size_t)array->row + 1);
        if (array->text == NULL)
            return dump_memory_report(file, variable->name);
    }
    dump_format_choose(file, variable->type, &array->format);
    dump_fill_choose(file, variable, &array->has_fill, &array->fill);
    return dump_dates_choose(file, variable, &array->units, &array->as_dates);
}

static void write_value(const json_array *array, const char *memory)
{
    FILE *out = array->file->out;
    const cdl_type *type = array->variable->type;
    char date[CDL_NUMBER_SIZE];
    if (type->class == CDL_TEXT) {
        tool_json_text_write(out, array->text, (size_t)array->row);
        return;
    }
    if (type->class == CDL_STRING) {
        const char *text = *(char *const *)(const void *)memory;
        if (dump_string_is_missing(array->variable, text))
            fputs("null", out);
        else
            tool_json_text_write(out, text, strlen(text));
        return;
    }
    cdl_value value = tool_cdl_value_load(type, memory);
    if (array->has_fill && tool_cdl_value_is_fill(type, value, array->fill)) {
        fputs("null", out);
    } else if (array->as_dates && (type->class != CDL_REAL || isfinite(value.r))) {
        dump_date_print(array->file, &array->units, type, value, date);
        fputs(date, out);
    } else {
        write_number(array->file, type, &array->format, value);
    }
}

/* The index of an element determines the brackets that open before it and close after it. */
static void write_element(json_array *array, const char *memory)
{
    FILE *out = array->file->out;
    int last = array->ndims - 1;
    if (array->text != NULL) {
        array->text[array->used++] = *memory;
        if (array->used < array->row)
            return;
        array->used = 0;
    }
    bool open = true; /* all indices from i on are 0 */
    int opened = 0;
    for (int i = last; i >= 0 && open; i--) {
        open = array->index[i] == 0;
        opened += open;
    }
    for (int i = 0; i < opened; i++)
        fputc('[', out);
    write_value(array, memory);
    for (int i = last; i >= 0; i--) {
        if (++array->index[i] < array->shape[i]) {
            fputs(i == last ? ", " : ",\n        ", out);
            return;
        }
        array->index[i] = 0;
        fputc(']', out);
    }
}

static bool is_empty(const json_array *array)
{
    for (int i = 0; i < array->variable->ndims; i++)
        if (array->shape[i] == 0)
            return true;
    return false;
}

static void write_block(void *with, const tool_blocks *block, const char *values)
{
    json_array *array = with;
    for (int64_t i = 0; i < block->length; i++)
        write_element(array, values + (size_t)i * array->variable->type->size);
}

/* Other ranks only read: the text may be many times as long as the values. */
static dump_formatter choose_formatter(void *with, const tool_blocks *blocks)
{
    (void)blocks;
    return (dump_formatter){.with = with, .write = write_block};
}

static int write_array(json_array *array)
{
    if (is_empty(array)) {
        fputs(array->ndims > 0 ? "[]" : "\"\"", array->file->out);
        return NC_NOERR;
    }
    return dump_team_write(array->file, array->variable, array->shape, choose_formatter, array);
}

static int write_variable(const dump_file *file, int varid)
{
    dump_variable variable;
    json_array array = {0};
    int err = dump_variable_load(file, varid, &variable);
    if (err == NC_NOERR) {
        fputs(varid > 0 ? ",\n    " : "\n    ", file->out);
        tool_json_string_write(file->out, variable.name);
        fprintf(file->out, ": {\n      \"type\": \"%s\",\n      \"shape\": [", variable.type->name);
        for (int i = 0; i < variable.ndims; i++) {
            fputs(i > 0 ? ", " : "", file->out);
            tool_json_string_write(file->out, file->input.model.dims[variable.dimids[i]]->name);
        }
        fputs("],\n", file->out);
        err = write_attributes(file, varid, variable.natts, "      ");
    }
    if (err == NC_NOERR && !file->options->header_only && dump_variable_is_wanted(file, &variable)) {
        fputs(",\n      \"data\": ", file->out);
        err = start_array(file, &variable, &array);
        if (err == NC_NOERR)
            err = write_array(&array);
        free(array.shape);
        free(array.text);
    }
    fputs("\n    }", file->out);
    dump_variable_free(&variable);
    return err;
}

/* --- the file --- */

/* A name, or null; of several unlimited dimensions, which only netCDF-4 has, an array. */
static void write_unlimited(const dump_file *file)
{
    const pnc_model *model = &file->input.model;
    bool several = model->nunlimited > 1, any = false;

    if (several)
        fputc('[', file->out);
    for (int i = 0; i < model->ndims; i++) {
        if (!model->dims[i]->unlimited)
            continue;
        fputs(any ? ", " : "", file->out);
        tool_json_string_write(file->out, model->dims[i]->name);
        any = true;
    }
    if (several)
        fputc(']', file->out);
    else if (!any)
        fputs("null", file->out);
}

static void write_dimensions(const dump_file *file)
{
    const pnc_model *model = &file->input.model;
    fputs("  \"dimensions\": {", file->out);
    for (int i = 0; i < file->ndims; i++) {
        fputs(i > 0 ? ",\n    " : "\n    ", file->out);
        tool_json_string_write(file->out, model->dims[i]->name);
        fprintf(file->out, ": %lld", (long long)file->dimensions[i].length);
    }
    fputs(file->ndims > 0 ? "\n  },\n  \"unlimited\": " : "},\n  \"unlimited\": ", file->out);
    write_unlimited(file);
    fputs(",\n", file->out);
}

int dump_json_print(const dump_file *file)
{
    char *name = dump_name_make(file->options);
    if (name == NULL)
        return dump_memory_report(file, NULL);
    fputs("{\n  \"name\": ", file->out);
    tool_json_string_write(file->out, name);
    free(name);
    fprintf(file->out, ",\n  \"format\": \"%s\",\n", dump_kind_get_name(file->format));
    write_dimensions(file);
    int err = write_attributes(file, NC_GLOBAL, file->natts, "  ");
    fputs(",\n  \"variables\": {", file->out);
    for (int i = 0; err == NC_NOERR && i < file->nvars; i++)
        err = write_variable(file, i);
    fputs(file->nvars > 0 ? "\n  }\n}\n" : "}\n}\n", file->out);
    return err;
}
