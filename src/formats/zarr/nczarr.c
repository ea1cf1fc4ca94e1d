/* What NCZarr of netCDF-C says beside Zarr. */
#include "formats/zarr/nczarr.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/name.h"
#include "formats/zarr/array.h"
#include "formats/zarr/index.h"

#define LENGTH_MOST (INT64_C(1) << 60)

static void *get_either(const pnc_zarr_context *c, void *object, const char *old_name, const char *name)
{
    void *value = pnc_zarr_member_get(c, object, old_name);

    return value != NULL ? value : pnc_zarr_member_get(c, object, name);
}

/* An object of the document, or of the attributes. */
static void *get_own(const pnc_zarr_context *c, const pnc_zarr_node *node, const char *old_name, const char *name)
{
    void *value = get_either(c, node->document, old_name, name);

    if (value == NULL)
        value = get_either(c, node->attributes, old_name, name);
    return pnc_zarr_value_is(c, value, PNC_JSON_OBJECT) ? value : NULL;
}

void *pnc_zarr_nczarr_array_get(const pnc_zarr_context *c, const pnc_zarr_node *node)
{
    return get_own(c, node, "_NCZARR_ARRAY", "_nczarr_array");
}

/* --- dimensions --- */

/* References are paths, such as "/forecast/time". */
int pnc_zarr_nczarr_names_read(const pnc_zarr_context *c, const pnc_zarr_node *node, pnc_zarr_array *array)
{
    void *list = get_either(c, pnc_zarr_nczarr_array_get(c, node), "dimrefs", "dimension_references"), *names;
    int err = NC_NOERR;

    if (array->names != NULL || !pnc_zarr_value_is(c, list, PNC_JSON_ARRAY))
        return NC_NOERR;
    names = c->json->new_array();
    if (names == NULL)
        return pnc_zarr_memory_fail(c);
    for (size_t i = 0; i < c->json->array_get_length(list) && err == NC_NOERR; i++) {
        const char *path = pnc_zarr_text_get(c, c->json->array_get(list, i));
        const char *slash = path != NULL ? strrchr(path, '/') : NULL, *name = slash != NULL ? slash + 1 : path;

        err = pnc_zarr_item_add(c, names, c->json->new_string(name != NULL ? name : "", name ? (int)strlen(name) : 0));
    }
    if (err == NC_NOERR)
        err = pnc_zarr_names_read(c, names, array);
    c->json->put(names);
    return err;
}

static void *get_dims_of_group(const pnc_zarr_context *c, const pnc_zarr_node *node)
{
    void *dims = get_either(c, get_own(c, node, "_NCZARR_GROUP", "_nczarr_group"), "dims", "dimensions");

    return pnc_zarr_value_is(c, dims, PNC_JSON_OBJECT) ? dims : NULL;
}

/* A length, or {"size": length, "unlimited": 1}. One that a model cannot have is left out. */
static int add_dim_of_group(const pnc_zarr_context *c, const char *path, const char *name, void *value,
                            pnc_zarr_about *about)
{
    char full[2 * NC_MAX_NAME];
    pnc_zarr_dim *dim = &about->dims[about->ndims];
    bool has_members = pnc_zarr_value_is(c, value, PNC_JSON_OBJECT);
    void *size = has_members ? pnc_zarr_member_get(c, value, "size") : value;

    snprintf(full, sizeof full, "%s%s%.*s", path, path[0] != '\0' ? "/" : "", NC_MAX_NAME, name);
    if (strlen(full) > NC_MAX_NAME || strchr(name, '/') != NULL || !pnc_name_is_text(full, strlen(full)) ||
        !pnc_zarr_key_is_safe(full) || !pnc_zarr_integer_get(c, size, 0, LENGTH_MOST, &dim->length))
        return NC_NOERR;
    dim->is_unlimited =
        dim->length == 0 ||
        (has_members && pnc_zarr_integer_get(c, pnc_zarr_member_get(c, value, "unlimited"), 1, 1, &(int64_t){0}));
    about->ndims++;
    return pnc_zarr_text_copy(c, full, (int64_t)strlen(full), &dim->name);
}

static void *get_arrays_of_group(const pnc_zarr_context *c, const pnc_zarr_node *node)
{
    void *arrays = get_either(c, get_own(c, node, "_NCZARR_GROUP", "_nczarr_group"), "vars", "arrays");

    return pnc_zarr_value_is(c, arrays, PNC_JSON_ARRAY) ? arrays : NULL;
}

