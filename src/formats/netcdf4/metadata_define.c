/* The definitions of an HDF5 file become those of a model: datasets of dimensions and variables, attributes.
 *
 * All scales have the ids of their dimensions, so that datasets may be created in any order but that of variables. */
#include "formats/netcdf4/metadata_define.h"

#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "base/path.h"
#include "formats/netcdf4/plugins.h"

/* --- what is there, and what will be --- */

static int survey_scale(pnc_definition *x, hid_t id, int d)
{
    pnc_netcdf4_metadata *m = x->m;
    pnc_define_dim *dim = &x->dims[d];
    const char *name = x->before->dims[d]->name;
    int64_t own;

    if (m->h->i_get_type(id) != H5I_DATASET || !pnc_netcdf4_scale_is(m, id))
        return NC_NOERR;
    if (m->h->r_create(&dim->old, m->root, name, H5R_OBJECT, -1) < 0)
        return pnc_netcdf4_metadata_fail(m, "refer to", name);
    if (pnc_netcdf4_atts_get_integers(m, id, "_Netcdf4Dimid", &own, 1) == 1 && own >= 0 && own <= NC_MAX_INT / 2)
        dim->id = (int)own;
    for (int v = 0; v < x->old_vars && dim->old_var < 0 && pnc_netcdf4_scale_has_variable(m, id); v++)
        if (strcmp(x->vars[v].old_path, name) == 0)
            dim->old_var = v;
    return NC_NOERR;
}

/* A dimension that only lengths of datasets show has no scale; it gets one, or its place among the others would be
 * another one afterwards. */
static int survey_dims(pnc_definition *x)
{
    pnc_netcdf4_metadata *m = x->m;

    for (int d = 0; d < x->old_dims; d++) {
        const char *name = x->before->dims[d]->name;
        hid_t id;
        int err;

        if (m->h->l_exists(m->root, name, H5P_DEFAULT) <= 0)
            continue;
        id = m->h->o_open(m->root, name, H5P_DEFAULT);
        if (id < 0)
            return pnc_netcdf4_metadata_fail(m, "open", name);
        err = survey_scale(x, id, d);
        m->h->o_close(id);
        PNC_TRY(err);
    }
    return NC_NOERR;
}

/* Coordinate variables, and paths. */
static int place_vars(pnc_definition *x)
{
    const pnc_model *now = x->now;

    for (int v = 0; v < now->nvars; v++) {
        const pnc_var *var = now->vars[v];
        int d = pnc_format_dim_find(now, var->name);

        x->vars[v].path = var->name;
        if (d >= 0 && var->ndims > 0 && var->dimids[0] == d)
            x->dims[d].var = v;
        else if (d >= 0)
            x->vars[v].path =
                pnc_netcdf4_definition_format(x, "%.*s%s%s", (int)(pnc_path_get_name(var->name) - var->name), var->name,
                                              PNC_NETCDF4_NOT_COORDINATE, pnc_path_get_name(var->name));
        else
            x->vars[v].path = pnc_netcdf4_definition_format(x, "%s", var->name);
        if (x->vars[v].path == NULL)
            return NC_ENOMEM;
    }
    return NC_NOERR;
}

static bool is_coordinate(const pnc_definition *x, int v)
{
    const pnc_var *var = x->now->vars[v];

    return var->ndims > 0 && x->dims[var->dimids[0]].var == v;
}

static bool was_coordinate(const pnc_definition *x, int v)
{
    const pnc_var *var = x->now->vars[v];

    return v < x->old_vars && var->ndims > 0 && x->dims[var->dimids[0]].old_var == v;
}

static bool is_renamed(const pnc_definition *x, int d)
{
    return strcmp(x->before->dims[d]->name, x->now->dims[d]->name) != 0;
}

static void plan_references(pnc_definition *x)
{
    for (int d = 0; d < x->now->ndims; d++) {
        pnc_define_dim *dim = &x->dims[d];

        dim->is_changed = dim->old == 0 || dim->old_var != dim->var;
    }
    for (int v = 0; v < x->now->nvars; v++) {
        const pnc_var *var = x->now->vars[v];
        bool is_new = v >= x->old_vars, is_scale = is_coordinate(x, v), was_scale = was_coordinate(x, v);

        x->vars[v].attaches = var->ndims > 0 && !is_scale && (is_new || was_scale);
        x->vars[v].detaches = !is_new && is_scale && !was_scale;
        for (int k = 0; k < var->ndims && !is_new && !is_scale; k++)
            if (var->dimids[k] < x->old_dims && x->dims[var->dimids[k]].is_changed &&
                x->dims[var->dimids[k]].old == 0) /* it is not in the list of an old scale */
                x->vars[v].attaches = x->vars[v].detaches = true;
    }
}

