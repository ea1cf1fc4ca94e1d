/* The header in CDL: dimensions, variables and attributes. */
#include <stdlib.h>
#include <string.h>

#include "tools/ncmpidump/dates.h"
#include "tools/ncmpidump/dump.h"
#include "tools/common/text.h"

/* What ncmpidump, -k and the attribute _Format call a format. */
static const struct {
    int format;
    const char *comment, *kind, *special;
} names[] = {{NC_FORMAT_CLASSIC, "CDF-1", "classic", "classic"},
             {NC_FORMAT_CDF2, "CDF-2 (large file)", "64-bit offset", "64-bit offset"},
             {NC_FORMAT_CDF5, "CDF-5 (big variables)", "64-bit data", "cdf5"},
             {NC_FORMAT_NETCDF4, "netCDF-4", "netCDF-4", "netCDF-4"},
             {DUMP_FORMAT_ZARR, "Zarr", "zarr", "zarr"},
             {NC_FORMAT_NETCDF4_CLASSIC, "netCDF-4 classic model", "netCDF-4 classic model", "netCDF-4 classic model"}};

static size_t find_names(int format)
{
    size_t i = sizeof names / sizeof *names - 1;

    while (i > 0 && names[i].format != format)
        i--;
    return i;
}

const char *dump_kind_get_name(int format)
{
    return names[find_names(format)].kind;
}

const char *dump_format_get_name(int format)
{
    return names[find_names(format)].special;
}

static void write_dimensions(const dump_file *file)
{
    if (file->ndims > 0)
        fputs("dimensions:\n", file->out);
    for (int i = 0; i < file->ndims; i++) {
        const dump_dimension *dimension = &file->dimensions[i];
        if (dimension->unlimited)
            fprintf(file->out, "\t%s = UNLIMITED ; // (%lld currently)\n", dimension->name,
                    (long long)dimension->length);
        else
            fprintf(file->out, "\t%s = %lld ;\n", dimension->name, (long long)dimension->length);
    }
}

/* ncdump begins a new line behind each newline of a text, but not where strings are another type. */
static void write_values(const dump_file *file, const cdl_type *type, size_t length, const char *values)
{
    if (type->class == CDL_TEXT || length == 0) {
        cdl_string string;
        bool has_strings = file->input.model.format == NC_FORMAT_NETCDF4;
        tool_cdl_string_begin(file->out, has_strings ? NULL : "\t\t\t", false, &string);
        for (size_t i = 0; i < length; i++)
            tool_cdl_string_put(&string, values[i]);
        tool_cdl_string_end(&string);
        return;
    }
    cdl_format format;
    dump_format_choose(file, type, &format);
    for (size_t i = 0; i < length; i++) {
        char number[CDL_NUMBER_SIZE];
        tool_cdl_number_print_typed(type, &format, tool_cdl_value_load(type, values + i * type->size), number);
        fprintf(file->out, "%s%s", i > 0 ? ", " : "", number);
    }
}

static void write_strings(const dump_file *file, const pnc_strings *strings, const char *text)
{
    for (int64_t i = 0; i < strings->n; i++) {
        int64_t length = strings->lengths[i] > 0 ? strings->lengths[i] : 0;
        cdl_string string;
        fputs(i > 0 ? ", " : "", file->out);
        tool_cdl_string_begin(file->out, NULL, false, &string);
        for (const char *c = text; c < text + length; c++)
            tool_cdl_string_put(&string, *c);
        text += length + 1;
        tool_cdl_string_end(&string);
    }
}

