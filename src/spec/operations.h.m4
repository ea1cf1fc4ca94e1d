m4_include(`common.m4')m4_include([functions.m4])m4_dnl
/* Generated from src/spec/functions.m4: the functions that ncmpi_<name>(ncid, ...) call with the dataset of ncid. */
#ifndef PNC_DATASET_OPERATIONS_H
#define PNC_DATASET_OPERATIONS_H

m4_define([HEADING], [])m4_dnl
m4_define([PLAIN], [])m4_dnl
m4_define([CDL_FUNCTION], [])m4_dnl
m4_define([ATTRIBUTES], [])m4_dnl
m4_divert(-1)
m4_define([FUNCTION], [OUTPUT([int pnc_dataset_$1(pnc_dataset *ds[]TYPED([$3]));
])])
FUNCTIONS
m4_divert(0)m4_dnl

#endif
