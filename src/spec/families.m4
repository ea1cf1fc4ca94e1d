m4_dnl The regular families of data access: operations x shapes x memory types x {independent, collective}.
m4_dnl
m4_dnl FAMILIES expands EMIT(operation, shape, suffix, C type, pnc_mem, _all or nothing) for every member; a template
m4_dnl defines EMIT first. The flexible member of each family has an empty suffix. NAME, PARAMETERS and FIELDS take the
m4_dnl same arguments and give the function's name, its C parameters and the initialisers of its struct pnc_call.
m4_dnl MULTI_FAMILIES does the same for mput and mget with EMIT_MULTI, MULTI_PARAMETERS and MULTI_FIELDS (a pnc_multi), and
m4_dnl VARD expands EMIT_VARD(operation, _all or nothing).
m4_divert(-1)

m4_dnl Blocking operations have a collective twin of each function; those that only post a request do not.
m4_define([FAMILIES], [OPERATION(put, twins)OPERATION(get, twins)OPERATION(iput)OPERATION(iget)OPERATION(bput)])
m4_define([OPERATION], [m4_define([_op], [$1])m4_define([_twins], [$2])SHAPE()SHAPE(1)SHAPE(a)SHAPE(s)SHAPE(m)SHAPE(n)])
m4_define([SHAPE], [m4_define([_shape], [$1])MEMTYPES[]MEMBER([], [void], PNC_FLEX)])
m4_define([MEMTYPE], [MEMBER([$1], [$2], PNC_[]m4_UP([$1]))])
m4_define([MEMBER], [EMIT(_op, _shape, [$1], [$2], [$3], [])m4_ifelse(_twins, twins, [EMIT(_op, _shape, [$1], [$2], [$3], [_all])])])

m4_define([NAME], [ncmpi_$1_var$2[]m4_ifelse([$3], [], [], [_$3])$6])
m4_define([IS_PUT], [m4_ifelse([$1], [get], [], [$1], [iget], [], [const ])])
m4_define([IS_POSTED], [m4_ifelse([$1], [put], [], [$1], [get], [], [$2])])

m4_define([INDEX_PARAMETERS], [m4_ifelse(
    [$1], [],  [],
    [$1], [1], [const MPI_Offset *start, ],
    [$1], [a], [const MPI_Offset *start, const MPI_Offset *count, ],
    [$1], [s], [const MPI_Offset *start, const MPI_Offset *count, const MPI_Offset *stride, ],
    [$1], [m], [const MPI_Offset *start, const MPI_Offset *count, const MPI_Offset *stride, const MPI_Offset *imap, ],
    [$1], [n], [int num, MPI_Offset *const *starts, MPI_Offset *const *counts, ])])
m4_define([PARAMETERS], [(int ncid, int varid, INDEX_PARAMETERS([$2])[]IS_PUT([$1])$4 *buf[]m4_ifelse(
    [$3], [], [, MPI_Offset bufcount, MPI_Datatype buftype])[]IS_POSTED([$1], [, int *req]))])

m4_define([INDEX_FIELDS], [m4_ifelse(
    [$1], [],  [],
    [$1], [1], [, .start = start],
    [$1], [a], [, .start = start, .count = count],
    [$1], [s], [, .start = start, .count = count, .stride = stride],
    [$1], [m], [, .start = start, .count = count, .stride = stride, .imap = imap],
    [$1], [n], [, .num = num, .starts = starts, .counts = counts])])
m4_define([FIELDS], [.op = PNC_OP_[]m4_UP([$1]), .shape = PNC_VAR[]m4_UP([$2]), .collective = m4_ifelse([$6], [], [false], [true]), .varid = varid, .mem = $5, .buf = (void *)buf[]INDEX_FIELDS([$2])[]m4_ifelse(
    [$3], [], [, .bufcount = bufcount, .buftype = buftype])[]IS_POSTED([$1], [, .reqid = req])])

m4_dnl mput and mget: num variables at once; no shape n.
m4_define([MULTI_FAMILIES], [m4_pushdef([EMIT], m4_defn([EMIT_MULTI]))MULTI_OPERATION(put)MULTI_OPERATION(get)m4_popdef([EMIT])])
m4_define([MULTI_OPERATION], [m4_define([_op], [$1])m4_define([_twins], [twins])SHAPE()SHAPE(1)SHAPE(a)SHAPE(s)SHAPE(m)])
m4_define([MULTI_NAME], [ncmpi_m$1_var$2[]m4_ifelse([$3], [], [], [_$3])$6])
m4_define([MULTI_INDEX_PARAMETERS], [m4_ifelse(
    [$1], [],  [],
    [$1], [1], [MPI_Offset *const *starts, ],
    [$1], [a], [MPI_Offset *const *starts, MPI_Offset *const *counts, ],
    [$1], [s], [MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides, ],
    [$1], [m], [MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides, MPI_Offset *const *imaps, ])])
m4_dnl The peer declares datatypes as an array for mput and as a pointer for mget: the same type.
m4_define([MULTI_PARAMETERS], [(int ncid, int num, int *varids, MULTI_INDEX_PARAMETERS([$2])[]m4_ifelse([$1], [put], [$4 *const *bufs], [$4 *bufs[[]]])[]m4_ifelse(
    [$3], [], [, const MPI_Offset *bufcounts, m4_ifelse([$1], [put], [const MPI_Datatype datatypes[[]]], [const MPI_Datatype *datatypes])]))])
m4_define([MULTI_INDEX_FIELDS], [m4_ifelse(
    [$1], [],  [],
    [$1], [1], [, .starts = starts],
    [$1], [a], [, .starts = starts, .counts = counts],
    [$1], [s], [, .starts = starts, .counts = counts, .strides = strides],
    [$1], [m], [, .starts = starts, .counts = counts, .strides = strides, .imaps = imaps])])
m4_define([MULTI_FIELDS], [.op = PNC_OP_[]m4_UP([$1]), .shape = PNC_VAR[]m4_UP([$2]), .collective = m4_ifelse([$6], [], [false], [true]), .num = num, .varids = varids, .mem = $5, .bufs = (void *const *)bufs[]MULTI_INDEX_FIELDS([$2])[]m4_ifelse(
    [$3], [], [, .bufcounts = bufcounts, .datatypes = datatypes])])

m4_define([VARD], [EMIT_VARD(put, [])EMIT_VARD(put, [_all])EMIT_VARD(get, [])EMIT_VARD(get, [_all])])
m4_define([VARD_PARAMETERS], [(int ncid, int varid, MPI_Datatype filetype, IS_PUT([$1])void *buf, MPI_Offset bufcount, MPI_Datatype buftype)])
m4_divert[]m4_dnl
