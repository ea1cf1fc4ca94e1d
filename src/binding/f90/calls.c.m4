m4_include(`common.m4')m4_include([fortran.m4])m4_dnl
/* Generated from src/spec: each call of a generic of module pnetcdf becomes a call of the C function for the same
 * operation, shape and type: profilers, which wrap C functions, count by these. */
#include "binding/f90/f90.h"

#define CASE(op, collective, shape, kind) ((((op) * 2 + (collective)) * 8 + (shape)) * 16 + (kind))

int pnc_f90_call_dispatch(const pnc_f90_call *call, const pnc_f90_hyperslab *p, const pnc_f90_buffer *b)
{
    int ncid = call->ncid, varid = call->varid;

    switch (CASE(call->op, call->collective, p->shape, b->kind)) {
m4_divert(-1)
m4_define([INDEX], [m4_ifelse(
    [$1], [1], [p->start],
    [$1], [a], [p->start, p->count],
    [$1], [s], [p->start, p->count, p->stride],
    [$1], [m], [p->start, p->count, p->stride, p->map],
    [$1], [n], [p->num, p->starts, p->counts])])
m4_define([FORTRAN_MEMBER], [m4_ifelse([$2], [], [], [m4_divert(0)m4_dnl
    case CASE(PNCF90_[]m4_UP([$1]), m4_ifelse([$5], [], 0, 1), PNCF90_VAR[]m4_UP([$2]), $4):
        return ncmpi_$1_var$2$6$5(ncid, varid, INDEX([$2]), b->base[]m4_dnl
m4_ifelse([$6], [], [, b->count, b->type])[]IS_POSTED([$1], [, call->req]));
m4_divert(-1)])])
FAMILIES
m4_divert(0)m4_dnl
    default: return NC_EINVAL; /* not reached by a generic of the module */
    }
}
