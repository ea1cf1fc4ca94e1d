/* The dimensions and variables of the root group of an HDF5 file. */
#include "formats/netcdf4/metadata_hdf5.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* A dataset of the group. */
typedef struct group_dataset {
    char *path;
    int ndims;
    int64_t extent[PNC_STORAGE_DIMS_MOST];
    bool is_unlimited[PNC_STORAGE_DIMS_MOST];
    bool is_scale, has_variable;
    hobj_ref_t reference;
    int64_t own_id; /* _Netcdf4Dimid; -1: none */
    int64_t dim;    /* the dimension whose scale it is; -1: none */
    int64_t dimids[PNC_STORAGE_DIMS_MOST];
} group_dataset;

typedef struct group_dim {
    char name[NC_MAX_NAME + 1];
    int64_t length;
    bool is_unlimited;
    hobj_ref_t reference; /* of the scale; 0: none */
} group_dim;

/* What is read before it is described. */
typedef struct root_group {
    pnc_netcdf4_metadata *m;
    pnc_error *error;
    group_dataset *datasets;
    int64_t n, capacity;
    group_dim *dims;
    int64_t ndims, dims_capacity;
} root_group;

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

static int lack_group_memory(root_group *g)
{
    return pnc_error_set(g->error, NC_ENOMEM, "%s: no memory for the definitions", g->m->source.file->path);
}

/* --- datasets --- */

static void free_group(root_group *g)
{
    for (int64_t i = 0; i < g->n; i++)
        pnc_memory_free(g->datasets[i].path);
    pnc_memory_free(g->datasets);
    pnc_memory_free(g->dims);
}

static int get_dataset_extent(root_group *g, hid_t id, group_dataset *d)
{
    const pnc_hdf5 *h = g->m->h;
    hsize_t lengths[PNC_STORAGE_DIMS_MOST], most[PNC_STORAGE_DIMS_MOST];
    hid_t space = h->d_get_space(id);
    int ndims = space < 0 ? -1 : h->s_get_simple_extent_ndims(space);
    bool good = ndims >= 0 && ndims <= PNC_STORAGE_DIMS_MOST && h->s_get_simple_extent_dims(space, lengths, most) >= 0;

    if (space >= 0)
        h->s_close(space);
    if (!good)
        return pnc_netcdf4_metadata_fail(g->m, "read the shape of", d->path);
    d->ndims = ndims;
    for (int i = 0; i < ndims; i++) {
        d->extent[i] = (int64_t)lengths[i];
        d->is_unlimited[i] = most[i] == H5S_UNLIMITED;
        if (d->extent[i] < 0)
            return pnc_error_set(g->error, NC_EHDFERR, "%s: dataset \"%s\" has a length of more than 2^63",
                                 g->m->source.file->path, d->path);
    }
    return NC_NOERR;
}

static int get_scale(root_group *g, hid_t id, group_dataset *d)
{
    char text[128];
    int64_t own;

    d->has_variable = true;
    d->own_id = d->dim = -1;
    d->is_scale = d->ndims > 0 && pnc_netcdf4_atts_get_text(g->m, id, "CLASS", text, sizeof text) &&
                  strcmp(text, "DIMENSION_SCALE") == 0;
    if (!d->is_scale)
        return NC_NOERR;
    if (pnc_netcdf4_atts_get_text(g->m, id, "NAME", text, sizeof text))
        d->has_variable = strncmp(text, PNC_NETCDF4_NO_VARIABLE, strlen(PNC_NETCDF4_NO_VARIABLE)) != 0;
    if (pnc_netcdf4_atts_get_integers(g->m, id, "_Netcdf4Dimid", &own, 1) == 1)
        d->own_id = own;
    if (g->m->h->r_create(&d->reference, g->m->root, d->path, H5R_OBJECT, -1) < 0)
        return pnc_netcdf4_metadata_fail(g->m, "refer to", d->path);
    return NC_NOERR;
}

/* `path` becomes that of the dataset. */
static int add_dataset(root_group *g, hid_t id, char *path)
{
    int64_t capacity = g->capacity > 0 ? 2 * g->capacity : 16;
    group_dataset *d;

    if (g->n == g->capacity) {
        d = pnc_memory_resize(g->datasets, capacity, sizeof *d);
        if (d == NULL) {
            pnc_memory_free(path);
            return lack_group_memory(g);
        }
        g->datasets = d;
        g->capacity = capacity;
    }
    d = &g->datasets[g->n++];
    memset(d, 0, sizeof *d);
    d->path = path;
    PNC_TRY(get_dataset_extent(g, id, d));
    return get_scale(g, id, d);
}

