/* What libpnetcdf-netcdf (src/binding/netcdf) calls beside the functions of pnetcdf.h. Programs do not. This header may
 * stand beside netcdf.h. */
#ifndef PNC_API_DOOR_H
#define PNC_API_DOOR_H

#include <stdbool.h>

/* Local, on all ranks, once, after ncmpi_create or ncmpi_open: independent and collective calls need no change of the
 * mode (dataset/united.h). NC_EBADID */
int pncnc_modes_unite(int ncid);

/* Whether a file has a dimension of this name or path, without a report. Local. */
bool pncnc_dim_exists(int ncid, const char *name);

/* Whether chunks can pass a filter of HDF5 with this id on this machine, perhaps by a plugin. Local. */
bool pncnc_filter_exists(unsigned id);

/* Around a call of the public function `function`: its messages and statistics have this name instead. end: returns
 * err, or the code of netCDF for one that netCDF lacks. The calls of a thread do not nest. Local. */
void pncnc_call_begin(const char *name, const char *function, int ncid);
int pncnc_call_end(int err);

#endif
