/* Chunks of a dataset: looked up, registered; lengths and addresses of datasets. */
#include "formats/netcdf4/metadata_scales.h"

#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"

int pnc_netcdf4_dataset_keep(pnc_netcdf4_metadata *m, const char *path)
{
    if (m->dataset >= 0 && strcmp(m->path, path) == 0)
        return NC_NOERR;
    pnc_netcdf4_dataset_close(m);
    m->path = pnc_string_copy(path);
    if (m->path == NULL)
        return pnc_error_set(m->source.file->error, NC_ENOMEM, "%s: no memory for a name", m->source.file->path);
    m->dataset = m->h->d_open(m->root, path, H5P_DEFAULT);
    return m->dataset >= 0 ? NC_NOERR : pnc_netcdf4_metadata_fail(m, "open", path);
}

/* The dataset stays open for the next chunk. HDF5 1.10 reports no filters as left out for the last chunk that the open
 * dataset has written. */
int pnc_netcdf4_metadata_find_chunk(pnc_netcdf4_metadata *m, const char *path, const int64_t *index, int ndims,
                                    pnc_chunk_place *out)
{
    pnc_hdf5_visit visit;
    int err;

    if (pnc_netcdf4_library_begin(&visit, m->source.file->error) == NULL)
        return NC_ENOTBUILT;
    if (m->has_written)
        pnc_netcdf4_dataset_close(m);
    err = pnc_netcdf4_dataset_keep(m, path);
    if (err == NC_NOERR)
        err = pnc_netcdf4_chunk_locate(m, m->dataset, path, index, ndims, out);
    pnc_netcdf4_library_end(&visit);
    return err;
}

/* --- registering --- */

/* Bytes that libhdf5 passes to the driver, which ignores them: any address serves. */
static const char no_bytes[1];

/* A chunk that has the place *known, which becomes the one that it gets: n bytes at this address, or at the end if that
 * is -1. What it had is not used again. */
static int register_place(pnc_netcdf4_metadata *m, const int64_t *index, int ndims, pnc_chunk_place *known,
                          int64_t address, int64_t n)
{
    pnc_hdf5_source *s = &m->source;
    hsize_t at[PNC_STORAGE_DIMS_MOST];
    herr_t done;

    for (int d = 0; d < ndims; d++)
        at[d] = (hsize_t)index[d];
    s->freed_end = m->tracks_space && known->offset >= 0 ? known->offset + known->bytes : -1;
    s->data_offset = -1;
    s->next = address;
    s->bytes = n;
    s->drops_data = s->notes_fills = true;
    s->dropped = no_bytes;
    done = m->h->d_write_chunk(m->dataset, H5P_DEFAULT, (uint32_t)known->mask, at, (size_t)n, no_bytes);
    s->freed_end = s->next = -1;
    s->drops_data = s->notes_fills = false;
    s->dropped = NULL;
    if (done < 0 || s->data_offset < 0 || s->data_bytes != n)
        return pnc_netcdf4_metadata_fail(m, "register a chunk of", m->path);
    known->offset = s->data_offset;
    known->bytes = n;
    return NC_NOERR;
}

static int fail_for_memory(const pnc_netcdf4_metadata *m)
{
    return pnc_error_set(m->source.file->error, NC_ENOMEM, "%s: no memory for a chunk", m->source.file->path);
}

/* Bytes of a chunk. What the file refers to now may be there: then they become part of the commit, as metadata do. */
static int write_raw(pnc_netcdf4_metadata *m, pnc_extent extent, const void *bytes)
{
    pnc_hdf5_source *s = &m->source;

    if (extent.offset >= m->committed)
        return pnc_file_range_write(s->file, extent, bytes);
    if (pnc_netcdf4_unwritten_write(&s->unwritten, extent, bytes))
        return NC_NOERR;
    return fail_for_memory(m);
}

int pnc_netcdf4_metadata_write_fills(pnc_netcdf4_metadata *m)
{
    pnc_early *early = &m->source.early;

    pnc_netcdf4_early_remove_released(early);
    for (const pnc_early_group *group = early->groups; group != NULL; group = group->next)
        for (int64_t i = 0; i < group->chunks.n; i++)
            PNC_TRY(write_raw(m, (pnc_extent){group->chunks.at[i], group->length}, group->bytes));
    pnc_netcdf4_early_clear(early);
    return NC_NOERR;
}

