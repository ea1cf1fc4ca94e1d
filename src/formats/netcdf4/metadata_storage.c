/* How a dataset of an HDF5 file stores its values, and where its chunks are. */
#include "formats/netcdf4/metadata_hdf5.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "convert/convert.h"

/* Bytes of a chunk are in the file as the filters leave them. H5Dread_chunk would copy them: the driver notes where
 * they are and reads nothing (H5Dget_chunk_info_by_coord is linear in the number of chunks in HDF5 1.10). */
static bool note_place(pnc_netcdf4_metadata *m, hid_t dataset, const hsize_t *index, uint32_t *mask)
{
    char unused[8];
    bool has_read;

    m->source.data_offset = -1;
    m->source.notes_data = true;
    has_read = m->h->d_read_chunk(dataset, H5P_DEFAULT, index, mask, unused) >= 0;
    m->source.notes_data = false;
    return has_read && m->source.data_offset >= 0;
}

/* The innermost error, which HDF5 visits first. */
static herr_t find_failed_function(unsigned n, const H5E_error2_t *e, void *data)
{
    if (n == 0 && e->func_name != NULL)
        *(bool *)data = strstr(e->func_name, "chunk_direct_read") != NULL;
    return 0;
}

/* Whether the function that reads a chunk has failed by itself: it has no other reason than a chunk without an address,
 * or a dataset without any. Errors in the index are those of functions that it calls. (H5Dget_chunk_storage_size of
 * HDF5 1.10 gives a length for some of these chunks.) */
static bool is_unwritten(pnc_netcdf4_metadata *m)
{
    bool is_own = false;

    m->h->e_walk(H5E_DEFAULT, H5E_WALK_UPWARD, find_failed_function, &is_own);
    return is_own && m->source.file->error->code == NC_NOERR;
}

int pnc_netcdf4_chunk_locate(pnc_netcdf4_metadata *m, hid_t dataset, const char *path, const int64_t *index, int ndims,
                             pnc_chunk_place *out)
{
    hsize_t at[PNC_STORAGE_DIMS_MOST];
    uint32_t mask = 0;

    for (int i = 0; i < ndims; i++)
        at[i] = (hsize_t)index[i];
    *out = (pnc_chunk_place){-1, 0, 0};
    if (!note_place(m, dataset, at, &mask))
        return is_unwritten(m) ? NC_NOERR : pnc_netcdf4_metadata_fail(m, "find a chunk of", path);
    *out = (pnc_chunk_place){m->source.data_offset, m->source.data_bytes, mask};
    if (out->offset >= m->base && out->bytes <= pnc_netcdf4_source_get_end(&m->source) - out->offset)
        return NC_NOERR;
    return pnc_error_set(m->source.file->error, NC_EHDFERR,
                         "%s: a chunk of \"%s\" has %lld bytes at byte %lld, outside the file", m->source.file->path,
                         path, (long long)out->bytes, (long long)out->offset);
}

/* --- chunks --- */

static int64_t count_chunks(const int64_t *extent, const int64_t *chunk, int ndims)
{
    int64_t n = 1;

    for (int i = 0; i < ndims; i++)
        if (pnc_size_multiply(n, extent[i] / chunk[i] + (extent[i] % chunk[i] != 0), &n) < 0)
            return INT64_MAX;
    return n;
}

bool pnc_netcdf4_index_next(int64_t *index, const int64_t *chunk, const int64_t *extent, int ndims)
{
    for (int d = ndims - 1; d >= 0; d--) {
        index[d] += chunk[d];
        if (index[d] < extent[d])
            return true;
        index[d] = 0;
    }
    return false;
}

/* All of them, in row-major order. */
static int locate_chunks(pnc_netcdf4_metadata *m, hid_t dataset, const pnc_netcdf4_storage *s, int ndims,
                         pnc_chunk_place *out)
{
    int64_t index[PNC_STORAGE_DIMS_MOST] = {0};

    for (int64_t i = 0; i < s->nplaces; i++) {
        PNC_TRY(pnc_netcdf4_chunk_locate(m, dataset, s->path, index, ndims, &out[i]));
        (void)pnc_netcdf4_index_next(index, s->chunk, s->extent, ndims);
    }
    return NC_NOERR;
}

