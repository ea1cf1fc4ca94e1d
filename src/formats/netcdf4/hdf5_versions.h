/* What differs between the versions of HDF5 that this library is built with: 1.10.3 or later, and 1.12, 1.14, 2.0. */
#ifndef PNC_NETCDF4_HDF5_VERSIONS_H
#define PNC_NETCDF4_HDF5_VERSIONS_H

#include <H5PLextern.h>
#include <hdf5.h>

/* In constants of the header, which would call functions of a library that programs are not linked with. */
#undef H5CHECK
#define H5CHECK
#undef H5OPEN
#define H5OPEN

/* Names of functions that later versions have under several names. */
#if H5_VERSION_GE(1, 12, 0)
#define PNC_H5LGET_INFO H5Lget_info1
#define PNC_H5L_INFO H5L_info1_t
#else
#define PNC_H5LGET_INFO H5Lget_info
#define PNC_H5L_INFO H5L_info_t
#endif
#if H5_VERSION_GE(2, 0, 0)
#define PNC_H5DREAD_CHUNK H5Dread_chunk1
#else
#define PNC_H5DREAD_CHUNK H5Dread_chunk
#endif

/* HDF5 2.0 refuses numbers that leave many bits of their bytes unused (4 bits in 5 bytes), unless it is asked. */
#if H5_VERSION_GE(2, 0, 0)
#define PNC_HDF5_LATER_FUNCTIONS(F) F(p_set_relaxed, H5Pset_relax_file_integrity_checks)
#define PNC_HDF5_TAKES_ALL_NUMBERS(h, fapl) ((h)->p_set_relaxed((fapl), H5F_RFIC_UNUSUAL_NUM_UNUSED_NUMERIC_BITS) >= 0)
#else
#define PNC_HDF5_LATER_FUNCTIONS(F)
#define PNC_HDF5_TAKES_ALL_NUMBERS(h, fapl) true
#endif

/* The first members of H5FD_class_t. The value is of those for drivers that are not registered with The HDF Group. */
#if H5_VERSION_GE(1, 13, 2)
#define PNC_H5FD_FIRST .version = H5FD_CLASS_VERSION, .value = (H5FD_class_value_t)510,
#else
#define PNC_H5FD_FIRST
#endif

#endif
