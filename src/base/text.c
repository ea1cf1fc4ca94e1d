/* Names in files of others can have characters that act on a terminal. */
#include "base/text.h"

#include <stdbool.h>
#include <string.h>

static bool continues(const unsigned char *c, size_t n)
{
    for (size_t i = 1; i <= n; i++)
        if (c[i] < 0x80 || c[i] > 0xbf) /* also at the end of the text */
            return false;
    return true;
}

size_t pnc_text_count_plain(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;

    if (c[0] < 0x80)
        return c[0] >= 0x20 && c[0] != 0x7f;
    if (c[0] >= 0xc2 && c[0] <= 0xdf)
        return continues(c, 1) && (c[0] != 0xc2 || c[1] >= 0xa0) ? 2 : 0;
    if (c[0] >= 0xe0 && c[0] <= 0xef)
        return continues(c, 2) ? 3 : 0;
    return c[0] >= 0xf0 && c[0] <= 0xf4 && continues(c, 3) ? 4 : 0;
}

void pnc_text_make_plain(char *text)
{
    while (*text != '\0') {
        size_t n = pnc_text_count_plain(text);

        if (n == 0)
            *text++ = '?';
        text += n;
    }
}
