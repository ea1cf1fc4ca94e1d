/* Filters that only plugins of HDF5 have. */
#ifndef PNC_NETCDF4_PLUGINS_H
#define PNC_NETCDF4_PLUGINS_H

#include "filter/filter.h"

/* The compression libraries and the plugins of this machine. Any thread. */
pnc_codecs pnc_netcdf4_codecs_get(void);

/* Before libhdf5 creates a dataset with this filter, whose plugin calls it then: such a plugin finds this libhdf5. */
void pnc_netcdf4_plugin_attach(int id);

#endif
