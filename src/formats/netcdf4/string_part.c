/* A part: its bytes, varid, ndims, n; start and count; lengths; texts. The same process, or one like it, reads it. */
#include "formats/netcdf4/string_part.h"

#include <string.h>

enum { NUMBERS = 4, NUMBER = sizeof(int64_t) };

int64_t pnc_netcdf4_string_part_count(char *const *strings, int64_t *n, int64_t limit)
{
    int64_t bytes = 0, i = 0;

    for (; i < *n; i++) {
        int64_t own = NUMBER + 1 + (strings[i] != NULL ? (int64_t)strlen(strings[i]) : 0);

        if (i > 0 && own > limit - bytes)
            break;
        bytes += own;
    }
    *n = i;
    return bytes;
}

int64_t pnc_netcdf4_string_part_get_bytes(int ndims, int64_t strings)
{
    int64_t bytes = (NUMBERS + 2 * ndims) * NUMBER + strings;

    return (bytes + NUMBER - 1) / NUMBER * NUMBER;
}

void pnc_netcdf4_string_part_encode(int varid, int ndims, const int64_t *start, const int64_t *count, int64_t n,
                                    char *const *strings, int64_t bytes, char *out)
{
    const int64_t numbers[NUMBERS] = {bytes, varid, ndims, n};
    char *at = out, *text;

    memset(out + bytes - NUMBER, 0, NUMBER);
    memcpy(at, numbers, sizeof numbers);
    at += sizeof numbers;
    if (ndims > 0) {
        memcpy(at, start, (size_t)ndims * NUMBER);
        memcpy(at + ndims * NUMBER, count, (size_t)ndims * NUMBER);
    }
    at += 2 * ndims * NUMBER;
    text = at + n * NUMBER;
    for (int64_t i = 0; i < n; i++, at += NUMBER) {
        int64_t length = strings[i] != NULL ? (int64_t)strlen(strings[i]) : -1;

        memcpy(at, &length, sizeof length);
        if (length > 0)
            memcpy(text, strings[i], (size_t)length);
        text += length > 0 ? length : 0;
        *text++ = '\0';
    }
}

int64_t pnc_netcdf4_string_part_decode(const char *bytes, pnc_string_part *out)
{
    const int64_t *numbers = (const int64_t *)(const void *)bytes;

    *out = (pnc_string_part){.varid = (int)numbers[1], .ndims = (int)numbers[2], .n = numbers[3]};
    out->start = numbers + NUMBERS;
    out->count = out->start + out->ndims;
    out->lengths = out->count + out->ndims;
    out->texts = (const char *)(out->lengths + out->n);
    return numbers[0];
}

void pnc_netcdf4_string_part_list(const pnc_string_part *part, const char **strings)
{
    const char *text = part->texts;

    for (int64_t i = 0; i < part->n; i++) {
        strings[i] = part->lengths[i] >= 0 ? text : NULL;
        text += (part->lengths[i] > 0 ? part->lengths[i] : 0) + 1;
    }
}
