m4_include(`common.m4')m4_include([fortran.m4])m4_include([c_parameters.m4])m4_dnl
/* Generated from src/spec: the functions behind the data families. Each calls the C function of the same name, so that
 * profilers, which wrap C functions, count the calls of the program. */
#include "binding/f77/procedures.h"
#include "binding/f77/shim.h"
m4_divert(-1)

m4_define([BEGIN], [m4_ifelse([$1], [], [], [$1], [n], [
    pnc_f77_list_begin(&at, ncid, varid, num, starts, counts);], [
    pnc_f77_block_begin(&at, ncid, varid, start, m4_ifelse([$1], [1], [NULL], [count]), m4_dnl
m4_ifelse([$1], [s], [stride], [$1], [m], [stride], [NULL]), m4_ifelse([$1], [m], [imap], [NULL]));])])
m4_define([INDEX_ARGUMENTS], [m4_ifelse(
    [$1], [],  [pnc_f77_id_convert(varid), ],
    [$1], [1], [at.varid, at.start, ],
    [$1], [a], [at.varid, at.start, at.count, ],
    [$1], [s], [at.varid, at.start, at.count, at.stride, ],
    [$1], [m], [at.varid, at.start, at.count, at.stride, at.imap, ],
    [$1], [n], [at.varid, num, at.starts, at.counts, ])])
m4_define([CALL], [ncmpi_$1_var$2$6$5(ncid, INDEX_ARGUMENTS([$2])buf[]m4_ifelse([$6], [],
    [, bufcount, MPI_Type_f2c(buftype)])[]IS_POSTED([$1], [, req]))])
m4_define([FORTRAN_MEMBER], [m4_divert(0)
C_FAMILY_FUNCTION($@)
{m4_ifelse([$2], [], [], [
    m4_ifelse([$2], [n], [pnc_f77_list], [pnc_f77_block]) at;
])BEGIN([$2])
    return m4_ifelse([$2], [], [CALL($@)],
    [$2], [n], [pnc_f77_list_end(&at, CALL($@))], [pnc_f77_block_end(&at, CALL($@))]);
}
m4_divert(-1)])
FAMILIES
m4_divert(0)m4_dnl
