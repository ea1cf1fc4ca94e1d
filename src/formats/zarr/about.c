/* What Zarr has no place for. */
#include "formats/zarr/about.h"

#include <string.h>

#include "base/name.h"
#include "base/table.h"
#include "formats/zarr/index.h"

#define LENGTH_MOST (INT64_C(1) << 60)
#define CLASSIC "classic"

static size_t get_length(const pnc_zarr_context *c, void *list)
{
    return pnc_zarr_value_is(c, list, PNC_JSON_ARRAY) ? c->json->array_get_length(list) : 0;
}

/* A dimension, unless it is not one that a model can have. */
static int read_listed_dim(const pnc_zarr_context *c, void *entry, pnc_zarr_about *out)
{
    size_t n = get_length(c, entry);
    const char *name = n >= 2 ? pnc_zarr_text_get(c, c->json->array_get(entry, 0)) : NULL;
    pnc_zarr_dim *dim = &out->dims[out->ndims];
    void *flag = n > 2 ? c->json->array_get(entry, 2) : NULL;

    if (name == NULL || strlen(name) > NC_MAX_NAME || !pnc_name_is_text(name, strlen(name)) ||
        !pnc_zarr_key_is_safe(name) ||
        !pnc_zarr_integer_get(c, c->json->array_get(entry, 1), 0, LENGTH_MOST, &dim->length))
        return NC_NOERR;
    dim->is_unlimited = flag != NULL && pnc_zarr_value_is(c, flag, PNC_JSON_BOOLEAN) && c->json->get_boolean(flag) != 0;
    if (dim->length == 0)
        dim->is_unlimited = true;
    out->ndims++;
    return pnc_zarr_text_copy(c, name, (int64_t)strlen(name), &dim->name);
}

static bool names_classic_model(const pnc_zarr_context *c, void *model)
{
    const char *name = pnc_zarr_text_get(c, model);

    return name != NULL && strcmp(name, CLASSIC) == 0;
}

static int read_listed_names(const pnc_zarr_context *c, void *list, const char ***out, int *n)
{
    size_t most = get_length(c, list);

    PNC_TRY(pnc_zarr_memory_alloc(c, (int64_t)most, sizeof **out, out));
    for (size_t i = 0; i < most; i++) {
        const char *name = pnc_zarr_text_get(c, c->json->array_get(list, i));

        if (name != NULL)
            PNC_TRY(pnc_zarr_text_copy(c, name, (int64_t)strlen(name), &(*out)[(*n)++]));
    }
    return NC_NOERR;
}

int pnc_zarr_about_read(const pnc_zarr_context *c, void *value, pnc_zarr_about *out)
{
    void *dims = pnc_zarr_member_get(c, value, "dimensions");
    size_t ndims = get_length(c, dims);

    *out = (pnc_zarr_about){.types = pnc_zarr_member_get(c, value, "types"),
                            .attributes = pnc_zarr_member_get(c, value, "attributes"),
                            .axes = pnc_zarr_member_get(c, value, "axes"),
                            .is_classic = names_classic_model(c, pnc_zarr_member_get(c, value, "model"))};
    if (!pnc_zarr_integer_get(c, pnc_zarr_member_get(c, value, "version"), 1, 1, &(int64_t){0})) {
        *out = (pnc_zarr_about){.types = NULL};
        return NC_NOERR;
    }
    PNC_TRY(pnc_zarr_memory_alloc(c, (int64_t)ndims, sizeof *out->dims, &out->dims));
    for (size_t i = 0; i < ndims; i++)
        PNC_TRY(read_listed_dim(c, c->json->array_get(dims, i), out));
    PNC_TRY(read_listed_names(c, pnc_zarr_member_get(c, value, "variables"), &out->vars, &out->nvars));
    return read_listed_names(c, pnc_zarr_member_get(c, value, "groups"), &out->groups, &out->ngroups);
}

pnc_zarr_att_type pnc_zarr_about_get_type(const pnc_zarr_context *c, const pnc_zarr_about *about, const char *path,
                                          const char *name)
{
    const char *word = pnc_zarr_text_get(c, pnc_zarr_member_get(c, pnc_zarr_member_get(c, about->types, path), name));
    pnc_zarr_att_type type;

    if (word != NULL && pnc_zarr_att_type_parse(word, &type))
        return type;
    return (pnc_zarr_att_type){.type = 0};
}

void *pnc_zarr_about_get_attributes(const pnc_zarr_context *c, const pnc_zarr_about *about, const char *path)
{
    void *found = pnc_zarr_member_get(c, about->attributes, path);

    return pnc_zarr_value_is(c, found, PNC_JSON_OBJECT) ? found : NULL;
}

static int add_listed_dim(const pnc_zarr_context *c, void *list, const pnc_zarr_dim *dim)
{
    void *entry = c->json->new_array();

    PNC_TRY(pnc_zarr_item_add(c, list, entry));
    PNC_TRY(pnc_zarr_item_add(c, entry, c->json->new_string(dim->name, (int)strlen(dim->name))));
    PNC_TRY(pnc_zarr_item_add(c, entry, c->json->new_int64(dim->length)));
    return dim->is_unlimited ? pnc_zarr_item_add(c, entry, c->json->new_boolean(1)) : NC_NOERR;
}

static int add_listed_name(const pnc_zarr_context *c, void *list, const char *name)
{
    return pnc_zarr_item_add(c, list, c->json->new_string(name, (int)strlen(name)));
}

static bool is_in_group(const char *name)
{
    return strchr(name, '/') != NULL;
}

