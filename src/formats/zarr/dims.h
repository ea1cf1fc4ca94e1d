/* Which dimensions the arrays of a store have. Of this folder only. */
#ifndef PNC_ZARR_DIMS_H
#define PNC_ZARR_DIMS_H

#include "formats/zarr/about.h"

/* Sets dims and ndims of the store, and dimids of the arrays: the rules are in document.h. NC_ENOMEM. */
int pnc_zarr_dims_derive(const pnc_zarr_context *c, const pnc_zarr_about *about, pnc_zarr_groups groups,
                         pnc_zarr_store *store, pnc_zarr_array *arrays);

/* Add the member "axes" to the value of _ncmpi, if it needs one. old: of a store that does not show its groups, else
 * NULL. NC_ENOMEM. */
int pnc_zarr_axes_add(const pnc_zarr_context *c, const pnc_zarr_store *store, const pnc_zarr_about *old, void *about);

#endif
