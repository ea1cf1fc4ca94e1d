m4_include(`common.m4')m4_include([fortran.m4])m4_include([fortran_constants.m4])m4_dnl
!     pnetcdf.inc - constants and functions of PnetCDF for Fortran
!
!     Generated from src/spec. Include it where declarations stand, in
!     fixed or free form; programs need mpif.h or the module mpi too.
!     Names: man 3 pnetcdf_f77.  Indices count from 1, the fastest
!     dimension first.  Sizes, starts and counts are integers of kind
!     MPI_OFFSET_KIND.  Buffers, starts, counts and requests may be
!     scalars, elements, or arrays of any rank; the type of a buffer is
!     what the name of the function says.
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

!     Uses every constant, so that compilers do not tell of those that
!     a program does not.
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

m4_dnl Interfaces give compilers the kinds of arguments to check, but programs written for undeclared external functions
m4_dnl shall compile unchanged. What they pass as a scalar, as an array of any rank, and for flexible functions of any
m4_dnl type, has directives for all compilers that have such; gfortran's forgives a wrong kind where only the rank shall
m4_dnl be free. No line may need to be continued: there is no way that holds for the fixed form of 72, of 132 columns,
m4_dnl and for the free form.
m4_define([ANY_TYPE], [!GCC$ attributes no_arg_check :: $1
!DEC$ attributes no_arg_check :: $1
!DIR$ IGNORE_TKR $1
        $2, INTENT($3) :: $1(*)])
m4_define([ANY_RANK], [!GCC$ attributes no_arg_check :: $1
!DEC$ attributes no_arg_check :: $1
!DIR$ IGNORE_TKR (R) $1
        $2, INTENT($3) :: $1(*)])
m4_define([INTENT], [m4_ifelse(m4_regexp([$1], [_in$]), -1, [intent(inout)], [intent(in)])])
m4_define([INC_TYPE], [m4_ifelse(
    m4_index([$1], [text]), 0, [character(len=*)], m4_index([$1], [chars]), 0, [character(len=*)],
    m4_index([$1], [offset]), 0, [OFFSET], [$1], [index_in], [OFFSET], [integer])])
m4_define([INC_DECLARATION], [m4_ifelse(m4_regexp(PASSING([$1]), [^\(buffer\|list\)]), 0, [
ANY_TYPE($3, [integer], PASSING([$1]))], [
        INC_TYPE(PASSING([$1])), INTENT(PASSING([$1])) :: $3[]m4_ifelse(m4_index(PASSING([$1]), [chars]), 0, [(*)])])])
m4_define([ROW], [m4_divert(0)m4_dnl
      function nfmpi_$1(EACH([DUMMY], [,], [$3]))
        m4_ifelse([$4], [text], [character(len=80)], [integer]) nfmpi_$1[]EACH([INC_DECLARATION], [], [$3])
      end function
m4_divert(-1)])
m4_divert(0)m4_dnl
      end type

      interface
m4_divert(-1)
FUNCTIONS
VARD
m4_divert(0)m4_dnl
      pure function nfmpi_issyserr(err)
        logical nfmpi_issyserr
        integer, intent(in) :: err
      end function
      end interface

!     The families put, get, iput, iget, bput share interfaces: nfi and
!     p put, g get, i iput and bput, j iget; then 0 for var, 1 var1,
!     a vara, s vars, m varm, n varn; then v for values, t text, f the
!     flexible ones, for which n is bufcount and type is buftype.
      abstract interface
m4_divert(-1)
m4_define([INC_INDEX], [m4_ifelse(
    [$1], [1], [start,],
    [$1], [a], [start,count,],
    [$1], [s], [start,count,stride,],
    [$1], [m], [start,count,stride,imap,],
    [$1], [n], [num,starts,counts,])])
m4_define([INDEX_ARRAY], [
ANY_RANK([$1], [OFFSET], [list_in])])
m4_define([INC_INDEX_TYPE], [m4_ifelse(
    [$1], [1], [INDEX_ARRAY([start])],
    [$1], [a], [INDEX_ARRAY([start])INDEX_ARRAY([count])],
    [$1], [s], [INDEX_ARRAY([start])INDEX_ARRAY([count])INDEX_ARRAY([stride])],
    [$1], [m], [INDEX_ARRAY([start])INDEX_ARRAY([count])INDEX_ARRAY([stride])INDEX_ARRAY([imap])],
    [$1], [n], [
        integer, intent(in) :: num[]INDEX_ARRAY([starts])INDEX_ARRAY([counts])])])
m4_define([INTERFACE_NAME], [nfi[]m4_ifelse([$1], [put], [p], [$1], [get], [g], [$1], [iget], [j], [i])[]m4_dnl
m4_ifelse([$2], [], [0], [$2])[]m4_ifelse(
    [$3], [], [f], [$3], [text], [t], [v])])
m4_define([INC_BUFFER], [m4_ifelse([$2], [text], [
        character(len=*), INTENT([$1]) :: buf(*)], [
ANY_TYPE([buf], [integer], [$1])])])
m4_define([FAMILY_INTERFACE], [m4_divert(0)m4_dnl
      function INTERFACE_NAME($@)(ncid,varid,INC_INDEX([$2])buf[]m4_dnl
m4_ifelse([$3], [], [[,n,type]])[]IS_POSTED([$1], [[,req]]))
        integer INTERFACE_NAME($@)
        integer, intent(in) :: ncid, varid[]INC_INDEX_TYPE([$2])m4_dnl
INC_BUFFER(m4_ifelse([$1], [get], [out], [$1], [iget], [out], [_in]), [$3])[]m4_ifelse([$3], [], [
        OFFSET, intent(in) :: n
        integer, intent(in) :: type])[]IS_POSTED([$1], [
ANY_RANK([req], [integer], [list])])
      end function
m4_divert(-1)])
m4_dnl Every member calls for its interface; the first one writes it.
m4_define([FORTRAN_MEMBER], [m4_ifdef(known_[]INTERFACE_NAME($@), [],
    [m4_define(known_[]INTERFACE_NAME($@))FAMILY_INTERFACE($@)])])
FAMILIES
m4_divert(0)m4_dnl
      end interface
m4_divert(-1)
m4_define([FORTRAN_MEMBER], [m4_divert(0)m4_dnl
      procedure(INTERFACE_NAME($@)) :: nfmpi_$1_var$2[]m4_ifelse([$3], [], [], [_$3])$5
m4_divert(-1)])
FAMILIES
m4_divert(0)m4_dnl