#define PARAMETERS_MOST 64

/* Filters of a dataset under construction. */
typedef struct filter_list {
    pnc_filter at[PNC_FILTER_MOST];
    uint32_t parameters[PNC_FILTER_MOST][PARAMETERS_MOST];
} filter_list;

/* Behind the first `known` of the list. */
static int get_filters(pnc_netcdf4_metadata *m, hid_t plist, const char *path, filter_list *list, int known,
                       pnc_filter_chain *out)
{
    int n = m->h->p_get_nfilters(plist);

    if (n < 0 || n > PNC_FILTER_MOST - known)
        return pnc_error_set(m->source.file->error, NC_EFILTER,
                             "%s: variable \"%s\" has %d filters: at most %d are "
                             "possible",
                             m->source.file->path, path, n, PNC_FILTER_MOST - known);
    for (int i = known; i < known + n; i++) {
        size_t count = PARAMETERS_MOST;
        unsigned flags = 0, config = 0;
        H5Z_filter_t id =
            m->h->p_get_filter(plist, (unsigned)(i - known), &flags, &count, list->parameters[i], 0, NULL, &config);

        if (id <= 0)
            return pnc_netcdf4_metadata_fail(m, "read the filters of", path);
        if (count > PARAMETERS_MOST)
            return pnc_error_set(m->source.file->error, NC_EFILTER,
                                 "%s: variable \"%s\": filter %d has %lld "
                                 "parameters: this library reads at most %d",
                                 m->source.file->path, path, (int)id, (long long)count, PARAMETERS_MOST);
        list->at[i] = (pnc_filter){(int)id, (flags & H5Z_FLAG_OPTIONAL) != 0, (int)count, list->parameters[i]};
    }
    *out = (pnc_filter_chain){known + n, list->at};
    return NC_NOERR;
}

/* Numbers whose bits are not those of a type of netCDF are converted as by a filter. The number of these filters. */
static int find_number_filter(pnc_netcdf4_metadata *m, hid_t dataset, int type, filter_list *list)
{
    hid_t stored = m->h->d_get_type(dataset);
    bool is_other = stored >= 0 && !pnc_netcdf4_number_is_plain(m->h, stored, type) &&
                    pnc_netcdf4_number_find(m->h, stored, type, list->parameters[0]);

    if (stored >= 0)
        m->h->t_close(stored);
    if (is_other)
        list->at[0] = (pnc_filter){PNC_FILTER_NUMBER, false, PNC_NUMBER_PARAMETERS, list->parameters[0]};
    return is_other;
}

/* The list is on the stack. */
static int keep_filters(pnc_netcdf4_metadata *m, const pnc_filter_chain *chain, pnc_region *region,
                        pnc_filter_chain *out)
{
    pnc_filter *filters = pnc_region_alloc(region, (chain->nfilters + 1) * (int64_t)sizeof *filters);

    for (int i = 0; filters != NULL && i < chain->nfilters; i++) {
        int64_t bytes = chain->filters[i].nparameters * (int64_t)sizeof(uint32_t);
        uint32_t *parameters = pnc_region_alloc(region, bytes + 4);

        if (parameters == NULL)
            filters = NULL;
        if (parameters == NULL)
            break;
        memcpy(parameters, chain->filters[i].parameters, (size_t)bytes);
        filters[i] = chain->filters[i];
        filters[i].parameters = parameters;
    }
    *out = (pnc_filter_chain){chain->nfilters, filters};
    return filters != NULL ? NC_NOERR
                           : pnc_error_set(m->source.file->error, NC_ENOMEM, "%s: no memory for the definitions",
                                           m->source.file->path);
}