#define COPY_BYTES INT64_C(1048576) /* at once */

/* libhdf5 has given a chunk another address than its aggregator. */
static int move_chunk(pnc_netcdf4_metadata *m, int64_t from, int64_t to, int64_t n)
{
    pnc_hdf5_source *s = &m->source;
    char *bytes = pnc_memory_alloc(pnc_min64(n, COPY_BYTES), 1);
    int err = bytes == NULL ? pnc_error_set(s->file->error, NC_ENOMEM, "%s: no memory to move a chunk", s->file->path)
                            : NC_NOERR;

    for (int64_t part; err == NC_NOERR && n > 0; from += part, to += part, n -= part) {
        part = pnc_min64(n, COPY_BYTES);
        err = pnc_file_range_read(s->file, (pnc_extent){from, part}, bytes);
        if (err == NC_NOERR)
            err = write_raw(m, (pnc_extent){to, part}, bytes);
    }
    pnc_memory_free(bytes);
    return err;
}

static bool has_filters(pnc_netcdf4_metadata *m)
{
    hid_t plist = m->h->d_get_create_plist(m->dataset);
    bool has = plist >= 0 && m->h->p_get_nfilters(plist) > 0;

    if (plist >= 0)
        m->h->p_close(plist);
    return has;
}

/* libhdf5 keeps address and mask of a chunk that has the same length already: it gets another length first, at the end
 * if libhdf5 may use that again. */
static int register_chunk(pnc_netcdf4_metadata *m, const int64_t *index, int ndims, const pnc_chunk_place *place,
                          bool *moves)
{
    int64_t other = place->bytes > 1 ? place->bytes - 1 : place->bytes + 1;
    pnc_chunk_place known = {.offset = -1};

    if (m->tracks_space || m->source.early.groups != NULL)
        PNC_TRY(pnc_netcdf4_chunk_locate(m, m->dataset, m->path, index, ndims, &known));
    if (!pnc_netcdf4_early_release(&m->source.early, known.offset))
        return fail_for_memory(m);
    known.mask = place->mask;
    pnc_netcdf4_metadata_raise_end(m, place->offset + place->bytes);
    PNC_TRY(register_place(m, index, ndims, &known, place->offset, place->bytes));
    if (known.offset != place->offset && has_filters(m)) {
        pnc_netcdf4_metadata_raise_end(m, place->offset + other); /* a chunk of one byte gets two */
        PNC_TRY(register_place(m, index, ndims, &known, m->has_pages ? -1 : place->offset, other));
        PNC_TRY(register_place(m, index, ndims, &known, place->offset, place->bytes));
    }
    if (!pnc_netcdf4_early_release(&m->source.early, known.offset))
        return fail_for_memory(m);
    if (known.offset == place->offset)
        return NC_NOERR;
    *moves = true;
    return move_chunk(m, place->offset, known.offset, place->bytes);
}

int pnc_netcdf4_dataset_get_extent(pnc_netcdf4_metadata *m, hid_t dataset, const char *path, int ndims, int64_t *out)
{
    hsize_t lengths[PNC_STORAGE_DIMS_MOST] = {0};
    hid_t space = m->h->d_get_space(dataset);
    bool good = space >= 0 && m->h->s_get_simple_extent_ndims(space) == ndims && ndims <= PNC_STORAGE_DIMS_MOST &&
                m->h->s_get_simple_extent_dims(space, lengths, NULL) >= 0;

    if (space >= 0)
        m->h->s_close(space);
    for (int d = 0; good && d < ndims; d++)
        out[d] = (int64_t)lengths[d];
    return good ? NC_NOERR : pnc_netcdf4_metadata_fail(m, "read the shape of", path);
}

/* Whether libhdf5 allocates all chunks of the dataset when it gets the first one. */
static bool is_allocated_late(pnc_netcdf4_metadata *m)
{
    hid_t plist = m->h->d_get_create_plist(m->dataset);
    H5D_alloc_time_t when = H5D_ALLOC_TIME_INCR;
    H5D_space_status_t status = H5D_SPACE_STATUS_ALLOCATED;
    bool is_late = plist >= 0 && m->h->p_get_alloc_time(plist, &when) >= 0 && when == H5D_ALLOC_TIME_LATE &&
                   m->h->d_get_space_status(m->dataset, &status) >= 0 && status == H5D_SPACE_STATUS_NOT_ALLOCATED;

    if (plist >= 0)
        m->h->p_close(plist);
    return is_late;
}

