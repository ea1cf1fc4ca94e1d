#include "references/json.h"

#include <string.h>
#include <utf8proc.h>

/* Length of the UTF-8 character at text, or 0 if it is not valid. */
static size_t get_character_length(const unsigned char *text, size_t n)
{
    utf8proc_int32_t point;
    utf8proc_ssize_t length = utf8proc_iterate(text, (utf8proc_ssize_t)n, &point);

    return length > 0 ? (size_t)length : 0;
}

void pnc_references_part_write(FILE *out, const char *bytes, size_t n)
{
    const unsigned char *text = (const unsigned char *)bytes;

    for (size_t i = 0; i < n;) {
        size_t length = get_character_length(text + i, n - i);

        if (text[i] == '"' || text[i] == '\\')
            fprintf(out, "\\%c", text[i]);
        else if (text[i] == '\n')
            fputs("\\n", out);
        else if (length == 2 && text[i] == 0xc2 && text[i + 1] < 0xa0) /* a control character of Unicode */
            fprintf(out, "\\u%04x", text[i + 1]);
        else if (length == 0 || text[i] < 0x20 || text[i] == 0x7f)
            fprintf(out, "\\u%04x", text[i]);
        else
            fwrite(text + i, 1, length, out);
        i += length > 0 ? length : 1;
    }
}

void pnc_references_text_write(FILE *out, const char *bytes, size_t n)
{
    while (n > 0 && bytes[n - 1] == '\0')
        n--;
    fputc('"', out);
    pnc_references_part_write(out, bytes, n);
    fputc('"', out);
}

void pnc_references_string_write(FILE *out, const char *text)
{
    pnc_references_text_write(out, text, strlen(text));
}

void pnc_references_base64_write(FILE *out, const unsigned char *bytes, int64_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    fputs("\"base64:", out);
    for (int64_t i = 0; i < n; i += 3) {
        unsigned group = (unsigned)bytes[i] << 16 | (i + 1 < n ? (unsigned)bytes[i + 1] << 8 : 0) |
                         (i + 2 < n ? (unsigned)bytes[i + 2] : 0);

        fputc(digits[group >> 18], out);
        fputc(digits[group >> 12 & 63], out);
        fputc(i + 1 < n ? digits[group >> 6 & 63] : '=', out);
        fputc(i + 2 < n ? digits[group & 63] : '=', out);
    }
    fputc('"', out);
}
