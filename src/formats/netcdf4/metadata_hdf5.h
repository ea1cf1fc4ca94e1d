/* An open HDF5 file, and what the parts of its reader share. Every function is called while the library has begun. */
#ifndef PNC_NETCDF4_METADATA_HDF5_H
#define PNC_NETCDF4_METADATA_HDF5_H

#include "formats/netcdf4/hdf5_driver.h"
#include "formats/netcdf4/metadata.h"

struct pnc_netcdf4_metadata {
    const pnc_hdf5 *h;
    pnc_hdf5_source source;
    hid_t file, root;
    hid_t dataset; /* the last one whose chunks were looked up, and its path */
    const char *path;
};

/* NC_EHDFERR: "FILE: HDF5 cannot WHAT "NAME": its own reason". An error that the driver has set stays. */
int pnc_netcdf4_metadata_fail(pnc_netcdf4_metadata *m, const char *what, const char *name);

/* The type of netCDF of an HDF5 type: NC_BYTE ... NC_UINT64, NC_STRING for strings, or NC_OPAQUE, NC_ENUM, NC_COMPOUND,
 * NC_VLEN for those of its class, whose values this library does not read. */
int pnc_netcdf4_type_identify(const pnc_hdf5 *h, hid_t type, bool *is_big_endian);
/* The type of values in memory, of such a number; -1: none. */
hid_t pnc_netcdf4_type_get_native(const pnc_hdf5 *h, int type);

/* Write the attributes of an object that users see, with their number. */
int pnc_netcdf4_atts_describe(pnc_netcdf4_metadata *m, hid_t object, bool is_ordered, const char *name,
                              pnc_netcdf4_writer *out);
/* A hidden attribute of integers: up to `most` of them. Their number; 0: there is none. */
int64_t pnc_netcdf4_atts_get_integers(pnc_netcdf4_metadata *m, hid_t object, const char *name, int64_t *out,
                                      int64_t most);
/* A hidden attribute that is a text; false: there is none. */
bool pnc_netcdf4_atts_get_text(pnc_netcdf4_metadata *m, hid_t object, const char *name, char *out, size_t capacity);
/* The first reference of each of n elements of an attribute of lists of references; 0 where there is none. False: there
 * is no such attribute. */
bool pnc_netcdf4_atts_get_references(pnc_netcdf4_metadata *m, hid_t object, const char *name, int n, hobj_ref_t *out);

/* The storage of a dataset, and the places of its chunks if there are at most *places of them, whose number is
 * subtracted. */
int pnc_netcdf4_storage_describe(pnc_netcdf4_metadata *m, hid_t dataset, const char *path, int type, bool is_big_endian,
                                 int ndims, const int64_t *extent, int64_t *places, pnc_netcdf4_writer *out);
int pnc_netcdf4_chunk_locate(pnc_netcdf4_metadata *m, hid_t dataset, const char *path, const int64_t *index, int ndims,
                             pnc_chunk_place *out);

#endif
