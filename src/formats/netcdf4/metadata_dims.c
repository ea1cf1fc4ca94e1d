/* The dimensions of an HDF5 file: dimension scales, and lengths of datasets that have none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "formats/netcdf4/metadata_tree.h"

static int add_dim(pnc_tree *t, const char *name, const pnc_tree_dim *like)
{
    pnc_tree_dim *dim = pnc_netcdf4_tree_reserve((void **)&t->dims, t->ndims, &t->dims_capacity, sizeof *dim);

    if (dim == NULL)
        return pnc_netcdf4_tree_fail(t);
    if (strlen(name) > NC_MAX_NAME)
        return pnc_error_set(t->error, NC_EMAXNAME, "%s: the name \"%.60s...\" has more than %d bytes",
                             t->m->source.file->path, name, NC_MAX_NAME);
    *dim = *like;
    strcpy(dim->name, name);
    t->ndims++;
    return NC_NOERR;
}

/* A scale in the order of dimensions. */
typedef struct ordered_scale {
    int64_t group, id, dataset; /* group: the number of its first dataset, which ascends with the order of groups */
} ordered_scale;

static int compare_scales(const void *a, const void *b)
{
    const ordered_scale *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->dataset < y->dataset ? -1 : x->dataset > y->dataset;
}

/* Scales are dimensions, in the order of their ids or else of their creation. Variables give an unlimited one its
 * length, as in netCDF-C: its scale may be longer. */
static int make_dims(pnc_tree *t)
{
    ordered_scale *scales = pnc_memory_alloc(t->n, sizeof *scales);
    int64_t n = 0;
    int err = scales == NULL ? pnc_netcdf4_tree_fail(t) : NC_NOERR;

    for (int64_t i = 0; i < t->n && err == NC_NOERR; i++)
        if (t->datasets[i].is_scale)
            scales[n++] = (ordered_scale){t->groups[t->datasets[i].group].first, t->datasets[i].own_id, i};
    if (n > 0)
        qsort(scales, (size_t)n, sizeof *scales, compare_scales);
    for (int64_t i = 0; i < n && err == NC_NOERR; i++) {
        pnc_tree_dataset *d = &t->datasets[scales[i].dataset];

        d->dim = t->ndims;
        err = add_dim(t, d->path,
                      &(pnc_tree_dim){.group = d->group,
                                      .length = d->is_unlimited[0] ? 0 : d->extent[0],
                                      .is_unlimited = d->is_unlimited[0],
                                      .reference = d->reference});
    }
    pnc_memory_free(scales);
    return err;
}

/* False: the path is too long. */
static bool name_phony_dim(const pnc_tree *t, int64_t group, char *name)
{
    const char *path = t->groups[group].path;
    int n =
        snprintf(name, NC_MAX_NAME + 1, "%s%sphony_dim_%lld", path, path[0] == '\0' ? "" : "/", (long long)t->ndims);

    return n <= NC_MAX_NAME;
}

/* A dimension without a scale: any of the group that has the same length, and is not one of the dataset already,
 * serves, as in netCDF-C. */
static int find_phony_dim(pnc_tree *t, pnc_tree_dataset *d, int position)
{
    char name[NC_MAX_NAME + 1];
    int64_t i = 0;

    for (; i < t->ndims; i++) {
        bool is_used = t->dims[i].group != d->group;

        for (int k = 0; k < position; k++)
            is_used = is_used || d->dimids[k] == i;
        if (!is_used && t->dims[i].length == d->extent[position] &&
            t->dims[i].is_unlimited == d->is_unlimited[position])
            break;
    }
    d->dimids[position] = i;
    if (i < t->ndims)
        return NC_NOERR;
    if (!name_phony_dim(t, d->group, name))
        snprintf(name, sizeof name, "phony_dim_%lld", (long long)t->ndims);
    return add_dim(
        t, name,
        &(pnc_tree_dim){.group = d->group, .length = d->extent[position], .is_unlimited = d->is_unlimited[position]});
}

static int64_t find_referred_dim(const pnc_tree *t, hobj_ref_t reference)
{
    for (int64_t i = 0; reference != 0 && i < t->ndims; i++)
        if (t->dims[i].reference == reference)
            return i;
    return -1;
}

/* The dimensions of a scale with several: hidden ids, which count all dimensions of the file. */
static bool find_coordinates(pnc_tree *t, hid_t id, pnc_tree_dataset *d)
{
    int64_t ids[PNC_STORAGE_DIMS_MOST];

    if (pnc_netcdf4_atts_get_integers(t->m, id, "_Netcdf4Coordinates", ids, PNC_STORAGE_DIMS_MOST) != d->ndims)
        return false;
    for (int k = 0; k < d->ndims; k++) {
        d->dimids[k] = -1;
        for (int64_t i = 0; i < t->n; i++)
            if (t->datasets[i].is_scale && t->datasets[i].own_id == ids[k])
                d->dimids[k] = t->datasets[i].dim;
        if (d->dimids[k] < 0)
            return false;
    }
    return true;
}

