m4_include(`common.m4')m4_include([fortran.m4])m4_include([fortran_constants.m4])m4_dnl
m4_dnl The files that Fortran programs include. PNC_ARGUMENTS states which arguments compilers accept. `any' and
m4_dnl `external' accept what old programs pass to external functions: integer*8 for integer, integer for integer*8, a
m4_dnl scalar for an array. `checked' accepts only the declared types and kinds. Lines are never continued, because no
m4_dnl continuation is valid in free form and in fixed form of both 72 and 132 columns.
m4_ifelse(PNC_ARGUMENTS, [checked], [m4_dnl
!     pnetcdf_checked.inc - constants and functions of PnetCDF for
!     Fortran.  With this file instead of pnetcdf.inc, compilers reject
!     arguments of a wrong type or kind.
!
!     Generated from src/spec.  Include it among the declarations, in
!     fixed or free form.  Programs also need mpif.h or the module mpi.
!     Manual: man 3 pnetcdf_f77.  Indices count from 1, the fastest
!     dimension first.  Sizes, starts and counts are integers of kind
!     MPI_OFFSET_KIND.  Buffers, starts, counts and requests may be
!     scalars, array elements, or arrays of any rank.  The name of a
!     function states the type of its buffer.
], [m4_dnl
!     pnetcdf.inc - constants and functions of PnetCDF for Fortran
!
!     Generated from src/spec.  Include it among the declarations, in
!     fixed or free form.  Programs also need mpif.h or the module mpi.
!     Manual: man 3 pnetcdf_f77.  Indices count from 1, the fastest
!     dimension first.  Sizes, starts and counts are integers of kind
!     MPI_OFFSET_KIND.  With this file, compilers check strings and the
!     number of arguments; with pnetcdf_checked.inc, all arguments.
])m4_dnl
      integer nf_offset_kind
      parameter (nf_offset_kind = selected_int_kind(18))
      integer(nf_offset_kind) nfmpi_unlimited
      parameter (nfmpi_unlimited = 0)
m4_divert(-1)
m4_define([OFFSET_KIND], [nf_offset_kind])
m4_define([FORTRAN_CONSTANT], [OUTPUT([m4_dnl
      m4_ifelse([$2], [OFFSET], [integer(nf_offset_kind)], [$2]) nf_$1
      parameter (nf_$1=m4_patsubst([$3], [_OFFSET_KIND], [_nf_offset_kind]))
])])
m4_define([FORTRAN_FEATURE], [OUTPUT([m4_dnl
      $2 $1
      parameter ($1=$3)
])])
FORTRAN_FEATURES
FORTRAN_CONSTANTS
NETCDF2_CONSTANTS

m4_divert(0)m4_dnl

!     This type uses every constant: compilers do not warn about those
!     that a program does not use.
      type nf_constants
        integer(nf_offset_kind) :: unlimited = nfmpi_unlimited
m4_divert(-1)
m4_define([_used], 0)
m4_define([FORTRAN_CONSTANT], [m4_define([_used], m4_incr(_used))OUTPUT([m4_dnl
        m4_ifelse([$2], [OFFSET], [integer(nf_offset_kind)], [$2]) :: c[]_used = nf_$1
])])
m4_define([FORTRAN_FEATURE], [m4_define([_used], m4_incr(_used))OUTPUT([m4_dnl
        m4_ifelse(m4_index([$2], [character]), 0, [integer :: c[]_used = len($1)], [$2 :: c[]_used = $1])
])])
FORTRAN_FEATURES
FORTRAN_CONSTANTS
NETCDF2_CONSTANTS
m4_divert(0)m4_dnl
      end type

m4_include(m4_ifelse(PNC_ARGUMENTS, [external], [[include_external.m4]], [[include_interfaces.m4]]))m4_dnl