/* The index of the last chunk. */
static int find_last_chunk(pnc_netcdf4_metadata *m, int ndims, int64_t *last)
{
    int64_t chunk[PNC_STORAGE_DIMS_MOST];
    hid_t plist = m->h->d_get_create_plist(m->dataset);
    int err = pnc_netcdf4_chunk_get_shape(m, plist, m->path, ndims, chunk);

    if (plist >= 0)
        m->h->p_close(plist);
    PNC_TRY(err);
    PNC_TRY(pnc_netcdf4_dataset_get_extent(m, m->dataset, m->path, ndims, last));
    for (int d = 0; d < ndims; d++)
        last[d] = last[d] > 0 ? (last[d] - 1) / chunk[d] * chunk[d] : 0;
    return NC_NOERR;
}

/* It does that at the end, before a chunk gets its place: another chunk would take it. The one that is written, of n
 * bytes, is the last one: what it had is at the end of what is allocated, and is not used again. It gets its fill
 * values back, without the filters that libhdf5 has left out of all. */
static int alloc_late_chunks(pnc_netcdf4_metadata *m, int ndims, int64_t n)
{
    pnc_early *early = &m->source.early;
    const int64_t first[PNC_STORAGE_DIMS_MOST] = {0};
    int64_t last[PNC_STORAGE_DIMS_MOST], noted = early->n;
    pnc_chunk_place known = {.offset = -1}, other;
    const pnc_early_group *fills;

    if (!is_allocated_late(m))
        return NC_NOERR;
    PNC_TRY(find_last_chunk(m, ndims, last));
    PNC_TRY(register_place(m, last, ndims, &known, -1, n));
    fills = early->groups;
    if (early->n == noted || fills->length == n)
        return NC_NOERR;
    if (!pnc_netcdf4_early_release(early, fills->chunks.at[fills->chunks.n - 1]))
        return fail_for_memory(m);
    PNC_TRY(pnc_netcdf4_chunk_locate(m, m->dataset, m->path, first, ndims, &other));
    known.mask = other.mask;
    PNC_TRY(register_place(m, last, ndims, &known, -1, fills->length));
    return pnc_netcdf4_early_add(early, known.offset, fills->bytes, fills->length) ? NC_NOERR : fail_for_memory(m);
}

static int register_chunks(pnc_netcdf4_metadata *m, const char *path, int ndims, const int64_t *indices,
                           const pnc_chunk_place *places, int64_t n, bool *moves)
{
    if (ndims < 1 || ndims > PNC_STORAGE_DIMS_MOST)
        return pnc_netcdf4_metadata_fail(m, "register a chunk of", path);
    PNC_TRY(pnc_netcdf4_dataset_keep(m, path));
    m->has_written = true;
    if (n > 0)
        PNC_TRY(alloc_late_chunks(m, ndims, places[0].bytes));
    for (int64_t i = 0; i < n; i++)
        PNC_TRY(register_chunk(m, indices + i * ndims, ndims, &places[i], moves));
    return NC_NOERR;
}

int pnc_netcdf4_metadata_register(pnc_netcdf4_metadata *m, const char *path, int ndims, const int64_t *indices,
                                  const pnc_chunk_place *places, int64_t n, bool *moves)
{
    pnc_hdf5_visit visit;
    int err;

    if (pnc_netcdf4_library_begin(&visit, m->source.file->error) == NULL)
        return NC_ENOTBUILT;
    err = register_chunks(m, path, ndims, indices, places, n, moves);
    pnc_netcdf4_library_end(&visit);
    return err;
}

/* --- lengths --- */

/* Whether a chunk is not within lengths. */
static bool is_beyond(const int64_t *index, const int64_t *lengths, int ndims)
{
    for (int d = 0; d < ndims; d++)
        if (index[d] >= lengths[d])
            return true;
    return false;
}

