/* What Zarr has no place for. */
#include "formats/zarr/about.h"

#include <string.h>

#include "base/name.h"
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

/* Lists of what groups have, which the store does not show. */
static int keep_listed(const pnc_zarr_context *c, const pnc_zarr_about *old, void *dims, void *vars, void *groups)
{
    for (int i = 0; i < old->ndims; i++)
        if (is_in_group(old->dims[i].name))
            PNC_TRY(add_listed_dim(c, dims, &old->dims[i]));
    for (int i = 0; i < old->nvars; i++)
        if (is_in_group(old->vars[i]))
            PNC_TRY(add_listed_name(c, vars, old->vars[i]));
    for (int i = 0; i < old->ngroups; i++)
        PNC_TRY(add_listed_name(c, groups, old->groups[i]));
    return NC_NOERR;
}

static int fill_about(const pnc_zarr_context *c, void *about, const pnc_zarr_store *store, const pnc_zarr_about *old)
{
    void *dims, *vars, *groups = NULL;

    PNC_TRY(pnc_zarr_integer_add(c, about, "version", 1));
    if (store->is_classic)
        PNC_TRY(pnc_zarr_text_add(c, about, "model", CLASSIC));
    dims = pnc_zarr_list_add(c, about, "dimensions");
    vars = pnc_zarr_list_add(c, about, "variables");
    if (store->ngroups > 1 || (old != NULL && old->ngroups > 0))
        groups = pnc_zarr_list_add(c, about, "groups");
    if (dims == NULL || vars == NULL)
        return NC_ENOMEM;
    for (int i = 0; i < store->ndims; i++)
        PNC_TRY(add_listed_dim(c, dims, &store->dims[i]));
    for (int i = 0; i < store->narrays; i++)
        PNC_TRY(add_listed_name(c, vars, store->arrays[i].path));
    for (int i = 1; i < store->ngroups; i++)
        PNC_TRY(add_listed_name(c, groups, store->groups[i].path));
    return old != NULL ? keep_listed(c, old, dims, vars, groups) : NC_NOERR;
}

void *pnc_zarr_about_make(const pnc_zarr_context *c, const pnc_zarr_store *store, const pnc_zarr_about *old,
                          void *types, void *attributes)
{
    void *about = c->json->new_object();

    if (fill_about(c, about, store, old) == NC_NOERR &&
        pnc_zarr_member_add(c, about, "types", c->json->get(types), false) == NC_NOERR &&
        pnc_zarr_member_add(c, about, "attributes", c->json->get(attributes), false) == NC_NOERR)
        return about;
    c->json->put(about);
    return NULL;
}
