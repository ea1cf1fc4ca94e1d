m4_include(`common.m4')m4_include([fortran.m4])m4_dnl
m4_dnl Constants, and interfaces of the functions.
m4_dnl
m4_dnl Directives disable the checks of an argument: of type, kind and rank, or with (R) of the rank only; the
m4_dnl directive of gfortran always disables all.
m4_define([KIND_OF_8_BYTES], [nf_offset_kind])m4_dnl
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

      integer nf_offset_kind
      parameter (nf_offset_kind = selected_int_kind(18))
m4_include([include_constants.m4])m4_dnl

!     This type uses every constant: compilers do not warn about those
!     that a program does not use.
      type nf_constants
m4_divert(-1)
m4_define([_used], 0)
m4_define([COMPONENT], [m4_define([_used], m4_incr(_used))OUTPUT([m4_dnl
        m4_ifelse([$2], [character(*)], [character], [$2]) :: c[]_used = $1
])])
EACH_CONSTANT([COMPONENT])
m4_divert(0)m4_dnl
      end type

m4_divert(-1)
m4_define([UNCHECKED], [!GCC$ attributes no_arg_check :: $1
!DEC$ attributes no_arg_check :: $1
!DIR$ IGNORE_TKR $2[]$1
!IBM* IGNORE_TKR $2[]$1[]])
m4_define([DECLARED], [
        $2[]m4_ifelse([$3], [], [], [[, $3]]) :: $1[]$4])

m4_dnl An argument: one value, an array (or a scalar or an array element), memory of any type, a string, an array of
m4_dnl strings; each with its name, type and passing.
m4_define([INTENT], [m4_ifelse(m4_regexp([$1], [_in$]), -1, [intent(inout)], [intent(in)])])
m4_define([VALUE], [DECLARED([$1], [$2], INTENT([$3]))])
m4_define([VALUES], [
UNCHECKED([$1], [(R) ])DECLARED([$1], [$2], INTENT([$3]), [(*)])])
m4_define([MEMORY], [
UNCHECKED([$1])DECLARED([$1], [$2], INTENT([$3]), [(*)])])
m4_define([STRING], [DECLARED([$1], [$2], INTENT([$3]))])
m4_define([STRINGS], [DECLARED([$1], [$2], INTENT([$3]), [(*)])])

m4_define([ARGUMENT], [ARGUMENT_PASSED([$3], PASSING([$1]))])
m4_define([ARGUMENT_PASSED], [m4_ifelse(
    m4_index([$2], [text]),   0, [STRING([$1], [character(len=*)], [$2])],
    m4_index([$2], [chars]),  0, [STRINGS([$1], [character(len=*)], [$2])],
    m4_index([$2], [strings]), 0, [STRINGS([$1], [character(len=*)], [$2])],
    m4_index([$2], [buffer]), 0, [MEMORY([$1], [integer], [$2])],
    m4_index([$2], [list]),   0, [MEMORY([$1], [integer], [$2])],
    m4_index([$2], [offset]), 0, [VALUE([$1], [OFFSET], [$2])],
    [$2], [index_in],            [VALUE([$1], [OFFSET], [$2])],
    [$2], [indices_in],          [VALUES([$1], [OFFSET], [$2])],
    [$2], [sizes_in],            [VALUES([$1], [OFFSET], [$2])],
    [$2], [sizes_out],           [VALUES([$1], [OFFSET], [$2])],
    [$2], [blocks_in],           [VALUES([$1], [OFFSET], [$2])],
    [$2], [block_sizes_in],      [VALUES([$1], [OFFSET], [$2])],
    [$2], [element_out],         [VALUES([$1], [integer], [$2])],
    [VALUE([$1], [integer], [$2])])])
m4_define([ROW], [OUTPUT([m4_dnl
      function nfmpi_$1(EACH([DUMMY], [,], [$3]))
        m4_ifelse([$4], [text], [character(len=80)], [integer]) nfmpi_$1[]EACH([ARGUMENT], [], [$3])
      end function
])])
m4_divert(0)m4_dnl
      interface
m4_divert(-1)
FUNCTIONS
VARD
m4_divert(0)m4_dnl
      pure function nfmpi_issyserr(err)
        logical nfmpi_issyserr[]VALUE([err], [integer], [int_in])
      end function
      end interface

!     Functions for different types share an interface.  Its name is nfi
!     and three letters: p for put, g get, i iput and bput, j iget; then
!     0 for var, 1 var1, a vara, s vars, m varm, n varn; then v for
!     values of a type, t for text, f for the flexible functions, with
!     n for bufcount and type for buftype.
      abstract interface
m4_divert(-1)
m4_dnl Short names, for lines of 72 columns.
m4_define([SHORT_DUMMY], [m4_ifelse([$1], [length], [n], [$1], [datatype], [type], [$3])])
m4_define([SHORT_ARGUMENT], [ARGUMENT_PASSED(SHORT_DUMMY($@), PASSING([$1]))])
m4_define([INTERFACE_NAME], [nfi[]m4_ifelse([$1], [put], [p], [$1], [get], [g], [$1], [iget], [j], [i])[]m4_dnl
m4_ifelse([$2], [], [0], [$2])[]m4_ifelse(
    [$3], [], [f], [$3], [text], [t], [v])])
m4_define([FAMILY_INTERFACE], [OUTPUT([m4_dnl
      function INTERFACE_NAME($@)(EACH([SHORT_DUMMY], [,], [MEMBER_PARAMETERS([$1], [$2], [$3])]))
        integer INTERFACE_NAME($@)[]EACH([SHORT_ARGUMENT], [], [MEMBER_PARAMETERS([$1], [$2], [$3])])
      end function
])])
m4_dnl Every member expands its interface; only the first expansion writes it.
m4_define([FORTRAN_MEMBER], [m4_ifdef(known_[]INTERFACE_NAME($@), [],
    [m4_define(known_[]INTERFACE_NAME($@))FAMILY_INTERFACE($@)])])
FAMILIES
m4_divert(0)m4_dnl
      end interface
m4_divert(-1)
m4_define([FORTRAN_MEMBER], [OUTPUT([m4_dnl
      procedure(INTERFACE_NAME($@)) :: nfmpi_$1_var$2[]m4_ifelse([$3], [], [], [_$3])$5
])])
FAMILIES
m4_divert(0)m4_dnl
