/* Names and strings in CDL. */
#include "tools/common/text.h"

#include <stdlib.h>
#include <string.h>

/* ASCII characters with a meaning in the grammar of CDL. UTF-8, "_.@+-/%" and letters are not escaped. */
static const char name_specials[] = " !\"#$&'()*,:;<=>?[\\]^`{|}~";

char *tool_cdl_name_escape(const char *name)
{
    char *escaped = malloc(2 * strlen(name) + 2);
    if (escaped == NULL)
        return NULL;
    char *end = escaped;
    for (const char *c = name; *c; c++) {
        /* A name that starts with a digit would be read as a number. */
        if ((c == name && *c >= '0' && *c <= '9') || strchr(name_specials, *c) != NULL)
            *end++ = '\\';
        *end++ = *c;
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

static void put_character(const cdl_string *string, char c)
{
    static const char letters[][3] = {"\bb", "\ff", "\nn", "\rr", "\tt", "\vv", "\\\\", "''", "\"\""};
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++) {
        if (c == letters[i][0]) {
            fputc('\\', string->out);
            fputc(letters[i][1], string->out);
            if (c == '\n')
                fprintf(string->out, "\",\n%s\"", string->indent);
            return;
        }
    }
    unsigned char byte = (unsigned char)c;
    if (byte < 0x20 || byte == 0x7f || (string->ascii && byte > 0x7f))
        fprintf(string->out, "\\%03o", byte);
    else
        fputc(c, string->out);
}

void tool_cdl_string_put(cdl_string *string, char c)
{
    if (c == '\0') {
        string->nulls++;
        return;
    }
    for (; string->nulls > 0; string->nulls--)
        fputs("\\000", string->out);
    put_character(string, c);
}

void tool_cdl_string_end(cdl_string *string)
{
    fputc('"', string->out);
}
