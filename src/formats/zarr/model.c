/* Between what documents say and a model of netCDF. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/types.h"
#include "format/entries.h"
#include "format/groups.h"
#include "format/strings.h"
#include "formats/zarr/document.h"

static const char *const hidden_names[] = {PNC_ZARR_ATTRIBUTE, NULL};

const pnc_rules pnc_zarr_rules = {.name = "Zarr",
                                  .last_type = NC_UINT64,
                                  .type_error = NC_EBADTYPE,
                                  .most_dim_length = INT64_C(1) << 60,
                                  .most_att_length = INT32_MAX,
                                  .most_var_dims = PNC_ZARR_DIMS_MOST,
                                  .has_paths = true,
                                  .is_enhanced = true,
                                  .hidden_atts = hidden_names};

/* --- from documents --- */

static int lack_model_memory(pnc_error *error)
{
    return pnc_error_set(error, NC_ENOMEM, "no memory for the definitions of the store");
}

static bool has_slash(const char *path)
{
    return strchr(path, '/') != NULL;
}

/* Entries of the same name keep their ids. */
static int accept_twin(int code)
{
    return code == NC_ENAMEINUSE ? NC_NOERR : code;
}

static int make_model_dims(const pnc_zarr_store *store, bool hides_groups, pnc_model *model)
{
    for (int i = 0; i < store->ndims; i++) {
        const pnc_zarr_dim *dim = &store->dims[i];

        if (hides_groups && has_slash(dim->name)) /* and the next ones */
            break;
        PNC_TRY(accept_twin(pnc_format_dim_append(model, dim->name, (int64_t)strlen(dim->name),
                                                  dim->is_unlimited ? NC_UNLIMITED : dim->length, dim->is_unlimited)));
        if (dim->is_unlimited)
            (void)pnc_format_dim_grow(model, i, dim->length);
        model->groups.ndims += has_slash(dim->name);
    }
    return NC_NOERR;
}

/* path: of the group whose attributes are global ones with its path. */
static int make_atts(pnc_model *model, pnc_atts *atts, const char *path, int natts, const pnc_att *from)
{
    char name[2 * NC_MAX_NAME + 2];

    for (int i = 0; i < natts; i++) {
        const pnc_att *att = &from[i];
        pnc_att *copy;

        snprintf(name, sizeof name, "%s%s%s", path, path[0] != '\0' ? "/" : "", att->name);
        copy = pnc_format_att_create(&model->region, name, (int64_t)strlen(name), att->type, att->len, att->value);
        PNC_TRY(accept_twin(pnc_format_atts_append(&model->region, atts, copy)));
        if (att->strings.lengths != NULL)
            PNC_TRY(pnc_format_strings_copy(&model->region, &att->strings, &copy->strings));
    }
    return NC_NOERR;
}

static int make_groups(const pnc_zarr_store *store, pnc_zarr_groups groups, pnc_model *model)
{
    bool exist = store->ngroups > 1 && groups != PNC_ZARR_GROUPS_HIDDEN;

    model->groups.exist = exist;
    model->groups.are_listed = exist && groups == PNC_ZARR_GROUPS_LISTED;
    PNC_TRY(make_atts(model, &model->gatts, "", store->groups[0].natts, store->groups[0].atts));
    for (int i = 1; exist && i < store->ngroups; i++) {
        const pnc_zarr_group *group = &store->groups[i];

        PNC_TRY(pnc_format_group_append(model, group->path, (int64_t)strlen(group->path)));
        if (model->groups.are_listed)
            PNC_TRY(make_atts(model, &model->gatts, group->path, group->natts, group->atts));
    }
    return NC_NOERR;
}

