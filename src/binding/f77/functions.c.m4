m4_include(`common.m4')m4_include([fortran.m4])m4_include([c_parameters.m4])m4_dnl
/* Generated from src/spec: the functions behind the nfmpi_ procedures outside the data families. */
#include "binding/f77/f77.h"
#include "binding/f77/procedures.h"

m4_divert(-1)

m4_dnl The code for an argument before the call, and after it. The longest text_out is a message.
m4_define([BEFORE], [m4_ifelse(
    PASSING([$1]), [text_in], [
    char $3_c[[PNC_BINDING_TEXT_MAX]];],
    PASSING([$1]), [text_out], [
    char $3_c[[NC_MAX_MESSAGE]] = "";],
    PASSING([$1]), [info_out], [
    MPI_Info $3_c;])])
m4_define([RESULT], [m4_ifelse(
    [$1], [message_out], [
    if (err == NC_NOERR) /* a short variable is not an error of the file that the message is about */
        err = pnc_binding_text_return($3_c, $3, $3_len, NULL);],
    PASSING([$1]), [text_out], [
    if (err == NC_NOERR)
        pnc_binding_text_return($3_c, $3, $3_len, &caller.error);],
    PASSING([$1]), [id_out], [
    if (err == NC_NOERR)
        *$3 = pnc_binding_id_return(*$3);],
    PASSING([$1]), [info_out], [
    if (err == NC_NOERR)
        *$3 = MPI_Info_c2f($3_c);])])

m4_dnl DATASET(parameters): the id of the dataset that the call is about, or -1.
m4_define([DATASET], [m4_define([_dataset], [-1])EACH([FIND_DATASET], [], [$1])_dataset])
m4_define([FIND_DATASET], [m4_ifelse([$1], [ncid], [m4_define([_dataset], [$3])])])

m4_dnl create and open pass ncids through unchanged: they count from 0 in Fortran too.
m4_define([WRITTEN], [
C_FUNCTION($@)
{m4_ifelse([$4], [text], [
    (void)pnc_binding_text_return(ncmpi_$2(EACH([DUMMY], [, ], [$3])), nfmpi_result, nfmpi_result_len, NULL);], [EACH([BEFORE], [], [$3])
    pnc_caller caller;
    int err;

    PNC_F77_BEGIN(&caller, $1, $2, DATASET([$3]));
    err = ncmpi_$2(EACH([PASSED_ON], [, ], [$3]));EACH([RESULT], [], [$3])
    return pnc_dataset_caller_end(&caller, err);])
}
])
m4_define([ROW], [m4_ifelse([$5], [f77_by_hand], [], [OUTPUT([WRITTEN($@)])])])
FUNCTIONS
VARD
m4_divert(0)m4_dnl
