/* The dimensions of a store. */
#include "formats/zarr/dims.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"

enum { DIM_NAME_MOST = 2 * NC_MAX_NAME + 64 };

typedef struct dim_list {
    const pnc_zarr_context *c;
    void *axes; /* of _ncmpi, or NULL */
    pnc_table names;
    pnc_zarr_dim *dims;
    int64_t capacity;
    int n;
} dim_list;

/* "forecast/" of "forecast/tas", "" of "tas". */
static size_t get_group_length(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

/* GROUP/NAME in the group of the array, then in those above; `level` bytes of its path. */
static int find_in_group(const dim_list *list, const char *path, size_t level, const char *name)
{
    char full[DIM_NAME_MOST];

    snprintf(full, sizeof full, "%.*s%s", (int)level, path, name);
    return pnc_table_find(&list->names, full);
}

/* The group above; false: there is none. */
static bool leave_group(const char *path, size_t *level)
{
    if (*level == 0)
        return false;
    for (--*level; *level > 0 && path[*level - 1] != '/';)
        --*level;
    return true;
}

static bool has_dim_length(const pnc_zarr_dim *dim, int64_t length)
{
    return dim->is_unlimited ? length <= dim->length : length == dim->length;
}

/* One that an axis can have; length -1: of any length. */
static int find_dim(const dim_list *list, const char *path, const char *name, int64_t length)
{
    size_t level = get_group_length(path);

    do {
        int id = find_in_group(list, path, level, name);

        if (id >= 0 && (length < 0 || has_dim_length(&list->dims[id], length)))
            return id;
    } while (leave_group(path, &level));
    return -1;
}

static bool has_last_name(const char *path, const char *name)
{
    return strcmp(path + get_group_length(path), name) == 0;
}

/* Whether an array can have a dimension: it is in its group, or in one above. */
static bool is_visible(const char *dim, const char *array)
{
    return strncmp(dim, array, get_group_length(dim)) == 0;
}

/* The dimension that _ncmpi says, or else the nearest one of this name; length as above. */
static int find_axis(const dim_list *list, const pnc_zarr_array *array, int axis, const char *name, int64_t length)
{
    void *names = list->axes != NULL ? pnc_zarr_member_get(list->c, list->axes, array->path) : NULL;
    const char *full = NULL;
    int id = -1;

    if (pnc_zarr_value_is(list->c, names, PNC_JSON_ARRAY))
        full = pnc_zarr_text_get(list->c, list->c->json->array_get(names, (size_t)axis));
    if (full != NULL && has_last_name(full, name) && is_visible(full, array->path))
        id = pnc_table_find(&list->names, full);
    if (id >= 0 && (length < 0 || has_dim_length(&list->dims[id], length)))
        return id;
    return find_dim(list, array->path, name, length);
}

static int append_dim(dim_list *list, const char *name, int64_t length, bool is_unlimited, int *id)
{
    const char *copy;

    PNC_TRY(pnc_zarr_text_copy(list->c, name, (int64_t)strlen(name), &copy));
    if (!pnc_memory_grow(&list->dims, &list->capacity, list->n + 1, sizeof *list->dims) ||
        pnc_table_add(&list->names, copy, list->n) != NC_NOERR)
        return pnc_zarr_memory_fail(list->c);
    list->dims[list->n] = (pnc_zarr_dim){copy, length, is_unlimited};
    *id = list->n++;
    return NC_NOERR;
}

/* A name is too long with the path of the group, or with a length behind it: then the axis has no name. */
static int make_dim(dim_list *list, const char *path, const char *name, int64_t length, int *id)
{
    char full[DIM_NAME_MOST], anonymous[40];
    size_t level = get_group_length(path), n;

    snprintf(full, sizeof full, "%.*s%s", (int)level, path, name);
    while (pnc_table_find(&list->names, full) >= 0 && (n = strlen(full)) <= NC_MAX_NAME)
        snprintf(full + n, sizeof full - n, "_%" PRId64, length);
    if (strlen(full) > NC_MAX_NAME) {
        snprintf(anonymous, sizeof anonymous, "dim_%" PRId64, length);
        *id = find_in_group(list, "", 0, anonymous);
        if (*id >= 0 && has_dim_length(&list->dims[*id], length))
            return NC_NOERR;
        snprintf(full, sizeof full, "%s", anonymous);
        while (pnc_table_find(&list->names, full) >= 0 && (n = strlen(full)) <= NC_MAX_NAME)
            snprintf(full + n, sizeof full - n, "_");
    }
    return append_dim(list, full, length, length == 0, id);
}

/* Earlier arrays may have made NAME_LENGTH, of which others have that length, too. */
static int find_made_dim(const dim_list *list, const char *path, const char *name, int64_t length)
{
    char longer[NC_MAX_NAME + 40];

    snprintf(longer, sizeof longer, "%s_%" PRId64, name, length);
    return find_dim(list, path, longer, length);
}

static int resolve_axis(dim_list *list, const pnc_zarr_array *array, int axis, int *id)
{
    int64_t length = array->shape[axis];
    const char *name = array->names != NULL ? array->names[axis] : NULL;
    char anonymous[40];

    snprintf(anonymous, sizeof anonymous, "dim_%" PRId64, length);
    if (name == NULL)
        name = anonymous;
    *id = find_axis(list, array, axis, name, length);
    if (*id < 0)
        *id = find_made_dim(list, array->path, name, length);
    return *id >= 0 ? NC_NOERR : make_dim(list, array->path, name, length, id);
}

/* --- listed dimensions whose lengths other programs have changed --- */

typedef struct dim_use {
    int64_t first, longest; /* -1: no array has it */
    bool is_as_listed;
} dim_use;

static void use_axis(const dim_list *list, const pnc_zarr_array *array, int axis, dim_use *uses)
{
    int64_t length = array->shape[axis];
    int id =
        array->names != NULL && array->names[axis] != NULL ? find_axis(list, array, axis, array->names[axis], -1) : -1;

    if (id < 0)
        return;
    if (uses[id].first < 0)
        uses[id].first = length;
    if (length > uses[id].longest)
        uses[id].longest = length;
    uses[id].is_as_listed = uses[id].is_as_listed || length == list->dims[id].length;
}

static int adapt_listed(dim_list *list, const pnc_zarr_store *store, const pnc_zarr_array *arrays)
{
    dim_use *uses;

    PNC_TRY(pnc_zarr_memory_alloc(list->c, list->n, sizeof *uses, &uses));
    for (int i = 0; i < list->n; i++)
        uses[i] = (dim_use){-1, -1, false};
    for (int i = 0; i < store->narrays; i++)
        for (int axis = 0; axis < arrays[i].ndims; axis++)
            use_axis(list, &arrays[i], axis, uses);
    for (int i = 0; i < list->n; i++) {
        if (list->dims[i].is_unlimited && uses[i].longest >= 0)
            list->dims[i].length = uses[i].longest;
        else if (!list->dims[i].is_unlimited && uses[i].first > 0 && !uses[i].is_as_listed)
            list->dims[i].length = uses[i].first;
    }
    return NC_NOERR;
}

static int derive_dims(dim_list *list, const pnc_zarr_about *about, const pnc_zarr_store *store, pnc_zarr_array *arrays)
{
    int *dimids, id;

    for (int i = 0; i < about->ndims; i++)
        if (pnc_table_find(&list->names, about->dims[i].name) < 0)
            PNC_TRY(append_dim(list, about->dims[i].name, about->dims[i].length, about->dims[i].is_unlimited, &id));
    PNC_TRY(adapt_listed(list, store, arrays));
    for (int i = 0; i < store->narrays; i++) {
        PNC_TRY(pnc_zarr_memory_alloc(list->c, arrays[i].ndims, sizeof *dimids, &dimids));
        for (int axis = 0; axis < arrays[i].ndims; axis++)
            PNC_TRY(resolve_axis(list, &arrays[i], axis, &dimids[axis]));
        arrays[i].dimids = dimids;
    }
    return NC_NOERR;
}

/* Those of the root group first, as a model has them, unless it lists groups. */
static int order_dims(const dim_list *list, pnc_zarr_groups groups, pnc_zarr_store *store, pnc_zarr_array *arrays)
{
    pnc_zarr_dim *dims;
    int *ids, n = 0;

    PNC_TRY(pnc_zarr_memory_alloc(list->c, list->n, sizeof *dims, &dims));
    PNC_TRY(pnc_zarr_memory_alloc(list->c, list->n, sizeof *ids, &ids));
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < list->n; i++)
            if ((groups != PNC_ZARR_GROUPS_LISTED && strchr(list->dims[i].name, '/') != NULL) == pass) {
                ids[i] = n;
                dims[n++] = list->dims[i];
            }
    for (int i = 0; i < store->narrays; i++)
        for (int axis = 0; axis < arrays[i].ndims; axis++)
            ((int *)(uintptr_t)arrays[i].dimids)[axis] = ids[arrays[i].dimids[axis]];
    store->dims = dims;
    store->ndims = n;
    return NC_NOERR;
}

