/* JSON strings (RFC 8259): UTF-8, with control characters, quotes and backslashes escaped. */
#include "tools/common/json.h"

#include <stdio.h>
#include <utf8proc.h>

void tool_json_write_part(FILE *out, const char *bytes, size_t n)
{
    const utf8proc_uint8_t *text = (const utf8proc_uint8_t *)bytes;
    utf8proc_int32_t point;

    for (size_t i = 0; i < n;) {
        utf8proc_ssize_t length = utf8proc_iterate(text + i, (utf8proc_ssize_t)(n - i), &point);

        if (text[i] == '"' || text[i] == '\\')
            fprintf(out, "\\%c", text[i]);
        else if (length <= 0 || point < 0x20 || point == 0x7f)
            fprintf(out, "\\u%04x", text[i]);
        else
            fwrite(text + i, 1, (size_t)length, out);
        i += length > 0 ? (size_t)length : 1;
    }
}

void tool_json_write_text(FILE *out, const char *bytes, size_t n)
{
    fputc('"', out);
    tool_json_write_part(out, bytes, n);
    fputc('"', out);
}

void tool_json_print_string(const char *text)
{
    const utf8proc_uint8_t *at = (const utf8proc_uint8_t *)text;
    utf8proc_int32_t point;

    putchar('"');
    while (*at != '\0') {
        utf8proc_ssize_t n = utf8proc_iterate(at, -1, &point);

        if (n <= 0) {
            fputs("\\ufffd", stdout);
            n = 1;
        } else if (point < 0x20 || point == '"' || point == '\\') {
            printf("\\u%04x", (unsigned)point);
        } else {
            fwrite(at, 1, (size_t)n, stdout);
        }
        at += n;
    }
    putchar('"');
}
