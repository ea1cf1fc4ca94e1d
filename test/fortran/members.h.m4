m4_include(`common.m4')m4_include([fortran.m4])m4_dnl
/* Generated from src/spec: F77_MEMBER(name, operation, shape, type of its variable) for each nfmpi_<name> of the data
 * families. Those without a type in their name are tried with integers. */
m4_divert(-1)
m4_define([FORTRAN_MEMBER], [OUTPUT([m4_dnl
F77_MEMBER("$1_var$2[]m4_ifelse([$3], [], [], [_$3])$5", "$1", "$2", m4_ifelse([$3], [], [NC_INT], [$4]))
])])
FAMILIES
m4_divert(0)m4_dnl
