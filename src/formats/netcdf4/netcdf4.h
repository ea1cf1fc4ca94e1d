/* netCDF-4 files, which are HDF5 files. Rank 0 reads the metadata by libhdf5 and describes them to all ranks
 * (description.h); chunks are read and decompressed by every rank (drivers/chunks). Files are opened for reading only.
 */
#ifndef PNC_NETCDF4_NETCDF4_H
#define PNC_NETCDF4_NETCDF4_H

#include "formats/format.h"
#include "formats/netcdf4/description.h"
#include "formats/netcdf4/metadata.h"

typedef struct pnc_netcdf4 {
    pnc_format format;
    char *bytes; /* the description, in which storage has pointers */
    int64_t file_size;
    pnc_region region;
    pnc_netcdf4_storage *storage; /* of each variable */
    pnc_chunk_array *arrays;      /* of those with values, by address */
    int *varids;                  /* of the arrays */
    /* libhdf5's file: on rank 0 since the file was opened, on others since they looked up a chunk */
    pnc_netcdf4_metadata *metadata;
} pnc_netcdf4;

static inline pnc_netcdf4 *pnc_netcdf4_state_get(pnc_format *f)
{
    return (pnc_netcdf4 *)f;
}

/* Give each variable the storage that programs see. NC_ENOMEM. Local. */
int pnc_netcdf4_properties_set(pnc_netcdf4 *n);

/* Give each variable an address, and put the store that reads chunks before that of the file. Local. */
int pnc_netcdf4_store_attach(pnc_netcdf4 *n);

#endif
