/* Renames: links of datasets move, and references, which have addresses, stay valid. */
#include "formats/netcdf4/metadata_define.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *pnc_netcdf4_definition_format(pnc_definition *x, const char *format, ...)
{
    char text[NC_MAX_NAME + 64], *copy;
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    copy = n < 0 || n >= (int)sizeof text ? NULL : pnc_region_alloc(x->region, n + 1);
    if (copy != NULL)
        return memcpy(copy, text, (size_t)n + 1);
    pnc_error_set(x->error, NC_ENOMEM, "%s: no memory for the definitions", x->m->source.file->path);
    return NULL;
}

static int move_link(pnc_definition *x, const char *from, const char *to)
{
    pnc_netcdf4_metadata *m = x->m;

    if (m->h->l_move(m->root, from, m->root, to, H5P_DEFAULT, H5P_DEFAULT) >= 0)
        return NC_NOERR;
    return pnc_netcdf4_metadata_fail(m, "rename", from);
}

/* Names that exist only while links move. */
static const char *name_aside(pnc_definition *x, const char *kind, int number)
{
    return pnc_netcdf4_definition_format(x, "_pnetcdf_moving_%s_%d", kind, number);
}

/* A link that has moved is the last one of its group: later variables follow it. */
static int find_first_moved(const pnc_definition *x)
{
    int v = 0;

    while (v < x->old_vars && strcmp(x->vars[v].old_path, x->vars[v].path) == 0)
        v++;
    return v;
}

/* A scale without a variable, whose dimension has another name or gets a coordinate variable. */
static bool scale_moves(const pnc_definition *x, int d)
{
    const pnc_define_dim *dim = &x->dims[d];

    return dim->old != 0 && dim->old_var < 0 &&
           (dim->var >= 0 || strcmp(x->before->dims[d]->name, x->now->dims[d]->name) != 0);
}

static int move_aside(pnc_definition *x, int first)
{
    for (int v = first; v < x->old_vars; v++) {
        const char *aside = name_aside(x, "var", v);

        if (aside == NULL)
            return NC_ENOMEM;
        PNC_TRY(move_link(x, x->vars[v].old_path, aside));
    }
    for (int d = 0; d < x->old_dims; d++) {
        const char *aside;

        if (!scale_moves(x, d))
            continue;
        aside = name_aside(x, "dim", d);
        if (aside == NULL)
            return NC_ENOMEM;
        PNC_TRY(move_link(x, x->before->dims[d]->name, aside));
    }
    return NC_NOERR;
}

int pnc_netcdf4_definition_move(pnc_definition *x)
{
    int first = find_first_moved(x);

    PNC_TRY(move_aside(x, first));
    for (int v = first; v < x->old_vars; v++)
        PNC_TRY(move_link(x, name_aside(x, "var", v), x->vars[v].path));
    for (int d = 0; d < x->old_dims; d++) {
        if (!scale_moves(x, d))
            continue;
        if (x->dims[d].var >= 0)
            x->dims[d].doomed = name_aside(x, "dim", d);
        else
            PNC_TRY(move_link(x, name_aside(x, "dim", d), x->now->dims[d]->name));
    }
    return NC_NOERR;
}
