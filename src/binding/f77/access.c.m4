m4_include(`common.m4')m4_include([fortran.m4])m4_include([c_parameters.m4])m4_dnl
/* Generated from src/spec: the functions behind the data families. Each calls the C function of the same name, so that
 * profilers, which wrap C functions, count the calls of the program. */
#include "binding/f77/f77.h"
#include "binding/f77/procedures.h"
m4_divert(-1)

m4_dnl The arguments that select elements, in Fortran and in C: those of one hyperslab, or of the blocks of varn.
m4_define([KIND_OF_SELECTION], [m4_ifelse([$1], [n], [list], [hyperslab])])
m4_define([TYPE_OF_SELECTION], [m4_ifelse([$1], [n], [blocks], [indices])])
m4_define([SELECTED], [.$2 = $3])
m4_define([DECLARE_SELECTION], [
    pnc_binding_[]KIND_OF_SELECTION([$1]) at;])
m4_define([CONVERT_SELECTION], [
    pnc_f77_[]KIND_OF_SELECTION([$1])_init(&caller, varid, m4_dnl
&(pnc_binding_[]TYPE_OF_SELECTION([$1])){EACH([SELECTED], [, ], [SELECTION([$1])])}, &at);])
m4_define([FREE_SELECTION], [
    pnc_binding_[]KIND_OF_SELECTION([$1])_free(&at);])
m4_define([IF_SELECTION], [m4_ifelse([$1], [], [], [$2])])

m4_define([FORTRAN_MEMBER], [OUTPUT([
C_FAMILY_FUNCTION($@)
{
    pnc_caller caller;IF_SELECTION([$2], [DECLARE_SELECTION([$2])])
    int err;

    PNC_F77_BEGIN(&caller, $1_var$2[]m4_ifelse([$3], [], [], [_$3])$5, $1_var$2$6$5, ncid);m4_dnl
IF_SELECTION([$2], [CONVERT_SELECTION([$2])])
    err = ncmpi_$1_var$2$6$5(EACH([PASSED_ON], [, ], [MEMBER_PARAMETERS([$1], [$2], [$3])]));m4_dnl
IF_SELECTION([$2], [FREE_SELECTION([$2])])
    return pnc_dataset_caller_end(&caller, err);
}
])])
FAMILIES
m4_divert(0)m4_dnl
