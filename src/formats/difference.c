/* How the definitions of a rank differ from those of rank 0. */
#include "formats/difference.h"

#include <stdio.h>
#include <string.h>

#define NAME_BYTES 60 /* of a name in the text */

static bool dims_differ(const pnc_dim *a, const pnc_dim *b)
{
    return a->len != b->len || strcmp(a->name, b->name) != 0;
}

static bool vars_differ(const pnc_var *a, const pnc_var *b)
{
    return a->type != b->type || a->ndims != b->ndims || strcmp(a->name, b->name) != 0 ||
           (a->ndims > 0 && memcmp(a->dimids, b->dimids, (size_t)a->ndims * sizeof *a->dimids) != 0);
}

/* Variables of one type, number of dimensions and name. */
static void describe_shapes(const pnc_var *own, const pnc_var *root, char *text, size_t size)
{
    int i = 0;

    while (own->dimids[i] == root->dimids[i])
        i++;
    snprintf(text, size, "dimension %d of variable \"%.*s\" has the id %d here, and %d on rank 0", i, NAME_BYTES,
             own->name, own->dimids[i], root->dimids[i]);
}

static void describe_vars(const pnc_var *own, const pnc_var *root, char *text, size_t size)
{
    if (own->type == root->type && own->ndims == root->ndims && strcmp(own->name, root->name) == 0) {
        describe_shapes(own, root, text, size);
        return;
    }
    snprintf(text, size, "%s \"%.*s\" has %d dimensions here, %s \"%.*s\" has %d on rank 0",
             pnc_type_get_name(own->type), NAME_BYTES, own->name, own->ndims, pnc_type_get_name(root->type), NAME_BYTES,
             root->name, root->ndims);
}

void pnc_formats_difference_explain(const pnc_model *own, const pnc_model *root, char *text, size_t size)
{
    text[0] = '\0';
    for (int i = 0; i < own->ndims && i < root->ndims; i++)
        if (dims_differ(own->dims[i], root->dims[i])) {
            snprintf(text, size, "dimension \"%.*s\" has length %lld here, \"%.*s\" has length %lld on rank 0",
                     NAME_BYTES, own->dims[i]->name, (long long)own->dims[i]->len, NAME_BYTES, root->dims[i]->name,
                     (long long)root->dims[i]->len);
            return;
        }
    for (int i = 0; i < own->nvars && i < root->nvars; i++)
        if (vars_differ(own->vars[i], root->vars[i])) {
            describe_vars(own->vars[i], root->vars[i], text, size);
            return;
        }
    for (int i = 0; i < own->groups.n && i < root->groups.n; i++)
        if (strcmp(own->groups.paths[i], root->groups.paths[i]) != 0) {
            snprintf(text, size, "group \"%.*s\" here is \"%.*s\" on rank 0", NAME_BYTES, own->groups.paths[i],
                     NAME_BYTES, root->groups.paths[i]);
            return;
        }
    if (own->groups.n != root->groups.n)
        snprintf(text, size, "%d groups here, %d on rank 0", own->groups.n, root->groups.n);
    if (own->ndims != root->ndims || own->nvars != root->nvars)
        snprintf(text, size, "%d dimensions and %d variables here, %d and %d on rank 0", own->ndims, own->nvars,
                 root->ndims, root->nvars);
}
