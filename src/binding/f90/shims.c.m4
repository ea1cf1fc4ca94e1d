m4_include(`common.m4')m4_include([types.m4])m4_include([families.m4])m4_include([fortran_module.m4])m4_dnl
/* Generated from src/spec: the functions of module pnetcdf that rows of the tables can describe. */
#include "binding/f90/f90.h"

m4_divert(-1)
m4_dnl For each kind of argument: C parameter, code before the call, argument of the call, code after the call.
m4_define([PARAMETER_int_in], [const int *$1])
m4_define([PASS_int_in], [*$1])
m4_define([PARAMETER_id_in], [const int *$1])
m4_define([PASS_id_in], [pnc_binding_id_convert(*$1)])
m4_define([PARAMETER_offset_in], [const MPI_Offset *$1])
m4_define([PASS_offset_in], [*$1])
m4_define([PARAMETER_index_in], [const MPI_Offset *$1])
m4_define([PASS_index_in], [pnc_binding_index_convert(*$1)])
m4_define([PARAMETER_text_in], [const CFI_cdesc_t *$1])
m4_define([BEFORE_text_in], [    char c_$1[[PNC_BINDING_TEXT_MAX]];
])
m4_define([PASS_text_in], [pnc_f90_text_convert($1, c_$1)])
m4_define([PARAMETER_comm_in], [const MPI_Fint *$1])
m4_define([PASS_comm_in], [pnc_binding_comm_convert(*$1)])
m4_define([PARAMETER_info_in], [const MPI_Fint *$1])
m4_define([PASS_info_in], [pnc_binding_info_convert(*$1)])
m4_define([PARAMETER_int_out], [int *$1])
m4_define([PASS_int_out], [$1])
m4_define([PARAMETER_id_out], [int *$1])
m4_define([PASS_id_out], [$1])
m4_define([AFTER_id_out], [    if (err == NC_NOERR)
        *$1 = pnc_binding_id_return(*$1);
])
m4_define([PARAMETER_offset_out], [MPI_Offset *$1])
m4_define([PASS_offset_out], [$1])
m4_define([PARAMETER_text_out], [const CFI_cdesc_t *$1])
m4_define([BEFORE_text_out], [    char c_$1[[NC_MAX_NAME + 1]];
])
m4_define([PASS_text_out], [c_$1])
m4_define([AFTER_text_out], [    if (err == NC_NOERR)
        pnc_f90_text_return(c_$1, $1, &caller.error);
])
m4_define([PARAMETER_info_out], [MPI_Fint *$1])
m4_define([BEFORE_info_out], [    MPI_Info c_$1 = MPI_INFO_NULL;
])
m4_define([PASS_info_out], [&c_$1])
m4_define([AFTER_info_out], [    if (err == NC_NOERR)
        *$1 = MPI_Info_c2f(c_$1);
])

m4_dnl DATASET(parameters): the id of the dataset that the call is about, or -1.
m4_define([DATASET], [m4_define([_dataset], [-1])EACH([FIND_DATASET], [], [$1])_dataset])
m4_define([FIND_DATASET], [m4_ifelse([$1], [ncid], [m4_define([_dataset], [*$3])])])

m4_define([ENTRY], [
int pncf90_$1($2)])

m4_define([PARAMETER], [m4_indir([PARAMETER_]PASSING([$1]), [$3])])
m4_define([PASS], [m4_indir([PASS_]PASSING([$1]), [$3])])
m4_define([BEFORE], [IF_THERE([BEFORE_]PASSING([$1]), [$3])])
m4_define([AFTER], [IF_THERE([AFTER_]PASSING([$1]), [$3])])
m4_define([IF_THERE], [m4_ifdef([$1], [m4_indir([$1], [$2])])])

m4_define([F90], [OUTPUT([ENTRY([$1], [m4_ifelse([$2], [], [void], [EACH([PARAMETER], [, ], [$2])])])
{
    pnc_caller caller;
EACH([BEFORE], [], [$2])    int err;

    PNC_F90_BEGIN(&caller, $1, $1, DATASET([$2]));
    err = ncmpi_$1(EACH([PASS], [, ], [$2]));
EACH([AFTER], [], [$2])    return pnc_dataset_caller_end(&caller, err);
}
])])
m4_define([F90_HANDLES], m4_defn([F90]))
F90_FUNCTIONS

m4_dnl PNCF90_PUT .. and the additional argument of the nonblocking operations.
m4_define([CALL], [.name = "nf90mpi_$1_$3$2", .op = PNCF90_[]m4_UP([$1]), .collective = m4_ifelse([$2], [], [false], [true]), .ncid = *ncid, .varid = pnc_binding_id_convert(*varid), .values = values[]IS_POSTED([$1], [, .req = req])])
m4_define([HEAD], [const int *ncid, const int *varid, const CFI_cdesc_t *values[]IS_POSTED([$1], [, int *req])])
m4_define([INDEX], [const CFI_cdesc_t *start, const CFI_cdesc_t *count, const CFI_cdesc_t *stride, const CFI_cdesc_t *map])
m4_define([ACCESS], [OUTPUT([ENTRY([$1_var$2], [HEAD([$1]), INDEX])
{
    return pnc_f90_call_execute(&(pnc_f90_call){CALL([$1], [$2], [var]), .start = start, .count = count, .stride = stride, .map = map});
}
ENTRY([$1_var$2_flexible], [HEAD([$1]), INDEX, const MPI_Offset *bufcount, const MPI_Fint *buftype])
{
    return pnc_f90_call_execute(&(pnc_f90_call){CALL([$1], [$2], [var]), .start = start, .count = count, .stride = stride, .map = map, .bufcount = bufcount, .buftype = buftype});
}
ENTRY([$1_varn$2], [HEAD([$1]), const CFI_cdesc_t *start, const CFI_cdesc_t *count])
{
    return pnc_f90_call_execute_varn(&(pnc_f90_call){CALL([$1], [$2], [varn]), .start = start, .count = count});
}
ENTRY([$1_varn$2_num], [HEAD([$1]), const int *num, const CFI_cdesc_t *start, const CFI_cdesc_t *count])
{
    return pnc_f90_call_execute_varn(&(pnc_f90_call){CALL([$1], [$2], [varn]), .num = num, .start = start, .count = count});
}
ENTRY([$1_varn$2_flexible], [HEAD([$1]), const int *num, const CFI_cdesc_t *start, const CFI_cdesc_t *count, const MPI_Offset *bufcount, const MPI_Fint *buftype])
{
    return pnc_f90_call_execute_varn(&(pnc_f90_call){CALL([$1], [$2], [varn]), .num = num, .start = start, .count = count, .bufcount = bufcount, .buftype = buftype});
}
])])
ACCESSES

m4_define([EMIT_VARD], [OUTPUT([ENTRY([$1_vard$2], [const int *ncid, const int *varid, const MPI_Fint *filetype, const CFI_cdesc_t *values, const MPI_Offset *bufcount, const MPI_Fint *buftype])
{
    return pnc_f90_call_execute_vard(&(pnc_f90_call){CALL([$1], [$2], [vard]), .bufcount = bufcount, .buftype = buftype}, MPI_Type_f2c(*filetype));
}
])])
VARD

m4_define([PUT_ATT], [
{
    char c_name[[PNC_BINDING_TEXT_MAX]];
    pnc_caller caller;
    int err;

    PNC_F90_BEGIN(&caller, put_att, put_att_$1, *ncid);
    err = ncmpi_put_att_$1(*ncid, pnc_binding_id_convert(*varid), pnc_f90_text_convert(name, c_name), $2, $3);
    return pnc_dataset_caller_end(&caller, err);
}])
m4_define([GET_ATT], [
{
    char c_name[[PNC_BINDING_TEXT_MAX]];
    pnc_caller caller;
    int err = NC_NOERR;

    PNC_F90_BEGIN(&caller, get_att, get_att_$1, *ncid);
    pnc_f90_text_convert(name, c_name);
    pnc_f90_attribute_check(&caller, pnc_binding_id_convert(*varid), c_name, $2);
    if (caller.error.code == NC_NOERR)
        err = ncmpi_get_att_$1(*ncid, pnc_binding_id_convert(*varid), c_name, $3);
    return pnc_dataset_caller_end(&caller, err);
}])
m4_define([KIND], [OUTPUT([m4_ifelse([$1], [text], [], [ENTRY([put_att_$1], [const int *ncid, const int *varid, const CFI_cdesc_t *name, const $2 *value])[]PUT_ATT([$1], [$4, 1], [value])
ENTRY([put_att_$1s], [const int *ncid, const int *varid, const CFI_cdesc_t *name, const CFI_cdesc_t *values])[]PUT_ATT([$1], [$4, values->dim[[0]].extent], [values->base_addr])
ENTRY([get_att_$1], [const int *ncid, const int *varid, const CFI_cdesc_t *name, $2 *value])[]GET_ATT([$1], [1], [value])
ENTRY([get_att_$1s], [const int *ncid, const int *varid, const CFI_cdesc_t *name, const CFI_cdesc_t *values])[]GET_ATT([$1], [values->dim[[0]].extent], [values->base_addr])
])ENTRY([def_var_fill_$1], [const int *ncid, const int *varid, const int *no_fill, const $2 *value])
{
    return pnc_f90_fill_define(*ncid, pnc_binding_id_convert(*varid), *no_fill, $4, value);
}
ENTRY([inq_var_fill_$1], [const int *ncid, const int *varid, int *no_fill, $2 *value])
{
    return pnc_f90_fill_inquire(*ncid, pnc_binding_id_convert(*varid), no_fill, $4, value);
}
])])
KINDS
m4_divert[]m4_dnl
