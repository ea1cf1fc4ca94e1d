/* Strings of datasets, of one length or of variable length. */
#include "formats/netcdf4/metadata_scales.h"

#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"

/* What strings are read from, or written to: the selected elements of a dataset. */
typedef struct string_source {
    hid_t dataset, type;
    hid_t memory, selected;
    int64_t n;
} string_source;

static void close_strings(const pnc_hdf5 *h, string_source *s)
{
    if (s->selected >= 0)
        h->s_close(s->selected);
    if (s->memory >= 0)
        h->s_close(s->memory);
    if (s->type >= 0)
        h->t_close(s->type);
}

static bool read_raw_strings(const pnc_hdf5 *h, const string_source *s, void *to)
{
    return h->d_read(s->dataset, s->type, s->memory, s->selected, H5P_DEFAULT, to) >= 0;
}

/* NULL: there is none. */
static bool keep_string(pnc_reader_strings *out, int64_t i, const char *text, size_t n)
{
    if (text == NULL)
        return true;
    out->at[i] = pnc_memory_alloc((int64_t)n + 1, 1);
    if (out->at[i] == NULL)
        return false;
    memcpy(out->at[i], text, n);
    out->at[i][n] = '\0';
    return true;
}

static int read_variable_strings(pnc_netcdf4_metadata *m, const string_source *s, const char *name,
                                 pnc_reader_strings *out)
{
    char **raw = pnc_memory_alloc_zeroed(s->n, sizeof *raw);
    bool has_memory = raw != NULL, good = has_memory && read_raw_strings(m->h, s, raw);

    for (int64_t i = 0; good && has_memory && i < s->n; i++)
        has_memory = keep_string(out, i, raw[i], raw[i] != NULL ? strlen(raw[i]) : 0);
    if (good)
        m->h->d_vlen_reclaim(s->type, s->memory, H5P_DEFAULT, raw);
    pnc_memory_free(raw);
    if (!has_memory)
        return pnc_error_set(m->source.file->error, NC_ENOMEM, "%s: no memory for the strings of \"%s\"",
                             m->source.file->path, name);
    return good ? NC_NOERR : pnc_netcdf4_metadata_fail(m, "read", name);
}

static int read_fixed_strings(pnc_netcdf4_metadata *m, const string_source *s, const char *name,
                              pnc_reader_strings *out)
{
    size_t size = m->h->t_get_size(s->type);
    char *raw = pnc_memory_alloc(s->n, size);
    bool has_memory = raw != NULL, good = has_memory && read_raw_strings(m->h, s, raw);

    for (int64_t i = 0; good && has_memory && i < s->n; i++)
        has_memory = keep_string(out, i, raw + (size_t)i * size, strnlen(raw + (size_t)i * size, size));
    pnc_memory_free(raw);
    if (!has_memory)
        return pnc_error_set(m->source.file->error, NC_ENOMEM, "%s: no memory for the strings of \"%s\"",
                             m->source.file->path, name);
    return good ? NC_NOERR : pnc_netcdf4_metadata_fail(m, "read", name);
}

static int read_strings(pnc_netcdf4_metadata *m, const string_source *s, const char *name, pnc_reader_strings *out)
{
    int err;

    out->at = pnc_memory_alloc_zeroed(s->n + 1, sizeof *out->at);
    if (out->at == NULL)
        return pnc_error_set(m->source.file->error, NC_ENOMEM, "%s: no memory for the strings of \"%s\"",
                             m->source.file->path, name);
    out->n = s->n;
    if (s->n == 0)
        return NC_NOERR;
    err = m->h->t_is_variable_str(s->type) > 0 ? read_variable_strings(m, s, name, out)
                                               : read_fixed_strings(m, s, name, out);
    if (err != NC_NOERR)
        pnc_formats_strings_free(out);
    return err;
}

/* --- values --- */

/* False: this is not a dataset of strings that has these elements. */
static bool select_strings(pnc_netcdf4_metadata *m, const int64_t *start, const int64_t *count, int ndims,
                           string_source *s)
{
    hsize_t first[PNC_STORAGE_DIMS_MOST], length[PNC_STORAGE_DIMS_MOST], n = 1;

    s->dataset = m->dataset;
    s->type = m->h->d_get_type(m->dataset);
    s->selected = m->h->d_get_space(m->dataset);
    if (s->type < 0 || s->selected < 0 || m->h->t_get_class(s->type) != H5T_STRING ||
        m->h->s_get_simple_extent_ndims(s->selected) != ndims)
        return false;
    for (int d = 0; d < ndims; d++) {
        first[d] = (hsize_t)start[d];
        length[d] = (hsize_t)count[d];
        n *= length[d];
    }
    s->n = (int64_t)n;
    s->memory = m->h->s_create_simple(1, &n, NULL);
    return s->memory >= 0 &&
           (ndims == 0 || m->h->s_select_hyperslab(s->selected, H5S_SELECT_SET, first, NULL, length, NULL) >= 0);
}

