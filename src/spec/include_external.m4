m4_dnl The functions in pnetcdf.inc as external procedures, for compilers without directives
m4_dnl (include_interfaces.m4).
m4_divert(-1)
m4_define([EXTERNAL], [OUTPUT([m4_dnl
      $2 nfmpi_$1
      external nfmpi_$1
])])
m4_define([ROW], [EXTERNAL([$1], m4_ifelse([$4], [text], [[character(len=80)]], [[integer]]))])
m4_define([FORTRAN_MEMBER], [EXTERNAL([$1_var$2]m4_ifelse([$3], [], [], [[_$3]])[$5], [integer])])
FUNCTIONS
VARD
FAMILIES
EXTERNAL([issyserr], [logical])
m4_divert(0)m4_dnl
