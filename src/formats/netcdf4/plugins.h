/* Filters that only plugins of HDF5 have. */
#ifndef PNC_NETCDF4_PLUGINS_H
#define PNC_NETCDF4_PLUGINS_H

#include "filter/filter.h"

/* The function of the filter with this id; NULL: no plugin of this machine has it. Any thread. */
pnc_plugin_function pnc_netcdf4_plugin_load(int id);

#endif
