/* Which attributes of documents are those of netCDF. Of this folder only. */
#ifndef PNC_ZARR_VISIBLE_H
#define PNC_ZARR_VISIBLE_H

#include <stdbool.h>

/* version: of Zarr; path: of the node, an array or a group. Not those that say how the store is made, nor names that
 * netCDF cannot have. */
bool pnc_zarr_att_is_hidden(int version, const char *path, bool is_array, const char *name);

#endif