/* All scales have an id, as soon as the order of their creation is another one. */
static void choose_ids(pnc_definition *x)
{
    int next = 0;

    for (int d = 0; d < x->now->ndims; d++) {
        if (x->dims[d].id < 0)
            x->dims[d].id = next;
        next = x->dims[d].id >= next ? x->dims[d].id + 1 : next;
    }
}

/* --- dimensions --- */

static int open_and_set_scale(pnc_definition *x, int d, const char *name)
{
    pnc_netcdf4_metadata *m = x->m;
    hid_t id = m->h->d_open(m->root, x->now->dims[d]->name, H5P_DEFAULT);
    int err;

    if (id < 0)
        return pnc_netcdf4_metadata_fail(m, "open dimension", x->now->dims[d]->name);
    if (name != NULL)
        err = pnc_netcdf4_scale_set(m, id, pnc_path_get_name(name), x->dims[d].id);
    else
        err = pnc_netcdf4_atts_put_integers(m, id, "_Netcdf4Dimid", &x->dims[d].id, 1, true);
    m->h->d_close(id);
    return err;
}

static int make_scales(pnc_definition *x)
{
    for (int d = 0; d < x->now->ndims; d++) {
        const pnc_define_dim *dim = &x->dims[d];
        const pnc_dim *now = x->now->dims[d];

        if (dim->var >= x->old_vars)
            continue;
        if (dim->var >= 0)
            PNC_TRY(open_and_set_scale(x, d, x->now->vars[dim->var]->name));
        else if (dim->is_changed)
            PNC_TRY(pnc_netcdf4_scale_create(x->m, now->name, pnc_format_dim_get_length(x->now, d), now->unlimited,
                                             dim->id));
        else
            PNC_TRY(open_and_set_scale(x, d, NULL));
    }
    return NC_NOERR;
}

static int refer_to_scales(pnc_definition *x)
{
    pnc_netcdf4_metadata *m = x->m;

    for (int d = 0; d < x->now->ndims; d++)
        if (m->h->r_create(&x->dims[d].now, m->root, x->now->dims[d]->name, H5R_OBJECT, -1) < 0)
            return pnc_netcdf4_metadata_fail(m, "refer to", x->now->dims[d]->name);
    for (int v = 0; v < x->now->nvars; v++)
        if ((x->vars[v].attaches || x->vars[v].detaches) &&
            m->h->r_create(&x->vars[v].reference, m->root, x->vars[v].path, H5R_OBJECT, -1) < 0)
            return pnc_netcdf4_metadata_fail(m, "refer to", x->vars[v].path);
    return NC_NOERR;
}

/* --- variables --- */

/* The dimensions of a scale with several of them; netCDF-C reads those of all variables faster so. */
static int write_coordinates(pnc_definition *x, hid_t id, int v)
{
    const pnc_var *var = x->now->vars[v];
    int ids[PNC_STORAGE_DIMS_MOST];

    for (int k = 0; k < var->ndims; k++)
        ids[k] = x->dims[var->dimids[k]].id;
    return var->ndims == 0 ? NC_NOERR
                           : pnc_netcdf4_atts_put_integers(x->m, id, "_Netcdf4Coordinates", ids, var->ndims, false);
}

static int write_new_var(pnc_definition *x, hid_t id, int v)
{
    const pnc_var *var = x->now->vars[v];

    if (is_coordinate(x, v))
        PNC_TRY(pnc_netcdf4_scale_set(x->m, id, pnc_path_get_name(var->name), x->dims[var->dimids[0]].id));
    PNC_TRY(write_coordinates(x, id, v));
    return pnc_netcdf4_atts_update(x->m, id, NULL, &var->atts, x->now->little, x->now->little);
}

static int create_vars(pnc_definition *x)
{
    for (int v = x->old_vars; v < x->now->nvars; v++) {
        hid_t id;
        int err;

        PNC_TRY(pnc_netcdf4_var_create(x->m, x->now, x->now->vars[v], x->vars[v].path, &id));
        err = write_new_var(x, id, v);
        x->m->h->d_close(id);
        PNC_TRY(err);
    }
    return NC_NOERR;
}

