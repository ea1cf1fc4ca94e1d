/* Names and strings in CDL. */
#include "tools/common/text.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { CDL_HELD = 0xc2 };

/* ASCII characters with a meaning in the grammar of CDL. UTF-8, "_.@+-/%" and letters are not escaped. */
static const char name_specials[] = " !\"#$&'()*,:;<=>?[\\]^`{|}~";

/* As ncdump writes control characters of ASCII; so are those of Unicode, and bytes that are not UTF-8. */
static char *escape_byte(unsigned char byte, char *end)
{
    static const char digits[] = "0123456789abcdef";
    *end++ = '\\';
    *end++ = '%';
    *end++ = digits[byte >> 4];
    *end++ = digits[byte & 15];
    return end;
}

char *tool_cdl_name_escape(const char *name)
{
    char *escaped = malloc(4 * strlen(name) + 1);
    if (escaped == NULL)
        return NULL;
    char *end = escaped;
    for (const char *c = name; *c;) {
        size_t n = pnc_text_count_plain(c);
        if (n == 0) {
            end = escape_byte((unsigned char)*c++, end);
            continue;
        }
        /* A name that starts with a digit would be read as a number. */
        if ((c == name && *c >= '0' && *c <= '9') || strchr(name_specials, *c) != NULL)
            *end++ = '\\';
        for (; n > 0; n--)
            *end++ = *c++;
    }
    *end = '\0';
    return escaped;
}

bool tool_cdl_name_is_section(const char *name)
{
    static const char *const sections[] = {"types", "dimensions", "variables", "data", "group"};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (strcmp(name, sections[i]) == 0)
            return true;
    return false;
}

void tool_cdl_string_begin(FILE *out, const char *indent, bool ascii, cdl_string *string)
{
    *string = (cdl_string){.out = out, .indent = indent, .ascii = ascii};
    fputc('"', out);
}

static void put_octal(const cdl_string *string, unsigned char byte)
{
    fprintf(string->out, "\\%03o", byte);
}

static void put_character(const cdl_string *string, char c)
{
    static const char letters[][3] = {"\bb", "\ff", "\nn", "\rr", "\tt", "\vv", "\\\\", "''", "\"\""};
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++) {
        if (c == letters[i][0]) {
            fputc('\\', string->out);
            fputc(letters[i][1], string->out);
            if (c == '\n' && string->indent != NULL)
                fprintf(string->out, "\",\n%s\"", string->indent);
            return;
        }
    }
    unsigned char byte = (unsigned char)c;
    if (byte < 0x20 || byte == 0x7f || (string->ascii && byte > 0x7f))
        put_octal(string, byte);
    else
        fputc(c, string->out);
}

/* The first byte of a control character of Unicode, U+0080 to U+009F, also begins others: the next byte decides. */
static void put_held(cdl_string *string, unsigned char next)
{
    if (!string->held)
        return;
    string->held = false;
    if (next >= 0x80 && next < 0xa0)
        put_octal(string, CDL_HELD);
    else
        fputc(CDL_HELD, string->out);
}

void tool_cdl_string_put(cdl_string *string, char c)
{
    unsigned char byte = (unsigned char)c;
    bool is_control = string->held && byte >= 0x80 && byte < 0xa0;
    put_held(string, byte);
    if (c == '\0') {
        string->nulls++;
        return;
    }
    for (; string->nulls > 0; string->nulls--)
        fputs("\\000", string->out);
    if (is_control)
        put_octal(string, byte);
    else if (byte == CDL_HELD && !string->ascii)
        string->held = true;
    else
        put_character(string, c);
}

void tool_cdl_string_end(cdl_string *string)
{
    put_held(string, 0);
    fputc('"', string->out);
}
