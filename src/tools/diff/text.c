/* Output of the comparison: lines, types, values. */
#include "tools/diff/diff.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/types.h"
#include "tools/common/message.h"
#include "tools/common/number.h"

static void print(FILE *out, const char *before, const char *format, va_list args) PNC_PRINTF(3, 0);

static void print(FILE *out, const char *before, const char *format, va_list args)
{
    char line[4 * NC_MAX_NAME + 2 * PATH_MAX], *text = line;
    vsnprintf(line, sizeof line, format, args);
    text += strspn(line, "\t");
    fprintf(out, "%s%.*s", before, (int)(text - line), line);
    tool_text_write(out, text);
    fputc('\n', out);
}

void diff_sameness_print(const diff_run *run, const char *format, ...)
{
    va_list args;
    if (run->out == NULL || !run->options->verbose || run->options->quiet || run->options->json)
        return;
    va_start(args, format);
    print(run->out, "", format, args);
    va_end(args);
}

void diff_difference_print(diff_run *run, const char *format, ...)
{
    va_list args;
    if (run->out == NULL)
        return;
    va_start(args, format);
    if (run->options->json)
        diff_json_text_print(run, format, args);
    else
        print(run->out, "DIFF", format, args);
    va_end(args);
}

const char *diff_type_get_name(int type, char out[DIFF_TYPE_SIZE])
{
    snprintf(out, DIFF_TYPE_SIZE, "NC_%s", pnc_type_get_name(type));
    for (char *c = out; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    return out;
}

static const char *print_real(int type, double value, char out[DIFF_VALUE_SIZE])
{
    char text[CDL_NUMBER_SIZE];
    if (isfinite(value))
        snprintf(out, DIFF_VALUE_SIZE, "%s", tool_real_format(type, value, text));
    else
        snprintf(out, DIFF_VALUE_SIZE, "%g", value);
    return out;
}

#define PRINT(ctype, format)                            \
    do {                                                \
        ctype number;                                   \
        memcpy(&number, value, sizeof number);          \
        snprintf(out, DIFF_VALUE_SIZE, format, number); \
        return out;                                     \
    } while (0)

const char *diff_number_format(int type, const void *value, char out[DIFF_VALUE_SIZE])
{
    float single;
    double real;
    switch (type) {
    case NC_CHAR: return diff_string_format(value, 1, 0, out);
    case NC_BYTE: PRINT(signed char, "%d");
    case NC_SHORT: PRINT(short, "%d");
    case NC_INT: PRINT(int, "%d");
    case NC_INT64: PRINT(long long, "%lld");
    case NC_UBYTE: PRINT(unsigned char, "%u");
    case NC_USHORT: PRINT(unsigned short, "%u");
    case NC_UINT: PRINT(unsigned, "%u");
    case NC_UINT64: PRINT(unsigned long long, "%llu");
    case NC_FLOAT: memcpy(&single, value, sizeof single); return print_real(NC_FLOAT, (double)single, out);
    default: memcpy(&real, value, sizeof real); return print_real(NC_DOUBLE, real, out);
    }
}

bool diff_type_is_number(int type)
{
    return type != NC_CHAR && pnc_type_get_size(type) > 0;
}

/* Of a character in UTF-8, behind its first byte. */
static bool is_continued(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Long texts are reduced to an excerpt around the character `at`. */
const char *diff_string_format(const char *text, int64_t length, int64_t at, char out[DIFF_VALUE_SIZE])
{
    enum { BEFORE = 20, LONGEST = DIFF_VALUE_SIZE - 20, MORE = 4 }; /* capacity for quotes, dots and an escape */
    int64_t next = at > BEFORE && length > LONGEST / 2 ? at - BEFORE : 0;
    char *end = out;
    unsigned char before = 0;
    for (int i = 0; i < MORE && next > 0 && next < length && is_continued(text[next]); i++)
        next--;
    end += snprintf(end, DIFF_VALUE_SIZE, "%s\"", next > 0 ? "..." : "");
    for (; next < length && end < out + LONGEST + (is_continued(text[next]) ? MORE : 0); next++) {
        unsigned char c = (unsigned char)text[next];
        if (c < 0x20 || c == 0x7f || (before == 0xc2 && c >= 0x80 && c < 0xa0))
            end += snprintf(end, 5, "\\%03o", c);
        else
            *end++ = (char)c;
        before = c;
    }
    snprintf(end, 5, "\"%s", next < length ? "..." : "");
    return out;
}

static void format_text(const char *text, int64_t at, char out[DIFF_VALUE_SIZE])
{
    if (text != NULL)
        diff_string_format(text, (int64_t)strlen(text), at, out);
    else
        snprintf(out, DIFF_VALUE_SIZE, "NIL"); /* as in CDL */
}

void diff_strings_format(const char *const texts[2], char x[DIFF_VALUE_SIZE], char y[DIFF_VALUE_SIZE])
{
    int64_t at = 0;
    while (texts[0] != NULL && texts[1] != NULL && texts[0][at] != '\0' && texts[0][at] == texts[1][at])
        at++;
    format_text(texts[0], at, x);
    format_text(texts[1], at, y);
}
