/* Groups of an HDF5 file: created, and given their attributes. In the model these are among the global attributes, with
 * the path of their group in front of their names. */
#include "formats/netcdf4/metadata_define.h"

#include <string.h>

#include "base/memory.h"
#include "base/path.h"
#include "format/groups.h"

static int create_group(pnc_netcdf4_metadata *m, const char *path)
{
    const unsigned order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
    const pnc_hdf5 *h = m->h;
    hid_t plist = h->p_create(h->group_create), id = -1;

    if (plist >= 0 && h->p_set_link_creation_order(plist, order) >= 0 &&
        h->p_set_attr_creation_order(plist, order) >= 0 && h->p_set_obj_track_times(plist, false) >= 0)
        id = h->g_create(m->root, path, H5P_DEFAULT, plist, H5P_DEFAULT);
    if (plist >= 0)
        h->p_close(plist);
    if (id < 0)
        return pnc_netcdf4_metadata_fail(m, "create group", path);
    h->g_close(id);
    return NC_NOERR;
}

int pnc_netcdf4_groups_create(pnc_definition *x)
{
    for (int i = x->before->groups.n; i < x->now->groups.n; i++)
        PNC_TRY(create_group(x->m, x->now->groups.paths[i]));
    return NC_NOERR;
}

/* --- renaming --- */

bool pnc_netcdf4_groups_move_is_needed(const pnc_definition *x)
{
    for (int i = 0; i < x->before->groups.n; i++)
        if (strcmp(x->before->groups.paths[i], x->now->groups.paths[i]) != 0)
            return true;
    return false;
}

/* The group above one of `before`; -1: the root group. */
static int find_group_above(const pnc_definition *x, int group)
{
    const char *path = x->before->groups.paths[group];
    size_t n = pnc_format_group_get_length(x->before, path);

    return n > 0 ? pnc_format_group_find(x->before, path, n) : -1;
}

/* Its old own name in the path that the group above it has now, or a name while others move. */
static const char *name_group(pnc_definition *x, int group, bool is_aside)
{
    const int above = find_group_above(x, group);
    const char *path = above >= 0 ? x->now->groups.paths[above] : "", *slash = above >= 0 ? "/" : "";
    const char *own = pnc_path_get_name(x->before->groups.paths[group]);

    return is_aside ? pnc_netcdf4_definition_format(x, "%s%s_pnetcdf_moving_group_%d", path, slash, group)
                    : pnc_netcdf4_definition_format(x, "%s%s%s", path, slash, own);
}

static int move_group(pnc_definition *x, const char *from, const char *to)
{
    if (from == NULL || to == NULL)
        return NC_ENOMEM;
    if (x->m->h->l_move(x->m->root, from, x->m->root, to, H5P_DEFAULT, H5P_DEFAULT) >= 0)
        return NC_NOERR;
    return pnc_netcdf4_metadata_fail(x->m, "rename group", from);
}

/* Those of one group that follow the first one with another name: a link that has moved is the last one, and their
 * order stays. The group above has its path already. */
static int move_children(pnc_definition *x, int above)
{
    int first = 0, n = x->before->groups.n;

    while (first < n &&
           (find_group_above(x, first) != above || strcmp(pnc_path_get_name(x->before->groups.paths[first]),
                                                          pnc_path_get_name(x->now->groups.paths[first])) == 0))
        first++;
    for (int i = first; i < n; i++)
        if (find_group_above(x, i) == above)
            PNC_TRY(move_group(x, name_group(x, i, false), name_group(x, i, true)));
    for (int i = first; i < n; i++)
        if (find_group_above(x, i) == above)
            PNC_TRY(move_group(x, name_group(x, i, true), x->now->groups.paths[i]));
    return NC_NOERR;
}

