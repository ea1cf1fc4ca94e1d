/* libhdf5, opened at first use: programs are linked without it. Any flavour (serial, MPICH, Open MPI) serves, as only
 * serial functions are called. One thread at a time is in it. */
#ifndef PNC_NETCDF4_HDF5_LIBRARY_H
#define PNC_NETCDF4_HDF5_LIBRARY_H

#include <stdbool.h>
#include "base/error.h"
#include "formats/netcdf4/hdf5_versions.h"

/* clang-format off */
#define PNC_HDF5_FUNCTIONS(F) \
    F(open, H5open) F(get_libversion, H5get_libversion) \
    F(a_close, H5Aclose) F(a_get_space, H5Aget_space) F(a_get_type, H5Aget_type) F(a_iterate, H5Aiterate2) \
    F(a_open, H5Aopen) F(a_exists, H5Aexists) F(a_read, H5Aread) \
    F(d_close, H5Dclose) F(d_get_create_plist, H5Dget_create_plist) F(d_get_offset, H5Dget_offset) \
    F(d_get_space, H5Dget_space) F(d_get_space_status, H5Dget_space_status) \
    F(d_get_storage_size, H5Dget_storage_size) F(d_get_type, H5Dget_type) \
    F(d_open, H5Dopen2) F(d_read, H5Dread) F(d_read_chunk, PNC_H5DREAD_CHUNK) \
    F(d_vlen_reclaim, H5Dvlen_reclaim) \
    F(e_clear, H5Eclear2) F(e_get_auto, H5Eget_auto2) F(e_set_auto, H5Eset_auto2) F(e_walk, H5Ewalk2) \
    F(f_close, H5Fclose) F(f_open, H5Fopen) F(fd_register, H5FDregister) \
    F(g_close, H5Gclose) F(g_create, H5Gcreate2) F(g_get_create_plist, H5Gget_create_plist) \
    F(g_get_info, H5Gget_info) F(g_open, H5Gopen2) \
    F(i_get_type, H5Iget_type) F(l_get_info, PNC_H5LGET_INFO) F(l_get_name_by_idx, H5Lget_name_by_idx) \
    F(o_close, H5Oclose) F(o_open, H5Oopen) \
    F(p_close, H5Pclose) F(p_create, H5Pcreate) F(p_fill_value_defined, H5Pfill_value_defined) \
    F(p_get_attr_creation_order, H5Pget_attr_creation_order) F(p_get_alloc_time, H5Pget_alloc_time) \
    F(p_get_chunk, H5Pget_chunk) \
    F(p_get_chunk_opts, H5Pget_chunk_opts) F(p_get_driver_info, H5Pget_driver_info) \
    F(p_get_external_count, H5Pget_external_count) F(p_get_fill_value, H5Pget_fill_value) \
    F(p_get_filter, H5Pget_filter2) F(p_get_layout, H5Pget_layout) \
    F(p_get_link_creation_order, H5Pget_link_creation_order) F(p_get_nfilters, H5Pget_nfilters) \
    F(p_get_userblock, H5Pget_userblock) F(p_set_elink_cb, H5Pset_elink_cb) \
    F(pl_get, H5PLget) F(pl_get_loading_state, H5PLget_loading_state) F(pl_size, H5PLsize) \
    F(p_set_driver, H5Pset_driver) F(p_set_fclose_degree, H5Pset_fclose_degree) F(r_create, H5Rcreate) \
    F(s_close, H5Sclose) F(s_get_simple_extent_dims, H5Sget_simple_extent_dims) \
    F(s_get_simple_extent_ndims, H5Sget_simple_extent_ndims) \
    F(s_get_simple_extent_npoints, H5Sget_simple_extent_npoints) \
    F(s_get_simple_extent_type, H5Sget_simple_extent_type) \
    F(t_close, H5Tclose) F(t_equal, H5Tequal) F(t_get_class, H5Tget_class) \
    \
    F(t_get_ebias, H5Tget_ebias) F(t_get_fields, H5Tget_fields) F(t_get_native_type, H5Tget_native_type) \
    F(t_get_norm, H5Tget_norm) F(t_get_offset, H5Tget_offset) F(t_get_order, H5Tget_order) \
    F(t_get_precision, H5Tget_precision) F(t_get_sign, H5Tget_sign) F(t_get_size, H5Tget_size) \
    F(t_get_super, H5Tget_super) \
    F(t_is_variable_str, H5Tis_variable_str) \
    \
    F(a_create, H5Acreate2) F(a_delete, H5Adelete) F(a_write, H5Awrite) \
    F(d_create, H5Dcreate2) F(d_set_extent, H5Dset_extent) F(d_write, H5Dwrite) F(d_write_chunk, H5Dwrite_chunk) \
    F(f_create, H5Fcreate) F(f_flush, H5Fflush) F(f_get_create_plist, H5Fget_create_plist) F(f_get_info, H5Fget_info2) \
    F(l_delete, H5Ldelete) F(l_exists, H5Lexists) F(l_move, H5Lmove) \
    F(p_get_file_space_strategy, H5Pget_file_space_strategy) F(p_get_mdc_config, H5Pget_mdc_config) \
    F(p_set_alloc_time, H5Pset_alloc_time) F(p_set_attr_creation_order, H5Pset_attr_creation_order) \
    F(p_set_chunk, H5Pset_chunk) F(p_set_file_space_strategy, H5Pset_file_space_strategy) \
    F(p_set_fill_time, H5Pset_fill_time) F(p_set_fill_value, H5Pset_fill_value) F(p_set_filter, H5Pset_filter) \
    F(p_set_layout, H5Pset_layout) F(p_set_libver_bounds, H5Pset_libver_bounds) \
    F(p_set_link_creation_order, H5Pset_link_creation_order) F(p_set_mdc_config, H5Pset_mdc_config) \
    F(p_set_obj_track_times, H5Pset_obj_track_times) F(r_dereference, H5Rdereference2) \
    F(s_create, H5Screate) F(s_create_simple, H5Screate_simple) F(s_select_hyperslab, H5Sselect_hyperslab) \
    F(t_copy, H5Tcopy) F(t_create, H5Tcreate) F(t_insert, H5Tinsert) F(t_set_cset, H5Tset_cset) \
    F(t_set_size, H5Tset_size) \
    F(t_vlen_create, H5Tvlen_create) \
    F(z_filter_avail, H5Zfilter_avail) F(z_register, H5Zregister) F(z_unregister, H5Zunregister) \
    PNC_HDF5_LATER_FUNCTIONS(F)

