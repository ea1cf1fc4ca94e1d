/* Datasets of variables: created with their storage. */
#include "formats/netcdf4/metadata_hdf5.h"

#include <string.h>

#include "base/memory.h"
#include "format/strings.h"

/* --- filters that libhdf5 does not have --- */

static size_t refuse_to_filter(unsigned flags, size_t n, const unsigned *parameters, size_t bytes, size_t *capacity,
                               void **buffer)
{
    (void)flags, (void)n, (void)parameters, (void)bytes, (void)capacity, (void)buffer;
    return 0;
}

static void lend_filter(const pnc_hdf5 *h, int id, pnc_hdf5_loan *loan)
{
    const H5Z_class2_t filter = {.version = H5Z_CLASS_T_VERS,
                                 .id = id,
                                 .encoder_present = 1,
                                 .decoder_present = 1,
                                 .name = "by pnetcdf",
                                 .filter = refuse_to_filter};

    if (h->z_filter_avail(id) <= 0 && h->z_register(&filter) >= 0)
        loan->ids[loan->n++] = id;
}

void pnc_netcdf4_filters_register(const pnc_hdf5 *h, hid_t dataset, pnc_hdf5_loan *loan)
{
    hid_t dcpl = h->d_get_create_plist(dataset);
    int n = dcpl >= 0 ? h->p_get_nfilters(dcpl) : 0;

    loan->n = 0;
    for (int i = 0; i < n && i < PNC_FILTER_MOST; i++) {
        unsigned flags, config;
        size_t count = 0;
        H5Z_filter_t id = h->p_get_filter(dcpl, (unsigned)i, &flags, &count, NULL, 0, NULL, &config);

        if (id > 0)
            lend_filter(h, id, loan);
    }
    if (dcpl >= 0)
        h->p_close(dcpl);
}

void pnc_netcdf4_filters_remove(const pnc_hdf5 *h, const pnc_hdf5_loan *loan)
{
    for (int i = 0; i < loan->n; i++)
        h->z_unregister(loan->ids[i]);
}

/* --- creation properties --- */

static bool set_chunk_filters(const pnc_hdf5 *h, hid_t dcpl, const pnc_var *var, pnc_hdf5_loan *loan)
{
    const pnc_storage *storage = var->storage;
    hsize_t chunk[PNC_STORAGE_DIMS_MOST];

    for (int d = 0; d < var->ndims; d++)
        chunk[d] = (hsize_t)storage->chunks[d];
    if (h->p_set_chunk(dcpl, var->ndims, chunk) < 0)
        return false;
    for (int i = 0; i < storage->nfilters; i++) {
        const pnc_filter *f = &storage->filters[i];
        bool is_optional = f->is_optional || f->id == PNC_FILTER_SZIP; /* libhdf5 cannot encode what becomes longer */

        lend_filter(h, f->id, loan);
        if (h->p_set_filter(dcpl, f->id, is_optional ? H5Z_FLAG_OPTIONAL : H5Z_FLAG_MANDATORY, (size_t)f->nparameters,
                            f->parameters) < 0)
            return false;
    }
    return true;
}

/* libhdf5 does not read strings of chunks that were never written (in HDF5 1.10): those of strings have fill values as
 * soon as they exist. */
static bool set_var_chunks(const pnc_hdf5 *h, hid_t dcpl, const pnc_var *var, pnc_hdf5_loan *loan)
{
    return set_chunk_filters(h, dcpl, var, loan) &&
           (var->type != NC_STRING || h->p_set_alloc_time(dcpl, H5D_ALLOC_TIME_EARLY) >= 0);
}

