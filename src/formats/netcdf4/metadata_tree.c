/* The walk through the groups of an HDF5 file. */
#include "formats/netcdf4/metadata_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/path.h"

/* --- memory --- */

void pnc_netcdf4_tree_free(pnc_tree *t)
{
    for (int64_t i = 0; i < t->ngroups; i++)
        pnc_memory_free(t->groups[i].path);
    for (int64_t i = 0; i < t->n; i++)
        pnc_memory_free(t->datasets[i].path);
    pnc_memory_free(t->groups);
    pnc_memory_free(t->datasets);
    pnc_memory_free(t->dims);
}

int pnc_netcdf4_tree_fail(pnc_tree *t)
{
    return pnc_error_set(t->error, NC_ENOMEM, "%s: no memory for the definitions", t->m->source.file->path);
}

void *pnc_netcdf4_tree_reserve(void **at, int64_t n, int64_t *capacity, size_t size)
{
    if (!pnc_memory_grow(at, capacity, n + 1, size))
        return NULL;
    return memset((char *)*at + (size_t)n * size, 0, size);
}

/* --- paths --- */

void pnc_netcdf4_tree_copy(const char *path, char *name)
{
    const char *last = pnc_path_get_name(path);
    size_t n = strlen(PNC_NETCDF4_NOT_COORDINATE), skipped = strncmp(last, PNC_NETCDF4_NOT_COORDINATE, n) == 0 ? n : 0;

    snprintf(name, NC_MAX_NAME + 1, "%.*s%s", (int)(last - path), path, last + skipped);
}

static bool is_short(const char *path)
{
    const char *last = pnc_path_get_name(path);
    size_t n = strlen(PNC_NETCDF4_NOT_COORDINATE), skipped = strncmp(last, PNC_NETCDF4_NOT_COORDINATE, n) == 0 ? n : 0;

    return strlen(path) - skipped <= NC_MAX_NAME;
}

/* The caller frees it; NULL without memory. */
static char *join_path(const char *group, const char *name)
{
    size_t n = strlen(group) + strlen(name) + 2;
    char *path = pnc_memory_alloc((int64_t)n, 1);

    if (path != NULL)
        snprintf(path, n, "%s%s%s", group, group[0] == '\0' ? "" : "/", name);
    return path;
}

/* --- datasets --- */

static int get_dataset_extent(pnc_tree *t, hid_t id, pnc_tree_dataset *d)
{
    const pnc_hdf5 *h = t->m->h;
    hsize_t lengths[PNC_STORAGE_DIMS_MOST], most[PNC_STORAGE_DIMS_MOST];
    hid_t space = h->d_get_space(id);
    int ndims = space < 0 ? -1 : h->s_get_simple_extent_ndims(space);
    bool good = ndims >= 0 && ndims <= PNC_STORAGE_DIMS_MOST && h->s_get_simple_extent_dims(space, lengths, most) >= 0;

    if (space >= 0)
        h->s_close(space);
    if (!good)
        return pnc_netcdf4_metadata_fail(t->m, "read the shape of", d->path);
    d->ndims = ndims;
    for (int i = 0; i < ndims; i++) {
        d->extent[i] = (int64_t)lengths[i];
        d->is_unlimited[i] = most[i] == H5S_UNLIMITED;
        if (d->extent[i] < 0)
            return pnc_error_set(t->error, NC_EHDFERR, "%s: dataset \"%s\" has a length of more than 2^63",
                                 t->m->source.file->path, d->path);
    }
    return NC_NOERR;
}

static int get_scale(pnc_tree *t, hid_t id, pnc_tree_dataset *d)
{
    char text[128];
    int64_t own;

    if (t->m->h->r_create(&d->reference, t->m->root, d->path, H5R_OBJECT, -1) < 0)
        return pnc_netcdf4_metadata_fail(t->m, "refer to", d->path);
    d->has_variable = true;
    d->own_id = d->dim = -1;
    d->is_scale = d->ndims > 0 && pnc_netcdf4_atts_get_text(t->m, id, "CLASS", text, sizeof text) &&
                  strcmp(text, "DIMENSION_SCALE") == 0;
    if (!d->is_scale)
        return NC_NOERR;
    if (pnc_netcdf4_atts_get_text(t->m, id, "NAME", text, sizeof text))
        d->has_variable = strncmp(text, PNC_NETCDF4_NO_VARIABLE, strlen(PNC_NETCDF4_NO_VARIABLE)) != 0;
    if (pnc_netcdf4_atts_get_integers(t->m, id, "_Netcdf4Dimid", &own, 1) == 1)
        d->own_id = own;
    return NC_NOERR;
}

