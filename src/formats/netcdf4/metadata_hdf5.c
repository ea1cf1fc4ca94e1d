/* Dimensions, variables and attributes of an HDF5 file, described. */
#include "formats/netcdf4/metadata_tree.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

/* --- errors --- */

static herr_t keep_reason(unsigned n, const H5E_error2_t *e, void *data)
{
    if (n == 0 && e->desc != NULL)
        snprintf(data, 160, ": %s", e->desc);
    return 0;
}

int pnc_netcdf4_metadata_fail(pnc_netcdf4_metadata *m, const char *what, const char *name)
{
    char reason[160] = "";

    m->h->e_walk(H5E_DEFAULT, H5E_WALK_UPWARD, keep_reason, reason);
    if (m->source.file->error->code != NC_NOERR)
        return m->source.file->error->code;
    return pnc_error_set(m->source.file->error, NC_EHDFERR, "%s: HDF5 cannot %s \"%.200s\"%s", m->source.file->path,
                         what, name, reason);
}

/* --- the description --- */

/* Whether what a group has is described: dimensions and variables of the root group come first. */
static bool is_in_scope(const pnc_tree *t, int64_t group)
{
    return group == 0 || t->scope != PNC_NETCDF4_ROOT;
}

static bool is_att_ordered(pnc_netcdf4_metadata *m, hid_t plist)
{
    unsigned flags = 0;

    return plist >= 0 && m->h->p_get_attr_creation_order(plist, &flags) >= 0 && (flags & H5P_CRT_ORDER_TRACKED) != 0;
}

static int describe_open_var(pnc_tree *t, hid_t id, const pnc_tree_dataset *d, int64_t *places, pnc_netcdf4_writer *out)
{
    const pnc_hdf5 *h = t->m->h;
    hid_t type_id = h->d_get_type(id), plist = h->d_get_create_plist(id);
    bool is_big_endian, is_ordered = is_att_ordered(t->m, plist);
    char name[NC_MAX_NAME + 1];
    int64_t natts = 0, at;
    int type;

    if (plist >= 0)
        h->p_close(plist);
    if (type_id < 0)
        return pnc_netcdf4_metadata_fail(t->m, "read the type of", d->path);
    type = pnc_netcdf4_type_identify(h, type_id, &is_big_endian);
    h->t_close(type_id);
    pnc_netcdf4_tree_copy(d->path, name);
    pnc_netcdf4_var_write(out, name, type, d->ndims, d->dimids);
    at = pnc_netcdf4_atts_begin(out);
    PNC_TRY(pnc_netcdf4_atts_add(t->m, id, is_ordered, "", &natts, out));
    pnc_netcdf4_atts_end(out, at, natts);
    return pnc_netcdf4_storage_describe(t->m, id, d->path, d->is_alias, type, is_big_endian, d->ndims, d->extent,
                                        places, out);
}

static int describe_group_vars(pnc_tree *t, int64_t places, pnc_netcdf4_writer *out)
{
    for (int64_t i = 0; i < t->n; i++) {
        hid_t id;
        int err;

        if (!t->datasets[i].has_variable || !is_in_scope(t, t->datasets[i].group))
            continue;
        id = t->m->h->d_open(t->m->root, t->datasets[i].path, H5P_DEFAULT);
        if (id < 0)
            return pnc_netcdf4_metadata_fail(t->m, "open", t->datasets[i].path);
        err = describe_open_var(t, id, &t->datasets[i], &places, out);
        t->m->h->d_close(id);
        PNC_TRY(err);
    }
    return NC_NOERR;
}

/* With a path in front of the names, but for the root group. */
static int describe_group_atts(pnc_tree *t, int64_t group, int64_t *natts, pnc_netcdf4_writer *out)
{
    const pnc_tree_group *g = &t->groups[group];
    hid_t id = t->m->h->g_open(t->m->root, group == 0 ? "." : g->path, H5P_DEFAULT), plist;
    int err;

    if (id < 0)
        return pnc_netcdf4_metadata_fail(t->m, "open group", g->path);
    plist = t->m->h->g_get_create_plist(id);
    err = pnc_netcdf4_atts_add(t->m, id, is_att_ordered(t->m, plist), g->path, natts, out);
    if (plist >= 0)
        t->m->h->p_close(plist);
    t->m->h->g_close(id);
    PNC_TRY(err);
    for (int64_t i = g->children; t->scope == PNC_NETCDF4_LISTED && i < g->children_end; i++)
        PNC_TRY(describe_group_atts(t, i, natts, out));
    return NC_NOERR;
}

