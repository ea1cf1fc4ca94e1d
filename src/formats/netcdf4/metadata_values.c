/* Values of an HDF5 dataset that are in one part: contiguous, whose address others need, or compact. */
#include "formats/netcdf4/metadata_hdf5.h"

#include "base/memory.h"

/* libhdf5 adds the base to each address, also to HADDR_UNDEF. */
int pnc_netcdf4_values_locate(pnc_netcdf4_metadata *m, hid_t dataset, const char *path, int64_t *address)
{
    const haddr_t at = m->h->d_get_offset(dataset), none = HADDR_UNDEF;
    const int64_t bytes = (int64_t)m->h->d_get_storage_size(dataset), end = pnc_netcdf4_source_get_end(&m->source);

    *address = -1;
    if (at == none || at == none + (haddr_t)m->base)
        return NC_NOERR;
    if ((int64_t)at < m->base || (int64_t)at > end || bytes < 0 || bytes > end - (int64_t)at)
        return pnc_error_set(
            m->source.file->error, NC_EHDFERR,
            "%s: \"%s\" has %lld bytes at byte %lld, outside the file, which has the bytes %lld to %lld",
            m->source.file->path, path, (long long)bytes, (long long)at, (long long)m->base, (long long)end);
    *address = (int64_t)at;
    return NC_NOERR;
}

static int find_values_address(pnc_netcdf4_metadata *m, const char *path, int64_t *address)
{
    PNC_TRY(pnc_netcdf4_dataset_keep(m, path));
    return pnc_netcdf4_values_locate(m, m->dataset, path, address);
}

int pnc_netcdf4_metadata_get_address(pnc_netcdf4_metadata *m, const char *path, int64_t *address)
{
    pnc_hdf5_visit visit;
    int err;

    if (pnc_netcdf4_library_begin(&visit, m->source.file->error) == NULL)
        return NC_ENOTBUILT;
    err = find_values_address(m, path, address);
    pnc_netcdf4_library_end(&visit);
    return err;
}

/* libhdf5 allocates when values are written: one is, which the driver drops, with the fill values before it. */
static int write_first_value(pnc_netcdf4_metadata *m, const char *path)
{
    const pnc_hdf5 *h = m->h;
    const hsize_t start[PNC_STORAGE_DIMS_MOST] = {0};
    hsize_t count[PNC_STORAGE_DIMS_MOST];
    const char value[8] = {0};
    hid_t type = h->d_get_type(m->dataset), space = h->d_get_space(m->dataset), one = h->s_create(H5S_SCALAR);
    bool good = type >= 0 && space >= 0 && one >= 0 && h->t_get_size(type) <= sizeof value;

    for (int i = 0; i < PNC_STORAGE_DIMS_MOST; i++)
        count[i] = 1;
    if (good && h->s_get_simple_extent_ndims(space) > 0)
        good = h->s_select_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0;
    m->source.drops_data = true;
    good = good && h->d_write(m->dataset, type, one, space, H5P_DEFAULT, value) >= 0;
    if (one >= 0)
        h->s_close(one);
    if (space >= 0)
        h->s_close(space);
    if (type >= 0)
        h->t_close(type);
    pnc_netcdf4_dataset_close(m); /* which may write the value only now */
    m->source.drops_data = false;
    return good ? NC_NOERR : pnc_netcdf4_metadata_fail(m, "allocate", path);
}

static bool is_contiguous(pnc_netcdf4_metadata *m)
{
    hid_t plist = m->h->d_get_create_plist(m->dataset);
    bool is = plist >= 0 && m->h->p_get_layout(plist) == H5D_CONTIGUOUS && m->h->p_get_external_count(plist) == 0;

    if (plist >= 0)
        m->h->p_close(plist);
    return is;
}

static int alloc_values(pnc_netcdf4_metadata *m, const char *path, int64_t *address)
{
    hid_t space;
    int64_t n = 0;

    PNC_TRY(find_values_address(m, path, address));
    if (*address >= 0 || !is_contiguous(m))
        return NC_NOERR;
    space = m->h->d_get_space(m->dataset);
    if (space >= 0) {
        n = (int64_t)m->h->s_get_simple_extent_npoints(space);
        m->h->s_close(space);
    }
    if (n <= 0)
        return pnc_error_set(m->source.file->error, NC_ENOTSUPPORT,
                             "%s: the dataspace of \"%s\" is null: no values can be put", m->source.file->path, path);
    PNC_TRY(write_first_value(m, path));
    return find_values_address(m, path, address);
}

int pnc_netcdf4_metadata_alloc_values(pnc_netcdf4_metadata *m, const char *path, int64_t *address)
{
    pnc_hdf5_visit visit;
    int err;

    if (pnc_netcdf4_library_begin(&visit, m->source.file->error) == NULL)
        return NC_ENOTBUILT;
    err = alloc_values(m, path, address);
    pnc_netcdf4_library_end(&visit);
    return err;
}

static int write_values(pnc_netcdf4_metadata *m, const char *path, const void *values, int64_t bytes)
{
    hid_t type = m->h->d_get_type(m->dataset), space = m->h->d_get_space(m->dataset);
    int64_t n = space < 0 ? -1 : (int64_t)m->h->s_get_simple_extent_npoints(space), expected = -1;
    int err = NC_NOERR;

    if (type >= 0 && n >= 0)
        (void)pnc_size_multiply(n, (int64_t)m->h->t_get_size(type), &expected);
    if (expected != bytes)
        err = pnc_error_set(m->source.file->error, NC_EINVAL, "%s: \"%s\" has %lld bytes, not %lld",
                            m->source.file->path, path, (long long)expected, (long long)bytes);
    else if (n > 0 && m->h->d_write(m->dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
        err = pnc_netcdf4_metadata_fail(m, "write", path);
    if (space >= 0)
        m->h->s_close(space);
    if (type >= 0)
        m->h->t_close(type);
    return err;
}

int pnc_netcdf4_metadata_write_compact(pnc_netcdf4_metadata *m, const char *path, const void *values, int64_t bytes)
{
    pnc_hdf5_visit visit;
    int err;

    if (pnc_netcdf4_library_begin(&visit, m->source.file->error) == NULL)
        return NC_ENOTBUILT;
    err = pnc_netcdf4_dataset_keep(m, path);
    if (err == NC_NOERR)
        err = write_values(m, path, values, bytes);
    pnc_netcdf4_library_end(&visit);
    return err;
}