/* Values in one part have an address at once, and who writes the variable fills it: libhdf5, of strings. */
static bool set_layout(const pnc_hdf5 *h, hid_t dcpl, const pnc_var *var, pnc_hdf5_loan *loan)
{
    switch (var->storage->layout) {
    case NC_CHUNKED: return set_var_chunks(h, dcpl, var, loan);
    case NC_COMPACT: return h->p_set_layout(dcpl, H5D_COMPACT) >= 0;
    default:
        if (var->type == NC_STRING)
            return h->p_set_layout(dcpl, H5D_CONTIGUOUS) >= 0;
        return h->p_set_layout(dcpl, H5D_CONTIGUOUS) >= 0 && h->p_set_alloc_time(dcpl, H5D_ALLOC_TIME_EARLY) >= 0 &&
               h->p_set_fill_time(dcpl, H5D_FILL_TIME_NEVER) >= 0;
    }
}

hid_t pnc_netcdf4_dataset_properties_create(const pnc_hdf5 *h)
{
    hid_t dcpl = h->p_create(h->dataset_create);

    if (dcpl >= 0 && h->p_set_attr_creation_order(dcpl, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) >= 0 &&
        h->p_set_obj_track_times(dcpl, false) >= 0)
        return dcpl;
    if (dcpl >= 0)
        h->p_close(dcpl);
    return -1;
}

/* Negative after an error. */
static hid_t make_space(const pnc_hdf5 *h, const pnc_model *model, const pnc_var *var)
{
    hsize_t lengths[PNC_STORAGE_DIMS_MOST], most[PNC_STORAGE_DIMS_MOST];

    if (var->ndims == 0)
        return h->s_create(H5S_SCALAR);
    for (int d = 0; d < var->ndims; d++) {
        lengths[d] = (hsize_t)pnc_format_var_get_length(model, var, d);
        most[d] = model->dims[var->dimids[d]]->unlimited ? H5S_UNLIMITED : lengths[d];
    }
    return h->s_create_simple(var->ndims, lengths, most);
}

/* libhdf5 copies it. */
static bool set_fill_string(const pnc_hdf5 *h, hid_t dcpl, const pnc_var *var, hid_t type)
{
    char *fill = pnc_format_strings_make_fill(var);
    bool good = fill != NULL && h->p_set_fill_value(dcpl, type, &fill) >= 0;

    pnc_memory_free(fill);
    return good;
}

static bool set_var_fill(const pnc_hdf5 *h, hid_t dcpl, const pnc_model *model, const pnc_var *var, hid_t type)
{
    unsigned char fill[8];

    if (var->type == NC_STRING)
        return set_fill_string(h, dcpl, var, type);
    if (var->storage->no_fill_value)
        return true;
    pnc_format_var_get_fill_value(model, var, fill);
    return h->p_set_fill_value(dcpl, pnc_netcdf4_type_get(h, var->type, !var->little), fill) >= 0;
}

/* Negative after an error. One of strings is closed. */
static hid_t make_type(const pnc_hdf5 *h, const pnc_var *var)
{
    const int endian = var->storage->endian;

    if (var->type == NC_STRING)
        return pnc_netcdf4_string_type_create(h);
    return pnc_netcdf4_type_get(h, var->type,
                                endian == NC_ENDIAN_BIG || (endian == NC_ENDIAN_NATIVE && !PNC_HOST_IS_LITTLE));
}

/* --- datasets --- */

static int check_shape(pnc_netcdf4_metadata *m, const pnc_var *var)
{
    const pnc_file *file = m->source.file;

    if (var->ndims > PNC_STORAGE_DIMS_MOST)
        return pnc_error_set(file->error, NC_EMAXDIMS,
                             "%s: variable \"%s\" has %d dimensions: at most %d are possible in a netCDF-4 file",
                             file->path, var->name, var->ndims, PNC_STORAGE_DIMS_MOST);
    for (int d = 0; d < var->ndims && var->storage->layout == NC_CHUNKED; d++)
        if (var->storage->chunks == NULL || var->storage->chunks[d] <= 0)
            return pnc_error_set(file->error, NC_EBADCHUNK, "%s: variable \"%s\" has no chunk length of dimension %d",
                                 file->path, var->name, pnc_error_get_id(file->error, d));
    return NC_NOERR;
}

