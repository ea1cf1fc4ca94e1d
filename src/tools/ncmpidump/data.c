/* The data in CDL. A row of a variable consists of all values along its last dimension. */
#include <stdlib.h>
#include <string.h>

#include "tools/common/text.h"
#include "tools/ncmpidump/dates.h"
#include "tools/ncmpidump/dump.h"
#include "tools/ncmpidump/reader.h"
#include "tools/ncmpidump/team.h"

/* The position of the output in a variable and in a line. */
typedef struct writer {
    const dump_file *file;
    const dump_variable *variable;
    cdl_format format;
    bool as_text;
    bool as_dates;
    cal_units units; /* of dates */
    bool has_fill;
    cdl_value fill;
    int64_t *shape; /* and index, in one allocation; a scalar is a row of one element */
    int64_t *index; /* of the next element */
    int64_t record; /* the only one that is printed, with index 0; -1: all */
    int ndims;
    size_t column;
    cdl_string string;
} writer;

static int64_t get_index(const writer *w, int dim)
{
    return dim == 0 && w->record >= 0 ? w->record : w->index[dim];
}

/* "1,0,5", or with Fortran's order and origin "6,1,2". last: include the index of the last dimension. */
static void write_indices(const writer *w, bool last)
{
    FILE *out = w->file->out;
    int n = w->ndims - (last ? 0 : 1);
    for (int i = 0; i < n; i++) {
        int64_t index = w->file->options->fortran ? get_index(w, n - 1 - i) + 1 : get_index(w, i);
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

static bool is_unlimited(const writer *w, int dim)
{
    return dim < w->variable->ndims && w->file->dimensions[w->variable->dimids[dim]].unlimited;
}

/* ncdump and ncgen have braces around all values along an unlimited dimension that is not the first one. */
static size_t open_braces(const writer *w)
{
    bool begins = true; /* all indices from i on are 0 */
    size_t n = 0;
    for (int i = w->ndims - 1; i > 0 && begins; i--) {
        begins = w->index[i] == 0;
        if (begins && is_unlimited(w, i)) {
            fputc('{', w->file->out);
            n++;
        }
    }
    return n;
}

static size_t count_closing_braces(const writer *w)
{
    bool ends = true; /* all indices from i on are the last ones */
    size_t n = 0;
    for (int i = w->ndims - 1; i > 0 && ends; i--) {
        ends = w->index[i] == w->shape[i] - 1;
        n += ends && is_unlimited(w, i);
    }
    return n;
}

static void begin_row(writer *w)
{
    size_t braces = open_braces(w);
    w->column = strlen(w->variable->name) + 4; /* " name = "; ncdump counts characters without escapes */
    if (w->ndims > 1) {
        w->column = 2 + braces;
        if (w->file->options->brief) {
            write_row_comment(w);
            w->column = 4;
        }
    }
    if (w->as_text)
        tool_cdl_string_begin(w->file->out, "    ", true, &w->string);
}

static bool at_end(const writer *w)
{
    for (int i = 0; i < w->ndims; i++)
        if (w->index[i] < w->shape[i] - 1)
            return false;
    return true;
}

/* The text between this value and the next one. */
static void write_separator(writer *w, bool row_ends, bool all_ends)
{
    FILE *out = w->file->out;
    const char *separator = row_ends ? "," : ", ";
    for (size_t n = row_ends ? count_closing_braces(w) : 0; n > 0; n--)
        fputc('}', out);
    if (w->file->options->full) {
        fprintf(out, "%s  // %s(", all_ends ? ";" : separator, w->variable->escaped);
        write_indices(w, true);
        fputs(")\n    ", out);
    } else if (all_ends) {
        fputs(" ;\n", out);
    } else if (row_ends) {
        fputs(",\n  ", out);
    }
}

/* Format a value, with the comma that follows it within a row. */
static void format_token(const writer *w, const void *memory, bool row_ends, char token[CDL_NUMBER_SIZE + 2])
{
    const cdl_type *type = w->variable->type;
    cdl_value value = tool_cdl_value_load(type, memory);
    if (w->has_fill && tool_cdl_value_is_fill(type, value, w->fill))
        strcpy(token, "_");
    else if (w->as_dates)
        dump_date_print(w->file, &w->units, type, value, token);
    else
        tool_cdl_number_print(type, &w->format, value, token);
    if (!w->file->options->full && !row_ends)
        strcat(token, ", ");
}

static void write_token(writer *w, const char *token, size_t token_length)
{
    enum { END = 2 }; /* the line must have space for " ;" */
    if (!w->file->options->full) {
        size_t length = token_length + count_closing_braces(w);
        if (length > 2 && w->column + length + END > (size_t)w->file->options->line_length) {
            fputs("\n    ", w->file->out);
            w->column = 4;
        }
        w->column += length;
    }
    fwrite(token, 1, token_length, w->file->out);
}

static bool row_ends(const writer *w)
{
    return w->index[w->ndims - 1] == w->shape[w->ndims - 1] - 1;
}

static void advance(writer *w)
{
    for (int i = w->ndims - 1; i >= 0 && ++w->index[i] == w->shape[i]; i--)
        w->index[i] = 0;
}

static void write_number(writer *w, const char *token, size_t length)
{
    bool row = row_ends(w);
    if (w->index[w->ndims - 1] == 0)
        begin_row(w);
    write_token(w, token, length);
    write_separator(w, row, row && at_end(w));
    advance(w);
}

static void write_character(writer *w, char c)
{
    if (w->index[w->ndims - 1] == 0)
        begin_row(w);
    tool_cdl_string_put(&w->string, c);
    if (row_ends(w)) {
        tool_cdl_string_end(&w->string);
        write_separator(w, true, at_end(w));
    }
    advance(w);
}

/* As ncdump, for which "" is the fill value of strings without another one. Without memory it is not printed, and the
 * output fails in the end. */
static void write_string(writer *w, const char *text)
{
    bool row = row_ends(w);
    cdl_string string;
    char *token = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&token, &length);
    if (out == NULL)
        return;
    bool is_default = w->variable->fill_string == NULL && text != NULL && *text == '\0';
    if (is_default || dump_string_is_missing(w->variable, text)) {
        fputc('_', out);
    } else {
        tool_cdl_string_begin(out, NULL, false, &string);
        for (; *text != '\0'; text++)
            tool_cdl_string_put(&string, *text);
        tool_cdl_string_end(&string);
    }
    fputs(!w->file->options->full && !row ? ", " : "", out);
    if (fclose(out) == 0)
        write_number(w, token, length);
    free(token);
}

/* --- blocks: the functions of a dump_formatter (team.h) --- */

static void write_block(void *with, const tool_blocks *block, const char *values)
{
    writer *w = with;
    size_t size = w->variable->type->size;
    char token[CDL_NUMBER_SIZE + 2];
    if (block->number == 0 && w->record >= 0)
        fprintf(w->file->out, " %s[%lld] =%s", w->variable->escaped, (long long)w->record, w->ndims > 1 ? "\n  " : " ");
    else if (block->number == 0)
        fprintf(w->file->out, "\n %s =%s", w->variable->escaped, w->ndims > 1 ? "\n  " : " ");
    memcpy(w->index, block->start, (size_t)w->ndims * sizeof *w->index);
    for (int64_t i = 0; i < block->length; i++, values += size) {
        if (w->as_text) {
            write_character(w, *values);
        } else if (w->variable->type->class == CDL_STRING) {
            write_string(w, *(char *const *)(const void *)values);
        } else {
            format_token(w, values, row_ends(w), token);
            write_number(w, token, strlen(token));
        }
    }
}

/* Line breaks depend on all preceding tokens of the row, so rank 0 inserts them. Tokens end with a null character. */
static void prepare_tokens(void *with, const tool_blocks *block, const char *values)
{
    writer *w = with;
    char token[CDL_NUMBER_SIZE + 2];
    memcpy(w->index, block->start, (size_t)w->ndims * sizeof *w->index);
    for (int64_t i = 0; i < block->length; i++, values += w->variable->type->size) {
        format_token(w, values, row_ends(w), token);
        fwrite(token, 1, strlen(token) + 1, w->file->out);
        advance(w);
    }
}

static void finish_tokens(void *with, const tool_blocks *block, const char *tokens, int64_t n)
{
    writer *w = with;
    memcpy(w->index, block->start, (size_t)w->ndims * sizeof *w->index);
    for (const char *end = tokens + n; tokens < end;) {
        size_t length = strlen(tokens);
        write_number(w, tokens, length);
        tokens += length + 1;
    }
}

static void finish_rows(void *with, const tool_blocks *block, const char *text, int64_t n)
{
    const writer *w = with;
    (void)block;
    fwrite(text, 1, (size_t)n, w->file->out);
}

/* Other ranks format whole rows; if a row does not fit in a block, only its numbers. Two kinds of values are sent
 * unformatted: with comments, the text may be many times as long as the values; and parts of a string depend on the
 * preceding part. */
static dump_formatter choose_formatter(void *with, const tool_blocks *blocks)
{
    const writer *w = with;
    bool rows = w->ndims > 1 && blocks->split < w->ndims - 1;
    dump_formatter formatter = {.with = with, .write = write_block};
    if (w->file->options->brief || w->file->options->full || (w->as_text && !rows))
        return formatter;
    formatter.prepare = rows ? write_block : prepare_tokens;
    formatter.finish = rows ? finish_rows : finish_tokens;
    return formatter;
}

/* The attribute of this name if it has this type, else NULL. */
static const pnc_att *find_attribute(const dump_file *file, int varid, const char *name, int type)
{
    const pnc_att *att = dump_attribute_find(file, varid, name);
    return att != NULL && att->type == type ? att : NULL;
}

void dump_fill_choose(const dump_file *file, const dump_variable *variable, bool *has_fill, cdl_value *fill)
{
    const cdl_type *type = variable->type;
    const pnc_att *att = find_attribute(file, variable->id, "_FillValue", type->code);
    double value;
    *has_fill = tool_cdl_fill_get_default(type, fill);
    if (att == NULL || att->len != 1)
        return;
    tool_att_load(att, &value);
    *has_fill = true;
    *fill = tool_cdl_value_load(type, &value);
}

static int choose_format(writer *w)
{
    const dump_options *options = w->file->options;
    const cdl_type *type = w->variable->type;
    const pnc_att *att = find_attribute(w->file, w->variable->id, "C_format", NC_CHAR);
    void *values;
    w->as_text = type->class == CDL_TEXT;
    dump_format_choose(w->file, type, &w->format);
    if ((type->code == NC_FLOAT && options->float_digits_given) ||
        (type->code == NC_DOUBLE && options->double_digits_given))
        return NC_NOERR;
    if (att == NULL)
        return NC_NOERR;
    PNC_TRY(dump_attribute_load(w->file, att, &values));
    ((char *)values)[att->len] = '\0'; /* dump_attribute_load allocates a byte for it */
    if (tool_cdl_format_set_custom(type, values, &w->format))
        w->as_text = false; /* C_format of a char variable asks for numbers */
    free(values);
    return NC_NOERR;
}

static int start_writer(const dump_file *file, const dump_variable *variable, writer *w)
{
    *w = (writer){.file = file, .variable = variable, .record = -1, .ndims = variable->ndims > 0 ? variable->ndims : 1};
    w->shape = calloc(2 * (size_t)w->ndims, sizeof *w->shape);
    if (w->shape == NULL)
        return dump_memory_report(file, variable->name);
    w->index = w->shape + w->ndims;
    w->shape[0] = 1;
    for (int i = 0; i < variable->ndims; i++)
        w->shape[i] = file->dimensions[variable->dimids[i]].length;
    dump_fill_choose(file, variable, &w->has_fill, &w->fill);
    PNC_TRY(choose_format(w));
    return dump_dates_choose(file, variable, &w->units, &w->as_dates);
}

static bool is_empty(const writer *w)
{
    for (int i = 0; i < w->ndims; i++)
        if (w->shape[i] == 0)
            return true;
    return false;
}

bool dump_variable_is_wanted(const dump_file *file, const dump_variable *variable)
{
    const dump_options *options = file->options;
    if (variable->type->class == CDL_OTHER)
        return false;
    if (options->coordinates_only &&
        (pnc_format_dim_find(&file->input.model, variable->name) < 0 || variable->ndims != 1))
        return false;
    return tool_names_contain(&options->variables, variable->name);
}

static int print_record(writer *w, int64_t record, dump_reader *reader)
{
    int err = NC_NOERR;
    while (err == NC_NOERR && tool_blocks_next(&reader->blocks)) {
        reader->blocks.start[0] = record;
        err = dump_reader_read(reader);
        reader->blocks.start[0] = 0;
        if (err == NC_NOERR)
            write_block(w, &reader->blocks, reader->block);
    }
    return err;
}

int dump_record_print(const dump_file *file, const dump_variable *variable, int64_t record)
{
    writer w = {0};
    dump_reader reader = {0};
    int err = start_writer(file, variable, &w);
    if (err == NC_NOERR) {
        w.record = record;
        w.shape[0] = 1;
        if (!is_empty(&w)) {
            err = dump_reader_init(file, variable, w.shape, &reader);
            if (err != NC_NOERR)
                dump_memory_report(file, variable->name);
            else
                err = print_record(&w, record, &reader);
        }
        dump_reader_free(&reader);
    }
    free(w.shape);
    return err;
}

int dump_data_print(const dump_file *file)
{
    int err = NC_NOERR;
    if (file->nvars > 0)
        fputs("data:\n", file->out);
    for (int i = 0; err == NC_NOERR && i < file->nvars; i++) {
        dump_variable variable;
        writer w = {0};
        err = dump_variable_load(file, i, &variable);
        if (err == NC_NOERR && dump_variable_is_wanted(file, &variable)) {
            err = start_writer(file, &variable, &w);
            if (err == NC_NOERR && !is_empty(&w))
                err = dump_team_write(file, &variable, w.shape, choose_formatter, &w);
        }
        free(w.shape);
        dump_variable_free(&variable);
    }
    return err;
}
