m4_include(`common.m4')m4_include([fortran.m4])m4_dnl
m4_dnl The file that Fortran programs include: external functions, and constants with literal values. Builds pass it
m4_dnl through m4 and cpp -traditional, and programs declare variables of any name beside it: it refers to no intrinsic
m4_dnl function, no word is a macro of m4, and comments have no quotes.
m4_define([KIND_OF_8_BYTES], [8])m4_dnl
!     pnetcdf.inc - constants and functions of PnetCDF for Fortran
!
!     Generated from src/spec.  Include it among the declarations, in
!     fixed or free form.  Programs also need mpif.h or the module mpi.
!     Manual: man 3 pnetcdf_f77.  Indices count from 1, the fastest
!     dimension first.  Sizes, starts and counts are integers of kind
!     MPI_OFFSET_KIND.  Functions are external: compilers do not check
!     arguments, as they do with pnetcdf_checked.inc and the module.

m4_include([include_constants.m4])m4_dnl

m4_divert(-1)
m4_define([ROW], [FUNCTION_OF([$4], [nfmpi_$1])])
m4_define([FORTRAN_MEMBER], [FUNCTION_OF([int], [nfmpi_$1_var$2]m4_ifelse([$3], [], [], [[_$3]])[$5])])
m4_define([EACH_FUNCTION], [m4_pushdef([FUNCTION_OF], m4_defn([$1]))m4_dnl
FUNCTIONS[]VARD[]FAMILIES[]FUNCTION_OF([logical], [nfmpi_issyserr])NAMES_END()m4_popdef([FUNCTION_OF])])
m4_define([TYPED], [NAMED(m4_ifelse([$1], [text], [[character(80)]], [$1], [int], [[integer]], [[$1]]), [$2])])
m4_define([EXTERNAL], [NAMED([external], [$2])])
EACH_FUNCTION([TYPED])
EACH_FUNCTION([EXTERNAL])
m4_divert(0)m4_dnl
