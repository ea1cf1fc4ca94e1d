m4_include(`common.m4')m4_include([types.m4])m4_include([families.m4])m4_include([fortran_module.m4])m4_dnl
/* Generated from src/spec: the functions of module pnetcdf that rows of the tables can describe. */
#include "binding/f90/f90.h"

m4_divert(-1)
m4_dnl For each kind of argument: C parameter, code before the call, argument of the call, code after the call.
m4_define([PARAMETER_int_in], [const int *$1])
m4_define([PASS_int_in], [*$1])
m4_define([PARAMETER_id_in], [const int *$1])
m4_define([PASS_id_in], [*$1 - 1])
m4_define([PARAMETER_offset_in], [const MPI_Offset *$1])
m4_define([PASS_offset_in], [*$1])
m4_define([PARAMETER_index_in], [const MPI_Offset *$1])
m4_define([PASS_index_in], [*$1 - 1])
m4_define([PARAMETER_text_in], [const CFI_cdesc_t *$1])
m4_define([BEFORE_text_in], [    char c_$1[[PNCF90_TEXT_MAX]];
])
m4_define([PASS_text_in], [pnc_f90_text_copy_in($1, c_$1)])
m4_define([PARAMETER_comm_in], [const MPI_Fint *$1])
m4_define([PASS_comm_in], [MPI_Comm_f2c(*$1)])
m4_define([PARAMETER_info_in], [const MPI_Fint *$1])
m4_define([PASS_info_in], [MPI_Info_f2c(*$1)])
m4_define([PARAMETER_int_out], [int *$1])
m4_define([PASS_int_out], [$1])
m4_define([PARAMETER_id_out], [int *$1])
m4_define([PASS_id_out], [$1])
m4_define([AFTER_id_out], [    if (err == NC_NOERR)
        ++*$1;
])
m4_define([PARAMETER_offset_out], [MPI_Offset *$1])
m4_define([PASS_offset_out], [$1])
m4_define([PARAMETER_text_out], [const CFI_cdesc_t *$1])
m4_define([BEFORE_text_out], [    char c_$1[[NC_MAX_NAME + 1]];
])
m4_define([PASS_text_out], [c_$1])
m4_define([AFTER_text_out], [    if (err == NC_NOERR)
        err = pnc_f90_text_copy_out(c_$1, $1);
])
m4_define([PARAMETER_info_out], [MPI_Fint *$1])
m4_define([BEFORE_info_out], [    MPI_Info c_$1 = MPI_INFO_NULL;
])
m4_define([PASS_info_out], [&c_$1])
m4_define([AFTER_info_out], [    if (err == NC_NOERR)
        *$1 = MPI_Info_c2f(c_$1);
])

m4_define([ENTRY], [m4_divert(0)
int pncf90_$1($2)])

m4_define([PARAMETER], [m4_indir([PARAMETER_]PASSING([$1]), [$3])])
m4_define([PASS], [m4_indir([PASS_]PASSING([$1]), [$3])])
m4_define([BEFORE], [IF_THERE([BEFORE_]PASSING([$1]), [$3])])
m4_define([AFTER], [IF_THERE([AFTER_]PASSING([$1]), [$3])])
m4_define([IF_THERE], [m4_ifdef([$1], [m4_indir([$1], [$2])])])

m4_define([F90], [ENTRY([$1], [m4_ifelse([$2], [], [void], [EACH([PARAMETER], [, ], [$2])])])
{
EACH([BEFORE], [], [$2])    int err = ncmpi_$1(EACH([PASS], [, ], [$2]));

EACH([AFTER], [], [$2])    return err;
}
m4_divert(-1)])
m4_define([F90_HANDLES], m4_defn([F90]))
F90_FUNCTIONS

m4_dnl PNCF90_PUT .. and the additional argument of the nonblocking operations.
m4_define([CALL], [.op = PNCF90_[]m4_UP([$1]), .collective = m4_ifelse([$2], [], [false], [true]), .ncid = *ncid, .varid = *varid - 1, .values = values[]IS_POSTED([$1], [, .req = req])])
m4_define([HEAD], [const int *ncid, const int *varid, const CFI_cdesc_t *values[]IS_POSTED([$1], [, int *req])])
m4_define([INDEX], [const CFI_cdesc_t *start, const CFI_cdesc_t *count, const CFI_cdesc_t *stride, const CFI_cdesc_t *map])
m4_define([ACCESS], [ENTRY([$1_var$2], [HEAD([$1]), INDEX])
{
    return pnc_f90_call_execute(&(pnc_f90_call){CALL([$1], [$2]), .start = start, .count = count, .stride = stride, .map = map});
}
ENTRY([$1_var$2_flexible], [HEAD([$1]), INDEX, const MPI_Offset *bufcount, const MPI_Fint *buftype])
{
    return pnc_f90_call_execute(&(pnc_f90_call){CALL([$1], [$2]), .start = start, .count = count, .stride = stride, .map = map, .bufcount = bufcount, .buftype = buftype});
}
ENTRY([$1_varn$2], [HEAD([$1]), const CFI_cdesc_t *start, const CFI_cdesc_t *count])
{
    return pnc_f90_call_execute_varn(&(pnc_f90_call){CALL([$1], [$2]), .start = start, .count = count});
}
ENTRY([$1_varn$2_num], [HEAD([$1]), const int *num, const CFI_cdesc_t *start, const CFI_cdesc_t *count])
{
    return pnc_f90_call_execute_varn(&(pnc_f90_call){CALL([$1], [$2]), .num = num, .start = start, .count = count});
}
ENTRY([$1_varn$2_flexible], [HEAD([$1]), const int *num, const CFI_cdesc_t *start, const CFI_cdesc_t *count, const MPI_Offset *bufcount, const MPI_Fint *buftype])
{
    return pnc_f90_call_execute_varn(&(pnc_f90_call){CALL([$1], [$2]), .num = num, .start = start, .count = count, .bufcount = bufcount, .buftype = buftype});
}
m4_divert(-1)])
ACCESSES

m4_define([EMIT_VARD], [ENTRY([$1_vard$2], [const int *ncid, const int *varid, const MPI_Fint *filetype, const CFI_cdesc_t *values, const MPI_Offset *bufcount, const MPI_Fint *buftype])
{
    return pnc_f90_call_execute_vard(&(pnc_f90_call){CALL([$1], [$2]), .bufcount = bufcount, .buftype = buftype}, MPI_Type_f2c(*filetype));
}
m4_divert(-1)])
VARD

m4_define([KIND], [m4_divert(0)m4_ifelse([$1], [text], [], [ENTRY([put_att_$1], [const int *ncid, const int *varid, const CFI_cdesc_t *name, const $2 *value])
{
    char c_name[[PNCF90_TEXT_MAX]];

    return ncmpi_put_att_$1(*ncid, *varid - 1, pnc_f90_text_copy_in(name, c_name), $4, 1, value);
}
ENTRY([put_att_$1s], [const int *ncid, const int *varid, const CFI_cdesc_t *name, const CFI_cdesc_t *values])
{
    char c_name[[PNCF90_TEXT_MAX]];

    return ncmpi_put_att_$1(*ncid, *varid - 1, pnc_f90_text_copy_in(name, c_name), $4, values->dim[[0]].extent, values->base_addr);
}
ENTRY([get_att_$1], [const int *ncid, const int *varid, const CFI_cdesc_t *name, $2 *value])
{
    return pnc_f90_attribute_get(*ncid, *varid - 1, name, $4, 1, value);
}
ENTRY([get_att_$1s], [const int *ncid, const int *varid, const CFI_cdesc_t *name, const CFI_cdesc_t *values])
{
    return pnc_f90_attribute_get(*ncid, *varid - 1, name, $4, values->dim[[0]].extent, values->base_addr);
}
])ENTRY([def_var_fill_$1], [const int *ncid, const int *varid, const int *no_fill, const $2 *value])
{
    return pnc_f90_fill_define(*ncid, *varid - 1, *no_fill, $4, value);
}
ENTRY([inq_var_fill_$1], [const int *ncid, const int *varid, int *no_fill, $2 *value])
{
    return pnc_f90_fill_inquire(*ncid, *varid - 1, no_fill, $4, value);
}
m4_divert(-1)])
KINDS
m4_divert[]m4_dnl
