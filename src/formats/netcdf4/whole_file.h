/* A netCDF-4 file that one process writes as a whole, without MPI, for tools: all values are there when it begins. */
#ifndef PNC_NETCDF4_WHOLE_FILE_H
#define PNC_NETCDF4_WHOLE_FILE_H

#include "format/model.h"

typedef struct pnc_netcdf4_whole {
    int fd; /* of an empty file, open for reading and writing */
    const char *path;
    /* Its definitions by the rules of CDF-5, with NC_FORMAT_NETCDF4 or NC_FORMAT_NETCDF4_CLASSIC as format. A variable
     * that has a storage (format/storage.h) is stored so; chunks may lack lengths. */
    const pnc_model *model;
    /* count elements from start, as a classic file has them. NC_NOERR, or a code after setting error. */
    int (*read)(void *with, int varid, const int64_t *start, const int64_t *count, void *values, pnc_error *error);
    /* Whether a variable in chunks has values; of another one the file has no chunks. */
    bool (*is_written)(void *with, int varid);
    void *with;
} pnc_netcdf4_whole;

/* Memory: a chunk, before and after its filters, and the metadata. The first bytes are written last: a file that is not
 * complete is not an HDF5 file. NC_EHDFERR; NC_ENOTBUILT: without libhdf5; NC_EBADTYPE, NC_ESTRICTNC3: the model has
 * what the format does not; NC_EFILTER; NC_EWRITE, NC_ENO_SPACE; NC_ENOMEM. */
int pnc_netcdf4_whole_write(const pnc_netcdf4_whole *whole, pnc_error *error);

#endif
