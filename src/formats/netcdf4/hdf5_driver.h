/* A virtual file driver of HDF5 that reads through the file of the dataset. Reads only: files are not changed. */
#ifndef PNC_NETCDF4_HDF5_DRIVER_H
#define PNC_NETCDF4_HDF5_DRIVER_H

#include <stdint.h>
#include "file/file.h"
#include "formats/netcdf4/hdf5_library.h"

/* Metadata are read in blocks, of which the last ones are kept. */
#define PNC_HDF5_BLOCKS 16
#define PNC_HDF5_BLOCK INT64_C(65536)

/* What one open HDF5 file reads from. It must outlive it. */
typedef struct pnc_hdf5_source {
    pnc_file *file;
    int64_t size; /* of the file */
    char *blocks; /* PNC_HDF5_BLOCKS of them */
    int64_t at[PNC_HDF5_BLOCKS], used[PNC_HDF5_BLOCKS], clock;
    /* Where the bytes of a chunk are: while notes_data is set, reads of raw data are noted and nothing is read. */
    bool notes_data;
    int64_t data_offset, data_bytes; /* of the last one; data_offset -1: none */
} pnc_hdf5_source;

/* NC_ENOMEM. The library has begun, as in the others. */
int pnc_netcdf4_source_init(pnc_hdf5_source *source, pnc_file *file, int64_t size);
void pnc_netcdf4_source_free(pnc_hdf5_source *source);
/* Open the file by the driver, for reading; negative after an error. */
hid_t pnc_netcdf4_source_open(const pnc_hdf5 *h, pnc_hdf5_source *source);

#endif
