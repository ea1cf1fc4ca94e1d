/* Text: with a length and trailing blanks in Fortran, null-terminated in C. */
#include "binding/f90/f90.h"

#include <string.h>

size_t pnc_f90_text_get_length(const CFI_cdesc_t *text)
{
    const char *from = text->base_addr;
    size_t length = text->elem_len;

    while (length > 0 && from[length - 1] == ' ')
        length--;
    return length;
}

const char *pnc_f90_text_copy_in(const CFI_cdesc_t *text, char *to)
{
    size_t length = pnc_f90_text_get_length(text);

    if (length >= PNCF90_TEXT_MAX)
        length = PNCF90_TEXT_MAX - 1;
    memcpy(to, text->base_addr, length);
    to[length] = '\0';
    return to;
}

int pnc_f90_text_copy_out(const char *text, const CFI_cdesc_t *to)
{
    size_t length = strlen(text), capacity = to->elem_len;

    memcpy(to->base_addr, text, length < capacity ? length : capacity);
    if (length < capacity)
        memset((char *)to->base_addr + length, ' ', capacity - length);
    return length <= capacity ? NC_NOERR : NC_ESTS;
}
