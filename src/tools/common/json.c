/* JSON strings (RFC 8259): UTF-8, with control characters, quotes and backslashes escaped. */
#include "tools/common/json.h"

#include <stdio.h>
#include <utf8proc.h>

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
