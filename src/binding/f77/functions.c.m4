m4_include(`common.m4')m4_include([fortran.m4])m4_include([c_parameters.m4])m4_dnl
/* Generated from src/spec: the functions behind the nfmpi_ procedures outside the data families. */
#include "binding/f77/procedures.h"
#include "binding/f77/shim.h"

m4_divert(-1)

m4_dnl The code for an argument before the call, in the call, and after it. The longest text_out is a message.
m4_define([BEFORE], [m4_ifelse(
    PASSING([$1]), [text_in], [
    pnc_f77_string $3_c;],
    PASSING([$1]), [text_out], [
    char $3_c[[NC_MAX_MESSAGE]] = "";],
    PASSING([$1]), [info_out], [
    MPI_Info $3_c;])])
m4_define([BEGIN], [m4_ifelse(PASSING([$1]), [text_in], [
    pnc_f77_string_begin(&$3_c, $3, $3_len);])])
m4_define([PASSED_ON], [m4_ifelse(
    PASSING([$1]), [text_in],  [$3_c.text],
    PASSING([$1]), [text_out], [$3_c],
    PASSING([$1]), [comm_in],  [MPI_Comm_f2c($3)],
    PASSING([$1]), [info_in],  [MPI_Info_f2c($3)],
    PASSING([$1]), [type_in],  [MPI_Type_f2c($3)],
    PASSING([$1]), [info_out], [&$3_c],
    PASSING([$1]), [id_in],    [pnc_f77_id_convert($3)],
    PASSING([$1]), [index_in], [pnc_f77_index_convert($3)],
    [$3])])
m4_define([END], [m4_ifelse(PASSING([$1]), [text_in], [
    err = pnc_f77_string_end(&$3_c, err);])])
m4_define([RESULT], [m4_ifelse(
    PASSING([$1]), [text_out], [
    if (err == NC_NOERR)
        err = pnc_f77_string_store($3, $3_len, $3_c);],
    PASSING([$1]), [id_out], [
    if (err == NC_NOERR)
        *$3 = pnc_f77_id_return(*$3);],
    PASSING([$1]), [info_out], [
    if (err == NC_NOERR)
        *$3 = MPI_Info_c2f($3_c);])])

m4_dnl create and open pass ncids through unchanged: they count from 0 in Fortran too.
m4_define([WRITTEN], [
C_FUNCTION($@)
{m4_ifelse([$4], [text], [
    (void)pnc_f77_string_store(answer, answer_len, ncmpi_$2(EACH([DUMMY], [, ], [$3])));], [EACH([BEFORE], [], [$3])
    int err;
EACH([BEGIN], [], [$3])
    err = ncmpi_$2(EACH([PASSED_ON], [, ], [$3]));EACH([END], [], [$3])EACH([RESULT], [], [$3])
    return err;])
}
])
m4_define([ROW], [m4_ifelse([$5], [f77_by_hand], [], [m4_divert(0)WRITTEN($@)m4_divert(-1)])])
FUNCTIONS
VARD
m4_divert(0)m4_dnl
