/* Values in CDL: values of an attribute are stored, values of a variable are passed on in blocks. */
#include "format/cdl_reader.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/types.h"

enum { BLOCK_BYTES = 1 << 18 }; /* a multiple of the size of each type */

static const pnc_var *get_variable(const pnc_cdl_reader *reader)
{
    return reader->model->vars[reader->varid];
}

static int64_t get_element_size(const pnc_cdl_reader *reader)
{
    return (int64_t)pnc_type_get_size(get_variable(reader)->type);
}

/* Elements of the variable, or of one of its records. */
static int64_t count_elements(const pnc_var *var)
{
    return var->size / (int64_t)pnc_type_get_size(var->type);
}

/* A text that is the value of a variable such as char c(time), and its length. */
typedef struct cdl_open_text {
    int varid;
    int64_t count;
} cdl_open_text;

/* --- blocks --- */

static int flush_block(pnc_cdl_reader *reader, pnc_cdl_position at)
{
    const pnc_cdl_sink *sink = reader->sink;
    pnc_error why = {0};
    int64_t n = reader->count - reader->first;
    int err = NC_NOERR;

    if (n > 0 && sink->values != NULL)
        err = sink->values(sink->with, reader->varid, reader->first, reader->block, n, &why);
    reader->first = reader->count;
    return pnc_format_cdl_fail_refused(reader, at, err, &why);
}

/* End the variable: its elements so far are all, or whole records. */
static int flush_last(pnc_cdl_reader *reader, pnc_cdl_position at)
{
    const pnc_cdl_sink *sink = reader->sink;
    pnc_error why = {0};

    PNC_TRY(flush_block(reader, at));
    if (sink->end == NULL)
        return NC_NOERR;
    return pnc_format_cdl_fail_refused(reader, at, sink->end(sink->with, reader->varid, reader->count, &why), &why);
}

static int put_element(pnc_cdl_reader *reader, pnc_cdl_position at, const char *bytes)
{
    int64_t size = get_element_size(reader);

    assert(reader->first <= reader->count && reader->count <= reader->limit);
    assert((reader->count - reader->first) * size < BLOCK_BYTES);
    if (reader->count == reader->limit)
        return pnc_format_cdl_fail(reader, at, NC_EEDGE, "too many values: variable \"%s\" has %lld",
                                   get_variable(reader)->name, (long long)reader->limit);
    memcpy(reader->block + (reader->count - reader->first) * size, bytes, (size_t)size);
    reader->count++;
    return (reader->count - reader->first) * size == BLOCK_BYTES ? flush_block(reader, at) : NC_NOERR;
}

/* Pad the variable with an element until it has a multiple of `multiple` elements. */
static int pad_elements(pnc_cdl_reader *reader, pnc_cdl_position at, int64_t multiple, const char *bytes)
{
    while (reader->count % multiple != 0)
        PNC_TRY(put_element(reader, at, bytes));
    return NC_NOERR;
}

/* --- a variable --- */

int pnc_format_cdl_data_begin(pnc_cdl_reader *reader, pnc_cdl_position at, const char *name)
{
    const pnc_var *var;

    reader->varid = pnc_format_var_find(reader->model, name);
    if (reader->varid < 0)
        return pnc_format_cdl_fail(reader, at, NC_ENOTVAR, "no variable \"%s\" is defined above", name);
    if (reader->block == NULL)
        reader->block = pnc_memory_alloc(BLOCK_BYTES, 1);
    if (reader->block == NULL)
        return pnc_format_cdl_fail_memory(reader);
    var = get_variable(reader);
    pnc_format_var_get_fill_value(reader->model, var, reader->fill);
    reader->count = reader->first = 0;
    reader->quoted = reader->newline = false;
    reader->limit = var->is_record ? INT64_MAX : count_elements(var);
    reader->row = var->ndims < 2 ? 1 : var->shape[var->ndims - 1];
    return NC_NOERR;
}

int pnc_format_cdl_data_end(pnc_cdl_reader *reader, pnc_cdl_position at)
{
    static const char null[8];
    const pnc_var *var = get_variable(reader);
    const int64_t unit = count_elements(var);
    const char *rest = reader->quoted && var->ndims < 2 ? null : reader->fill;

    if (reader->count == 0 && !var->is_record) /* the empty text "" */
        PNC_TRY(put_element(reader, at, rest));
    if (reader->quoted)
        PNC_TRY(pad_elements(reader, at, reader->row, ""));
    PNC_TRY(pad_elements(reader, at, unit, rest));
    if (var->is_record && reader->count / unit > reader->model->numrecs)
        reader->model->numrecs = reader->count / unit;
    PNC_TRY(flush_last(reader, at));
    if (var->is_record && var->ndims == 1 && reader->quoted) {
        const cdl_open_text text = {reader->varid, reader->count};
        return pnc_format_cdl_bytes_append(reader, &reader->open_texts, &text, sizeof text);
    }
    reader->records_seen |= var->is_record;
    return NC_NOERR;
}

/* The dumping tools do not print null characters at the end of a text. Of a variable such as char c(time) they are
 * records: their number follows from other variables, or else from a comment. */
int pnc_format_cdl_reader_finish(pnc_cdl_reader *reader, pnc_cdl_position at)
{
    const cdl_open_text *texts = (const cdl_open_text *)(const void *)reader->open_texts.at;
    const int64_t n = reader->open_texts.n / (int64_t)sizeof *texts;

    if (!reader->records_seen && reader->model->recdim >= 0 && reader->records_given > reader->model->numrecs)
        reader->model->numrecs = reader->records_given;
    for (int64_t i = 0; i < n; i++) {
        reader->varid = texts[i].varid;
        reader->count = reader->first = texts[i].count;
        reader->limit = INT64_MAX; /* not the limit of the last variable */
        while (reader->count < reader->model->numrecs)
            PNC_TRY(put_element(reader, at, ""));
        if (reader->count > texts[i].count)
            PNC_TRY(flush_last(reader, at));
    }
    return NC_NOERR;
}