/* The datasets of variables have moved with their groups. */
static int rename_paths(pnc_definition *x)
{
    for (int v = 0; v < x->old_vars; v++) {
        const char *name = x->before->vars[v]->name;
        size_t n = pnc_format_group_get_length(x->before, name);
        const char *path = n > 0 ? x->now->groups.paths[pnc_format_group_find(x->before, name, n)] : "";

        x->vars[v].old_path = pnc_netcdf4_definition_format(x, "%s%s", path, x->vars[v].old_path + n);
        if (x->vars[v].old_path == NULL)
            return NC_ENOMEM;
    }
    return NC_NOERR;
}

int pnc_netcdf4_groups_move(pnc_definition *x)
{
    int err;

    if (!pnc_netcdf4_groups_move_is_needed(x))
        return NC_NOERR;
    for (int i = -1; i < x->before->groups.n; i++)
        PNC_TRY(move_children(x, i));
    PNC_TRY(rename_paths(x));
    err = pnc_format_model_copy(&x->moved, x->before);
    if (err == NC_NOERR)
        err = pnc_format_groups_replace(&x->moved, x->now->groups.paths);
    if (err != NC_NOERR)
        return pnc_error_set(x->error, err, "%s: no memory for the definitions", x->m->source.file->path);
    x->before = &x->moved;
    return NC_NOERR;
}

/* --- attributes --- */

/* Those of one group, whose path has n bytes, with their own names. */
typedef struct group_atts {
    pnc_atts atts;
    pnc_att *own;
} group_atts;

static bool has_group(const pnc_model *model, const char *name, const char *path, size_t n)
{
    return strncmp(name, path, n) == 0 && pnc_format_group_get_length(model, name) == n;
}

static bool select_atts(const pnc_model *model, const pnc_model *groups, const char *path, group_atts *out)
{
    size_t n = strlen(path);
    int most = model->gatts.n;

    *out = (group_atts){.own = pnc_memory_alloc(most, sizeof *out->own),
                        .atts.at = pnc_memory_alloc(most, sizeof *out->atts.at)};
    if (out->own == NULL || out->atts.at == NULL)
        return false;
    for (int i = 0; i < most; i++) {
        pnc_att *own = &out->own[out->atts.n];

        if (!has_group(groups, model->gatts.at[i]->name, path, n))
            continue;
        *own = *model->gatts.at[i];
        own->name += n + (n > 0);
        out->atts.at[out->atts.n++] = own;
    }
    return true;
}

static void free_group_atts(group_atts *g)
{
    pnc_memory_free(g->own);
    pnc_memory_free(g->atts.at);
}

static int update_group(pnc_definition *x, const char *path)
{
    pnc_netcdf4_metadata *m = x->m;
    group_atts before = {0}, now = {0};
    hid_t id = m->h->g_open(m->root, path[0] == '\0' ? "." : path, H5P_DEFAULT);
    int err;

    if (id < 0)
        return pnc_netcdf4_metadata_fail(m, "open group", path);
    /* groups are never removed: those of now are those of both */
    if (select_atts(x->before, x->now, path, &before) && select_atts(x->now, x->now, path, &now))
        err = pnc_netcdf4_atts_update(m, id, &before.atts, &now.atts, x->before->little, x->now->little);
    else
        err = pnc_error_set(x->error, NC_ENOMEM, "%s: no memory for the attributes of groups", m->source.file->path);
    m->h->g_close(id);
    free_group_atts(&before);
    free_group_atts(&now);
    return err;
}

int pnc_netcdf4_groups_update(pnc_definition *x)
{
    if (x->now->groups.n == 0 || !x->now->groups.are_listed)
        return pnc_netcdf4_atts_update(x->m, x->m->root, &x->before->gatts, &x->now->gatts, x->before->little,
                                       x->now->little);
    PNC_TRY(update_group(x, ""));
    for (int i = 0; i < x->now->groups.n; i++)
        PNC_TRY(update_group(x, x->now->groups.paths[i]));
    return NC_NOERR;
}