/* What programs see of it. */
static int make_storage(const pnc_zarr_array *array, pnc_model *model, pnc_var *var, pnc_error *error)
{
    const int64_t *chunks = array->inner != NULL ? array->inner : array->chunks;
    pnc_filter_chain filters;
    int64_t *copy;

    PNC_TRY(pnc_format_storage_add(model, var, error));
    var->storage->layout = array->refusal != NULL ? NC_UNKNOWN_STORAGE : NC_CONTIGUOUS;
    if (var->type != NC_CHAR)
        var->storage->endian = array->is_big_endian ? NC_ENDIAN_BIG : NC_ENDIAN_LITTLE;
    if (array->refusal != NULL || var->ndims == 0)
        return NC_NOERR;
    PNC_TRY(pnc_zarr_filters_find(&array->filters, &model->region, &filters, error));
    var->storage->nfilters = filters.nfilters;
    if (filters.nfilters > 0)
        memcpy(var->storage->filters, filters.filters, (size_t)filters.nfilters * sizeof *filters.filters);
    copy = pnc_region_alloc(&model->region, var->ndims * (int64_t)sizeof *copy);
    if (copy == NULL)
        return NC_ENOMEM;
    memcpy(copy, chunks, (size_t)var->ndims * sizeof *copy);
    var->storage->layout = NC_CHUNKED;
    var->storage->chunks = copy;
    return array->inner == NULL ? NC_NOERR : pnc_format_storage_set_shards(model, var, array->chunks, error);
}

static int make_var(const pnc_zarr_array *array, pnc_model *model, pnc_error *error)
{
    pnc_var *var = pnc_format_var_create(model, array->path, (int64_t)strlen(array->path), array->ndims);

    if (var == NULL)
        return NC_ENOMEM;
    var->type = array->type;
    var->little = !array->is_big_endian;
    for (int i = 0; i < array->ndims; i++)
        var->dimids[i] = array->dimids[i];
    if (pnc_format_var_derive(model, var) < 0)
        return pnc_error_set(error, NC_ENCZARR, "variable \"%s\" has more values than 64 bits count", array->path);
    PNC_TRY(accept_twin(pnc_format_var_append(model, var)));
    PNC_TRY(make_atts(model, &var->atts, "", array->natts, array->atts));
    model->groups.nvars += has_slash(array->path);
    return make_storage(array, model, var, error);
}

static int fill_model(const pnc_zarr_store *store, pnc_zarr_groups groups, pnc_model *model, pnc_error *error)
{
    bool hides_groups = groups == PNC_ZARR_GROUPS_HIDDEN;

    PNC_TRY(pnc_format_dims_reserve(model, store->ndims));
    PNC_TRY(pnc_format_vars_reserve(model, store->narrays));
    PNC_TRY(make_model_dims(store, hides_groups, model));
    PNC_TRY(make_groups(store, groups, model));
    for (int i = 0; i < store->narrays; i++)
        if (!hides_groups || !has_slash(store->arrays[i].path))
            PNC_TRY(make_var(&store->arrays[i], model, error));
    if (model->groups.are_listed)
        model->groups.ndims = model->groups.nvars = 0;
    return NC_NOERR;
}

int pnc_zarr_model_make(const pnc_zarr_store *store, int version, pnc_zarr_groups groups, pnc_model *model,
                        pnc_error *error)
{
    int err;

    pnc_format_model_free(model);
    pnc_format_model_init_rules(model, version, &pnc_zarr_rules);
    model->little = PNC_HOST_IS_LITTLE;
    err = fill_model(store, groups, model, error);
    if (err == NC_ENOMEM)
        err = lack_model_memory(error);
    if (err != NC_NOERR)
        pnc_format_model_free(model);
    return err;
}

/* --- to documents --- */

int pnc_zarr_name_check(const char *name, pnc_error *error)
{
    for (const char *part = name;; part = strchr(part, '/') + 1) {
        size_t n = strcspn(part, "/");

        if (strspn(part, ".") == n || strncmp(part, "__", 2) == 0 || n >= NC_MAX_NAME ||
            (n == strlen("zarr.json") && strncmp(part, "zarr.json", n) == 0))
            return pnc_error_set(
                error, NC_EBADNAME,
                "\"%s\" cannot be the name of a variable or group of a Zarr store, where it is that of a folder: "
                "names that begin with __, have only dots, or have %d bytes or more are not possible",
                name, NC_MAX_NAME);
        if (part[n] == '\0')
            return NC_NOERR;
    }
}