/* Links to other files are not followed. */
static int visit_link(root_group *g, char *path)
{
    const pnc_hdf5 *h = g->m->h;
    PNC_H5L_INFO info;
    hid_t id;
    int err;

    if (h->l_get_info(g->m->root, path, &info, H5P_DEFAULT) < 0) {
        err = pnc_netcdf4_metadata_fail(g->m, "read the link", path);
        pnc_memory_free(path);
        return err;
    }
    id = info.type == H5L_TYPE_HARD ? h->o_open(g->m->root, path, H5P_DEFAULT) : -1;
    if (info.type == H5L_TYPE_HARD && id < 0) {
        err = pnc_netcdf4_metadata_fail(g->m, "open", path);
        pnc_memory_free(path);
        return err;
    }
    if (id >= 0 && h->i_get_type(id) == H5I_DATASET) {
        err = add_dataset(g, id, path);
    } else {
        err = NC_NOERR;
        pnc_memory_free(path);
    }
    if (id >= 0)
        h->o_close(id);
    return err;
}

bool pnc_netcdf4_order_is_kept(pnc_netcdf4_metadata *m)
{
    hid_t plist = m->h->g_get_create_plist(m->root);
    unsigned flags = 0;
    bool ordered =
        plist >= 0 && m->h->p_get_link_creation_order(plist, &flags) >= 0 && (flags & H5P_CRT_ORDER_TRACKED) != 0;

    if (plist >= 0)
        m->h->p_close(plist);
    return ordered;
}

static int read_links(root_group *g)
{
    const pnc_hdf5 *h = g->m->h;
    H5_index_t by = pnc_netcdf4_order_is_kept(g->m) ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
    H5G_info_t info;

    if (h->g_get_info(g->m->root, &info) < 0)
        return pnc_netcdf4_metadata_fail(g->m, "read group", "/");
    for (hsize_t i = 0; i < info.nlinks; i++) {
        char name[NC_MAX_NAME + sizeof PNC_NETCDF4_NOT_COORDINATE + 1];
        ssize_t length = h->l_get_name_by_idx(g->m->root, ".", by, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT);
        char *path;

        if (length < 0)
            return pnc_netcdf4_metadata_fail(g->m, "read the names of group", "/");
        if ((size_t)length >= sizeof name)
            return pnc_error_set(g->error, NC_EMAXNAME, "%s: the name \"%.60s...\" has more than %d bytes",
                                 g->m->source.file->path, name, NC_MAX_NAME);
        path = pnc_string_copy(name);
        if (path == NULL)
            return lack_group_memory(g);
        PNC_TRY(visit_link(g, path));
    }
    return NC_NOERR;
}

/* --- dimensions --- */

static int add_dim(root_group *g, const char *name, int64_t length, bool is_unlimited, hobj_ref_t reference)
{
    int64_t capacity = g->dims_capacity > 0 ? 2 * g->dims_capacity : 16;
    group_dim *dim;

    if (g->ndims == g->dims_capacity) {
        dim = pnc_memory_resize(g->dims, capacity, sizeof *dim);
        if (dim == NULL)
            return lack_group_memory(g);
        g->dims = dim;
        g->dims_capacity = capacity;
    }
    if (strlen(name) > NC_MAX_NAME)
        return pnc_error_set(g->error, NC_EMAXNAME, "%s: the name \"%.60s...\" has more than %d bytes",
                             g->m->source.file->path, name, NC_MAX_NAME);
    dim = &g->dims[g->ndims++];
    *dim = (group_dim){.length = length, .is_unlimited = is_unlimited, .reference = reference};
    strcpy(dim->name, name);
    return NC_NOERR;
}

/* A scale in the order of dimensions. */
typedef struct ordered_scale {
    int64_t id, dataset;
} ordered_scale;

static int compare_scales(const void *a, const void *b)
{
    const ordered_scale *x = a, *y = b;

    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->dataset < y->dataset ? -1 : x->dataset > y->dataset;
}