static int create_var_dataset(pnc_netcdf4_metadata *m, const pnc_model *model, const pnc_var *var, const char *path,
                              hid_t *out)
{
    const pnc_hdf5 *h = m->h;
    hid_t type, dcpl, space;
    pnc_hdf5_loan loan = {0};

    PNC_TRY(check_shape(m, var));
    type = make_type(h, var);
    dcpl = pnc_netcdf4_dataset_properties_create(h);
    space = make_space(h, model, var);
    *out = -1;
    if (type >= 0 && dcpl >= 0 && space >= 0 && set_layout(h, dcpl, var, &loan) &&
        set_var_fill(h, dcpl, model, var, type))
        *out = h->d_create(m->root, path, type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    if (space >= 0)
        h->s_close(space);
    if (dcpl >= 0)
        h->p_close(dcpl);
    if (type >= 0 && var->type == NC_STRING)
        h->t_close(type);
    if (*out < 0)
        pnc_netcdf4_metadata_fail(m, "create variable", path);
    if (*out >= 0 && loan.n > 0) /* a filter of an open dataset cannot be removed */
        h->d_close(*out);
    pnc_netcdf4_filters_remove(h, &loan);
    if (*out >= 0 && loan.n > 0)
        *out = h->d_open(m->root, path, H5P_DEFAULT);
    return *out >= 0 ? NC_NOERR : pnc_netcdf4_metadata_fail(m, "open", path);
}

/* --- filters of plugins --- */

/* The first one; -1: none. */
static int find_plugin_filter(const pnc_storage *storage)
{
    int i = 0;

    while (i < storage->nfilters && pnc_filter_is_own(storage->filters[i].id))
        i++;
    return i < storage->nfilters ? i : -1;
}

/* A plugin may refuse the type, the chunks or the parameters, which libhdf5 only reports of filters that are not
 * optional: a dataset for which they are not is created, and deleted. */
static int try_plugins(pnc_netcdf4_metadata *m, const pnc_model *model, const pnc_var *var, const char *path)
{
    pnc_storage storage = *var->storage;
    pnc_var tried = *var;
    hid_t dataset;

    for (int i = 0; i < storage.nfilters; i++)
        storage.filters[i].is_optional = false;
    tried.storage = &storage;
    PNC_TRY(create_var_dataset(m, model, &tried, path, &dataset));
    m->h->d_close(dataset);
    return m->h->l_delete(m->root, path, H5P_DEFAULT) >= 0 ? NC_NOERR : pnc_netcdf4_metadata_fail(m, "delete", path);
}

/* What a hint has chosen is left out where it is not possible. */
static int create_without_filters(pnc_netcdf4_metadata *m, const pnc_model *model, const pnc_var *var, const char *path,
                                  hid_t *out)
{
    pnc_storage storage = *var->storage;
    pnc_var plain = *var;

    pnc_error_clear(m->source.file->error);
    m->h->e_clear(H5E_DEFAULT);
    storage.nfilters = 0;
    plain.storage = &storage;
    return create_var_dataset(m, model, &plain, path, out);
}

int pnc_netcdf4_var_create(pnc_netcdf4_metadata *m, const pnc_model *model, const pnc_var *var, const char *path,
                           hid_t *out)
{
    pnc_error *error = m->source.file->error;
    int at = find_plugin_filter(var->storage);
    int err = at >= 0 ? try_plugins(m, model, var, path) : NC_NOERR;

    *out = -1;
    if (err == NC_NOERR)
        return create_var_dataset(m, model, var, path, out);
    if (!var->storage->chosen_filters)
        return create_without_filters(m, model, var, path, out);
    pnc_error_add_context(error, "%s (id %d)", pnc_filter_name_get(var->storage->filters[at].id),
                          var->storage->filters[at].id);
    if (error->code == NC_EHDFERR)
        error->code = NC_EFILTER;
    return error->code;
}