/* --- values --- */

/* An attribute has either text or numbers. */
static int check_kind(pnc_cdl_reader *reader, pnc_cdl_position at, bool text)
{
    if (reader->att_given && text != reader->att_text)
        return pnc_format_cdl_fail(reader, at, NC_ECHAR, "an attribute has either text or numbers, not both");
    if (reader->att_typed && !text && reader->att_type == NC_CHAR)
        return pnc_format_cdl_fail(reader, at, NC_ECHAR, "type char has text, not numbers");
    reader->att_text = text;
    return NC_NOERR;
}

static int keep_number(pnc_cdl_reader *reader, pnc_cdl_position at, const pnc_cdl_number *number)
{
    const pnc_cdl_item item = {*number, at};

    PNC_TRY(check_kind(reader, at, false));
    if (!reader->att_typed)
        reader->att_type = reader->att_given ? pnc_format_cdl_type_join(reader->att_type, number->type) : number->type;
    reader->att_given = true;
    return pnc_format_cdl_bytes_append(reader, &reader->items, &item, sizeof item);
}

int pnc_format_cdl_number_put(pnc_cdl_reader *reader, pnc_cdl_position at, const pnc_cdl_number *number)
{
    char bytes[8];

    if (!reader->in_data)
        return keep_number(reader, at, number);
    if (get_variable(reader)->type == NC_CHAR)
        return pnc_format_cdl_fail(reader, at, NC_ECHAR, "variable \"%s\" holds text, not numbers",
                                   get_variable(reader)->name);
    reader->quoted = false;
    PNC_TRY(pnc_format_cdl_number_store(reader, at, number, get_variable(reader)->type, bytes));
    return put_element(reader, at, bytes);
}

int pnc_format_cdl_name_put(pnc_cdl_reader *reader, pnc_cdl_position at, const char *name)
{
    pnc_cdl_number number;

    if (reader->in_data && strcmp(name, "_") == 0) {
        reader->quoted = false;
        return put_element(reader, at, reader->fill);
    }
    PNC_TRY(pnc_format_cdl_number_scan(reader, at, name, (int64_t)strlen(name), &number));
    return pnc_format_cdl_number_put(reader, at, &number);
}

int pnc_format_cdl_character_put(pnc_cdl_reader *reader, pnc_cdl_position at, char c)
{
    pnc_cdl_number number;

    if (reader->in_data ? get_variable(reader)->type == NC_CHAR : reader->att_type == NC_CHAR) {
        reader->quoted = false;
        reader->att_text = reader->att_given = true;
        return reader->in_data ? put_element(reader, at, &c)
                               : pnc_format_cdl_bytes_append(reader, &reader->text, &c, 1);
    }
    pnc_format_cdl_number_set_byte(c, &number);
    return pnc_format_cdl_number_put(reader, at, &number);
}

/* --- texts --- */

/* The dumping tools break a row after each newline, and continue in the fifth column of the next line; a new row begins
 * in another column. */
static bool continues_row(const pnc_cdl_reader *reader, pnc_cdl_position at)
{
    return reader->newline && at.line == reader->text_end.line + 1 && at.column == 5;
}

int pnc_format_cdl_text_begin(pnc_cdl_reader *reader, pnc_cdl_position at)
{
    reader->quoted = true;
    if (reader->in_data) {
        if (get_variable(reader)->type != NC_CHAR)
            return pnc_format_cdl_fail(reader, at, NC_ECHAR, "variable \"%s\" is of type %s and does not hold text",
                                       get_variable(reader)->name, pnc_type_get_name(get_variable(reader)->type));
        bool on = continues_row(reader, at);
        reader->newline = false;
        if (on)
            return NC_NOERR;
        PNC_TRY(pad_elements(reader, at, reader->row, ""));
        reader->text_first = reader->count;
        return NC_NOERR;
    }
    PNC_TRY(check_kind(reader, at, true));
    reader->att_given = true;
    if (!reader->att_typed)
        reader->att_type = NC_CHAR;
    return NC_NOERR;
}

int pnc_format_cdl_text_put(pnc_cdl_reader *reader, pnc_cdl_position at, const char *bytes, int64_t n)
{
    if (!reader->in_data && reader->att_type != NC_CHAR)
        return pnc_format_cdl_fail(reader, reader->opened, NC_ECHAR, "type %s does not hold text",
                                   pnc_type_get_name(reader->att_type));
    if (!reader->in_data)
        return pnc_format_cdl_bytes_append(reader, &reader->text, bytes, n);
    for (int64_t i = 0; i < n; i++)
        PNC_TRY(put_element(reader, at, bytes + i));
    reader->newline = n > 0 && bytes[n - 1] == '\n';
    return NC_NOERR;
}

/* Pad the text to at least one row: the dumping tools drop null characters at the end of a row. */
int pnc_format_cdl_text_end(pnc_cdl_reader *reader, pnc_cdl_position at)
{
    if (!reader->in_data || get_variable(reader)->ndims < 2)
        return NC_NOERR;
    reader->text_end = reader->next;
    if (reader->count == reader->text_first)
        PNC_TRY(put_element(reader, at, ""));
    return reader->newline ? NC_NOERR : pad_elements(reader, at, reader->row, "");
}
