m4_dnl The regular families of data access: operations x shapes x memory types x {independent, collective}.
m4_dnl
m4_dnl FAMILIES expands EMIT(operation, shape, suffix, C type, pnc_mem_type, _all or nothing) for every member; a
m4_dnl template defines EMIT first. The flexible member of each family has an empty suffix. NAME, PARAMETERS and FIELDS
m4_dnl take the same arguments and give the function's name, its C parameters and the initialisers of its struct
m4_dnl pnc_call. MULTI_FAMILIES does the same for mput and mget with EMIT_MULTI, MULTI_PARAMETERS and MULTI_FIELDS (a
m4_dnl pnc_multi), and VARD expands EMIT_VARD(operation, _all or nothing).
m4_divert(-1)

m4_dnl Each function of a blocking operation has a collective variant. Functions that post a request do not.
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
m4_dnl PnetCDF 1.x declares datatypes as an array for mput and as a pointer for mget: the same type.
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
    [$1], [],  [the whole variable (all existing records)],
    [$1], [1], [the element at start],
    [$1], [a], [the hyperslab of count elements that begins at start],
    [$1], [s], [count elements along each dimension from start, stride apart in the variable],
    [$1], [m], [count elements along each dimension from start, stride apart in the variable and imap apart in memory],
    [$1], [n], [num hyperslabs of one variable, each with a start and a count; they are consecutive in memory])])
m4_define([ACCESS_DOC], [start, count, stride and imap have one entry per dimension, slowest first. A NULL stride means 1, a NULL imap means
contiguous memory. Memory is in C order. A suffix names the C type in memory; values are converted. Without a type
suffix, bufcount elements of an MPI datatype describe the memory. MPI_DATATYPE_NULL means contiguous values of the
variable's external type. A bufcount of 0 with a datatype transfers nothing; a collective call that requests values then
returns NC_EIOMISMATCH.])
m4_define([MODE_DOC], [Functions ending in _all are collective, also for ranks without data (count 0). The others need independent data mode.])
m4_define([RANGE_DOC], [A put never changes the buffer. It may add records to a record variable. Values out of range become the variable's fill
value in a put, and the default fill value of the memory type in a get; the other values are transferred, and the
function returns NC_ERANGE.])
m4_define([ACCESS_ERRORS], [NC_EPERM NC_EINDEFINE NC_EINDEP NC_ENOTINDEP NC_ENOTVAR NC_ECHAR NC_EINVALCOORDS NC_EEDGE NC_ENEGATIVECNT
NC_ESTRIDE NC_EINVAL NC_EIOMISMATCH NC_EUNSPTETYPE NC_EMULTITYPES NC_ENULLSTART NC_ERANGE])
m4_define([POST_DOC], [post such a request, in any mode, and return its id in *req (req may be NULL).
No data are transferred until ncmpi_wait or ncmpi_wait_all, and the program must not use the buffer until then. If
values do not fit, a put returns NC_ERANGE immediately and is still posted; for a get, the wait returns NC_ERANGE. Where
pending puts of a rank overlap, the last one posted wins. The library may copy the values of a small put when it is
posted, but only bput guarantees this.])
m4_define([BPUT_DOC], [the buffer can be reused immediately, because the request stores the values in the space of
ncmpi_buffer_attach])
m4_define([MULTI_DOC], [the same access to num variables in one call, with one entry of each array per variable. If the
arguments for one variable are wrong on a rank, that rank transfers none of them and returns the first error.])
m4_define([VARD_DOC], [filetype is an MPI datatype that describes a region of the file. Its elements have the external type
of the variable, its displacements are in bytes from the begin of the variable (ncmpi_inq_varoffset). It may extend into
other variables, at lower or higher offsets, but not beyond the data of the file. A put adds the records that the region
contains. MPI_DATATYPE_NULL selects nothing, and a bufcount of 0 with a datatype transfers nothing.])
m4_define([PUT_ATT_DOC], [create or replace attribute name of variable varid (or NC_GLOBAL) with len values, converted to xtype.
In data mode the new value must not be longer than the old one. Collective. Errors: NC_EPERM NC_ENOTVAR NC_EBADNAME
NC_EBADTYPE NC_ESTRICTCDF2 NC_ECHAR NC_EINVAL NC_ENOTINDEFINE NC_ERANGE (values that do not fit become fill
values)])
m4_define([GET_ATT_DOC], [read all its values, converted to T. An empty attribute of any type can be read with any T. Local. Errors:
NC_ENOTVAR NC_EBADNAME NC_ENOTATT NC_ECHAR NC_EINVAL NC_ERANGE])
m4_divert[]m4_dnl
