/* Tokens of CDL. The text is not changed and need not end with a null byte. */
#include "format/cdl_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* No locale has a say in what a letter is. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Names hold letters, digits, UTF-8 and a few marks; the dumping tools put a backslash before all else. */
static bool begins_name(char c)
{
    return is_letter(c) || c == '_' || c == '\\' || (unsigned char)c >= 0x80;
}

static bool in_name(char c)
{
    return begins_name(c) || is_digit(c) || (c != '\0' && strchr(".@+-%#[]", c) != NULL);
}

int pnc_cdl_fail(const pnc_cdl_scan *scan, int64_t at, int code, const char *format, ...)
{
    long long line = 1, column = 1;
    char text[400];
    va_list args;

    if (scan->error == NULL)
        return code;
    for (int64_t i = 0; i < at; i++) {
        if (scan->text[i] == '\n') {
            line++;
            column = 1;
        } else if (((unsigned char)scan->text[i] & 0xc0) != 0x80) { /* not inside a character of UTF-8 */
            column++;
        }
    }
    va_start(args, format);
    if (vsnprintf(text, sizeof text, format, args) < 0)
        text[0] = '\0';
    va_end(args);
    return pnc_fail(scan->error, code, "line %lld, column %lld: %s", line, column, text);
}

int pnc_cdl_expected(const pnc_cdl_scan *scan, const char *what)
{
    int64_t n = scan->end - scan->begin;
    unsigned char first = scan->begin < scan->size ? (unsigned char)scan->text[scan->begin] : 0;

    if (scan->kind == PNC_CDL_END)
        return pnc_cdl_fail(scan, scan->begin, NC_ENOTNC, "the text ends where %s should stand", what);
    if (scan->kind == PNC_CDL_MARK && (first < 0x20 || first >= 0x7f))
        return pnc_cdl_fail(scan, scan->begin, NC_ENOTNC, "byte 0x%02x stands where %s should", first, what);
    return pnc_cdl_fail(scan, scan->begin, NC_ENOTNC, "%.*s%s stands where %s should", n > 40 ? 40 : (int)n,
                        scan->text + scan->begin, n > 40 ? "..." : "", what);
}

/* The dumping tool tells the format in a comment, and nowhere else. */
static void read_comment(pnc_cdl_scan *scan, int64_t at, int64_t end)
{
    static const char words[] = "// file format: CDF-";
    const int64_t n = (int64_t)sizeof words - 1;

    if (end - at <= n || memcmp(scan->text + at, words, (size_t)n) != 0)
        return;
    switch (scan->text[at + n]) {
    case '1': scan->format = NC_FORMAT_CLASSIC; break;
    case '2': scan->format = NC_FORMAT_CDF2; break;
    case '5': scan->format = NC_FORMAT_CDF5; break;
    default: break;
    }
}

static int64_t skip_blank(pnc_cdl_scan *scan, int64_t at)
{
    while (at < scan->size) {
        int64_t end = at;
        if (is_blank(scan->text[at])) {
            at++;
            continue;
        }
        if (scan->size - at < 2 || scan->text[at] != '/' || scan->text[at + 1] != '/')
            break;
        while (end < scan->size && scan->text[end] != '\n')
            end++;
        read_comment(scan, at, end);
        at = end;
    }
    return at;
}

static int scan_name(pnc_cdl_scan *scan)
{
    size_t n = 0;

    scan->kind = PNC_CDL_NAME;
    scan->escaped = false;
    for (; scan->end < scan->size && in_name(scan->text[scan->end]); scan->end++) {
        if (scan->text[scan->end] == '\\') {
            scan->escaped = true;
            if (++scan->end == scan->size || scan->text[scan->end] == '\0')
                return pnc_cdl_fail(scan, scan->end - 1, NC_ENOTNC, "a backslash stands before nothing");
        }
        if (n + 1 < sizeof scan->name)
            scan->name[n++] = scan->text[scan->end];
    }
    scan->name[n] = '\0';
    return NC_NOERR;
}

static int scan_quoted(pnc_cdl_scan *scan, char quote)
{
    scan->kind = quote == '"' ? PNC_CDL_STRING : PNC_CDL_CHARACTER;
    for (scan->end++; scan->end < scan->size; scan->end++) {
        if (scan->text[scan->end] == quote) {
            scan->end++;
            return NC_NOERR;
        }
        if (scan->text[scan->end] == '\\' && scan->end + 1 < scan->size)
            scan->end++;
    }
    return pnc_cdl_fail(scan, scan->begin, NC_ENOTNC, "a text begins here and does not end: its closing %c is missing",
                        quote);
}