/* A variable that becomes a coordinate variable, or was one. */
static int convert_var(pnc_definition *x, hid_t id, int v)
{
    if (!is_coordinate(x, v))
        PNC_TRY(pnc_netcdf4_scale_remove(x->m, id));
    return write_coordinates(x, id, v);
}

static int convert_vars(pnc_definition *x)
{
    pnc_netcdf4_metadata *m = x->m;

    for (int v = 0; v < x->old_vars; v++) {
        hid_t id;
        int err;

        if (is_coordinate(x, v) == was_coordinate(x, v))
            continue;
        id = m->h->d_open(m->root, x->vars[v].path, H5P_DEFAULT);
        if (id < 0)
            return pnc_netcdf4_metadata_fail(m, "open", x->vars[v].path);
        err = convert_var(x, id, v);
        m->h->d_close(id);
        PNC_TRY(err);
    }
    return NC_NOERR;
}

static int delete_old_scales(pnc_definition *x)
{
    for (int d = 0; d < x->old_dims; d++)
        if (x->dims[d].doomed != NULL && x->m->h->l_delete(x->m->root, x->dims[d].doomed, H5P_DEFAULT) < 0)
            return pnc_netcdf4_metadata_fail(x->m, "delete the scale of dimension", x->before->dims[d]->name);
    return NC_NOERR;
}

/* --- attributes --- */

static bool is_same_list(const pnc_definition *x, const pnc_atts *a, const pnc_atts *b)
{
    if (a->n != b->n || x->before->little != x->now->little)
        return false;
    for (int i = 0; i < a->n; i++)
        if (strcmp(a->at[i]->name, b->at[i]->name) != 0 || !pnc_format_att_is_same(a->at[i], b->at[i]))
            return false;
    return true;
}

static int update_atts(pnc_definition *x)
{
    pnc_netcdf4_metadata *m = x->m;

    PNC_TRY(pnc_netcdf4_groups_update(x));
    for (int v = 0; v < x->old_vars; v++) {
        const pnc_atts *before = &x->before->vars[v]->atts, *now = &x->now->vars[v]->atts;
        hid_t id;
        int err;

        if (is_same_list(x, before, now))
            continue;
        id = m->h->d_open(m->root, x->vars[v].path, H5P_DEFAULT);
        if (id < 0)
            return pnc_netcdf4_metadata_fail(m, "open", x->vars[v].path);
        err = pnc_netcdf4_atts_update(m, id, before, now, x->before->little, x->now->little);
        m->h->d_close(id);
        PNC_TRY(err);
    }
    return NC_NOERR;
}

/* --- all of it --- */

static bool has_other_names(const pnc_definition *x)
{
    if (x->old_dims != x->now->ndims || x->old_vars != x->now->nvars || x->before->groups.n != x->now->groups.n)
        return true;
    if (pnc_netcdf4_groups_move_is_needed(x))
        return true;
    for (int d = 0; d < x->old_dims; d++)
        if (is_renamed(x, d))
            return true;
    for (int v = 0; v < x->old_vars; v++)
        if (strcmp(x->before->vars[v]->name, x->now->vars[v]->name) != 0)
            return true;
    return false;
}

/* Without an order of creation, new variables would have other ids as soon as the file is opened again. */
static int check_creation_order(pnc_definition *x)
{
    if (pnc_netcdf4_order_is_kept(x->m))
        return NC_NOERR;
    return pnc_error_set(x->error, NC_ENOTSUPPORT,
                         "%s: the program that made this file keeps no order of creation in it: dimensions and "
                         "variables can be neither added nor renamed",
                         x->m->source.file->path);
}

static bool is_group(pnc_netcdf4_metadata *m, const char *name)
{
    PNC_H5L_INFO info;
    hid_t id = -1;
    bool is;

    if (m->h->l_get_info(m->root, name, &info, H5P_DEFAULT) >= 0 && info.type == H5L_TYPE_HARD)
        id = m->h->o_open(m->root, name, H5P_DEFAULT);
    is = id >= 0 && m->h->i_get_type(id) == H5I_GROUP;
    if (id >= 0)
        m->h->o_close(id);
    return is;
}

