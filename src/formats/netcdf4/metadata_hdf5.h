/* An open HDF5 file, and what the parts of its reader and writer share. Every function is called while the library has
 * begun. */
#ifndef PNC_NETCDF4_METADATA_HDF5_H
#define PNC_NETCDF4_METADATA_HDF5_H

#include "formats/netcdf4/hdf5_driver.h"
#include "formats/netcdf4/metadata.h"

/* The attribute NAME of the scale of a dimension without a variable begins so, and the path of a variable that has the
 * name of a dimension which is not its first one. */
#define PNC_NETCDF4_NO_VARIABLE "This is a netCDF dimension but not a netCDF variable"
#define PNC_NETCDF4_NOT_COORDINATE "_nc4_non_coord_"

struct pnc_netcdf4_metadata {
    const pnc_hdf5 *h;
    pnc_hdf5_source source;
    hid_t file, root;
    hid_t dataset;      /* the last one whose chunks were looked up or registered, and its path; -1: none */
    char *path;         /* a copy */
    bool has_written;   /* chunks, since the dataset was opened */
    bool has_open_mark; /* the file says that it is open for writing, until it is closed */
    bool tracks_space;  /* libhdf5 may put what it allocates into space that was freed */
    bool has_pages;     /* the same, and it allocates pages, in which small chunks are */
    int64_t committed;  /* end of the file at the last commit */
    int64_t base;       /* of the superblock: behind what a program has put in front of the file */
};

/* NC_EHDFERR: "FILE: HDF5 cannot WHAT "NAME": its own reason". An error that the driver has set stays. */
int pnc_netcdf4_metadata_fail(pnc_netcdf4_metadata *m, const char *what, const char *name);

/* Whether the root group keeps the order in which its links were created. */
bool pnc_netcdf4_order_is_kept(pnc_netcdf4_metadata *m);

/* The type of netCDF of an HDF5 type: NC_BYTE ... NC_UINT64, for an enum that of its integers, NC_STRING for strings,
 * or NC_OPAQUE, NC_ENUM, NC_COMPOUND, NC_VLEN for those of its class, whose values this library does not read. */
int pnc_netcdf4_type_identify(const pnc_hdf5 *h, hid_t type, bool *is_big_endian);
/* Whether the numbers in the file have the bits of their type, NC_BYTE ... NC_UINT64. Otherwise: the parameters of
 * PNC_FILTER_NUMBER; false: this library does not read them. */
bool pnc_netcdf4_number_is_plain(const pnc_hdf5 *h, hid_t type, int nctype);
bool pnc_netcdf4_number_find(const pnc_hdf5 *h, hid_t type, int nctype, uint32_t *parameters);
/* The type of values in memory, of such a number; -1: none. */
hid_t pnc_netcdf4_type_get_native(const pnc_hdf5 *h, int type);

/* Attributes of objects that users see: begin returns where their number will be; end writes it. add: those of an
 * object, with a path in front of their names unless it is "". */
int64_t pnc_netcdf4_atts_begin(pnc_netcdf4_writer *out);
int pnc_netcdf4_atts_add(pnc_netcdf4_metadata *m, hid_t object, bool is_ordered, const char *path, int64_t *n,
                         pnc_netcdf4_writer *out);
void pnc_netcdf4_atts_end(pnc_netcdf4_writer *out, int64_t at, int64_t n);
/* A hidden attribute of integers: up to `most` of them. Their number; 0: there is none. */
int64_t pnc_netcdf4_atts_get_integers(pnc_netcdf4_metadata *m, hid_t object, const char *name, int64_t *out,
                                      int64_t most);
/* A hidden attribute that is a text; false: there is none. */
bool pnc_netcdf4_atts_get_text(pnc_netcdf4_metadata *m, hid_t object, const char *name, char *out, size_t capacity);
/* The first reference of each of n elements of an attribute of lists of references; 0 where there is none. False: there
 * is no such attribute. */
bool pnc_netcdf4_atts_get_references(pnc_netcdf4_metadata *m, hid_t object, const char *name, int n, hobj_ref_t *out);

/* The storage of a dataset, which another variable has as well if it is an alias, and the places of its chunks if there
 * are at most *places of them, whose number is subtracted. */