typedef struct list_names {
    int nold, nnow;
    const char **old, **now;
} list_names;

/* Entries of a list: those that the old one has, in its order, with what groups have that the store does not show; then
 * new ones. *order: from 0 on in `now`, or -1, -2 .. in `old`; *n of them. */
static int merge_order(const pnc_zarr_context *c, const list_names *names, bool hides_groups, int **order, int *n)
{
    pnc_table places = {.n = 0};
    bool *is_taken;
    int err = NC_NOERR;

    PNC_TRY(pnc_zarr_memory_alloc(c, names->nold + names->nnow, sizeof **order, order));
    PNC_TRY(pnc_zarr_memory_alloc(c, names->nnow, sizeof *is_taken, &is_taken));
    for (int i = 0; i < names->nnow && err != NC_ENOMEM; i++)
        err = pnc_table_add(&places, names->now[i], i);
    if (err == NC_ENOMEM) {
        pnc_table_clear(&places);
        return pnc_zarr_memory_fail(c);
    }
    *n = 0;
    for (int i = 0; i < names->nold; i++) {
        int at = pnc_table_find(&places, names->old[i]);

        if (at < 0 && hides_groups && is_in_group(names->old[i]))
            (*order)[(*n)++] = -1 - i;
        if (at < 0 || is_taken[at])
            continue;
        is_taken[at] = true;
        (*order)[(*n)++] = at;
    }
    for (int i = 0; i < names->nnow; i++)
        if (!is_taken[i])
            (*order)[(*n)++] = i;
    pnc_table_clear(&places);
    return NC_NOERR;
}

static int list_dims(const pnc_zarr_context *c, const pnc_zarr_store *store, const pnc_zarr_previous *previous,
                     void *list)
{
    const pnc_zarr_about *old = previous->about;
    list_names names = {.nold = old->ndims, .nnow = store->ndims};
    int *order, n;

    PNC_TRY(pnc_zarr_memory_alloc(c, names.nold, sizeof *names.old, &names.old));
    PNC_TRY(pnc_zarr_memory_alloc(c, names.nnow, sizeof *names.now, &names.now));
    for (int i = 0; i < names.nold; i++)
        names.old[i] = old->dims[i].name;
    for (int i = 0; i < names.nnow; i++)
        names.now[i] = store->dims[i].name;
    PNC_TRY(merge_order(c, &names, previous->hides_groups, &order, &n));
    for (int i = 0; i < n; i++)
        PNC_TRY(add_listed_dim(c, list, order[i] >= 0 ? &store->dims[order[i]] : &old->dims[-1 - order[i]]));
    return NC_NOERR;
}

static int list_vars(const pnc_zarr_context *c, const pnc_zarr_store *store, const pnc_zarr_previous *previous,
                     void *list)
{
    list_names names = {.nold = previous->about->nvars, .old = previous->about->vars, .nnow = store->narrays};
    int *order, n;

    PNC_TRY(pnc_zarr_memory_alloc(c, names.nnow, sizeof *names.now, &names.now));
    for (int i = 0; i < names.nnow; i++)
        names.now[i] = store->arrays[i].path;
    PNC_TRY(merge_order(c, &names, previous->hides_groups, &order, &n));
    for (int i = 0; i < n; i++)
        PNC_TRY(add_listed_name(c, list, order[i] >= 0 ? names.now[order[i]] : names.old[-1 - order[i]]));
    return NC_NOERR;
}

static int list_groups(const pnc_zarr_context *c, const pnc_zarr_store *store, const pnc_zarr_previous *previous,
                       void *about)
{
    const pnc_zarr_about *old = previous->about;
    bool hides = previous->hides_groups && old->ngroups > 0;
    void *list = NULL;

    if (store->ngroups <= 1 && !hides)
        return NC_NOERR;
    list = pnc_zarr_list_add(c, about, "groups");
    if (list == NULL)
        return NC_ENOMEM;
    for (int i = 1; i < store->ngroups; i++)
        PNC_TRY(add_listed_name(c, list, store->groups[i].path));
    for (int i = 0; hides && i < old->ngroups; i++)
        PNC_TRY(add_listed_name(c, list, old->groups[i]));
    return NC_NOERR;
}

static int fill_about(const pnc_zarr_context *c, void *about, const pnc_zarr_store *store,
                      const pnc_zarr_previous *previous)
{
    void *dims, *vars;

    PNC_TRY(pnc_zarr_integer_add(c, about, "version", 1));
    if (store->is_classic)
        PNC_TRY(pnc_zarr_text_add(c, about, "model", CLASSIC));
    dims = pnc_zarr_list_add(c, about, "dimensions");
    vars = pnc_zarr_list_add(c, about, "variables");
    if (dims == NULL || vars == NULL)
        return NC_ENOMEM;
    PNC_TRY(list_dims(c, store, previous, dims));
    PNC_TRY(list_vars(c, store, previous, vars));
    return list_groups(c, store, previous, about);
}

void *pnc_zarr_about_make(const pnc_zarr_context *c, const pnc_zarr_store *store, const pnc_zarr_previous *previous,
                          void *types, void *attributes)
{
    void *about = c->json->new_object();

    if (fill_about(c, about, store, previous) == NC_NOERR &&
        pnc_zarr_member_add(c, about, "types", c->json->get(types), false) == NC_NOERR &&
        pnc_zarr_member_add(c, about, "attributes", c->json->get(attributes), false) == NC_NOERR)
        return about;
    c->json->put(about);
    return NULL;
}
