m4_dnl The regular families of data access: operations x shapes x memory types x {independent, collective}.
m4_dnl
m4_dnl FAMILIES expands EMIT(operation, shape, suffix, C type, pnc_mem, _all or nothing) for every member; a template
m4_dnl defines EMIT first. The flexible member of each family has an empty suffix. NAME, PARAMETERS and FIELDS take the
m4_dnl same arguments and give the function's name, its C parameters and the initialisers of its struct pnc_call.
m4_divert(-1)

m4_define([FAMILIES], [OPERATION(put)OPERATION(get)])
m4_define([OPERATION], [m4_define([_op], [$1])SHAPE()SHAPE(1)SHAPE(a)SHAPE(s)SHAPE(m)])
m4_define([SHAPE], [m4_define([_shape], [$1])MEMTYPES[]BOTH([], [void], PNC_FLEX)])
m4_define([MEMTYPE], [BOTH([$1], [$2], PNC_[]m4_UP([$1]))])
m4_define([BOTH], [EMIT(_op, _shape, [$1], [$2], [$3], [])EMIT(_op, _shape, [$1], [$2], [$3], [_all])])

m4_define([NAME], [ncmpi_$1_var$2[]m4_ifelse([$3], [], [], [_$3])$6])

m4_define([INDEX_PARAMETERS], [m4_ifelse(
    [$1], [],  [],
    [$1], [1], [const MPI_Offset *start, ],
    [$1], [a], [const MPI_Offset *start, const MPI_Offset *count, ],
    [$1], [s], [const MPI_Offset *start, const MPI_Offset *count, const MPI_Offset *stride, ],
    [$1], [m], [const MPI_Offset *start, const MPI_Offset *count, const MPI_Offset *stride, const MPI_Offset *imap, ])])
m4_define([PARAMETERS], [(int ncid, int varid, INDEX_PARAMETERS([$2])[]m4_ifelse([$1], [put], [const ])$4 *buf[]m4_ifelse(
    [$3], [], [, MPI_Offset bufcount, MPI_Datatype buftype]))])

m4_define([INDEX_FIELDS], [m4_ifelse(
    [$1], [],  [],
    [$1], [1], [, .start = start],
    [$1], [a], [, .start = start, .count = count],
    [$1], [s], [, .start = start, .count = count, .stride = stride],
    [$1], [m], [, .start = start, .count = count, .stride = stride, .imap = imap])])
m4_define([FIELDS], [.op = PNC_OP_[]m4_UP([$1]), .shape = PNC_VAR[]m4_UP([$2]), .collective = m4_ifelse([$6], [], [false], [true]), .varid = varid, .mem = $5, .buf = (void *)buf[]INDEX_FIELDS([$2])[]m4_ifelse(
    [$3], [], [, .bufcount = bufcount, .buftype = buftype])])
m4_divert[]m4_dnl
