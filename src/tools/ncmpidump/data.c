/* The data in CDL: a row of a variable is a run of its last dimension. */
#include <stdlib.h>
#include <string.h>

#include "tools/common/message.h"
#include "tools/common/text.h"
#include "tools/ncmpidump/dates.h"
#include "tools/ncmpidump/dump.h"
#include "tools/ncmpidump/reader.h"

/* Where in a variable, and where in a line, the text has arrived. */
typedef struct writer {
    const dump_file *file;
    const dump_variable *variable;
    cdl_format format;
    bool as_text;
    bool as_dates;
    cal_units units; /* of dates */
    bool has_fill;
    cdl_value fill;
    int64_t *shape; /* followed by index; a scalar is a row of one element */
    int64_t *index; /* of the element to be written next */
    int ndims;
    size_t column;
    cdl_string string;
} writer;

/* "1,0,5", or what Fortran makes of it: "6,1,2". last: also the index of the last dimension. */
static void write_indices(const writer *w, bool last)
{
    FILE *out = w->file->out;
    int n = w->ndims - (last ? 0 : 1);
    for (int i = 0; i < n; i++) {
        int64_t index = w->file->options->fortran ? w->index[n - 1 - i] + 1 : w->index[i];
        fprintf(out, "%s%lld", i > 0 ? "," : "", (long long)index);
    }
}

static void write_row_comment(const writer *w)
{
    FILE *out = w->file->out;
    long long length = w->shape[w->ndims - 1];
    fprintf(out, "// %s(", w->variable->escaped);
    if (length == 1) {
        write_indices(w, true);
    } else if (w->file->options->fortran) {
        fprintf(out, "1-%lld ,", length);
        write_indices(w, false);
    } else {
        write_indices(w, false);
        fprintf(out, ", 0-%lld", length - 1);
    }
    fputs(")\n    ", out);
}

static void begin_row(writer *w)
{
    w->column = strlen(w->variable->name) + 4; /* " name = "; as ncdump counts, without the escapes */
    if (w->ndims > 1) {
        w->column = 2;
        if (w->file->options->brief) {
            write_row_comment(w);
            w->column = 4;
        }
    }
    if (w->as_text)
        cdl_string_begin(w->file->out, "    ", true, &w->string);
}

static bool at_end(const writer *w)
{
    for (int i = 0; i < w->ndims; i++)
        if (w->index[i] < w->shape[i] - 1)
            return false;
    return true;
}

/* What stands between this value and the next one. */
static void write_separator(writer *w, bool row_ends, bool all_ends)
{
    FILE *out = w->file->out;
    if (w->file->options->full) {
        fprintf(out, "%s  // %s(", all_ends ? ";" : row_ends ? "," : ", ", w->variable->escaped);
        write_indices(w, true);
        fputs(")\n    ", out);
    } else if (all_ends) {
        fputs(" ;\n", out);
    } else if (row_ends) {
        fputs(",\n  ", out);
    }
}

static void write_number(writer *w, const void *memory, bool row_ends)
{
    enum { END = 2 }; /* " ;" must find room in the line */
    char token[CDL_NUMBER_SIZE + 2];
    const cdl_type *type = w->variable->type;
    cdl_value value = cdl_value_load(type, memory);
    if (w->has_fill && cdl_value_is_fill(type, value, w->fill))
        strcpy(token, "_");
    else if (w->as_dates)
        dump_date_print(w->file, &w->units, type, value, token);
    else
        cdl_number_print(type, &w->format, value, token);
    if (!w->file->options->full) {
        if (!row_ends)
            strcat(token, ", ");
        size_t length = strlen(token);
        if (length > 2 && w->column + length + END > (size_t)w->file->options->line_length) {
            fputs("\n    ", w->file->out);
            w->column = 4;
        }
        w->column += length;
    }
    fputs(token, w->file->out);
}

static void write_element(writer *w, const char *memory)
{
    int last = w->ndims - 1;
    bool row_ends = w->index[last] == w->shape[last] - 1;
    bool all_ends = row_ends && at_end(w);
    if (w->index[last] == 0)
        begin_row(w);
    if (!w->as_text) {
        write_number(w, memory, row_ends);
        write_separator(w, row_ends, all_ends);
    } else {
        cdl_string_put(&w->string, *memory);
        if (row_ends) {
            cdl_string_end(&w->string);
            write_separator(w, true, all_ends);
        }
    }
    for (int i = last; i >= 0 && ++w->index[i] == w->shape[i]; i--)
        w->index[i] = 0;
}