typedef struct store_maker {
    const pnc_model *model;
    pnc_region *region;
    pnc_error *error;
} store_maker;

static int make_items(const store_maker *m, int64_t n, size_t size, void *out)
{
    void *items = pnc_region_alloc(m->region, (n + 1) * (int64_t)size);

    if (items == NULL)
        return lack_model_memory(m->error);
    memset(items, 0, (size_t)(n + 1) * size);
    memcpy(out, &items, sizeof items);
    return NC_NOERR;
}

/* The number of the group whose path an attribute has before its name; 0: none, it is one of the root. */
static int find_group_of_att(const pnc_table *paths, const char *name)
{
    const char *slash = strrchr(name, '/');
    char path[NC_MAX_NAME + 1];
    int i;

    if (slash == NULL || slash - name > NC_MAX_NAME)
        return 0;
    snprintf(path, sizeof path, "%.*s", (int)(slash - name), name);
    i = pnc_table_find(paths, path);
    return i > 0 ? i : 0;
}

/* Attributes of all groups, sorted by these; without paths. */
static int share_out_atts(const store_maker *m, const pnc_table *paths, int ngroups, pnc_zarr_group *groups)
{
    const pnc_atts *from = &m->model->gatts;
    pnc_att *atts = NULL;
    int *of = NULL, at = 0;

    PNC_TRY(make_items(m, from->n, sizeof *atts, &atts));
    PNC_TRY(make_items(m, from->n, sizeof *of, &of));
    for (int i = 0; i < from->n; i++) {
        of[i] = find_group_of_att(paths, from->at[i]->name);
        groups[of[i]].natts++;
    }
    for (int g = 0; g < ngroups; g++) {
        groups[g].atts = &atts[at];
        at += groups[g].natts;
        groups[g].natts = 0;
    }
    for (int i = 0; i < from->n; i++) {
        pnc_zarr_group *group = &groups[of[i]];
        pnc_att *att = &atts[group->atts - atts + group->natts++];
        size_t n = strlen(group->path);

        *att = *from->at[i];
        att->name += n > 0 ? n + 1 : 0;
    }
    return NC_NOERR;
}

static int fill_groups(const store_maker *m, pnc_table *paths, pnc_zarr_group *groups)
{
    const pnc_groups *from = &m->model->groups;

    for (int i = 0; i <= from->n; i++) {
        groups[i].path = i > 0 ? from->paths[i - 1] : "";
        if (pnc_table_add(paths, groups[i].path, i) == NC_ENOMEM)
            return lack_model_memory(m->error);
    }
    PNC_TRY(share_out_atts(m, paths, from->n + 1, groups));
    for (int i = 1; i <= from->n && from->exist && !from->are_listed; i++)
        groups[i].natts = -1;
    return NC_NOERR;
}

static int take_groups(const store_maker *m, pnc_zarr_store *out)
{
    pnc_table paths = {.n = 0};
    pnc_zarr_group *groups = NULL;
    int err;

    PNC_TRY(make_items(m, m->model->groups.n + 1, sizeof *groups, &groups));
    err = fill_groups(m, &paths, groups);
    pnc_table_clear(&paths);
    out->groups = groups;
    out->ngroups = m->model->groups.n + 1;
    return err;
}

static int take_model_dims(const store_maker *m, pnc_zarr_store *out)
{
    pnc_zarr_dim *dims = NULL;

    PNC_TRY(make_items(m, m->model->ndims, sizeof *dims, &dims));
    for (int i = 0; i < m->model->ndims; i++)
        dims[i] = (pnc_zarr_dim){m->model->dims[i]->name, pnc_format_dim_get_length(m->model, i),
                                 m->model->dims[i]->unlimited};
    out->dims = dims;
    out->ndims = m->model->ndims;
    return NC_NOERR;
}