int pnc_zarr_dims_derive(const pnc_zarr_context *c, const pnc_zarr_about *about, pnc_zarr_groups groups,
                         pnc_zarr_store *store, pnc_zarr_array *arrays)
{
    dim_list list = {.c = c, .axes = about->axes};
    int err = derive_dims(&list, about, store, arrays);

    if (err == NC_NOERR)
        err = order_dims(&list, groups, store, arrays);
    pnc_memory_free(list.dims);
    pnc_table_clear(&list.names);
    return err;
}

/* --- to _ncmpi --- */

static bool has_nearest_dims(const dim_list *list, const pnc_zarr_array *array)
{
    bool has = true;

    for (int i = 0; i < array->ndims && has; i++) {
        const char *name = array->names != NULL ? array->names[i] : NULL;

        has = name == NULL || !has_last_name(list->dims[array->dimids[i]].name, name) ||
              find_dim(list, array->path, name, -1) == array->dimids[i];
    }
    return has;
}

static int add_axes(const pnc_zarr_context *c, const pnc_zarr_store *store, const pnc_zarr_array *array, void *axes)
{
    void *names = axes != NULL ? pnc_zarr_list_add(c, axes, array->path) : NULL;

    if (names == NULL)
        return NC_ENOMEM;
    for (int i = 0; i < array->ndims; i++) {
        const char *name = store->dims[array->dimids[i]].name;

        PNC_TRY(pnc_zarr_item_add(c, names, c->json->new_string(name, (int)strlen(name))));
    }
    return NC_NOERR;
}

static int add_all_axes(dim_list *list, const pnc_zarr_store *store, void *about)
{
    void *axes = NULL;
    int id;

    for (int i = 0; i < store->ndims; i++)
        PNC_TRY(append_dim(list, store->dims[i].name, store->dims[i].length, store->dims[i].is_unlimited, &id));
    for (int i = 0; i < store->narrays; i++) {
        if (get_group_length(store->arrays[i].path) == 0 || has_nearest_dims(list, &store->arrays[i]))
            continue;
        if (axes == NULL)
            axes = pnc_zarr_object_add(list->c, about, "axes");
        PNC_TRY(add_axes(list->c, store, &store->arrays[i], axes));
    }
    return NC_NOERR;
}

int pnc_zarr_axes_add(const pnc_zarr_context *c, const pnc_zarr_store *store, const pnc_zarr_about *old, void *about)
{
    dim_list list = {.c = c};
    int err;

    if (old != NULL)
        return old->axes != NULL ? pnc_zarr_member_add(c, about, "axes", c->json->get(old->axes), false) : NC_NOERR;
    err = add_all_axes(&list, store, about);
    pnc_memory_free(list.dims);
    pnc_table_clear(&list.names);
    return err;
}