/* *found: the variable has an attribute of this name and this type, which is to be freed. */
static int load_own_attribute(const dump_file *file, int varid, const char *name, nc_type wanted, bool *found,
                              size_t *length, void **values)
{
    nc_type code;
    const cdl_type *type;
    *found = ncmpi_inq_atttype(file->ncid, varid, name, &code) == NC_NOERR && code == wanted;
    return *found ? dump_attribute_load(file, varid, name, &type, length, values) : NC_NOERR;
}

int dump_fill_choose(const dump_file *file, const dump_variable *variable, bool *has_fill, cdl_value *fill)
{
    const cdl_type *type = variable->type;
    size_t length;
    bool found;
    void *values;
    *has_fill = cdl_fill_default(type, fill);
    int err = load_own_attribute(file, variable->id, "_FillValue", type->code, &found, &length, &values);
    if (err != NC_NOERR || !found)
        return err;
    if (length == 1) {
        *has_fill = true;
        *fill = cdl_value_load(type, values);
    }
    free(values);
    return NC_NOERR;
}

static int choose_format(writer *w)
{
    const dump_options *options = w->file->options;
    const cdl_type *type = w->variable->type;
    size_t length;
    bool found;
    void *values;
    w->as_text = type->class == CDL_TEXT;
    dump_format_choose(w->file, type, &w->format);
    if ((type->code == NC_FLOAT && options->float_digits_given) ||
        (type->code == NC_DOUBLE && options->double_digits_given))
        return NC_NOERR;
    int err = load_own_attribute(w->file, w->variable->id, "C_format", NC_CHAR, &found, &length, &values);
    if (err != NC_NOERR || !found)
        return err;
    ((char *)values)[length] = '\0'; /* dump_attribute_load leaves room */
    if (cdl_format_custom(type, values, &w->format))
        w->as_text = false; /* a char variable whose author wants numbers */
    free(values);
    return NC_NOERR;
}

static int start_writer(const dump_file *file, const dump_variable *variable, writer *w)
{
    *w = (writer){.file = file, .variable = variable, .ndims = variable->ndims > 0 ? variable->ndims : 1};
    w->shape = calloc(2 * (size_t)w->ndims, sizeof *w->shape);
    if (!w->shape)
        return dump_fail(file, NC_ENOMEM, variable->name);
    w->index = w->shape + w->ndims;
    w->shape[0] = 1;
    for (int i = 0; i < variable->ndims; i++)
        w->shape[i] = file->dimensions[variable->dimids[i]].length;
    int err = dump_fill_choose(file, variable, &w->has_fill, &w->fill);
    if (err == NC_NOERR)
        err = choose_format(w);
    return err == NC_NOERR ? dump_dates_choose(file, variable, &w->units, &w->as_dates) : err;
}

static bool is_empty(const writer *w)
{
    for (int i = 0; i < w->ndims; i++)
        if (w->shape[i] == 0)
            return true;
    return false;
}

static int write_all(writer *w)
{
    dump_reader reader;
    const dump_variable *variable = w->variable;
    int err = dump_reader_start(w->file, variable, w->shape, &reader);
    if (err == NC_NOERR)
        err = dump_reader_next(&reader);
    if (err == NC_NOERR)
        fprintf(w->file->out, "\n %s =%s", variable->escaped, w->ndims > 1 ? "\n  " : " ");
    while (err == NC_NOERR && reader.length > 0) {
        for (size_t i = 0; i < reader.length; i++)
            write_element(w, reader.block + i * variable->type->size);
        err = tool_flush(w->file->options->path);
        if (err != NC_NOERR) {
            dump_reader_free(&reader);
            return err;
        }
        err = dump_reader_next(&reader);
    }
    dump_reader_free(&reader);
    return err == NC_NOERR ? err : dump_fail(w->file, err, variable->name);
}

bool dump_is_wanted(const dump_file *file, const dump_variable *variable)
{
    const dump_options *options = file->options;
    int dimid;
    if (options->coordinates_only &&
        (ncmpi_inq_dimid(file->ncid, variable->name, &dimid) != NC_NOERR || variable->ndims != 1))
        return false;
    return tool_names_want(&options->variables, variable->name);
}

int dump_data(const dump_file *file)
{
    int err = NC_NOERR;
    if (file->nvars > 0)
        fputs("data:\n", file->out);
    for (int i = 0; err == NC_NOERR && i < file->nvars; i++) {
        dump_variable variable;
        writer w = {0};
        err = dump_variable_load(file, i, &variable);
        if (err == NC_NOERR && dump_is_wanted(file, &variable)) {
            err = start_writer(file, &variable, &w);
            if (err == NC_NOERR && !is_empty(&w))
                err = write_all(&w);
        }
        free(w.shape);
        dump_variable_free(&variable);
    }
    return err;
}