static bool is_strict_file(pnc_netcdf4_metadata *m)
{
    return m->h->a_exists(m->root, "_nc3_strict") > 0;
}

bool pnc_netcdf4_metadata_is_classic(pnc_netcdf4_metadata *m)
{
    pnc_hdf5_visit visit;
    bool is;

    if (pnc_netcdf4_library_begin(&visit, m->source.file->error) == NULL)
        return false;
    is = is_strict_file(m);
    pnc_netcdf4_library_end(&visit);
    return is;
}

/* Returns the number of dimensions. */
static int64_t describe_head(const pnc_tree *t, pnc_netcdf4_writer *out)
{
    bool is_strict = is_strict_file(t->m), is_listed = t->scope == PNC_NETCDF4_LISTED;
    bool has_groups = t->ngroups > 1 && t->scope != PNC_NETCDF4_ROOT;
    pnc_groups groups = {.exist = has_groups, .are_listed = has_groups && is_listed};
    int64_t nvars = 0, ndims = 0;

    if (has_groups)
        groups.paths = pnc_memory_alloc(t->ngroups, sizeof *groups.paths);
    out->failed = out->failed || (has_groups && groups.paths == NULL);
    for (int64_t i = 1; i < t->ngroups && groups.paths != NULL; i++)
        groups.paths[groups.n++] = t->groups[i].path;

    for (int64_t i = 0; i < t->n; i++) {
        const pnc_tree_dataset *d = &t->datasets[i];

        nvars += d->has_variable && is_in_scope(t, d->group);
        groups.nvars += d->has_variable && d->group != 0 && t->scope == PNC_NETCDF4_PATHS;
    }
    for (int64_t i = 0; i < t->ndims; i++) {
        ndims += is_in_scope(t, t->dims[i].group);
        groups.ndims += t->dims[i].group != 0 && t->scope == PNC_NETCDF4_PATHS;
    }
    pnc_netcdf4_head_write(out, is_strict ? NC_FORMAT_NETCDF4_CLASSIC : NC_FORMAT_NETCDF4, ndims, nvars, &groups);
    pnc_memory_free(groups.paths);
    return ndims;
}

static int describe_tree(pnc_tree *t, int64_t most_places, pnc_netcdf4_writer *out)
{
    int64_t ndims = describe_head(t, out), natts = 0, at;

    for (const pnc_tree_dim *dim = t->dims; dim < t->dims + ndims; dim++)
        pnc_netcdf4_dim_write(out, dim->name, dim->length, dim->is_unlimited);
    at = pnc_netcdf4_atts_begin(out);
    PNC_TRY(describe_group_atts(t, 0, &natts, out));
    pnc_netcdf4_atts_end(out, at, natts);
    PNC_TRY(describe_group_vars(t, most_places, out));
    return out->failed ? pnc_netcdf4_tree_fail(t) : NC_NOERR;
}

int pnc_netcdf4_metadata_describe(pnc_netcdf4_metadata *m, pnc_netcdf4_scope scope, int64_t most_places,
                                  pnc_netcdf4_writer *out)
{
    pnc_tree t = {.m = m, .error = m->source.file->error, .scope = scope};
    pnc_hdf5_visit visit;
    int err;

    if (pnc_netcdf4_library_begin(&visit, t.error) == NULL)
        return NC_ENOTBUILT;
    err = pnc_netcdf4_tree_read(&t);
    if (err == NC_NOERR)
        err = pnc_netcdf4_tree_resolve(&t);
    if (err == NC_NOERR)
        err = describe_tree(&t, most_places, out);
    pnc_netcdf4_library_end(&visit);
    pnc_netcdf4_tree_free(&t);
    return err;
}