/* Scales are dimensions, in the order of their ids or else of their creation. */
static int make_dims(root_group *g)
{
    ordered_scale *scales = pnc_memory_alloc(g->n, sizeof *scales);
    int64_t n = 0;
    int err = scales == NULL ? lack_group_memory(g) : NC_NOERR;

    for (int64_t i = 0; i < g->n && err == NC_NOERR; i++)
        if (g->datasets[i].is_scale)
            scales[n++] = (ordered_scale){g->datasets[i].own_id, i};
    if (n > 0)
        qsort(scales, (size_t)n, sizeof *scales, compare_scales);
    for (int64_t i = 0; i < n && err == NC_NOERR; i++) {
        group_dataset *d = &g->datasets[scales[i].dataset];

        d->dim = g->ndims;
        err = add_dim(g, d->path, d->extent[0], d->is_unlimited[0], d->reference);
    }
    pnc_memory_free(scales);
    return err;
}

/* A dimension without a scale: any that has the same length, and is not one of the dataset already, serves, as in
 * netCDF-C. */
static int find_phony_dim(root_group *g, group_dataset *d, int position)
{
    char name[NC_MAX_NAME + 1];
    int64_t i = 0;

    for (; i < g->ndims; i++) {
        bool is_used = false;

        for (int k = 0; k < position; k++)
            is_used = is_used || d->dimids[k] == i;
        if (!is_used && g->dims[i].length == d->extent[position] &&
            g->dims[i].is_unlimited == d->is_unlimited[position])
            break;
    }
    d->dimids[position] = i;
    if (i < g->ndims)
        return NC_NOERR;
    snprintf(name, sizeof name, "phony_dim_%lld", (long long)g->ndims);
    return add_dim(g, name, d->extent[position], d->is_unlimited[position], 0);
}

static int64_t find_referred_dim(const root_group *g, hobj_ref_t reference)
{
    for (int64_t i = 0; reference != 0 && i < g->ndims; i++)
        if (g->dims[i].reference == reference)
            return i;
    return -1;
}

/* The dimensions of a scale with several: hidden ids, which count all dimensions of the file. */
static bool find_coordinates(root_group *g, hid_t id, group_dataset *d)
{
    int64_t ids[PNC_STORAGE_DIMS_MOST];

    if (pnc_netcdf4_atts_get_integers(g->m, id, "_Netcdf4Coordinates", ids, PNC_STORAGE_DIMS_MOST) != d->ndims)
        return false;
    for (int k = 0; k < d->ndims; k++) {
        d->dimids[k] = -1;
        for (int64_t i = 0; i < g->n; i++)
            if (g->datasets[i].is_scale && g->datasets[i].own_id == ids[k])
                d->dimids[k] = g->datasets[i].dim;
        if (d->dimids[k] < 0)
            return false;
    }
    return true;
}

static int find_dims(root_group *g, hid_t id, group_dataset *d)
{
    hobj_ref_t references[PNC_STORAGE_DIMS_MOST] = {0};
    bool has_list = false;

    if (find_coordinates(g, id, d))
        return NC_NOERR;
    if (d->ndims > 0)
        has_list = pnc_netcdf4_atts_get_references(g->m, id, "DIMENSION_LIST", d->ndims, references);
    for (int k = 0; k < d->ndims; k++) {
        d->dimids[k] = has_list ? find_referred_dim(g, references[k]) : -1;
        if (k == 0 && d->is_scale)
            d->dimids[k] = d->dim;
        if (d->dimids[k] < 0)
            PNC_TRY(find_phony_dim(g, d, k));
    }
    return NC_NOERR;
}

/* An unlimited dimension is as long as the longest dataset along it. Another one must fit all. */
static int adjust_lengths(root_group *g, const group_dataset *d)
{
    for (int k = 0; k < d->ndims; k++) {
        group_dim *dim = &g->dims[d->dimids[k]];

        if (d->extent[k] <= dim->length)
            continue;
        if (!dim->is_unlimited)
            return pnc_error_set(g->error, NC_EHDFERR,
                                 "%s: variable \"%s\" has length %lld along dimension \"%s\", which has length %lld",
                                 g->m->source.file->path, d->path, (long long)d->extent[k], dim->name,
                                 (long long)dim->length);
        dim->length = d->extent[k];
    }
    return NC_NOERR;
}

