/* What NCZarr of netCDF-C says beside Zarr v2: members of documents (_NCZARR_ARRAY, netCDF-C 4.9.0) or attributes
 * (_nczarr_array, from 4.9.3 on) that netCDF does not show. Nothing in them is an error. Of this folder only. */
#ifndef PNC_ZARR_NCZARR_H
#define PNC_ZARR_NCZARR_H

#include "formats/zarr/about.h"
#include "formats/zarr/nodes.h"

/* What it says of an array; NULL: nothing. */
void *pnc_zarr_nczarr_array_get(const pnc_zarr_context *c, const pnc_zarr_node *node);
/* Names of dimensions, unless the array has some. */
int pnc_zarr_nczarr_names_read(const pnc_zarr_context *c, const pnc_zarr_node *node, pnc_zarr_array *array);
/* Dimensions, and the order of arrays, of all groups, unless `about` has some. */
int pnc_zarr_nczarr_groups_read(const pnc_zarr_context *c, const pnc_zarr_nodes *nodes, pnc_zarr_about *about);
/* The type of an attribute, where `about` has none. */
pnc_zarr_att_type pnc_zarr_nczarr_type_find(const pnc_zarr_context *c, const pnc_zarr_about *about,
                                            const pnc_zarr_node *node, const char *name);
/* Set the lengths of unlimited dimensions in what it says of a group. */
int pnc_zarr_nczarr_dims_update(const pnc_zarr_context *c, const pnc_zarr_node *node, const pnc_zarr_store *store);

#endif