/* In host order; that of the variable is the order of its values. */
static void take_fill_value(const store_maker *m, const pnc_var *var, unsigned char *out)
{
    size_t n = pnc_type_get_size(var->type);
    unsigned char stored[8];

    pnc_format_var_get_fill_value(m->model, var, stored);
    for (size_t i = 0; i < n; i++)
        out[i] = stored[var->little == PNC_HOST_IS_LITTLE ? i : n - 1 - i];
}

static int make_new_array(const store_maker *m, const pnc_var *var, const pnc_zarr_layout *layout, pnc_zarr_array *out)
{
    PNC_TRY(pnc_zarr_name_check(var->name, m->error));
    *out = (pnc_zarr_array){.version = 3,
                            .type = var->type,
                            .content = var->type == NC_CHAR ? PNC_ZARR_CHARACTERS : PNC_ZARR_NUMBERS,
                            .is_big_endian = !var->little && pnc_type_get_size(var->type) > 1,
                            .ndims = var->ndims,
                            .chunks = layout->chunks,
                            .inner = layout->inner,
                            .index = layout->index,
                            .filters = layout->filters,
                            .has_prefix = true,
                            .separator = '.', /* no folder for each index */
                            .has_fill = true};
    take_fill_value(m, var, out->fill);
    return NC_NOERR;
}

/* Names without the path of a group: those of groups above are found by readers, too. */
static int take_axes(const store_maker *m, const pnc_var *var, pnc_zarr_array *out)
{
    const char **names = NULL;
    int64_t *shape = NULL;
    int *dimids = NULL;

    PNC_TRY(make_items(m, var->ndims, sizeof *names, &names));
    PNC_TRY(make_items(m, var->ndims, sizeof *shape, &shape));
    PNC_TRY(make_items(m, var->ndims, sizeof *dimids, &dimids));
    for (int i = 0; i < var->ndims; i++) {
        const char *name = m->model->dims[var->dimids[i]]->name;

        names[i] = name + pnc_format_group_get_length(m->model, name);
        names[i] += names[i] > name;
        shape[i] = pnc_format_dim_get_length(m->model, var->dimids[i]);
        dimids[i] = var->dimids[i];
    }
    out->names = names;
    out->shape = shape;
    out->dimids = dimids;
    return NC_NOERR;
}

static int make_array(const store_maker *m, const pnc_var *var, const pnc_zarr_layout *layout, pnc_zarr_array *out)
{
    pnc_att *atts = NULL;

    if (layout->existing != NULL) {
        *out = *layout->existing;
        out->old_path = layout->existing->path;
        out->is_renamed = layout->is_renamed;
    } else {
        PNC_TRY(make_new_array(m, var, layout, out));
    }
    PNC_TRY(take_axes(m, var, out));
    PNC_TRY(make_items(m, var->atts.n, sizeof *atts, &atts));
    for (int i = 0; i < var->atts.n; i++)
        atts[i] = *var->atts.at[i];
    out->path = var->name;
    out->natts = var->atts.n;
    out->atts = atts;
    return NC_NOERR;
}

int pnc_zarr_store_make(const pnc_model *model, const pnc_zarr_layout *layouts, pnc_region *region, pnc_zarr_store *out,
                        pnc_error *error)
{
    const store_maker m = {model, region, error};
    pnc_zarr_store store = {.version = 3,
                            .is_consolidated = true,
                            .is_classic = model->format == NC_FORMAT_NETCDF4_CLASSIC,
                            .narrays = model->nvars};
    pnc_zarr_array *arrays = NULL;

    assert(model->little == PNC_HOST_IS_LITTLE);
    PNC_TRY(take_groups(&m, &store));
    PNC_TRY(take_model_dims(&m, &store));
    PNC_TRY(make_items(&m, model->nvars, sizeof *arrays, &arrays));
    for (int i = 0; i < model->nvars; i++) {
        PNC_TRY(make_array(&m, model->vars[i], &layouts[i], &arrays[i]));
        if (arrays[i].version == 2)
            store.version = 2;
    }
    store.arrays = arrays;
    *out = store;
    return NC_NOERR;
}
