/* A virtual file driver of HDF5 that reads through the file of the dataset. It writes to memory: what libhdf5 has
 * written becomes part of the file in a commit (metadata_file.c). Bytes of chunks never pass it. */
#ifndef PNC_NETCDF4_HDF5_DRIVER_H
#define PNC_NETCDF4_HDF5_DRIVER_H

#include <stdint.h>
#include "file/file.h"
#include "formats/netcdf4/early.h"
#include "formats/netcdf4/hdf5_library.h"
#include "formats/netcdf4/unwritten.h"

/* Metadata are read in blocks, of which the last ones are kept. */
#define PNC_HDF5_BLOCKS 16
#define PNC_HDF5_BLOCK INT64_C(65536)

/* What one open HDF5 file reads from. It must outlive it. */
typedef struct pnc_hdf5_source {
    pnc_file *file;
    int64_t size; /* bytes that the file has, of what it had when it was opened and what was committed */
    char *blocks; /* PNC_HDF5_BLOCKS of them */
    int64_t at[PNC_HDF5_BLOCKS], used[PNC_HDF5_BLOCKS], clock;
    /* Where the bytes of a chunk are: while notes_data is set, reads of raw data are noted and nothing is read; while
     * drops_data is set, the same for writes. Raw data are chunks, but also long attributes. */
    bool notes_data, drops_data;
    const void *dropped;             /* NULL, or the only bytes that are dropped: others are fill values of a chunk */
    int64_t data_offset, data_bytes; /* of the last one; data_offset -1: none */
    /* For writing: */
    bool is_writable;
    bool drops;          /* writes are ignored: the file is being closed */
    int64_t end;         /* of what is allocated */
    int64_t closed_end;  /* of what was when libhdf5 closed the file; not all of that is written */
    int64_t next, bytes; /* the address of the next raw data, if they have so many bytes; -1: at the end */
    /* Unless it is negative, libhdf5 finds once that what is allocated for raw data ends here. It asks when it frees
     * raw data: those that end there are freed by the driver, and do not become space that it allocates again. */
    int64_t freed_end;
    pnc_unwritten unwritten;
    bool notes_fills; /* chunks with fill values are noted, not written */
    pnc_early early;
} pnc_hdf5_source;

/* NC_ENOMEM. The library has begun, as in the others. */
int pnc_netcdf4_source_init(pnc_hdf5_source *source, pnc_file *file, int64_t size);
void pnc_netcdf4_source_free(pnc_hdf5_source *source);
/* What was read may have changed in the file. */
void pnc_netcdf4_source_clear(pnc_hdf5_source *source);
/* The end of what the file has, or libhdf5 has allocated. */
int64_t pnc_netcdf4_source_get_end(const pnc_hdf5_source *source);
/* Open the file by the driver, for writing if the source is writable; negative after an error. fcpl: create it with
 * these properties; negative: it exists. */
hid_t pnc_netcdf4_source_open(const pnc_hdf5 *h, pnc_hdf5_source *source, hid_t fcpl);

#endif
