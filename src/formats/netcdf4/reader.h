/* The reader of netCDF-4 files (formats/reader.h). */
#ifndef PNC_NETCDF4_READER_H
#define PNC_NETCDF4_READER_H

#include "formats/reader.h"

extern const pnc_reader_ops pnc_netcdf4_reader;

#endif
