/* A variable of a netCDF-4 file as drivers/chunks reads it. Pure. */
#ifndef PNC_NETCDF4_ARRAY_H
#define PNC_NETCDF4_ARRAY_H

#include "formats/netcdf4/description.h"

/* Whether the dataset has all lengths that the dimensions of the variable have. */
bool pnc_netcdf4_extent_is_whole(const pnc_var *var, const pnc_netcdf4_storage *s);

/* The array refers to both. */
void pnc_netcdf4_array_init(const pnc_var *var, const pnc_netcdf4_storage *s, pnc_chunk_array *a);

#endif
