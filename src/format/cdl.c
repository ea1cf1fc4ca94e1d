/* Reading CDL from its first byte to its last: what scanner, parser and reader share, and failures with their place. */
#define _GNU_SOURCE /* some C libraries keep newlocale from plain C99 */
#include "format/cdl.h"

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "format/cdl_reader.h"
#include "format/cdl_grammar.h"

/* The scanner, which flex makes of cdl_tokens.l. */
int pnc_cdl_scan_lex_init_extra(pnc_cdl_reader *reader, void **scanner);
void pnc_cdl_scan_end(pnc_cdl_reader *reader);

/* --- failures --- */

int pnc_format_cdl_fail(pnc_cdl_reader *reader, pnc_cdl_position at, int code, const char *format, ...)
{
    const char *name = reader->source->name;
    long long line = at.line, column = at.column;
    char text[400];
    va_list args;

    if (reader->code != NC_NOERR)
        return reader->code;
    reader->code = code;
    if (reader->error == NULL)
        return code;
    va_start(args, format);
    if (vsnprintf(text, sizeof text, format, args) < 0)
        text[0] = '\0';
    va_end(args);
    if (name != NULL)
        return pnc_error_set(reader->error, code, "%s:%lld:%lld: %s", name, line, column, text);
    return pnc_error_set(reader->error, code, "line %lld, column %lld: %s", line, column, text);
}

int pnc_format_cdl_fail_expected(pnc_cdl_reader *reader, pnc_cdl_position at, const char *what)
{
    unsigned char first = (unsigned char)reader->shown[0];

    if (reader->ended)
        return pnc_format_cdl_fail(reader, at, NC_ENOTNC, "the text ends where %s should stand", what);
    if (first < 0x20 || first == 0x7f)
        return pnc_format_cdl_fail(reader, at, NC_ENOTNC, "byte 0x%02x stands where %s should", first, what);
    return pnc_format_cdl_fail(reader, at, NC_ENOTNC, "%s stands where %s should", reader->shown, what);
}

int pnc_format_cdl_fail_refused(pnc_cdl_reader *reader, pnc_cdl_position at, int code, const pnc_error *why)
{
    return code == NC_NOERR ? NC_NOERR : pnc_format_cdl_fail(reader, at, code, "%s", why->text);
}

int pnc_format_cdl_fail_memory(pnc_cdl_reader *reader)
{
    return pnc_format_cdl_fail(reader, reader->next, NC_ENOMEM, "not enough memory for what is read so far");
}

int pnc_format_cdl_bytes_append(pnc_cdl_reader *reader, pnc_cdl_bytes *bytes, const void *more, int64_t n)
{
    if (n > bytes->capacity - bytes->n) {
        int64_t capacity = bytes->capacity * 2 > bytes->n + n ? bytes->capacity * 2 : bytes->n + n + 64;
        char *grown = pnc_memory_resize(bytes->at, capacity, 1);
        if (grown == NULL)
            return pnc_format_cdl_fail_memory(reader);
        bytes->at = grown;
        bytes->capacity = capacity;
    }
    memcpy(bytes->at + bytes->n, more, (size_t)n);
    bytes->n += n;
    return NC_NOERR;
}

/* The dumping tools tell the format and the number of records in comments, and nowhere else. */
void pnc_format_cdl_comment_read(pnc_cdl_reader *reader, const char *text, int64_t n)
{
    static const char words[] = "// file format: CDF-";
    const size_t length = sizeof words - 1;
    char copy[80] = "";
    long long records;

    memcpy(copy, text, n < 79 ? (size_t)n : 79);
    if (!reader->begun && !reader->format_known && strncmp(copy, words, length) == 0 && copy[length] != '\0' &&
        strchr("125", copy[length]) != NULL) {
        reader->model->format = copy[length] - '0';
        reader->format_known = true;
    }
    if (sscanf(copy, "// (%18lld currently)", &records) == 1 && records > 0)
        reader->records_given = records;
}

/* --- the whole --- */

/* strtod takes the decimal mark of the program's locale, and CDL has a point. */
static int parse(pnc_cdl_reader *reader)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), users;
    void *scanner = NULL;

    if (plain == (locale_t)0)
        return pnc_format_cdl_fail_memory(reader);
    users = uselocale(plain);
    if (pnc_cdl_scan_lex_init_extra(reader, &scanner) != 0)
        pnc_format_cdl_fail_memory(reader);
    else
        pnc_cdl_yyparse(reader, scanner);
    pnc_cdl_scan_end(reader);
    uselocale(users);
    freelocale(plain);
    return reader->code;
}

int pnc_format_cdl_read(const pnc_cdl_source *source, const pnc_cdl_sink *sink, pnc_model *model, pnc_error *error)
{
    pnc_cdl_reader reader = {.source = source, .sink = sink, .model = model, .error = error, .next = {1, 1},
                             .format_known = source->format != 0};
    int code = pnc_format_model_init(model, source->format != 0 ? source->format : NC_FORMAT_CDF5, error);

    if (code != NC_NOERR)
        return code;
    code = parse(&reader);
    pnc_memory_free(reader.name);
    pnc_memory_free(reader.dimids);
    pnc_memory_free(reader.att_name);
    pnc_memory_free(reader.text.at);
    pnc_memory_free(reader.items.at);
    pnc_memory_free(reader.open_texts.at);
    pnc_memory_free(reader.block);
    if (code != NC_NOERR)
        pnc_format_model_free(model);
    return code;
}

/* --- from memory --- */

typedef struct cdl_memory {
    const char *next, *end;
} cdl_memory;

static int64_t read_memory(void *with, void *bytes, int64_t capacity, pnc_error *error)
{
    cdl_memory *memory = with;
    int64_t n = memory->end - memory->next < capacity ? memory->end - memory->next : capacity;

    (void)error;
    memcpy(bytes, memory->next, (size_t)n);
    memory->next += n;
    return n;
}

int pnc_format_cdl_parse(const char *text, int64_t size, pnc_model *model, pnc_error *error)
{
    cdl_memory memory = {text, text + size};
    const pnc_cdl_source source = {.read = read_memory, .with = &memory};

    return pnc_format_cdl_read(&source, NULL, model, error);
}
