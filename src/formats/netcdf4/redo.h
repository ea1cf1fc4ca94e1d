/* Metadata of a netCDF-4 file that become part of it all or none. */
#ifndef PNC_NETCDF4_REDO_H
#define PNC_NETCDF4_REDO_H

#include "file/file.h"

/* extents ascend and are disjoint, bytes in their order; end: of allocation: the log may be written behind it. The
 * bytes become part of the file all or none. durable: they are on disk afterwards. Local. */
int pnc_netcdf4_redo_apply(pnc_file *file, const pnc_extent *extents, int64_t n, const char *bytes, int64_t end,
                           bool durable);

#endif
