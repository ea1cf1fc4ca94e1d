m4_dnl Version and features of the library, once: name; value, an integer or a string, in C; c if Fortran has no such
m4_dnl constant.
m4_dnl
m4_dnl VERSIONS are those whose names begin with PNETCDF_VERSION. Build files of clients join the values of all macros
m4_dnl that begin with PNETCDF_VERSION_, in the order of the header.
m4_include([check.m4])m4_dnl
m4_divert(-1)
m4_define([VERSIONS], [m4_dnl
FEATURE([PNETCDF_VERSION], ["PNC_VERSION"], [c])
FEATURE([PNETCDF_VERSION_MAJOR], [PNC_VERSION_MAJOR])
FEATURE([PNETCDF_VERSION_MINOR], [PNC_VERSION_MINOR])
FEATURE([PNETCDF_VERSION_SUB], [PNC_VERSION_SUB])
FEATURE([PNETCDF_VERSION_PRE], [""])
])
m4_define([FEATURES], [m4_dnl
FEATURE([PNETCDF_RELEASE_DATE], ["PNC_RELEASE_DATE"], [c])
FEATURE([PNETCDF_ENABLE_FORTRAN], [PNC_ENABLE_FORTRAN], [c])
FEATURE([PNETCDF_ENABLE_CXX], [1], [c])
FEATURE([PNETCDF_ERANGE_FILL], [1])
FEATURE([PNETCDF_RELAX_COORD_BOUND], [1])
FEATURE([PNETCDF_SUBFILING], [0])
FEATURE([PNETCDF_DEBUG_MODE], [0])
FEATURE([PNETCDF_PROFILING], [0], [c])
FEATURE([PNETCDF_NULL_BYTE_HEADER_PADDING], [0])
FEATURE([PNETCDF_BYTE_SWAP_IN_PLACE], [0])
FEATURE([PNETCDF_BURST_BUFFERING], [1])
FEATURE([PNETCDF_THREAD_SAFE], [1])
FEATURE([PNETCDF_DRIVER_NETCDF4], [PNC_DRIVER_NETCDF4])
FEATURE([PNETCDF_DRIVER_ADIOS], [0], [c])
FEATURE([PNETCDF_DRIVER_GIO], [0], [c])
])

m4_define([FEATURE], [CHECK_COUNT([features.m4], [$1], $#, 2, 3)CHECK_NAME([features.m4], [$1], [$1])m4_dnl
CHECK_VALUE([features.m4], [$1], [$2], [value])])
CHECK_ROWS([features.m4], [VERSIONS])
CHECK_ROWS([features.m4], [FEATURES])
m4_divert[]m4_dnl
