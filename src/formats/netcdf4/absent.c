/* In place of libhdf5, in a build --without-hdf5. */
#include "formats/netcdf4/metadata.h"

int pnc_netcdf4_metadata_open(pnc_file *file, int64_t size, pnc_netcdf4_metadata **out)
{
    (void)size, (void)out;
    return pnc_error_set(file->error, NC_ENOTBUILT,
                         "%s is a netCDF-4 file, which this build of the library cannot read: it was configured "
                         "without HDF5",
                         file->path);
}

void pnc_netcdf4_metadata_close(pnc_netcdf4_metadata *m)
{
    (void)m;
}

int pnc_netcdf4_metadata_describe(pnc_netcdf4_metadata *m, int64_t most_places, pnc_netcdf4_writer *out)
{
    (void)m, (void)most_places, (void)out;
    return NC_ENOTBUILT;
}

int pnc_netcdf4_metadata_find_chunk(pnc_netcdf4_metadata *m, const char *path, const int64_t *index, int ndims,
                                    pnc_chunk_place *out)
{
    (void)m, (void)path, (void)index, (void)ndims, (void)out;
    return NC_ENOTBUILT;
}
