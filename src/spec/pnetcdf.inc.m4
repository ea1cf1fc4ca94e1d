m4_include(`common.m4')m4_include([fortran.m4])m4_include([fortran_constants.m4])m4_dnl
m4_dnl The files that Fortran programs include. PNC_ARGUMENTS decides which arguments compilers accept: with `any' and
m4_dnl `external' those of external functions, which old programs rely on: integer*8 for integer and the reverse, a
m4_dnl scalar for an array; with `checked' only the declared types and kinds. No line may be continued: no continuation
m4_dnl is valid in fixed form of 72 columns, fixed form of 132 columns, and free form.
m4_ifelse(PNC_ARGUMENTS, [checked], [m4_dnl
!     pnetcdf_checked.inc - constants and functions of PnetCDF for
!     Fortran, in place of pnetcdf.inc: compilers refuse arguments of a
!     wrong type or kind
!
!     Generated from src/spec. Include it where declarations stand, in
!     fixed or free form; programs need mpif.h or the module mpi too.
!     Names: man 3 pnetcdf_f77.  Indices count from 1, the fastest
!     dimension first.  Sizes, starts and counts are integers of kind
!     MPI_OFFSET_KIND.  Buffers, starts, counts and requests may be
!     scalars, elements, or arrays of any rank; the type of a buffer is
!     what the name of the function says.
], [m4_dnl
!     pnetcdf.inc - constants and functions of PnetCDF for Fortran
!
!     Generated from src/spec. Include it where declarations stand, in
!     fixed or free form; programs need mpif.h or the module mpi too.
!     Names: man 3 pnetcdf_f77.  Indices count from 1, the fastest
!     dimension first.  Sizes, starts and counts are integers of kind
!     MPI_OFFSET_KIND.  Compilers check only the number of arguments and
!     strings here; with pnetcdf_checked.inc they check all arguments.
])m4_dnl
      integer nf_offset_kind
      parameter (nf_offset_kind = selected_int_kind(18))
      integer(nf_offset_kind) nfmpi_unlimited
      parameter (nfmpi_unlimited = 0)
m4_divert(-1)
m4_define([OFFSET_KIND], [nf_offset_kind])
m4_define([FORTRAN_CONSTANT], [m4_divert(0)m4_dnl
      m4_ifelse([$2], [OFFSET], [integer(nf_offset_kind)], [$2]) nf_$1
      parameter (nf_$1=m4_patsubst([$3], [_OFFSET_KIND], [_nf_offset_kind]))
m4_divert(-1)])
m4_define([FORTRAN_FEATURE], [m4_divert(0)m4_dnl
      $2 $1
      parameter ($1=$3)
m4_divert(-1)])
FORTRAN_FEATURES
FORTRAN_CONSTANTS

m4_divert(0)m4_dnl

!     Uses every constant, so that compilers do not warn of those that
!     a program does not use.
      type nf_constants
        integer(nf_offset_kind) :: unlimited = nfmpi_unlimited
m4_divert(-1)
m4_define([_used], 0)
m4_define([FORTRAN_CONSTANT], [m4_define([_used], m4_incr(_used))m4_divert(0)m4_dnl
        m4_ifelse([$2], [OFFSET], [integer(nf_offset_kind)], [$2]) :: c[]_used = nf_$1
m4_divert(-1)])
m4_define([FORTRAN_FEATURE], [m4_define([_used], m4_incr(_used))m4_divert(0)m4_dnl
        integer :: c[]_used = m4_ifelse([$2], [integer], [$1], [len($1)])
m4_divert(-1)])
FORTRAN_FEATURES
FORTRAN_CONSTANTS
m4_divert(0)m4_dnl
      end type

m4_include(m4_ifelse(PNC_ARGUMENTS, [external], [[include_external.m4]], [[include_interfaces.m4]]))m4_dnl