static bool has_groups(pnc_netcdf4_metadata *m)
{
    H5G_info_t info = {.nlinks = 0};

    m->h->g_get_info(m->root, &info);
    for (hsize_t i = 0; i < info.nlinks; i++) {
        char name[NC_MAX_NAME + sizeof PNC_NETCDF4_NOT_COORDINATE + 1];

        if (m->h->l_get_name_by_idx(m->root, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT) >= 0 &&
            is_group(m, name))
            return true;
    }
    return false;
}

/* The ids of dimensions count those of all groups, which the hint nc_groups=root has hidden. */
static int check_groups(pnc_definition *x)
{
    bool has_new = x->now->ndims > x->old_dims || x->now->groups.n > x->before->groups.n;

    for (int d = 0; d < x->old_dims; d++)
        has_new = has_new || x->dims[d].old == 0;
    if (!has_new || x->is_new || x->before->groups.are_listed || !has_groups(x->m))
        return NC_NOERR;
    return pnc_error_set(x->error, NC_ENOTSUPPORT,
                         "%s: this file has groups, which the hint nc_groups=root hides: open it with nc_groups=all to "
                         "add dimensions or groups",
                         x->m->source.file->path);
}

static int change_objects(pnc_definition *x)
{
    PNC_TRY(check_creation_order(x));
    PNC_TRY(pnc_netcdf4_groups_move(x));
    PNC_TRY(survey_dims(x));
    PNC_TRY(check_groups(x));
    PNC_TRY(pnc_netcdf4_groups_create(x));
    PNC_TRY(place_vars(x));
    plan_references(x);
    choose_ids(x);
    PNC_TRY(pnc_netcdf4_definition_move(x));
    PNC_TRY(make_scales(x));
    PNC_TRY(create_vars(x));
    PNC_TRY(refer_to_scales(x));
    PNC_TRY(pnc_netcdf4_definition_attach(x));
    PNC_TRY(convert_vars(x));
    return delete_old_scales(x);
}

static int prepare_definition(pnc_definition *x, const char **paths)
{
    x->dims = pnc_memory_alloc_zeroed(x->now->ndims, sizeof *x->dims);
    x->vars = pnc_memory_alloc_zeroed(x->now->nvars, sizeof *x->vars);
    if (x->dims == NULL || x->vars == NULL)
        return pnc_error_set(x->error, NC_ENOMEM, "%s: no memory for the definitions", x->m->source.file->path);
    for (int d = 0; d < x->now->ndims; d++)
        x->dims[d] = (pnc_define_dim){.old_var = -1, .var = -1, .id = -1};
    for (int v = 0; v < x->old_vars; v++)
        x->vars[v].old_path = x->vars[v].path = paths[v];
    return NC_NOERR;
}

static int carry_out(pnc_definition *x, const char **paths)
{
    pnc_hdf5_visit visit;
    int err;

    if (pnc_netcdf4_library_begin(&visit, x->error) == NULL)
        return NC_ENOTBUILT;
    pnc_netcdf4_dataset_close(x->m);
    err = has_other_names(x) ? change_objects(x) : NC_NOERR;
    if (err == NC_NOERR)
        err = update_atts(x);
    for (int v = 0; err == NC_NOERR && v < x->now->nvars; v++)
        paths[v] = x->vars[v].path;
    pnc_netcdf4_library_end(&visit);
    return err;
}

static void attach_plugins(const pnc_model *model, int first)
{
    for (int v = first; v < model->nvars; v++) {
        const pnc_storage *storage = model->vars[v]->storage;

        for (int i = 0; i < storage->nfilters; i++)
            if (!pnc_filter_is_own(storage->filters[i].id))
                pnc_netcdf4_plugin_attach(storage->filters[i].id);
    }
}

int pnc_netcdf4_metadata_define(pnc_netcdf4_metadata *m, const pnc_model *before, const pnc_model *now,
                                pnc_region *region, const char **paths)
{
    const pnc_model nothing = {.little = now->little};
    pnc_definition x = {.m = m,
                        .error = m->source.file->error,
                        .before = before != NULL ? before : &nothing,
                        .now = now,
                        .region = region,
                        .is_new = before == NULL,
                        .old_dims = before != NULL ? before->ndims : 0,
                        .old_vars = before != NULL ? before->nvars : 0};
    int err = prepare_definition(&x, paths);

    attach_plugins(now, x.old_vars);
    if (err == NC_NOERR)
        err = carry_out(&x, paths);
    pnc_memory_free(x.dims);
    pnc_memory_free(x.vars);
    pnc_format_model_free(&x.moved);
    return err;
}