/* As far as it looks like a number; whether it is one is for its reader to say. */
static void scan_number(pnc_cdl_scan *scan)
{
    const char *text = scan->text;
    int64_t i = scan->begin + 1;

    for (; i < scan->size; i++) {
        bool of_exponent = (text[i] == '+' || text[i] == '-') && (text[i - 1] == 'e' || text[i - 1] == 'E');
        if (!is_digit(text[i]) && !is_letter(text[i]) && text[i] != '.' && text[i] != '_' && !of_exponent)
            break;
    }
    scan->kind = PNC_CDL_NUMBER;
    scan->end = i;
}

int pnc_cdl_next(pnc_cdl_scan *scan)
{
    char c;

    scan->begin = scan->end = skip_blank(scan, scan->end);
    if (scan->begin == scan->size) {
        scan->kind = PNC_CDL_END;
        return NC_NOERR;
    }
    c = scan->text[scan->begin];
    if (begins_name(c))
        return scan_name(scan);
    if (c == '"' || c == '\'')
        return scan_quoted(scan, c);
    if (is_digit(c) || c == '.' || c == '+' || c == '-') {
        scan_number(scan);
        return NC_NOERR;
    }
    scan->kind = PNC_CDL_MARK;
    scan->end++;
    return NC_NOERR;
}

bool pnc_cdl_is(const pnc_cdl_scan *scan, char mark)
{
    return scan->kind == PNC_CDL_MARK && scan->text[scan->begin] == mark;
}

int pnc_cdl_pass(pnc_cdl_scan *scan, char mark)
{
    const char what[] = {'\'', mark, '\'', '\0'};

    return pnc_cdl_is(scan, mark) ? pnc_cdl_next(scan) : pnc_cdl_expected(scan, what);
}

int pnc_cdl_seek_brace(pnc_cdl_scan *scan)
{
    int64_t i = scan->end;

    while (i < scan->size && scan->text[i] != '{')
        i += scan->text[i] == '\\' ? 2 : 1;
    scan->begin = scan->end = i < scan->size ? i : scan->size;
    scan->kind = PNC_CDL_END;
    if (scan->begin == scan->size)
        return pnc_cdl_expected(scan, "'{'");
    scan->kind = PNC_CDL_MARK;
    scan->end++;
    return NC_NOERR;
}

/* At most max digits of base 8 or 16 from *at on. The number of digits. */
static int read_code(const pnc_cdl_scan *scan, int64_t *at, int base, int max, unsigned *value)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    int n = 0;

    *value = 0;
    for (; n < max && *at < scan->end; n++, (*at)++) {
        const char *digit = memchr(digits, scan->text[*at], sizeof digits - 1);
        if (digit == NULL || (digit - digits) % 16 >= base)
            break;
        *value = *value * (unsigned)base + (unsigned)((digit - digits) % 16);
    }
    return n;
}

/* *at is behind the backslash, and moves behind the escape. */
static int read_escape(const pnc_cdl_scan *scan, int64_t *at, char *out)
{
    static const char letters[] = "a\ab\bf\fn\nr\rt\tv\v";
    int64_t start = *at - 1;
    char c = scan->text[*at];
    unsigned value;

    if (c >= '0' && c <= '7') {
        read_code(scan, at, 8, 3, &value);
        if (value > 0xff)
            return pnc_cdl_fail(scan, start, NC_ERANGE, "octal escape \\%o is beyond \\377", value);
        *out = (char)value;
        return NC_NOERR;
    }
    (*at)++;
    *out = c;
    if (c == 'x') {
        if (read_code(scan, at, 16, 2, &value) == 0)
            return pnc_cdl_fail(scan, start, NC_ENOTNC, "no hexadecimal digit follows \\x");
        *out = (char)value;
    }
    for (size_t i = 0; i + 1 < sizeof letters; i += 2)
        if (c == letters[i])
            *out = letters[i + 1];
    return NC_NOERR;
}

int pnc_cdl_text(const pnc_cdl_scan *scan, char *out, int64_t *len)
{
    int64_t at = scan->begin + 1, n = 0;

    while (at < scan->end - 1) {
        char c = scan->text[at++];
        if (c == '\\') {
            int code = read_escape(scan, &at, &c);
            if (code != NC_NOERR)
                return code;
        }
        if (out != NULL)
            out[n] = c;
        n++;
    }
    *len = n;
    return NC_NOERR;
}