static int resolve_dims(root_group *g)
{
    PNC_TRY(make_dims(g));
    for (int64_t i = 0; i < g->n; i++) {
        group_dataset *d = &g->datasets[i];
        hid_t id;
        int err;

        if (!d->has_variable)
            continue;
        id = g->m->h->d_open(g->m->root, d->path, H5P_DEFAULT);
        if (id < 0)
            return pnc_netcdf4_metadata_fail(g->m, "open", d->path);
        err = find_dims(g, id, d);
        g->m->h->d_close(id);
        PNC_TRY(err);
        PNC_TRY(adjust_lengths(g, d));
    }
    return NC_NOERR;
}

/* --- the description --- */

static const char *get_var_name(const group_dataset *d)
{
    size_t n = strlen(PNC_NETCDF4_NOT_COORDINATE);

    return strncmp(d->path, PNC_NETCDF4_NOT_COORDINATE, n) == 0 ? d->path + n : d->path;
}

static bool is_att_ordered(pnc_netcdf4_metadata *m, hid_t plist)
{
    unsigned flags = 0;

    return plist >= 0 && m->h->p_get_attr_creation_order(plist, &flags) >= 0 && (flags & H5P_CRT_ORDER_TRACKED) != 0;
}

static int describe_open_var(root_group *g, hid_t id, const group_dataset *d, int64_t *places, pnc_netcdf4_writer *out)
{
    const pnc_hdf5 *h = g->m->h;
    hid_t type_id = h->d_get_type(id), plist = h->d_get_create_plist(id);
    bool is_big_endian, is_ordered = is_att_ordered(g->m, plist);
    int type;

    if (plist >= 0)
        h->p_close(plist);
    if (type_id < 0)
        return pnc_netcdf4_metadata_fail(g->m, "read the type of", d->path);
    type = pnc_netcdf4_type_identify(h, type_id, &is_big_endian);
    h->t_close(type_id);
    pnc_netcdf4_var_write(out, get_var_name(d), type, d->ndims, d->dimids);
    PNC_TRY(pnc_netcdf4_atts_describe(g->m, id, is_ordered, d->path, out));
    return pnc_netcdf4_storage_describe(g->m, id, d->path, type, is_big_endian, d->ndims, d->extent, places, out);
}

static int describe_group_vars(root_group *g, int64_t places, pnc_netcdf4_writer *out)
{
    for (int64_t i = 0; i < g->n; i++) {
        hid_t id;
        int err;

        if (!g->datasets[i].has_variable)
            continue;
        id = g->m->h->d_open(g->m->root, g->datasets[i].path, H5P_DEFAULT);
        if (id < 0)
            return pnc_netcdf4_metadata_fail(g->m, "open", g->datasets[i].path);
        err = describe_open_var(g, id, &g->datasets[i], &places, out);
        g->m->h->d_close(id);
        PNC_TRY(err);
    }
    return NC_NOERR;
}

static int describe_group(root_group *g, int64_t most_places, pnc_netcdf4_writer *out)
{
    pnc_netcdf4_metadata *m = g->m;
    hid_t plist = m->h->g_get_create_plist(m->root);
    bool is_ordered = is_att_ordered(m, plist), is_strict = m->h->a_exists(m->root, "_nc3_strict") > 0;
    int64_t nvars = 0;

    if (plist >= 0)
        m->h->p_close(plist);
    for (int64_t i = 0; i < g->n; i++)
        nvars += g->datasets[i].has_variable;
    pnc_netcdf4_head_write(out, is_strict ? NC_FORMAT_NETCDF4_CLASSIC : NC_FORMAT_NETCDF4, g->ndims, nvars);
    for (const group_dim *dim = g->dims; dim < g->dims + g->ndims; dim++)
        pnc_netcdf4_dim_write(out, dim->name, dim->length, dim->is_unlimited);
    PNC_TRY(pnc_netcdf4_atts_describe(m, m->root, is_ordered, "/", out));
    PNC_TRY(describe_group_vars(g, most_places, out));
    return out->failed ? lack_group_memory(g) : NC_NOERR;
}

int pnc_netcdf4_metadata_describe(pnc_netcdf4_metadata *m, int64_t most_places, pnc_netcdf4_writer *out)
{
    root_group g = {.m = m, .error = m->source.file->error};
    pnc_hdf5_visit visit;
    int err;

    if (pnc_netcdf4_library_begin(&visit, g.error) == NULL)
        return NC_ENOTBUILT;
    err = read_links(&g);
    if (err == NC_NOERR)
        err = resolve_dims(&g);
    if (err == NC_NOERR)
        err = describe_group(&g, most_places, out);
    pnc_netcdf4_library_end(&visit);
    free_group(&g);
    return err;
}