static int add_array_of_group(const pnc_zarr_context *c, const char *path, const char *name, pnc_zarr_about *about)
{
    char full[2 * NC_MAX_NAME];

    if (name == NULL)
        return NC_NOERR;
    snprintf(full, sizeof full, "%s%s%.*s", path, path[0] != '\0' ? "/" : "", NC_MAX_NAME, name);
    return pnc_zarr_text_copy(c, full, (int64_t)strlen(full), &about->vars[about->nvars++]);
}

static int read_group_of_nczarr(const pnc_zarr_context *c, const pnc_zarr_node *node, pnc_zarr_about *about)
{
    void *dims = get_dims_of_group(c, node), *arrays = get_arrays_of_group(c, node);

    for (size_t i = 0; arrays != NULL && i < c->json->array_get_length(arrays); i++)
        PNC_TRY(add_array_of_group(c, node->path, pnc_zarr_text_get(c, c->json->array_get(arrays, i)), about));
    if (dims == NULL)
        return NC_NOERR;
    PNC_ZARR_EACH_MEMBER(c, dims, at)
    {
        PNC_TRY(add_dim_of_group(c, node->path, c->json->peek_name(&at), c->json->peek_value(&at), about));
    }
    return NC_NOERR;
}

int pnc_zarr_nczarr_groups_read(const pnc_zarr_context *c, const pnc_zarr_nodes *nodes, pnc_zarr_about *about)
{
    int64_t ndims = 0, narrays = 0;

    if (about->ndims > 0 || about->nvars > 0 || nodes->version != 2)
        return NC_NOERR;
    for (int i = 0; i < nodes->n; i++) {
        void *dims = get_dims_of_group(c, &nodes->at[i]), *arrays = get_arrays_of_group(c, &nodes->at[i]);

        ndims += dims != NULL ? c->json->object_get_length(dims) : 0;
        narrays += arrays != NULL ? (int64_t)c->json->array_get_length(arrays) : 0;
    }
    PNC_TRY(pnc_zarr_memory_alloc(c, ndims, sizeof *about->dims, &about->dims));
    PNC_TRY(pnc_zarr_memory_alloc(c, narrays, sizeof *about->vars, &about->vars));
    for (int i = 0; i < nodes->n; i++)
        PNC_TRY(read_group_of_nczarr(c, &nodes->at[i], about));
    return NC_NOERR;
}

/* The name in the group of a dimension of the store; NULL: it is of another group. */
static const char *find_name_in_group(const char *group, const char *dim)
{
    size_t n = strlen(group);
    const char *name = n == 0 ? dim : dim + n + 1;

    if (n > 0 && (strncmp(dim, group, n) != 0 || dim[n] != '/'))
        return NULL;
    return strchr(name, '/') == NULL ? name : NULL;
}

int pnc_zarr_nczarr_dims_update(const pnc_zarr_context *c, const pnc_zarr_node *node, const pnc_zarr_store *store)
{
    void *dims = node != NULL ? get_dims_of_group(c, node) : NULL;

    for (int i = 0; dims != NULL && i < store->ndims; i++) {
        const pnc_zarr_dim *dim = &store->dims[i];
        const char *name = dim->is_unlimited ? find_name_in_group(node->path, dim->name) : NULL;
        void *value = name != NULL ? pnc_zarr_member_get(c, dims, name) : NULL;

        if (pnc_zarr_value_is(c, value, PNC_JSON_OBJECT))
            PNC_TRY(pnc_zarr_integer_add(c, value, "size", dim->length));
    }
    return NC_NOERR;
}

/* --- attributes --- */

pnc_zarr_att_type pnc_zarr_nczarr_type_find(const pnc_zarr_context *c, const pnc_zarr_about *about,
                                            const pnc_zarr_node *node, const char *name)
{
    pnc_zarr_att_type type = pnc_zarr_about_get_type(c, about, node->path, name);
    void *types;
    const char *word;

    if (type.type != 0)
        return type;
    types = pnc_zarr_member_get(c, get_own(c, node, "_NCZARR_ATTR", "_nczarr_attr"), "types");
    word = pnc_zarr_text_get(c, pnc_zarr_member_get(c, types, name));
    if (word != NULL && word[0] != '\0')
        type.type = pnc_zarr_elements_find_type(word + 1);
    return type;
}
