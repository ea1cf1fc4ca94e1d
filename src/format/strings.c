/* Attributes of strings: joined to one text, and back. */
#include "format/strings.h"

#include <string.h>

#include "base/memory.h"

int64_t pnc_format_strings_join(const char *const *strings, int64_t n, int64_t *lengths, char *text)
{
    int64_t total = 0;

    for (int64_t i = 0; i < n; i++) {
        int64_t own = strings[i] != NULL ? (int64_t)strlen(strings[i]) : 0;

        if (text != NULL && i > 0)
            text[total] = '\n';
        total += i > 0;
        if (text != NULL && own > 0)
            memcpy(text + total, strings[i], (size_t)own);
        total += own;
        if (lengths != NULL)
            lengths[i] = strings[i] != NULL ? own : -1;
    }
    return total;
}

void pnc_format_strings_divide(const pnc_strings *strings, char *text, char **at)
{
    for (int64_t i = 0; i < strings->n; i++) {
        int64_t own = strings->lengths[i] > 0 ? strings->lengths[i] : 0;

        at[i] = strings->lengths[i] >= 0 ? text : NULL;
        text[own] = '\0';
        text += own + 1;
    }
}

int64_t pnc_format_strings_get_length(const pnc_strings *strings)
{
    int64_t total = strings->n > 0 ? strings->n - 1 : 0;

    for (int64_t i = 0; i < strings->n; i++) {
        if (strings->lengths[i] < -1 || strings->lengths[i] > INT64_MAX - total)
            return -1;
        total += strings->lengths[i] > 0 ? strings->lengths[i] : 0;
    }
    return total;
}

int pnc_format_strings_copy(pnc_region *region, const pnc_strings *from, pnc_strings *out)
{
    int64_t bytes = (from->n + 1) * (int64_t)sizeof *from->lengths, *lengths;

    *out = (pnc_strings){0};
    if (from->lengths == NULL)
        return NC_NOERR;
    lengths = pnc_region_alloc(region, bytes);
    if (lengths == NULL)
        return NC_ENOMEM;
    if (from->n > 0)
        memcpy(lengths, from->lengths, (size_t)from->n * sizeof *lengths);
    *out = (pnc_strings){from->n, lengths};
    return NC_NOERR;
}

char *pnc_format_strings_make_fill(const pnc_var *var)
{
    int index = pnc_format_atts_find(&var->atts, "_FillValue");
    const pnc_att *att = index < 0 ? NULL : var->atts.at[index];
    int64_t n = att != NULL && att->strings.lengths != NULL && att->strings.n == 1 ? att->len : 0;
    char *fill = pnc_memory_alloc(n + 1, 1);

    if (fill == NULL)
        return NULL;
    if (n > 0)
        memcpy(fill, att->value, (size_t)n);
    fill[n] = '\0';
    return fill;
}

bool pnc_format_strings_fill(const pnc_var *var, int64_t n, char **out)
{
    char *fill = pnc_format_strings_make_fill(var);
    bool good = fill != NULL;

    for (int64_t i = 0; good && i < n; i++) {
        out[i] = pnc_string_copy(fill);
        good = out[i] != NULL;
    }
    pnc_memory_free(fill);
    return good;
}
