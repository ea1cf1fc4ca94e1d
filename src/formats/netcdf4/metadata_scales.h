/* Dimension scales of an HDF5 file. Every function is called while the library has begun. */
#ifndef PNC_NETCDF4_METADATA_SCALES_H
#define PNC_NETCDF4_METADATA_SCALES_H

#include "formats/netcdf4/metadata_hdf5.h"

bool pnc_netcdf4_scale_is(pnc_netcdf4_metadata *m, hid_t dataset);
bool pnc_netcdf4_scale_has_variable(pnc_netcdf4_metadata *m, hid_t dataset); /* of one that is a scale */

/* Make a dataset the scale of the dimension with this id. `name` is that of the variable. */
int pnc_netcdf4_scale_set(pnc_netcdf4_metadata *m, hid_t dataset, const char *name, int id);
int pnc_netcdf4_scale_remove(pnc_netcdf4_metadata *m, hid_t dataset);
/* A scale without a variable. */
int pnc_netcdf4_scale_create(pnc_netcdf4_metadata *m, const char *path, int64_t length, bool is_unlimited, int id);

/* A dimension of a dataset that has the scale; as the file has it. */
typedef struct pnc_scale_use {
    hobj_ref_t dataset;
    int position;
} pnc_scale_use;

typedef struct pnc_scale_uses {
    pnc_scale_use *at; /* the caller frees it */
    int64_t n, capacity;
} pnc_scale_uses;

bool pnc_netcdf4_scale_uses_reserve(pnc_scale_uses *uses, int64_t n); /* false without memory */
int pnc_netcdf4_scale_uses_read(pnc_netcdf4_metadata *m, hid_t dataset, pnc_scale_uses *out);
int pnc_netcdf4_scale_uses_write(pnc_netcdf4_metadata *m, hid_t dataset, const pnc_scale_uses *uses);

/* The scales of the n dimensions of a dataset; 0: it has none. */
int pnc_netcdf4_dim_list_write(pnc_netcdf4_metadata *m, hid_t dataset, hobj_ref_t *scales, int n);
int pnc_netcdf4_dim_list_remove(pnc_netcdf4_metadata *m, hid_t dataset);
int pnc_netcdf4_dim_list_replace(pnc_netcdf4_metadata *m, hid_t dataset, int n, hobj_ref_t from, hobj_ref_t to);

/* Give the scales without a variable of a dataset, if they are unlimited, at least these lengths. */
int pnc_netcdf4_scales_extend(pnc_netcdf4_metadata *m, hid_t dataset, const char *path, int ndims,
                              const int64_t *lengths);

#endif