int pnc_netcdf4_metadata_read_filters(pnc_netcdf4_metadata *m, const char *path, pnc_region *region,
                                      pnc_filter_chain *out)
{
    pnc_hdf5_visit visit;
    pnc_filter_chain found;
    filter_list list;
    hid_t dataset, plist;
    int err;

    if (pnc_netcdf4_library_begin(&visit, m->source.file->error) == NULL)
        return NC_ENOTBUILT;
    dataset = m->h->d_open(m->root, path, H5P_DEFAULT);
    plist = dataset >= 0 ? m->h->d_get_create_plist(dataset) : -1;
    err = plist >= 0 ? get_filters(m, plist, path, &list, 0, &found)
                     : pnc_netcdf4_metadata_fail(m, "read the filters of", path);
    if (plist >= 0)
        m->h->p_close(plist);
    if (dataset >= 0)
        m->h->d_close(dataset);
    pnc_netcdf4_library_end(&visit);
    return err == NC_NOERR ? keep_filters(m, &found, region, out) : err;
}

int pnc_netcdf4_chunk_get_shape(pnc_netcdf4_metadata *m, hid_t plist, const char *path, int ndims, int64_t *chunk)
{
    hsize_t lengths[PNC_STORAGE_DIMS_MOST];

    if (m->h->p_get_chunk(plist, PNC_STORAGE_DIMS_MOST, lengths) != ndims)
        return pnc_netcdf4_metadata_fail(m, "read the chunk shape of", path);
    for (int i = 0; i < ndims; i++) {
        chunk[i] = (int64_t)lengths[i];
        if (chunk[i] <= 0)
            return pnc_netcdf4_metadata_fail(m, "use the chunk shape of", path);
    }
    return NC_NOERR;
}

static int describe_chunks(pnc_netcdf4_metadata *m, hid_t dataset, hid_t plist, const pnc_netcdf4_storage *begun,
                           int type, int ndims, int64_t *places, pnc_netcdf4_writer *out)
{
    int64_t chunk[PNC_STORAGE_DIMS_MOST], n;
    pnc_chunk_place *known = NULL;
    filter_list filters;
    pnc_netcdf4_storage s = *begun;
    unsigned options = 0;
    int err;

    PNC_TRY(pnc_netcdf4_chunk_get_shape(m, plist, s.path, ndims, chunk));
    PNC_TRY(get_filters(m, plist, s.path, &filters, find_number_filter(m, dataset, type, &filters), &s.filters));
    s.chunk = chunk;
    if (m->h->p_get_chunk_opts(plist, &options) >= 0 && (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) != 0)
        s.obstacle = PNC_NETCDF4_SKIPS_PARTIAL;
    n = count_chunks(s.extent, chunk, ndims);
    if (n > 0 && n <= *places)
        known = pnc_memory_alloc(n, sizeof *known);
    if (known == NULL) {
        pnc_netcdf4_storage_write(out, &s, ndims);
        return NC_NOERR;
    }
    *places -= n;
    s.nplaces = n;
    s.places = known;
    err = locate_chunks(m, dataset, &s, ndims, known);
    if (err == NC_NOERR)
        pnc_netcdf4_storage_write(out, &s, ndims);
    pnc_memory_free(known);
    return err;
}

/* --- the others --- */

static int describe_contiguous(pnc_netcdf4_metadata *m, hid_t dataset, hid_t plist, pnc_netcdf4_storage *s, int ndims,
                               pnc_netcdf4_writer *out)
{
    if (m->h->p_get_external_count(plist) != 0)
        s->layout = PNC_NETCDF4_UNREADABLE;
    else
        PNC_TRY(pnc_netcdf4_values_locate(m, dataset, s->path, &s->address));
    pnc_netcdf4_storage_write(out, s, ndims);
    return NC_NOERR;
}

#define COMPACT_MOST 65536 /* bytes of a compact dataset, by the format */