/* A chunk of fill values without filters; NULL without memory. */
static char *make_fill_chunk(pnc_netcdf4_metadata *m, hid_t plist, const int64_t *chunk, int ndims, int64_t *bytes)
{
    hid_t type = m->h->d_get_type(m->dataset);
    int64_t size = type >= 0 ? (int64_t)m->h->t_get_size(type) : 0, n = size;
    char *values = NULL;

    for (int d = 0; d < ndims; d++)
        n *= chunk[d];
    if (n > 0)
        values = pnc_memory_alloc_zeroed(n, 1);
    if (values != NULL && m->h->p_get_fill_value(plist, type, values) < 0)
        memset(values, 0, (size_t)size);
    for (int64_t at = size; values != NULL && at < n; at += size)
        memcpy(values + at, values, (size_t)size);
    if (type >= 0)
        m->h->t_close(type);
    *bytes = n;
    return values;
}

/* libhdf5 has allocated new chunks by filters on loan, which change nothing: they get all fill values without any
 * filter. */
static int refill_chunks(pnc_netcdf4_metadata *m, int ndims, const int64_t *before, const int64_t *lengths)
{
    int64_t index[PNC_STORAGE_DIMS_MOST] = {0}, chunk[PNC_STORAGE_DIMS_MOST], bytes = 0, mask;
    hid_t plist = m->h->d_get_create_plist(m->dataset);
    char *values = NULL;
    bool moves, more = true;
    int err = pnc_netcdf4_chunk_get_shape(m, plist, m->path, ndims, chunk);

    if (err == NC_NOERR) {
        values = make_fill_chunk(m, plist, chunk, ndims, &bytes);
        err = values == NULL ? fail_for_memory(m) : NC_NOERR;
    }
    mask = (INT64_C(1) << pnc_max64(m->h->p_get_nfilters(plist), 0)) - 1;
    for (; err == NC_NOERR && more; more = pnc_netcdf4_index_next(index, chunk, lengths, ndims)) {
        const pnc_chunk_place place = {m->source.end, bytes, mask};

        if (!is_beyond(index, before, ndims))
            continue;
        err = write_raw(m, (pnc_extent){place.offset, bytes}, values);
        if (err == NC_NOERR) /* which may move them */
            err = register_chunk(m, index, ndims, &place, &moves);
    }
    pnc_memory_free(values);
    if (plist >= 0)
        m->h->p_close(plist);
    return err;
}

static int extend_dataset(pnc_netcdf4_metadata *m, const char *path, int ndims, const int64_t *wanted)
{
    int64_t before[PNC_STORAGE_DIMS_MOST], lengths[PNC_STORAGE_DIMS_MOST];
    hsize_t extent[PNC_STORAGE_DIMS_MOST];
    pnc_hdf5_loan loan;
    const int64_t noted = m->source.early.n;
    bool grows = false;
    int err = NC_NOERR;

    PNC_TRY(pnc_netcdf4_dataset_keep(m, path));
    PNC_TRY(pnc_netcdf4_dataset_get_extent(m, m->dataset, path, ndims, before));
    for (int i = 0; i < ndims; i++) {
        grows |= wanted[i] > before[i];
        lengths[i] = pnc_max64(wanted[i], before[i]);
        extent[i] = (hsize_t)lengths[i];
    }
    if (!grows)
        return NC_NOERR;
    pnc_netcdf4_filters_register(m->h, m->dataset, &loan);
    m->source.notes_fills = true;
    if (m->h->d_set_extent(m->dataset, extent) < 0)
        err = pnc_netcdf4_metadata_fail(m, "extend", path);
    m->source.notes_fills = false;
    if (err == NC_NOERR && loan.n > 0 && m->source.early.n > noted)
        err = refill_chunks(m, ndims, before, lengths);
    if (loan.n > 0)
        pnc_netcdf4_dataset_close(m);
    pnc_netcdf4_filters_remove(m->h, &loan);
    PNC_TRY(err);
    PNC_TRY(pnc_netcdf4_dataset_keep(m, path));
    return pnc_netcdf4_scales_extend(m, m->dataset, path, ndims, wanted);
}

int pnc_netcdf4_metadata_extend(pnc_netcdf4_metadata *m, const char *path, int ndims, const int64_t *lengths)
{
    pnc_hdf5_visit visit;
    int err;

    if (pnc_netcdf4_library_begin(&visit, m->source.file->error) == NULL)
        return NC_ENOTBUILT;
    err = extend_dataset(m, path, ndims, lengths);
    pnc_netcdf4_library_end(&visit);
    return err;
}