/* Variables that hold ids; what H5T_NATIVE_INT and others of the header stand for. */
#define PNC_HDF5_IDS(F) \
    F(file_access, H5P_CLS_FILE_ACCESS_ID_g) F(link_access, H5P_CLS_LINK_ACCESS_ID_g) \
    F(c_string, H5T_C_S1_g) F(reference, H5T_STD_REF_OBJ_g) \
    F(f32le, H5T_IEEE_F32LE_g) F(f32be, H5T_IEEE_F32BE_g) F(f64le, H5T_IEEE_F64LE_g) F(f64be, H5T_IEEE_F64BE_g) \
    F(schar, H5T_NATIVE_SCHAR_g) F(uchar, H5T_NATIVE_UCHAR_g) F(sshort, H5T_NATIVE_SHORT_g) \
    F(ushort, H5T_NATIVE_USHORT_g) F(sint, H5T_NATIVE_INT_g) F(uint, H5T_NATIVE_UINT_g) \
    F(llong, H5T_NATIVE_LLONG_g) F(ullong, H5T_NATIVE_ULLONG_g) F(flt, H5T_NATIVE_FLOAT_g) \
    F(dbl, H5T_NATIVE_DOUBLE_g) \
    F(i8le, H5T_STD_I8LE_g) F(i8be, H5T_STD_I8BE_g) F(u8le, H5T_STD_U8LE_g) F(u8be, H5T_STD_U8BE_g) \
    F(i16le, H5T_STD_I16LE_g) F(i16be, H5T_STD_I16BE_g) F(u16le, H5T_STD_U16LE_g) F(u16be, H5T_STD_U16BE_g) \
    F(i32le, H5T_STD_I32LE_g) F(i32be, H5T_STD_I32BE_g) F(u32le, H5T_STD_U32LE_g) F(u32be, H5T_STD_U32BE_g) \
    F(i64le, H5T_STD_I64LE_g) F(i64be, H5T_STD_I64BE_g) F(u64le, H5T_STD_U64LE_g) F(u64be, H5T_STD_U64BE_g) \
    F(file_create, H5P_CLS_FILE_CREATE_ID_g) F(group_create, H5P_CLS_GROUP_CREATE_ID_g) \
    F(dataset_create, H5P_CLS_DATASET_CREATE_ID_g)
/* clang-format on */

typedef struct pnc_hdf5 {
#define PNC_HDF5_MEMBER(member, name) __typeof__(name) *member;
    PNC_HDF5_FUNCTIONS(PNC_HDF5_MEMBER)
#undef PNC_HDF5_MEMBER
#define PNC_HDF5_ID(member, name) hid_t member;
    PNC_HDF5_IDS(PNC_HDF5_ID)
#undef PNC_HDF5_ID
#define PNC_HDF5_COUNT(member, name) +1
    const hid_t *id_variables[0 PNC_HDF5_IDS(PNC_HDF5_COUNT)]; /* of the library, in this order */
#undef PNC_HDF5_COUNT
} pnc_hdf5;

/* The error handler of the program while this library calls libhdf5. */
typedef struct pnc_hdf5_visit {
    H5E_auto2_t handler;
    void *data;
    bool is_known; /* false: a handler of HDF5 1.6, which stays in place */
} pnc_hdf5_visit;

/* Begin and end calls of libhdf5. Between them no other thread of this library calls it, and the program's error
 * handler is not called; afterwards it is as before. NULL, and nothing has begun: there is no libhdf5 that fits the
 * headers of the build; NC_ENOTBUILT with a message. */
const pnc_hdf5 *pnc_netcdf4_library_begin(pnc_hdf5_visit *visit, pnc_error *error);
void pnc_netcdf4_library_end(const pnc_hdf5_visit *visit);

#endif