static int describe_compact(pnc_netcdf4_metadata *m, hid_t dataset, pnc_netcdf4_storage *s, int type, int ndims,
                            pnc_netcdf4_writer *out)
{
    int64_t n = (int64_t)pnc_type_get_size(type);
    unsigned char *values;
    hid_t stored;
    int err = NC_NOERR;

    for (int i = 0; i < ndims; i++)
        if (pnc_size_multiply(n, s->extent[i], &n) < 0 || n > COMPACT_MOST)
            return pnc_netcdf4_metadata_fail(m, "have so many values in the compact dataset", s->path);
    values = pnc_memory_alloc(n, 1);
    stored = s->obstacle == PNC_NETCDF4_IS_CONVERTED ? m->h->t_copy(pnc_netcdf4_type_get(m->h, type, s->is_big_endian))
                                                     : m->h->d_get_type(dataset);
    if (values == NULL)
        err = pnc_error_set(m->source.file->error, NC_ENOMEM, "%s: no memory for variable \"%s\"", m->source.file->path,
                            s->path);
    else if (stored < 0 || (n > 0 && m->h->d_read(dataset, stored, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0))
        err = pnc_netcdf4_metadata_fail(m, "read", s->path);
    s->bytes = values;
    s->nbytes = n;
    if (err == NC_NOERR)
        pnc_netcdf4_storage_write(out, s, ndims);
    if (stored >= 0)
        m->h->t_close(stored);
    pnc_memory_free(values);
    return err;
}

/* Values in one part whose numbers have other bits than a type of netCDF: libhdf5 converts them, if they are few. */
static int describe_converted(pnc_netcdf4_metadata *m, hid_t dataset, hid_t plist, pnc_netcdf4_storage *s, int type,
                              int ndims, pnc_netcdf4_writer *out)
{
    int64_t n = (int64_t)pnc_type_get_size(type);
    bool are_few = m->h->p_get_external_count(plist) == 0;

    for (int i = 0; i < ndims && are_few; i++)
        are_few = pnc_size_multiply(n, s->extent[i], &n) == 0 && n <= COMPACT_MOST;
    s->layout = are_few ? PNC_NETCDF4_COMPACT : PNC_NETCDF4_UNREADABLE;
    s->obstacle = PNC_NETCDF4_IS_CONVERTED;
    if (are_few)
        return describe_compact(m, dataset, s, type, ndims, out);
    pnc_netcdf4_storage_write(out, s, ndims);
    return NC_NOERR;
}

/* No values: they read as fill values. */
static void describe_null(int type, pnc_netcdf4_storage *s, int ndims, pnc_netcdf4_writer *out)
{
    s->layout = PNC_NETCDF4_CONTIGUOUS;
    s->obstacle = PNC_NETCDF4_IS_NULL;
    if (!s->has_fill)
        pnc_convert_fill_get_external(type, (pnc_encoding){.little = PNC_HOST_IS_LITTLE}, s->fill);
    s->has_fill = true;
    pnc_netcdf4_storage_write(out, s, ndims);
}

static bool has_null_space(pnc_netcdf4_metadata *m, hid_t dataset)
{
    hid_t space = m->h->d_get_space(dataset);
    bool is_null = space >= 0 && m->h->s_get_simple_extent_type(space) == H5S_NULL;

    if (space >= 0)
        m->h->s_close(space);
    return is_null;
}

static bool is_plain_dataset(pnc_netcdf4_metadata *m, hid_t dataset, int type)
{
    hid_t stored = m->h->d_get_type(dataset);
    bool is_plain = stored >= 0 && pnc_netcdf4_number_is_plain(m->h, stored, type);

    if (stored >= 0)
        m->h->t_close(stored);
    return is_plain;
}

static void get_fill_value(pnc_netcdf4_metadata *m, hid_t plist, int type, pnc_netcdf4_storage *s)
{
    hid_t native = type == NC_CHAR ? m->h->c_string : pnc_netcdf4_type_get_native(m->h, type);
    H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;

    s->has_fill = native >= 0 && m->h->p_fill_value_defined(plist, &defined) >= 0 &&
                  defined == H5D_FILL_VALUE_USER_DEFINED && m->h->p_get_fill_value(plist, native, s->fill) >= 0;
    s->no_fill = !s->has_fill;
}

/* Strings of libhdf5, which has no other way to convert to those of one length than copies. */
static int describe_string_values(pnc_netcdf4_metadata *m, hid_t dataset, hid_t plist, pnc_netcdf4_storage *s,
                                  int ndims, pnc_netcdf4_writer *out)
{
    int64_t chunk[PNC_STORAGE_DIMS_MOST];
    hid_t stored = m->h->d_get_type(dataset);

    s->layout = PNC_NETCDF4_STRINGS;
    if (s->obstacle == PNC_NETCDF4_NO_OBSTACLE && (stored < 0 || m->h->t_is_variable_str(stored) <= 0))
        s->obstacle = PNC_NETCDF4_HAS_LENGTH;
    if (stored >= 0)
        m->h->t_close(stored);
    if (m->h->p_get_layout(plist) == H5D_CHUNKED) {
        PNC_TRY(pnc_netcdf4_chunk_get_shape(m, plist, s->path, ndims, chunk));
        s->chunk = chunk;
    }
    pnc_netcdf4_storage_write(out, s, ndims);
    return NC_NOERR;
}

static int describe_values(pnc_netcdf4_metadata *m, hid_t dataset, hid_t plist, pnc_netcdf4_storage *s, int type,
                           int ndims, int64_t *places, pnc_netcdf4_writer *out)
{
    H5D_layout_t layout = type < NC_STRING ? m->h->p_get_layout(plist) : H5D_NLAYOUTS;

    if (type == NC_STRING && !has_null_space(m, dataset))
        return describe_string_values(m, dataset, plist, s, ndims, out);
    if (layout != H5D_NLAYOUTS && has_null_space(m, dataset)) {
        describe_null(type, s, ndims, out);
        return NC_NOERR;
    }
    if ((layout == H5D_CONTIGUOUS || layout == H5D_COMPACT) && !is_plain_dataset(m, dataset, type))
        return describe_converted(m, dataset, plist, s, type, ndims, out);
    switch (layout) {
    case H5D_CONTIGUOUS:
        s->layout = PNC_NETCDF4_CONTIGUOUS;
        return describe_contiguous(m, dataset, plist, s, ndims, out);
    case H5D_COMPACT: s->layout = PNC_NETCDF4_COMPACT; return describe_compact(m, dataset, s, type, ndims, out);
    case H5D_CHUNKED:
        s->layout = PNC_NETCDF4_CHUNKED;
        return describe_chunks(m, dataset, plist, s, type, ndims, places, out);
    default: pnc_netcdf4_storage_write(out, s, ndims); return NC_NOERR;
    }
}

int pnc_netcdf4_storage_describe(pnc_netcdf4_metadata *m, hid_t dataset, const char *path, bool is_alias, int type,
                                 bool is_big_endian, int ndims, const int64_t *extent, int64_t *places,
                                 pnc_netcdf4_writer *out)
{
    pnc_netcdf4_storage s = {.layout = PNC_NETCDF4_UNREADABLE,
                             .obstacle = is_alias ? PNC_NETCDF4_IS_ALIAS : PNC_NETCDF4_NO_OBSTACLE,
                             .is_big_endian = is_big_endian,
                             .path = path,
                             .extent = extent,
                             .address = -1};
    hid_t plist = m->h->d_get_create_plist(dataset);
    int err;

    if (plist < 0)
        return pnc_netcdf4_metadata_fail(m, "read the properties of", path);
    if (type < NC_STRING)
        get_fill_value(m, plist, type, &s);
    err = describe_values(m, dataset, plist, &s, type, ndims, places, out);
    m->h->p_close(plist);
    return err;
}
