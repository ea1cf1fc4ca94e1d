m4_include(`common.m4')m4_include([fortran.m4])m4_include([c_parameters.m4])m4_dnl
/* Generated from src/spec: the functions behind all nfmpi_ procedures that are no member of a data family. */
#include "binding/f77/procedures.h"
#include "binding/f77/shim.h"

m4_divert(-1)

m4_dnl What becomes of an argument before the call, in it, and after it. The longest text that comes back is a message.
m4_define([BEFORE], [m4_ifelse(
    ROLE($@), [text_in], [
    pnc_f77_string DUMMY($@)_c;],
    ROLE($@), [text_out], [
    char DUMMY($@)_c[[NC_MAX_MESSAGE]] = "";],
    ROLE($@), [info_out], [
    MPI_Info DUMMY($@)_c;])])
m4_define([BEGIN], [m4_ifelse(ROLE($@), [text_in], [
    pnc_f77_string_begin(&DUMMY($@)_c, DUMMY($@), DUMMY($@)_len);])])
m4_define([PASSED_ON], [m4_ifelse(
    ROLE($@), [text_in],  [DUMMY($@)_c.text],
    ROLE($@), [text_out], [DUMMY($@)_c],
    ROLE($@), [comm_in],  [MPI_Comm_f2c(DUMMY($@))],
    ROLE($@), [info_in],  [MPI_Info_f2c(DUMMY($@))],
    ROLE($@), [type_in],  [MPI_Type_f2c(DUMMY($@))],
    ROLE($@), [info_out], [&DUMMY($@)_c],
    ROLE($@), [id_in],    [pnc_f77_id(DUMMY($@))],
    ROLE($@), [index_in], [pnc_f77_index(DUMMY($@))],
    [DUMMY($@)])])
m4_define([END], [m4_ifelse(ROLE($@), [text_in], [
    err = pnc_f77_string_end(&DUMMY($@)_c, err);])])
m4_define([RESULT], [m4_ifelse(
    ROLE($@), [text_out], [
    if (err == NC_NOERR)
        err = pnc_f77_string_store(DUMMY($@), DUMMY($@)_len, DUMMY($@)_c);],
    ROLE($@), [id_out], [
    if (err == NC_NOERR)
        *DUMMY($@) = pnc_f77_id_of(*DUMMY($@));],
    ROLE($@), [info_out], [
    if (err == NC_NOERR)
        *DUMMY($@) = MPI_Info_c2f(DUMMY($@)_c);])])

m4_dnl ncids are no ids of this kind: create and open pass them through.
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
m4_dnl Those of special.c.
m4_define([ROW], [m4_ifelse(
    [$1], [def_var], [], [$1], [inq_var], [], [$1], [inq_vardimid], [], [$1], [inq_path], [],
    [$1], [wait], [], [$1], [wait_all], [], [$1], [cancel], [], [$1], [get_att_text], [], [$1], [strerrno], [],
    [m4_divert(0)WRITTEN($@)m4_divert(-1)])])
FUNCTIONS
VARD
m4_divert(0)m4_dnl