/* var_name: the escaped name of the variable, or "" for the file; units: of the times in the variable, or NULL. */
static int write_attribute(const dump_file *file, int varid, const char *var_name, const cal_units *units, int number)
{
    const pnc_att *att = pnc_format_atts_get(&file->input.model, varid)->at[number];
    const cdl_type *type = tool_cdl_type_find(att->type);
    size_t length = (size_t)att->len;
    void *values = NULL;
    /* The netCDF library hides this attribute, in classic files too. */
    if (varid == NC_GLOBAL && strcmp(att->name, "_NCProperties") == 0)
        return NC_NOERR;
    bool are_strings = att->strings.lengths != NULL;
    char *escaped = tool_cdl_name_escape(att->name);
    if (escaped == NULL)
        return dump_memory_report(file, att->name);
    int err = dump_attribute_load(file, att, &values);
    if (err == NC_NOERR) {
        fprintf(file->out, "\t\t%s%s%s:%s = ", are_strings ? "string " : "", var_name,
                tool_cdl_name_is_section(var_name) ? " " : "", escaped);
        if (are_strings && length > 0)
            write_strings(file, &att->strings, values);
        else
            write_values(file, type, length, values);
        fputs(" ;", file->out);
        if (units != NULL && type->class != CDL_TEXT && length > 0)
            dump_dates_print_comment(file, units, type, length, values);
        fputc('\n', file->out);
    }
    free(values);
    free(escaped);
    return err;
}

static int write_variable(const dump_file *file, int varid)
{
    dump_variable variable;
    cal_units units;
    bool times = false;
    int err = dump_variable_load(file, varid, &variable);
    if (err == NC_NOERR) {
        /* a comment, as CDL has no such type without its definition */
        fprintf(file->out, "\t%s%s %s", variable.type->class == CDL_OTHER ? "// " : "", variable.type->name,
                variable.escaped);
        for (int i = 0; i < variable.ndims; i++)
            fprintf(file->out, "%s%s", i > 0 ? ", " : "(", file->dimensions[variable.dimids[i]].name);
        fputs(variable.ndims > 0 ? ")" : "", file->out);
        fputs(variable.type->class == CDL_OTHER ? ": values of this type are not read\n" : " ;\n", file->out);
    }
    if (err == NC_NOERR)
        err = dump_dates_find_own(file, varid, &units, &times);
    for (int i = 0; err == NC_NOERR && i < variable.natts; i++)
        err = write_attribute(file, varid, variable.escaped, times ? &units : NULL, i);
    if (err == NC_NOERR && file->options->special)
        dump_special_print(file, &variable);
    dump_variable_free(&variable);
    return err;
}

/* The file's name without folder and extension. As in ncdump a backslash separates folders too. */
char *dump_name_make(const dump_options *options)
{
    if (options->name != NULL)
        return strdup(options->name);
    const char *base = options->path;
    for (const char *c = options->path; *c; c++)
        if (*c == '/' || *c == '\\')
            base = c + 1;
    char *name = strdup(base);
    char *extension = name != NULL ? strrchr(name, '.') : NULL;
    if (extension != NULL)
        *extension = '\0';
    return name;
}

static char *make_escaped_name(const dump_options *options)
{
    char *name = dump_name_make(options);
    char *escaped = name != NULL ? tool_cdl_name_escape(name) : NULL;
    free(name);
    return escaped;
}

int dump_header_print(const dump_file *file)
{
    char *name = make_escaped_name(file->options);
    if (name == NULL)
        return dump_memory_report(file, NULL);
    fprintf(file->out, "netcdf %s {\n// file format: %s\n", name, names[find_names(file->format)].comment);
    free(name);
    write_dimensions(file);
    int err = NC_NOERR;
    if (file->nvars > 0)
        fputs("variables:\n", file->out);
    for (int i = 0; err == NC_NOERR && i < file->nvars; i++)
        err = write_variable(file, i);
    if (err == NC_NOERR && (file->natts > 0 || file->options->special))
        fputs("\n// global attributes:\n", file->out);
    for (int i = 0; err == NC_NOERR && i < file->natts; i++)
        err = write_attribute(file, NC_GLOBAL, "", NULL, i);
    if (err == NC_NOERR && file->options->special)
        dump_special_print(file, NULL);
    return err;
}

int dump_version_print(const dump_file *file)
{
    char *name = make_escaped_name(file->options);
    if (name == NULL)
        return dump_memory_report(file, NULL);
    fprintf(file->out, "%s file format: %s\n", name, names[find_names(file->format)].comment);
    free(name);
    return NC_NOERR;
}
