/* The metadata of an HDF5 file, read by libhdf5 on one rank. All functions are local. */
#ifndef PNC_NETCDF4_METADATA_H
#define PNC_NETCDF4_METADATA_H

#include "file/file.h"
#include "formats/netcdf4/description.h"

typedef struct pnc_netcdf4_metadata pnc_netcdf4_metadata;

/* Open the file, which has `size` bytes, by libhdf5. NC_EHDFERR; NC_ENOTBUILT: there is no libhdf5 that fits. */
int pnc_netcdf4_metadata_open(pnc_file *file, int64_t size, pnc_netcdf4_metadata **out);
void pnc_netcdf4_metadata_close(pnc_netcdf4_metadata *m); /* also NULL */

/* Describe dimensions, variables and attributes of the root group. With the places of at most `most_places` chunks.
 * The caller frees out->bytes, also after an error. */
int pnc_netcdf4_metadata_describe(pnc_netcdf4_metadata *m, int64_t most_places, pnc_netcdf4_writer *out);

/* The place of the chunk that begins at this index of a dataset. */
int pnc_netcdf4_metadata_find_chunk(pnc_netcdf4_metadata *m, const char *path, const int64_t *index, int ndims,
                                    pnc_chunk_place *out);

#endif