/* `path` becomes that of the dataset. */
static int add_dataset(pnc_tree *t, int64_t group, hid_t id, bool is_soft, char *path)
{
    pnc_tree_dataset *d = pnc_netcdf4_tree_reserve((void **)&t->datasets, t->n, &t->capacity, sizeof *d);

    if (d == NULL) {
        pnc_memory_free(path);
        return pnc_netcdf4_tree_fail(t);
    }
    t->n++;
    d->path = path;
    d->group = group;
    d->is_soft = is_soft;
    PNC_TRY(get_dataset_extent(t, id, d));
    PNC_TRY(get_scale(t, id, d));
    if (is_soft && d->is_scale) { /* a second dimension of the same scale */
        pnc_memory_free(d->path);
        t->n--;
    }
    return NC_NOERR;
}

/* --- several links to a dataset --- */

typedef struct linked_dataset {
    hobj_ref_t reference;
    bool is_soft;
    int64_t dataset;
} linked_dataset;

static int compare_links(const void *a, const void *b)
{
    const linked_dataset *x = a, *y = b;

    if (x->reference != y->reference)
        return x->reference < y->reference ? -1 : 1;
    if (x->is_soft != y->is_soft)
        return x->is_soft ? 1 : -1;
    return x->dataset < y->dataset ? -1 : x->dataset > y->dataset;
}

/* Of the links to a dataset the first one that is not soft is its own. */
static int find_aliases(pnc_tree *t)
{
    linked_dataset *links = pnc_memory_alloc(t->n, sizeof *links);

    if (links == NULL)
        return pnc_netcdf4_tree_fail(t);
    for (int64_t i = 0; i < t->n; i++)
        links[i] = (linked_dataset){t->datasets[i].reference, t->datasets[i].is_soft, i};
    if (t->n > 0)
        qsort(links, (size_t)t->n, sizeof *links, compare_links);
    for (int64_t i = 1; i < t->n; i++)
        t->datasets[links[i].dataset].is_alias = links[i].reference == links[i - 1].reference;
    pnc_memory_free(links);
    return NC_NOERR;
}

/* --- groups --- */

/* `path` becomes that of the group, unless another link has led to it already: links may lead back to a group that
 * has them. */
static int add_group(pnc_tree *t, char *path)
{
    hobj_ref_t reference = 0;
    pnc_tree_group *g = NULL;

    if (t->m->h->r_create(&reference, t->m->root, path, H5R_OBJECT, -1) < 0) {
        int err = pnc_netcdf4_metadata_fail(t->m, "refer to", path);

        pnc_memory_free(path);
        return err;
    }
    for (int64_t i = 0; i < t->ngroups; i++)
        if (t->groups[i].reference == reference) {
            pnc_memory_free(path);
            return NC_NOERR;
        }
    g = pnc_netcdf4_tree_reserve((void **)&t->groups, t->ngroups, &t->groups_capacity, sizeof *g);
    if (g == NULL) {
        pnc_memory_free(path);
        return pnc_netcdf4_tree_fail(t);
    }
    t->ngroups++;
    g->path = path;
    g->reference = reference;
    return NC_NOERR;
}

/* `path` is freed, or becomes that of an entry. */
static int visit_object(pnc_tree *t, int64_t group, hid_t id, bool is_soft, char *path)
{
    H5I_type_t type = t->m->h->i_get_type(id);

    if (type == H5I_DATASET)
        return add_dataset(t, group, id, is_soft, path);
    if (type == H5I_GROUP && !is_soft)
        return add_group(t, path);
    pnc_memory_free(path);
    return NC_NOERR;
}

/* Soft links to nothing, to themselves or to other files are left out, too. */
static int visit_link(pnc_tree *t, int64_t group, char *path)
{
    const pnc_hdf5 *h = t->m->h;
    PNC_H5L_INFO info;
    bool is_soft = false;
    hid_t id = -1;
    int err = NC_NOERR;

    if (h->l_get_info(t->m->root, path, &info, H5P_DEFAULT) < 0) {
        err = pnc_netcdf4_metadata_fail(t->m, "read the link", path);
    } else if (info.type == H5L_TYPE_HARD || info.type == H5L_TYPE_SOFT) {
        is_soft = info.type == H5L_TYPE_SOFT;
        id = h->o_open(t->m->root, path, t->access);
        if (id < 0 && (!is_soft || t->error->code != NC_NOERR))
            err = pnc_netcdf4_metadata_fail(t->m, "open", path);
        h->e_clear(H5E_DEFAULT);
    }
    if (id < 0) {
        pnc_memory_free(path);
        return err;
    }
    err = visit_object(t, group, id, is_soft, path);
    h->o_close(id);
    return err;
}

