/* In place of libhdf5, in a build --without-hdf5. */
#include "formats/netcdf4/metadata.h"
#include "formats/netcdf4/plugins.h"
#include "host/codecs.h"

static int lack_library(pnc_file *file)
{
    return pnc_error_set(file->error, NC_ENOTBUILT,
                         "%s is a netCDF-4 file, which this build of the library cannot access: it was configured "
                         "without HDF5",
                         file->path);
}

int pnc_netcdf4_metadata_open(pnc_file *file, int64_t size, bool is_writable, pnc_netcdf4_metadata **out)
{
    (void)size, (void)is_writable, (void)out;
    return lack_library(file);
}

int pnc_netcdf4_metadata_create(pnc_file *file, int version, pnc_netcdf4_metadata **out)
{
    (void)version, (void)out;
    return lack_library(file);
}

void pnc_netcdf4_metadata_close(pnc_netcdf4_metadata *m)
{
    (void)m;
}

int pnc_netcdf4_metadata_describe(pnc_netcdf4_metadata *m, pnc_netcdf4_scope scope, int64_t most_places,
                                  pnc_netcdf4_writer *out)
{
    (void)m, (void)scope, (void)most_places, (void)out;
    return NC_ENOTBUILT;
}

bool pnc_netcdf4_metadata_is_classic(pnc_netcdf4_metadata *m)
{
    (void)m;
    return false;
}

bool pnc_netcdf4_metadata_get_text(pnc_netcdf4_metadata *m, const char *name, char *out, size_t capacity)
{
    (void)m, (void)name, (void)out, (void)capacity;
    return false;
}

int pnc_netcdf4_metadata_read_strings(pnc_netcdf4_metadata *m, const char *path, int ndims, const int64_t *start,
                                      const int64_t *count, pnc_reader_strings *out)
{
    (void)m, (void)path, (void)ndims, (void)start, (void)count, (void)out;
    return NC_ENOTBUILT;
}

int pnc_netcdf4_metadata_find_chunk(pnc_netcdf4_metadata *m, const char *path, const int64_t *index, int ndims,
                                    pnc_chunk_place *out)
{
    (void)m, (void)path, (void)index, (void)ndims, (void)out;
    return NC_ENOTBUILT;
}

/* --- nothing calls these: there is no open file --- */

int pnc_netcdf4_metadata_define(pnc_netcdf4_metadata *m, const pnc_model *before, const pnc_model *now,
                                pnc_region *region, const char **paths)
{
    (void)m, (void)before, (void)now, (void)region, (void)paths;
    return NC_ENOTBUILT;
}

int pnc_netcdf4_metadata_get_address(pnc_netcdf4_metadata *m, const char *path, int64_t *address)
{
    (void)m, (void)path, (void)address;
    return NC_ENOTBUILT;
}

int pnc_netcdf4_metadata_alloc_values(pnc_netcdf4_metadata *m, const char *path, int64_t *address)
{
    (void)m, (void)path, (void)address;
    return NC_ENOTBUILT;
}

int pnc_netcdf4_metadata_write_compact(pnc_netcdf4_metadata *m, const char *path, const void *values, int64_t bytes)
{
    (void)m, (void)path, (void)values, (void)bytes;
    return NC_ENOTBUILT;
}

int pnc_netcdf4_metadata_write_strings(pnc_netcdf4_metadata *m, const char *path, int ndims, const int64_t *start,
                                       const int64_t *count, char *const *strings)
{
    (void)m, (void)path, (void)ndims, (void)start, (void)count, (void)strings;
    return NC_ENOTBUILT;
}

int pnc_netcdf4_metadata_get_extent(pnc_netcdf4_metadata *m, const char *path, int ndims, int64_t *extent)
{
    (void)m, (void)path, (void)ndims, (void)extent;
    return NC_ENOTBUILT;
}

int pnc_netcdf4_metadata_extend(pnc_netcdf4_metadata *m, const char *path, int ndims, const int64_t *lengths)
{
    (void)m, (void)path, (void)ndims, (void)lengths;
    return NC_ENOTBUILT;
}

int pnc_netcdf4_metadata_register(pnc_netcdf4_metadata *m, const char *path, int ndims, const int64_t *indices,
                                  const pnc_chunk_place *places, int64_t n, bool *moves)
{
    (void)m, (void)path, (void)ndims, (void)indices, (void)places, (void)n, (void)moves;
    return NC_ENOTBUILT;
}

int pnc_netcdf4_metadata_read_filters(pnc_netcdf4_metadata *m, const char *path, pnc_region *region,
                                      pnc_filter_chain *out)
{
    (void)m, (void)path, (void)region, (void)out;
    return NC_ENOTBUILT;
}

pnc_codecs pnc_netcdf4_codecs_get(void)
{
    return *pnc_host_codecs_get();
}

void pnc_netcdf4_plugin_attach(int id)
{
    (void)id;
}

int64_t pnc_netcdf4_metadata_get_end(const pnc_netcdf4_metadata *m)
{
    (void)m;
    return 0;
}

int64_t pnc_netcdf4_metadata_get_pending_bytes(const pnc_netcdf4_metadata *m)
{
    (void)m;
    return 0;
}

void pnc_netcdf4_metadata_raise_end(pnc_netcdf4_metadata *m, int64_t end)
{
    (void)m, (void)end;
}

int pnc_netcdf4_metadata_list(pnc_netcdf4_metadata *m, pnc_redo *redo)
{
    (void)m, (void)redo;
    return NC_ENOTBUILT;
}

int pnc_netcdf4_metadata_discard_writes(pnc_netcdf4_metadata *m)
{
    (void)m;
    return NC_ENOTBUILT;
}

int pnc_netcdf4_metadata_restore(pnc_netcdf4_metadata *m)
{
    (void)m;
    return NC_ENOTBUILT;
}
