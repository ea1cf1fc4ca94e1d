m4_include(`common.m4')m4_include([errors.m4])m4_include([constants.m4])m4_dnl
/* Generated from src/spec: the public constants without mpi.h, for rooms that do not use MPI. */
#ifndef PNC_SPEC_CONSTANTS_H
#define PNC_SPEC_CONSTANTS_H

typedef int nc_type;
m4_include([constants_body.m4])m4_dnl

#endif
