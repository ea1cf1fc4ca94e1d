/* Dimension scales: what H5DS functions of libhdf5_hl write. A scale has the attributes CLASS and NAME, and in
 * REFERENCE_LIST the datasets that use it, each with the position of the dimension. Those have references to their
 * scales in DIMENSION_LIST, a list for each dimension. */
#include "formats/netcdf4/metadata_scales.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

#define REFERENCE_LIST "REFERENCE_LIST"
#define DIMENSION_LIST "DIMENSION_LIST"

static bool has_scale_name(pnc_netcdf4_metadata *m, hid_t object, const char *prefix)
{
    char text[128];

    return pnc_netcdf4_atts_get_text(m, object, "NAME", text, sizeof text) &&
           strncmp(text, prefix, strlen(prefix)) == 0;
}

bool pnc_netcdf4_scale_has_variable(pnc_netcdf4_metadata *m, hid_t dataset)
{
    return !has_scale_name(m, dataset, PNC_NETCDF4_NO_VARIABLE);
}

bool pnc_netcdf4_scale_is(pnc_netcdf4_metadata *m, hid_t dataset)
{
    char text[128];

    return pnc_netcdf4_atts_get_text(m, dataset, "CLASS", text, sizeof text) && strcmp(text, "DIMENSION_SCALE") == 0;
}

/* With the zero at its end, as H5DSset_scale. */
static int put_string(pnc_netcdf4_metadata *m, hid_t object, const char *name, const char *text)
{
    return pnc_netcdf4_atts_put_text(m, object, name, text, (int64_t)strlen(text) + 1);
}

int pnc_netcdf4_scale_set(pnc_netcdf4_metadata *m, hid_t dataset, const char *name, int id)
{
    PNC_TRY(put_string(m, dataset, "CLASS", "DIMENSION_SCALE"));
    PNC_TRY(put_string(m, dataset, "NAME", name));
    return pnc_netcdf4_atts_put_integers(m, dataset, "_Netcdf4Dimid", &id, 1, true);
}

int pnc_netcdf4_scale_remove(pnc_netcdf4_metadata *m, hid_t dataset)
{
    static const char *const names[] = {"CLASS", "NAME", "_Netcdf4Dimid", REFERENCE_LIST};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        PNC_TRY(pnc_netcdf4_atts_remove(m, dataset, names[i]));
    return NC_NOERR;
}

/* --- scales of dimensions without a variable --- */

