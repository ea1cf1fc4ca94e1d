m4_include(`common.m4')m4_include([fortran.m4])m4_dnl
/* Generated from src/spec: each call of a generic of module pnetcdf becomes a call of the C function for the same
 * operation, shape and type: profilers, which wrap C functions, count by these. */
#include "binding/f90/f90.h"

#define CASE(op, collective, shape, kind) ((((op) * 2 + (collective)) * 8 + (shape)) * 16 + (kind))
m4_divert(-1)
m4_define([PASSED_ON], [m4_ifelse(
    PASSING([$1]), [indices_in],     [at->$2],
    PASSING([$1]), [sizes_in],       [at->$2],
    PASSING([$1]), [blocks_in],      [p->list.$2],
    PASSING([$1]), [block_sizes_in], [p->list.$2],
    PASSING([$1]), [buffer_in],      [b->base],
    PASSING([$1]), [buffer_out],     [b->base],
    PASSING([$1]), [strings_in],     [b->base],
    PASSING([$1]), [strings_out],    [b->base],
    PASSING([$1]), [element_out],    [call->$2],
    [$1], [count],    [p->$2],
    [$1], [length],   [b->count],
    [$1], [datatype], [b->type],
    [$2])])
m4_define([FORTRAN_MEMBER], [m4_ifelse([$2], [], [], [OUTPUT([m4_dnl
    case CASE(PNCF90_[]m4_UP([$1]), m4_ifelse([$5], [], 0, 1), PNCF90_VAR[]m4_UP([$2]), $4):
        caller->function = "ncmpi_$1_var$2$6$5";
        return ncmpi_$1_var$2$6$5(EACH([PASSED_ON], [, ], [MEMBER_PARAMETERS([$1], [$2], [$3])]));
])])])
m4_define([EMIT_VARD], [OUTPUT([m4_dnl
    case CASE(PNCF90_[]m4_UP([$1]), m4_ifelse([$2], [], 0, 1), 0, 0):
        caller->function = "ncmpi_$1_vard$2";
        return ncmpi_$1_vard$2(call->ncid, call->varid, filetype, b->base, b->count, b->type);
])])
m4_divert(0)m4_dnl

int pnc_f90_call_dispatch(const pnc_f90_call *call, pnc_caller *caller, const pnc_f90_place *p, const pnc_f90_buffer *b)
{
    const pnc_binding_hyperslab *at = &p->slab;
    int ncid = call->ncid, varid = call->varid;

    switch (CASE(call->op, call->collective, p->shape, b->kind)) {
m4_divert(-1)
FAMILIES
m4_divert(0)m4_dnl
    default: return NC_EINVAL; /* not reached by a generic of the module */
    }
}

int pnc_f90_call_dispatch_vard(const pnc_f90_call *call, pnc_caller *caller, MPI_Datatype filetype,
                               const pnc_f90_buffer *b)
{
    switch (CASE(call->op, call->collective, 0, 0)) {
m4_divert(-1)
VARD
m4_divert(0)m4_dnl
    default: return NC_EINVAL; /* not reached by a procedure of the module */
    }
}