static bool is_order_kept(pnc_netcdf4_metadata *m, hid_t group)
{
    hid_t plist = m->h->g_get_create_plist(group);
    unsigned flags = 0;
    bool ordered =
        plist >= 0 && m->h->p_get_link_creation_order(plist, &flags) >= 0 && (flags & H5P_CRT_ORDER_TRACKED) != 0;

    if (plist >= 0)
        m->h->p_close(plist);
    return ordered;
}

bool pnc_netcdf4_order_is_kept(pnc_netcdf4_metadata *m)
{
    return is_order_kept(m, m->root);
}

static int read_link(pnc_tree *t, int64_t group, const char *name, bool is_whole)
{
    char *path;

    if (!is_whole)
        return NC_NOERR;
    path = join_path(t->groups[group].path, name);
    if (path == NULL)
        return pnc_netcdf4_tree_fail(t);
    if (is_short(path))
        return visit_link(t, group, path);
    pnc_memory_free(path);
    return NC_NOERR;
}

static int read_links(pnc_tree *t, int64_t group, hid_t id)
{
    const pnc_hdf5 *h = t->m->h;
    H5_index_t by = is_order_kept(t->m, id) ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
    const char *shown = group == 0 ? "/" : t->groups[group].path;
    H5G_info_t info;

    if (h->g_get_info(id, &info) < 0)
        return pnc_netcdf4_metadata_fail(t->m, "read group", shown);
    for (hsize_t i = 0; i < info.nlinks; i++) {
        char name[NC_MAX_NAME + sizeof PNC_NETCDF4_NOT_COORDINATE + 1];
        ssize_t length = h->l_get_name_by_idx(id, ".", by, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT);

        if (length < 0)
            return pnc_netcdf4_metadata_fail(t->m, "read the names of group", t->groups[group].path);
        PNC_TRY(read_link(t, group, name, (size_t)length < sizeof name));
    }
    return NC_NOERR;
}

/* Its depth is bounded by the length of a path. */
static int read_group(pnc_tree *t, int64_t group)
{
    hid_t id = t->m->h->g_open(t->m->root, group == 0 ? "." : t->groups[group].path, H5P_DEFAULT);
    int64_t children = t->ngroups;
    int err;

    if (id < 0)
        return pnc_netcdf4_metadata_fail(t->m, "open group", t->groups[group].path);
    t->groups[group].first = t->n;
    err = read_links(t, group, id);
    t->m->h->g_close(id);
    PNC_TRY(err);
    t->groups[group].n = t->n - t->groups[group].first;
    t->groups[group].children = children;
    t->groups[group].children_end = t->ngroups;
    for (int64_t i = children; i < t->groups[group].children_end; i++)
        PNC_TRY(read_group(t, i));
    return NC_NOERR;
}

static herr_t refuse_file(const char *parent, const char *group, const char *file, const char *object, unsigned *flags,
                          hid_t fapl, void *data)
{
    (void)parent, (void)group, (void)file, (void)object, (void)flags, (void)fapl, (void)data;
    return -1;
}

int pnc_netcdf4_tree_read(pnc_tree *t)
{
    pnc_tree_group *root = pnc_netcdf4_tree_reserve((void **)&t->groups, 0, &t->groups_capacity, sizeof *root);
    int err;

    if (root == NULL)
        return pnc_netcdf4_tree_fail(t);
    t->ngroups = 1;
    root->path = pnc_string_copy("");
    if (root->path == NULL)
        return pnc_netcdf4_tree_fail(t);
    if (t->m->h->r_create(&root->reference, t->m->root, ".", H5R_OBJECT, -1) < 0)
        return pnc_netcdf4_metadata_fail(t->m, "refer to", "/");
    t->access = t->m->h->p_create(t->m->h->link_access);
    if (t->access < 0 || t->m->h->p_set_elink_cb(t->access, refuse_file, NULL) < 0)
        err = pnc_netcdf4_metadata_fail(t->m, "follow links of", "/");
    else
        err = read_group(t, 0);
    if (t->access >= 0)
        t->m->h->p_close(t->access);
    return err == NC_NOERR ? find_aliases(t) : err;
}