/* As netCDF-C: of a type that nothing else has, and without values. */
static hid_t create_empty(pnc_netcdf4_metadata *m, const char *path, int64_t length, bool is_unlimited)
{
    const pnc_hdf5 *h = m->h;
    const hsize_t extent = (hsize_t)length, most = is_unlimited ? H5S_UNLIMITED : extent, chunk = 1;
    hid_t dcpl = pnc_netcdf4_dataset_properties_create(h), space = h->s_create_simple(1, &extent, &most), out = -1;

    if (dcpl >= 0 && space >= 0 && (!is_unlimited || h->p_set_chunk(dcpl, 1, &chunk) >= 0))
        out = h->d_create(m->root, path, h->f32be, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    if (space >= 0)
        h->s_close(space);
    if (dcpl >= 0)
        h->p_close(dcpl);
    return out;
}

int pnc_netcdf4_scale_create(pnc_netcdf4_metadata *m, const char *path, int64_t length, bool is_unlimited, int id)
{
    char name[sizeof PNC_NETCDF4_NO_VARIABLE + 32];
    hid_t dataset = create_empty(m, path, length, is_unlimited);
    int err;

    if (dataset < 0)
        return pnc_netcdf4_metadata_fail(m, "create dimension", path);
    snprintf(name, sizeof name, "%s.%10lld", PNC_NETCDF4_NO_VARIABLE, (long long)length);
    err = pnc_netcdf4_scale_set(m, dataset, name, id);
    m->h->d_close(dataset);
    return err;
}

/* --- REFERENCE_LIST --- */

/* Of an element in memory. */
static hid_t make_use_type(const pnc_hdf5 *h)
{
    hid_t type = h->t_create(H5T_COMPOUND, sizeof(pnc_scale_use));

    if (type >= 0 && h->t_insert(type, "dataset", offsetof(pnc_scale_use, dataset), h->reference) >= 0 &&
        h->t_insert(type, "dimension", offsetof(pnc_scale_use, position), h->sint) >= 0)
        return type;
    if (type >= 0)
        h->t_close(type);
    return -1;
}

static int read_uses(pnc_netcdf4_metadata *m, hid_t att, hid_t type, pnc_scale_uses *out)
{
    const pnc_hdf5 *h = m->h;
    hid_t space = h->a_get_space(att);
    int64_t n = space < 0 ? -1 : (int64_t)h->s_get_simple_extent_npoints(space);

    if (space >= 0)
        h->s_close(space);
    if (n < 0 || n > pnc_netcdf4_source_get_end(&m->source) / (int64_t)sizeof(hobj_ref_t))
        return pnc_netcdf4_metadata_fail(m, "read attribute", REFERENCE_LIST);
    if (!pnc_netcdf4_scale_uses_reserve(out, n))
        return pnc_error_set(m->source.file->error, NC_ENOMEM, "%s: no memory for dimensions", m->source.file->path);
    if (n > 0 && h->a_read(att, type, out->at) < 0)
        return pnc_netcdf4_metadata_fail(m, "read attribute", REFERENCE_LIST);
    out->n = n;
    return NC_NOERR;
}

bool pnc_netcdf4_scale_uses_reserve(pnc_scale_uses *uses, int64_t n)
{
    return pnc_memory_grow(&uses->at, &uses->capacity, n, sizeof *uses->at);
}

int pnc_netcdf4_scale_uses_read(pnc_netcdf4_metadata *m, hid_t dataset, pnc_scale_uses *out)
{
    const pnc_hdf5 *h = m->h;
    hid_t att, type;
    int err = NC_NOERR;

    out->n = 0;
    if (h->a_exists(dataset, REFERENCE_LIST) <= 0)
        return NC_NOERR;
    att = h->a_open(dataset, REFERENCE_LIST, H5P_DEFAULT);
    type = make_use_type(h);
    if (att < 0 || type < 0)
        err = pnc_netcdf4_metadata_fail(m, "open attribute", REFERENCE_LIST);
    else
        err = read_uses(m, att, type, out);
    if (type >= 0)
        h->t_close(type);
    if (att >= 0)
        h->a_close(att);
    return err;
}

/* Replace an attribute of n values, whose type is closed; negative: it could not be made. */
static int replace_list(pnc_netcdf4_metadata *m, hid_t dataset, const char *name, hid_t type, hsize_t n,
                        const void *values)
{
    const pnc_hdf5 *h = m->h;
    hid_t space = h->s_create_simple(1, &n, NULL), att = -1;
    int err = pnc_netcdf4_atts_remove(m, dataset, name);

    if (err == NC_NOERR && type >= 0 && space >= 0)
        att = h->a_create(dataset, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (err == NC_NOERR && (att < 0 || h->a_write(att, type, values) < 0))
        err = pnc_netcdf4_metadata_fail(m, "write attribute", name);
    if (att >= 0)
        h->a_close(att);
    if (space >= 0)
        h->s_close(space);
    if (type >= 0)
        h->t_close(type);
    return err;
}

int pnc_netcdf4_scale_uses_write(pnc_netcdf4_metadata *m, hid_t dataset, const pnc_scale_uses *uses)
{
    if (uses->n == 0)
        return pnc_netcdf4_atts_remove(m, dataset, REFERENCE_LIST);
    return replace_list(m, dataset, REFERENCE_LIST, make_use_type(m->h), (hsize_t)uses->n, uses->at);
}

/* --- DIMENSION_LIST --- */

static int write_lists(pnc_netcdf4_metadata *m, hid_t dataset, const hvl_t *lists, int n)
{
    return replace_list(m, dataset, DIMENSION_LIST, m->h->t_vlen_create(m->h->reference), (hsize_t)n, lists);
}

int pnc_netcdf4_dim_list_write(pnc_netcdf4_metadata *m, hid_t dataset, hobj_ref_t *scales, int n)
{
    hvl_t lists[PNC_STORAGE_DIMS_MOST];

    for (int d = 0; d < n; d++)
        lists[d] = scales[d] == 0 ? (hvl_t){0, NULL} : (hvl_t){1, &scales[d]};
    return write_lists(m, dataset, lists, n);
}

int pnc_netcdf4_dim_list_remove(pnc_netcdf4_metadata *m, hid_t dataset)
{
    return pnc_netcdf4_atts_remove(m, dataset, DIMENSION_LIST);
}

/* The first reference of each list is replaced: those of netCDF files have one. */
int pnc_netcdf4_dim_list_replace(pnc_netcdf4_metadata *m, hid_t dataset, int n, hobj_ref_t from, hobj_ref_t to)
{
    hobj_ref_t scales[PNC_STORAGE_DIMS_MOST];

    if (n < 1 || n > PNC_STORAGE_DIMS_MOST || !pnc_netcdf4_atts_get_references(m, dataset, DIMENSION_LIST, n, scales))
        return NC_NOERR;
    for (int d = 0; d < n; d++)
        if (scales[d] == from)
            scales[d] = to;
    return pnc_netcdf4_dim_list_write(m, dataset, scales, n);
}

/* --- lengths --- */

/* The scale without a variable of a dimension that has become longer. */
static int extend_scale(pnc_netcdf4_metadata *m, hobj_ref_t reference, int64_t length, const char *path)
{
    const pnc_hdf5 *h = m->h;
    hid_t scale = h->r_dereference(m->root, H5P_DEFAULT, H5R_OBJECT, &reference), space;
    hsize_t now = 0, most = 0, wanted = (hsize_t)length;
    int err = NC_NOERR;

    if (scale < 0)
        return pnc_netcdf4_metadata_fail(m, "open the dimensions of", path);
    if (h->i_get_type(scale) == H5I_DATASET && !pnc_netcdf4_scale_has_variable(m, scale)) {
        space = h->d_get_space(scale);
        if (space >= 0 && h->s_get_simple_extent_ndims(space) == 1)
            h->s_get_simple_extent_dims(space, &now, &most);
        if (space >= 0)
            h->s_close(space);
        if (most == H5S_UNLIMITED && now < wanted && h->d_set_extent(scale, &wanted) < 0)
            err = pnc_netcdf4_metadata_fail(m, "extend the dimensions of", path);
    }
    h->o_close(scale);
    return err;
}

int pnc_netcdf4_scales_extend(pnc_netcdf4_metadata *m, hid_t dataset, const char *path, int ndims,
                              const int64_t *lengths)
{
    hobj_ref_t scales[PNC_STORAGE_DIMS_MOST];

    if (!pnc_netcdf4_atts_get_references(m, dataset, DIMENSION_LIST, ndims, scales))
        return NC_NOERR;
    for (int d = 0; d < ndims; d++)
        if (scales[d] != 0)
            PNC_TRY(extend_scale(m, scales[d], lengths[d], path));
    return NC_NOERR;
}