static int find_dims(pnc_tree *t, hid_t id, pnc_tree_dataset *d)
{
    hobj_ref_t references[PNC_STORAGE_DIMS_MOST] = {0};
    bool has_list = false;

    if (find_coordinates(t, id, d))
        return NC_NOERR;
    if (d->ndims > 0)
        has_list = pnc_netcdf4_atts_get_references(t->m, id, "DIMENSION_LIST", d->ndims, references);
    for (int k = 0; k < d->ndims; k++) {
        d->dimids[k] = has_list ? find_referred_dim(t, references[k]) : -1;
        if (k == 0 && d->is_scale)
            d->dimids[k] = d->dim;
        if (d->dimids[k] < 0)
            PNC_TRY(find_phony_dim(t, d, k));
    }
    return NC_NOERR;
}

/* An unlimited dimension is as long as the longest dataset along it. Another one must fit all. */
static int adjust_lengths(pnc_tree *t, const pnc_tree_dataset *d)
{
    for (int k = 0; k < d->ndims; k++) {
        pnc_tree_dim *dim = &t->dims[d->dimids[k]];

        if (d->extent[k] <= dim->length)
            continue;
        if (!dim->is_unlimited)
            return pnc_error_set(t->error, NC_EHDFERR,
                                 "%s: variable \"%s\" has length %lld along dimension \"%s\", which has length %lld",
                                 t->m->source.file->path, d->path, (long long)d->extent[k], dim->name,
                                 (long long)dim->length);
        dim->length = d->extent[k];
    }
    return NC_NOERR;
}

static int resolve_dataset(pnc_tree *t, pnc_tree_dataset *d)
{
    hid_t id;
    int err;

    if (!d->has_variable)
        return NC_NOERR;
    id = t->m->h->d_open(t->m->root, d->path, H5P_DEFAULT);
    if (id < 0)
        return pnc_netcdf4_metadata_fail(t->m, "open", d->path);
    err = find_dims(t, id, d);
    t->m->h->d_close(id);
    PNC_TRY(err);
    return adjust_lengths(t, d);
}

/* The children first: netCDF-C numbers dimensions without scales so. */
static int resolve_group(pnc_tree *t, int64_t group)
{
    const pnc_tree_group *g = &t->groups[group];

    for (int64_t i = g->children; i < g->children_end; i++)
        PNC_TRY(resolve_group(t, i));
    for (int64_t i = g->first; i < g->first + g->n; i++)
        PNC_TRY(resolve_dataset(t, &t->datasets[i]));
    return NC_NOERR;
}

/* Dimensions in the order of their groups, those of a group in the order in which they were found. */
static int compare_dims(const void *a, const void *b)
{
    const ordered_scale *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static void reorder_dims(pnc_tree *t, const ordered_scale *order, pnc_tree_dim *dims, int64_t *numbers)
{
    for (int64_t i = 0; i < t->ndims; i++) {
        dims[i] = t->dims[order[i].id];
        numbers[order[i].id] = i;
    }
    for (int64_t i = 0; i < t->n; i++)
        for (int k = 0; t->datasets[i].has_variable && k < t->datasets[i].ndims; k++)
            t->datasets[i].dimids[k] = numbers[t->datasets[i].dimids[k]];
    memcpy(t->dims, dims, (size_t)t->ndims * sizeof *dims);
}

/* If all dimensions are listed and the file numbers them, in that order: a dimension keeps the id with which it was
 * defined, as in netCDF-C. */
static void order_by_ids(const pnc_tree *t, ordered_scale *order)
{
    int64_t nscales = 0;

    for (int64_t i = 0; i < t->n; i++) {
        const pnc_tree_dataset *d = &t->datasets[i];

        nscales += d->is_scale && d->dim >= 0 && d->own_id >= 0;
    }
    for (int64_t i = 0; t->scope == PNC_NETCDF4_LISTED && nscales == t->ndims && i < t->n; i++) {
        const pnc_tree_dataset *d = &t->datasets[i];

        if (d->is_scale && d->dim >= 0)
            order[d->dim].group = d->own_id;
    }
}

/* Phony dimensions of the root group may be behind those of its children. */
static int sort_dims(pnc_tree *t)
{
    ordered_scale *order = pnc_memory_alloc(t->ndims, sizeof *order);
    int64_t *numbers = pnc_memory_alloc(t->ndims, sizeof *numbers);
    pnc_tree_dim *dims = pnc_memory_alloc(t->ndims, sizeof *dims);
    int err = order == NULL || numbers == NULL || dims == NULL ? pnc_netcdf4_tree_fail(t) : NC_NOERR;

    for (int64_t i = 0; err == NC_NOERR && i < t->ndims; i++)
        order[i] = (ordered_scale){t->groups[t->dims[i].group].first, i, 0};
    if (err == NC_NOERR && t->ndims > 1) {
        order_by_ids(t, order);
        qsort(order, (size_t)t->ndims, sizeof *order, compare_dims);
        reorder_dims(t, order, dims, numbers);
    }
    pnc_memory_free(order);
    pnc_memory_free(numbers);
    pnc_memory_free(dims);
    return err;
}

int pnc_netcdf4_tree_resolve(pnc_tree *t)
{
    PNC_TRY(make_dims(t));
    PNC_TRY(resolve_group(t, 0));
    return t->ngroups > 1 ? sort_dims(t) : NC_NOERR;
}