int pnc_netcdf4_metadata_read_strings(pnc_netcdf4_metadata *m, const char *path, int ndims, const int64_t *start,
                                      const int64_t *count, pnc_reader_strings *out)
{
    string_source s = {.dataset = -1, .type = -1, .memory = -1, .selected = -1};
    pnc_hdf5_visit visit;
    int err;

    *out = (pnc_reader_strings){0};
    if (pnc_netcdf4_library_begin(&visit, m->source.file->error) == NULL)
        return NC_ENOTBUILT;
    err = pnc_netcdf4_dataset_keep(m, path);
    if (err == NC_NOERR && !select_strings(m, start, count, ndims, &s))
        err = pnc_netcdf4_metadata_fail(m, "read strings of", path);
    if (err == NC_NOERR)
        err = read_strings(m, &s, path, out);
    close_strings(m->h, &s);
    pnc_netcdf4_library_end(&visit);
    return err;
}

/* --- writing --- */

/* A dataset may be shorter than its dimensions. libhdf5 has its lengths, and chunks without values, in memory. */
static int extend_strings(pnc_netcdf4_metadata *m, const char *path, int ndims, const int64_t *start,
                          const int64_t *count)
{
    int64_t before[PNC_STORAGE_DIMS_MOST], wanted[PNC_STORAGE_DIMS_MOST];
    hsize_t extent[PNC_STORAGE_DIMS_MOST];
    bool grows = false;

    PNC_TRY(pnc_netcdf4_dataset_get_extent(m, m->dataset, path, ndims, before));
    for (int d = 0; d < ndims; d++) {
        wanted[d] = pnc_max64(before[d], start[d] + count[d]);
        extent[d] = (hsize_t)wanted[d];
        grows |= wanted[d] > before[d];
    }
    if (!grows)
        return NC_NOERR;
    if (m->h->d_set_extent(m->dataset, extent) < 0)
        return pnc_netcdf4_metadata_fail(m, "extend", path);
    return pnc_netcdf4_scales_extend(m, m->dataset, path, ndims, wanted);
}

/* Also NULLs, which libhdf5 writes as no string. */
static int write_strings(pnc_netcdf4_metadata *m, const char *path, int ndims, const int64_t *start,
                         const int64_t *count, char *const *strings)
{
    string_source s = {.dataset = -1, .type = -1, .memory = -1, .selected = -1};
    int err = NC_NOERR;

    PNC_TRY(pnc_netcdf4_dataset_keep(m, path));
    PNC_TRY(extend_strings(m, path, ndims, start, count));
    if (!select_strings(m, start, count, ndims, &s) ||
        m->h->d_write(s.dataset, s.type, s.memory, s.selected, H5P_DEFAULT, strings) < 0)
        err = pnc_netcdf4_metadata_fail(m, "write strings of", path);
    close_strings(m->h, &s);
    return err;
}

int pnc_netcdf4_metadata_write_strings(pnc_netcdf4_metadata *m, const char *path, int ndims, const int64_t *start,
                                       const int64_t *count, char *const *strings)
{
    pnc_hdf5_visit visit;
    int err;

    if (pnc_netcdf4_library_begin(&visit, m->source.file->error) == NULL)
        return NC_ENOTBUILT;
    err = write_strings(m, path, ndims, start, count, strings);
    pnc_netcdf4_library_end(&visit);
    return err;
}

int pnc_netcdf4_metadata_get_extent(pnc_netcdf4_metadata *m, const char *path, int ndims, int64_t *extent)
{
    pnc_hdf5_visit visit;
    int err;

    if (pnc_netcdf4_library_begin(&visit, m->source.file->error) == NULL)
        return NC_ENOTBUILT;
    err = pnc_netcdf4_dataset_keep(m, path);
    if (err == NC_NOERR)
        err = pnc_netcdf4_dataset_get_extent(m, m->dataset, path, ndims, extent);
    pnc_netcdf4_library_end(&visit);
    return err;
}