int pnc_netcdf4_storage_describe(pnc_netcdf4_metadata *m, hid_t dataset, const char *path, bool is_alias, int type,
                                 bool is_big_endian, int ndims, const int64_t *extent, int64_t *places,
                                 pnc_netcdf4_writer *out);
int pnc_netcdf4_chunk_locate(pnc_netcdf4_metadata *m, hid_t dataset, const char *path, const int64_t *index, int ndims,
                             pnc_chunk_place *out);

/* The lengths of chunks, by the creation properties of their dataset. NC_EHDFERR: one is not positive. */
int pnc_netcdf4_chunk_get_shape(pnc_netcdf4_metadata *m, hid_t plist, const char *path, int ndims, int64_t *chunk);
/* From the index at which a chunk begins to that of the next one in row-major order; false: that was the last one. */
bool pnc_netcdf4_index_next(int64_t *index, const int64_t *chunk, const int64_t *extent, int ndims);

/* The address of the values of a contiguous dataset; -1: it has none. NC_EHDFERR: outside the file. */
int pnc_netcdf4_values_locate(pnc_netcdf4_metadata *m, hid_t dataset, const char *path, int64_t *address);

/* --- the dataset that is kept open --- */

int pnc_netcdf4_dataset_keep(pnc_netcdf4_metadata *m, const char *path); /* open it as m->dataset, unless it is */
void pnc_netcdf4_dataset_close(pnc_netcdf4_metadata *m);
/* Its lengths, of which there are ndims. NC_EHDFERR. */
int pnc_netcdf4_dataset_get_extent(pnc_netcdf4_metadata *m, hid_t dataset, const char *path, int ndims, int64_t *out);

/* --- writing --- */

/* Write fill values to the chunks that libhdf5 has allocated, and that have no values. */
int pnc_netcdf4_metadata_write_fills(pnc_netcdf4_metadata *m);

/* libhdf5 defines and extends no dataset with a filter for which it finds no plugin. This library applies filters
 * itself, so that it registers those that are missing while it does that, and removes them for others to find a plugin.
 * They cannot be removed while a dataset that has them is open. */
typedef struct pnc_hdf5_loan {
    int n;
    int ids[PNC_FILTER_MOST];
} pnc_hdf5_loan;

void pnc_netcdf4_filters_register(const pnc_hdf5 *h, hid_t dataset, pnc_hdf5_loan *loan); /* those of a dataset */
void pnc_netcdf4_filters_remove(const pnc_hdf5 *h, const pnc_hdf5_loan *loan);

/* Properties that all datasets have; negative after an error. */
hid_t pnc_netcdf4_dataset_properties_create(const pnc_hdf5 *h);
/* Create the dataset of a variable, which has a storage. *out is open, or negative after an error. */
int pnc_netcdf4_var_create(pnc_netcdf4_metadata *m, const pnc_model *model, const pnc_var *var, const char *path,
                           hid_t *out);

/* The type in a file, or of values in memory in this byte order; NC_CHAR: one character. */
hid_t pnc_netcdf4_type_get(const pnc_hdf5 *h, int type, bool is_big_endian);

/* Strings of variable length, in UTF-8; negative after an error. */
hid_t pnc_netcdf4_string_type_create(const pnc_hdf5 *h);

/* Hidden attributes; one that exists is replaced. A scalar has one element. */
int pnc_netcdf4_atts_put_text(pnc_netcdf4_metadata *m, hid_t object, const char *name, const char *text, int64_t bytes);
int pnc_netcdf4_atts_put_integers(pnc_netcdf4_metadata *m, hid_t object, const char *name, const int *values, int n,
                                  bool is_scalar);
int pnc_netcdf4_atts_remove(pnc_netcdf4_metadata *m, hid_t object, const char *name); /* if it exists */

/* Make the attributes of an object those of `now`, in its order; `before`: those that it has, NULL: none. */
int pnc_netcdf4_atts_update(pnc_netcdf4_metadata *m, hid_t object, const pnc_atts *before, const pnc_atts *now,
                            bool before_is_little, bool now_is_little);

#endif
