m4_include(`common.m4')m4_include([fortran.m4])m4_include([c_parameters.m4])m4_dnl
/* Generated from src/spec: the C functions behind the nfmpi_ procedures. Arguments are those of Fortran: ids and
 * indices from 1, fastest dimension first, MPI handles as integers, strings with lengths. */
#ifndef PNC_BINDING_F77_PROCEDURES_H
#define PNC_BINDING_F77_PROCEDURES_H

#include <stddef.h>

#include "pnetcdf.h"

m4_divert(-1)
m4_define([ROW], [OUTPUT([C_FUNCTION($@);
])])
FUNCTIONS
VARD
m4_define([FORTRAN_MEMBER], [OUTPUT([C_FAMILY_FUNCTION($@);
])])
FAMILIES
m4_divert(0)m4_dnl

#endif
