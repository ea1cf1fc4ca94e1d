m4_include(`common.m4')m4_include([fortran.m4])m4_include([c_parameters.m4])m4_dnl
/* Generated from src/spec: the functions behind the data families. Each calls the C function of the same name, so that
 * profilers, which wrap C functions, count the calls of the program. */
#include "binding/f77/f77.h"
#include "binding/f77/procedures.h"
m4_divert(-1)

m4_dnl The indices of a block in Fortran and in C, and the list of blocks of varn.
m4_define([INDICES], [m4_ifelse(
    [$1], [1], [.start = start],
    [$1], [a], [.start = start, .count = count],
    [$1], [s], [.start = start, .count = count, .stride = stride],
    [$1], [m], [.start = start, .count = count, .stride = stride, .imap = imap])])
m4_define([INDEX_ARGUMENTS], [m4_ifelse(
    [$1], [1], [at.start, ],
    [$1], [a], [at.start, at.count, ],
    [$1], [s], [at.start, at.count, at.stride, ],
    [$1], [m], [at.start, at.count, at.stride, at.imap, ],
    [$1], [n], [num, at.starts, at.counts, ])])
m4_define([DECLARE_INDICES], [m4_ifelse([$1], [], [], [
    pnc_binding_[]m4_ifelse([$1], [n], [list], [hyperslab]) at;])])
m4_define([CONVERT_INDICES], [m4_ifelse([$1], [], [],
    [$1], [n], [
    pnc_f77_list_init(&caller, varid, &(pnc_binding_blocks){.num = num, .starts = starts, .counts = counts}, &at);], [
    pnc_f77_hyperslab_init(&caller, varid, &(pnc_binding_indices){INDICES([$1])}, &at);])])
m4_define([FREE_INDICES], [m4_ifelse([$1], [], [], [
    pnc_binding_[]m4_ifelse([$1], [n], [list], [hyperslab])_free(&at);])])
m4_define([FORTRAN_MEMBER], [m4_divert(0)
C_FAMILY_FUNCTION($@)
{
    pnc_caller caller;DECLARE_INDICES([$2])
    int err;

    PNC_F77_BEGIN(&caller, $1_var$2[]m4_ifelse([$3], [], [], [_$3])$5, $1_var$2$6$5, ncid);CONVERT_INDICES([$2])
    err = ncmpi_$1_var$2$6$5(ncid, pnc_binding_id_convert(varid), INDEX_ARGUMENTS([$2])buf[]m4_ifelse([$6], [],
    [, bufcount, MPI_Type_f2c(buftype)])[]IS_POSTED([$1], [, req]));FREE_INDICES([$2])
    return pnc_dataset_caller_end(&caller, err);
}
m4_divert(-1)])
FAMILIES
m4_divert(0)m4_dnl
