m4_dnl The regular families of data access: operations x shapes x memory types x {independent, collective}.
m4_dnl
m4_dnl FAMILIES expands EMIT(operation, shape, suffix, C type, pnc_mem_type, _all or nothing) for every member; a
m4_dnl template defines EMIT first. The flexible member of each family has an empty suffix. NAME, PARAMETERS and FIELDS
m4_dnl take the same arguments and give the function's name, its C parameters and the initialisers of its struct
m4_dnl pnc_call. MULTI_FAMILIES does the same for mput and mget with EMIT_MULTI, MULTI_PARAMETERS and MULTI_FIELDS (a
m4_dnl pnc_multi), and VARD expands EMIT_VARD(operation, _all or nothing).
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
m4_dnl Documentation, for the header and the manual.
m4_define([SHAPE_DOC], [m4_ifelse(
    [$1], [],  [the whole variable (all records that exist)],
    [$1], [1], [the one element at start],
    [$1], [a], [the block of count elements that begins at start],
    [$1], [s], [count elements along each dimension from start on, stride apart in the variable],
    [$1], [m], [count elements along each dimension from start on, stride apart in the variable and imap apart in memory],
    [$1], [n], [num blocks of one variable, each with its own start and count; memory holds one after the other])])
m4_define([ACCESS_DOC], [start, count, stride and imap have one entry per dimension, slowest first; a NULL stride or imap means 1 and
contiguous. Memory is in C order. A suffix names the C type in memory, values are converted. Without a type suffix
memory is described by bufcount elements of an MPI datatype. MPI_DATATYPE_NULL: contiguous, of the variable's own
type. A bufcount of 0 with a datatype moves nothing; a collective call that asks for values returns NC_EIOMISMATCH.])
m4_define([MODE_DOC], [Functions ending in _all are collective, on ranks with nothing to do also (count 0); the others need independent mode.])
m4_define([RANGE_DOC], [Put: the buffer is never changed; a record variable grows. Values out of range become the variable's fill value, and
get turns them into the memory type's default fill value; the rest is moved and NC_ERANGE is returned.])
m4_define([ACCESS_ERRORS], [NC_EPERM NC_EINDEFINE NC_EINDEP NC_ENOTINDEP NC_ENOTVAR NC_ECHAR NC_EINVALCOORDS NC_EEDGE NC_ENEGATIVECNT
NC_ESTRIDE NC_EINVAL NC_EIOMISMATCH NC_EUNSPTETYPE NC_EMULTITYPES NC_ENULLSTART NC_ERANGE])
m4_define([POST_DOC], [post such a request, in any mode, and give its id in *req (which may be NULL). Nothing moves, and the
buffer belongs to the library, until ncmpi_wait or ncmpi_wait_all. A put tells at once (NC_ERANGE) that values will not
fit, and is posted all the same; a get tells when it is waited for. Where pending puts of a rank overlap, the last one
posted wins. The library may copy the values of a small put when it is
posted; that is no promise: only bput always does])
m4_define([BPUT_DOC], [the buffer may be used again at once, because the request keeps the values, in what ncmpi_buffer_attach allows])
m4_define([MULTI_DOC], [the same access to num variables in one call, with one entry of each array per variable. On
a rank where the arguments for one are wrong none is moved; the first error is returned.])
m4_define([VARD_DOC], [the place in the file is an MPI datatype made of the variable's own type, whose displacements are
bytes from the variable's begin (ncmpi_inq_varoffset). It may reach into other variables, before or behind that one, as
long as it stays inside the file's data; a put adds the records that it reaches. MPI_DATATYPE_NULL selects nothing, and
a bufcount of 0 with a datatype moves nothing.])
m4_define([PUT_ATT_DOC], [create or replace attribute name of variable varid (or NC_GLOBAL) with len values, converted to xtype.
In data mode it may replace a value by one that is not longer. Collective. Errors: NC_EPERM NC_ENOTVAR NC_EBADNAME
NC_EBADTYPE NC_ESTRICTCDF2 NC_ECHAR NC_EINVAL NC_ENOTINDEFINE NC_ERANGE (the values that do not fit become fill
values)])
m4_define([GET_ATT_DOC], [read all its values, converted to T. An empty attribute of any type is read as any T. Local. Errors:
NC_ENOTVAR NC_EBADNAME NC_ENOTATT NC_ECHAR NC_EINVAL NC_ERANGE])
m4_divert[]m4_dnl
