/* Which variables say where the values of others are. */
#include "format/coordinates.h"

#include <string.h>

static bool is_coordinate_variable(const pnc_model *model, const pnc_var *var)
{
    return var->ndims == 1 && strcmp(model->dims[var->dimids[0]]->name, var->name) == 0;
}

/* Words of a text, which need not be names of variables: "crs: x y". */
static void add_named(const pnc_model *model, const char *text, int64_t length, bool *found)
{
    char name[NC_MAX_NAME + 1];

    for (int64_t at = 0, end; at < length; at = end + 1) {
        int64_t n;
        int varid;

        for (end = at; end < length && strchr(" \t\n", text[end]) == NULL;) /* also at a NUL */
            end++;
        n = end - at;
        if (n > 0 && text[end - 1] == ':')
            n--;
        if (n == 0 || n > NC_MAX_NAME)
            continue;
        memcpy(name, text + at, (size_t)n);
        name[n] = '\0';
        varid = pnc_format_var_find(model, name);
        if (varid >= 0)
            found[varid] = true;
    }
}

void pnc_format_coordinates_find(const pnc_model *model, bool *found)
{
    static const char *const attributes[] = PNC_COORDINATE_ATTRIBUTES;

    for (int i = 0; i < model->nvars; i++) {
        const pnc_var *var = model->vars[i];

        found[i] = found[i] || is_coordinate_variable(model, var);
        for (size_t k = 0; k < sizeof attributes / sizeof *attributes; k++) {
            int at = pnc_format_atts_find(&var->atts, attributes[k]);
            const pnc_att *att = at < 0 ? NULL : var->atts.at[at];

            if (att != NULL && att->type == NC_CHAR)
                add_named(model, att->value, att->len, found);
        }
    }
}
