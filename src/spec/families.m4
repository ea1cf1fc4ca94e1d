m4_dnl The regular families of data access: operations x shapes x memory types x {independent, collective}:
m4_dnl ncmpi_put_vara_double is the member (put, a, double, double, PNC_DOUBLE, nothing).
m4_dnl
m4_dnl OPERATION(name, role of the memory, of text in memory, "collective" if there are such functions, parameters that
m4_dnl   follow): as a Fortran string is not memory of any type, text has a role of its own.
m4_dnl SHAPE(suffix, parameters that select elements of a variable, the same for each of several variables, meaning)
m4_dnl
m4_dnl FAMILIES expands EMIT(operation, shape, suffix, C type, pnc_mem_type, _all or nothing) for every member; a
m4_dnl template defines EMIT first. The flexible member of each family has an empty suffix and the C type void. The
m4_dnl macros below take the same arguments:
m4_dnl   NAME                 the name of the C function
m4_dnl   MEMBER_PARAMETERS    its parameters, as in functions.m4
m4_dnl   PARAMETERS           the same as C declares them
m4_dnl   FIELDS               the initialisers of its struct pnc_call
m4_dnl MULTI_FAMILIES does the same for mput and mget with EMIT_MULTI, MULTI_NAME, MULTI_PARAMETERS and MULTI_FIELDS (a
m4_dnl pnc_multi). VARD expands EMIT_VARD(operation, _all or nothing); VARD_MEMBER_PARAMETERS(operation) has its
m4_dnl parameters.
m4_include([roles.m4])m4_dnl
m4_divert(-1)

m4_define([OPERATIONS], [
OPERATION([put],  [memory],     [strings],     [collective], [])
OPERATION([get],  [memory_out], [strings_out], [collective], [])
OPERATION([iput], [memory],     [strings],     [],           [P(request_out, req)])
OPERATION([iget], [memory_out], [strings_out], [],           [P(request_out, req)])
OPERATION([bput], [memory],     [strings],     [],           [P(request_out, req)])
])

m4_define([SHAPES], [
SHAPE([],  [], [],
    [the whole variable (all existing records)])
SHAPE([1], [P(start, start)], [P(start_each, starts)],
    [the element at start])
SHAPE([a], [P(start, start)P(counts, count)], [P(start_each, starts)P(counts_each, counts)],
    [the hyperslab of count elements that begins at start])
SHAPE([s], [P(start, start)P(counts, count)P(stride, stride)],
    [P(start_each, starts)P(counts_each, counts)P(stride_each, strides)],
    [count elements along each dimension from start, stride apart in the variable])
SHAPE([m], [P(start, start)P(counts, count)P(stride, stride)P(imap, imap)],
    [P(start_each, starts)P(counts_each, counts)P(stride_each, strides)P(imap_each, imaps)],
    [count elements along each dimension from start, stride apart in the variable and imap apart in memory])
SHAPE([n], [P(count, num)P(block_starts, starts)P(block_counts, counts)], [not for several variables],
    [num hyperslabs of one variable, given by starts and counts; they are consecutive in memory])
])

m4_dnl What flexible functions have in place of a type in their name.
m4_define([DESCRIPTION_OF_MEMORY], [P(length, bufcount)P(datatype, buftype)])

m4_dnl PnetCDF 1.x declares the arrays of mput and mget differently; the types are the same.
m4_define([MEMORY_OF_EACH], [m4_ifelse([$1], [put], [P(memory_each, bufs)], [P(memory_each_out, bufs)])])
m4_define([DESCRIPTION_OF_EACH], [P(lengths_each, bufcounts)m4_dnl
m4_ifelse([$1], [put], [P(datatypes_each_put, datatypes)], [P(datatypes_each, datatypes)])])

m4_define([VARD_MEMBER_PARAMETERS], [P(ncid, ncid)P(varid, varid)P(datatype, filetype, ftype)m4_dnl
m4_ifelse([$1], [put], [P(values, buf)], [P(values_out, buf)])P(length, bufcount)P(datatype, buftype)])

m4_dnl Checks of the rows, and macros with what they say.
m4_define([OPERATION], [CHECK_COUNT([families.m4], [$1], $#, 5, 5)CHECK_NAME([families.m4], [$1], [$1])m4_dnl
CHECK_PARAMETERS([families.m4], [$1], [P($2, buf)P($3, buf)$5])m4_dnl
m4_ifelse([$4], [collective], [], [$4], [], [], [REFUSE([families.m4], [$1], ["$4" is not "collective"])])m4_dnl
m4_define([MEMORY_OF_$1], [$2])m4_define([TEXT_OF_$1], [$3])m4_define([TWINS_OF_$1], [$4])m4_define([REQUEST_OF_$1], [$5])])
m4_define([SHAPE], [CHECK_COUNT([families.m4], [var$1], $#, 4, 4)CHECK_PARAMETERS([families.m4], [var$1], [$2])m4_dnl
m4_ifelse([$1], [n], [], [CHECK_PARAMETERS([families.m4], [var$1], [$3])])m4_dnl
m4_define([SELECTION_OF_$1], [$2])m4_define([SELECTION_OF_EACH_$1], [$3])m4_define([MEANING_OF_$1], [$4])])
CHECK_ROWS([families.m4], [OPERATIONS])
CHECK_ROWS([families.m4], [SHAPES])
m4_define([SELECTION], [m4_indir([SELECTION_OF_$1])])
m4_define([SHAPE_DOC], [m4_indir([MEANING_OF_$1])])
m4_define([IS_POSTED], [m4_ifelse(m4_defn([REQUEST_OF_$1]), [], [], [$2])])

m4_dnl The members.
m4_define([FAMILIES], [m4_pushdef([OPERATION], m4_defn([OPERATION_OF_FAMILIES]))m4_pushdef([SHAPE], m4_defn([SHAPE_OF_FAMILIES]))m4_dnl
OPERATIONS[]m4_popdef([SHAPE], [OPERATION])])
m4_define([OPERATION_OF_FAMILIES], [m4_define([_op], [$1])SHAPES])
m4_define([SHAPE_OF_FAMILIES], [m4_define([_shape], [$1])m4_pushdef([MEMTYPE], m4_defn([MEMTYPE_OF_FAMILIES]))m4_dnl
MEMTYPES[]m4_popdef([MEMTYPE])MEMBER([], [void], PNC_FLEX)])
m4_define([MEMTYPE_OF_FAMILIES], [MEMBER([$1], [$2], PNC_[]m4_UP([$1]))])
m4_define([MEMBER], [EMIT(_op, _shape, [$1], [$2], [$3], [])m4_dnl
m4_ifelse(m4_indir([TWINS_OF_]_op), [collective], [EMIT(_op, _shape, [$1], [$2], [$3], [_all])])])

m4_define([NAME], [ncmpi_$1_var$2[]m4_ifelse([$3], [], [], [_$3])$6])
m4_define([ROLE_OF_MEMORY], [m4_ifelse([$2], [text], [m4_indir([TEXT_OF_$1])], [m4_indir([MEMORY_OF_$1])])])
m4_define([MEMBER_PARAMETERS], [P(ncid, ncid)P(varid, varid)SELECTION([$2])P(ROLE_OF_MEMORY([$1], [$3]), buf)m4_dnl
m4_ifelse([$3], [], [DESCRIPTION_OF_MEMORY])[]m4_indir([REQUEST_OF_$1])])
m4_define([PARAMETERS], [m4_pushdef([VALUE_TYPE], [$4])(EACH([DECLARED], [, ], [MEMBER_PARAMETERS($@)]))m4_popdef([VALUE_TYPE])])
m4_define([FIELD], [, .m4_ifelse([$1], [request_out], [reqid], [$2]) = $2])
m4_define([FIELDS], [.op = PNC_OP_[]m4_UP([$1]), .shape = PNC_VAR[]m4_UP([$2]), .collective = m4_ifelse([$6], [], [false], [true]), .varid = varid, .mem = $5, .buf = (void *)buf[]m4_dnl
EACH([FIELD], [], [SELECTION([$2])m4_ifelse([$3], [], [DESCRIPTION_OF_MEMORY])[]m4_indir([REQUEST_OF_$1])])])

m4_define([MULTI_FAMILIES], [m4_pushdef([OPERATION], m4_defn([OPERATION_OF_MULTI]))m4_pushdef([SHAPE], m4_defn([SHAPE_OF_MULTI]))m4_dnl
m4_pushdef([EMIT], m4_defn([EMIT_MULTI]))OPERATIONS[]m4_popdef([EMIT], [SHAPE], [OPERATION])])
m4_define([OPERATION_OF_MULTI], [m4_ifelse([$4], [collective], [OPERATION_OF_FAMILIES($@)])])
m4_define([SHAPE_OF_MULTI], [m4_ifelse([$1], [n], [], [SHAPE_OF_FAMILIES($@)])])
m4_define([MULTI_NAME], [ncmpi_m$1_var$2[]m4_ifelse([$3], [], [], [_$3])$6])
m4_define([MULTI_SELECTION], [m4_indir([SELECTION_OF_EACH_$1])])
m4_define([MULTI_PARAMETERS], [m4_pushdef([VALUE_TYPE], [$4])(EACH([DECLARED], [, ], m4_dnl
[P(ncid, ncid)P(count, num)P(varids_each, varids)MULTI_SELECTION([$2])MEMORY_OF_EACH([$1])m4_ifelse([$3], [], [DESCRIPTION_OF_EACH([$1])])]))m4_popdef([VALUE_TYPE])])
m4_define([MULTI_FIELDS], [.op = PNC_OP_[]m4_UP([$1]), .shape = PNC_VAR[]m4_UP([$2]), .collective = m4_ifelse([$6], [], [false], [true]), .num = num, .varids = varids, .mem = $5, .bufs = (void *const *)bufs[]m4_dnl
EACH([FIELD], [], [MULTI_SELECTION([$2])m4_ifelse([$3], [], [DESCRIPTION_OF_EACH([$1])])])])

m4_define([VARD], [EMIT_VARD(put, [])EMIT_VARD(put, [_all])EMIT_VARD(get, [])EMIT_VARD(get, [_all])])
m4_define([VARD_PARAMETERS], [(EACH([DECLARED], [, ], [VARD_MEMBER_PARAMETERS([$1])]))])

m4_dnl Documentation, for the header and the manual.
m4_define([SELECTION_DOC], [start, count, stride and imap have one entry per dimension, slowest first. A NULL stride means 1, a NULL imap means
contiguous memory.])
m4_define([MEMORY_DOC], [Memory is in C order. A suffix names the C type in memory; values are converted. Without a type
suffix, bufcount elements of an MPI datatype describe the memory. MPI_DATATYPE_NULL means contiguous values of the
variable's external type. A bufcount of 0 with a datatype transfers nothing; a collective call that requests values then
returns NC_EIOMISMATCH. The datatype of a request for no values with a bufcount of 0 has no effect.])
m4_define([MODE_DOC], [Functions ending in _all are collective, also for ranks without data. The others need independent data mode.])
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
of the variable, its displacements are in bytes from its first byte (ncmpi_inq_varoffset). It may extend into
other variables, at lower or higher offsets, but not beyond the data of the file. A put adds the records that the region
contains. MPI_DATATYPE_NULL selects nothing, and a bufcount of 0 with a datatype transfers nothing. In a netCDF-4 file
it covers whole elements of the variable, of the first record only if there are several record variables; others, and
those of a variable with an inner unlimited dimension, are NC_ETYPESIZE.])
m4_define([PUT_ATT_DOC], [create or replace attribute name of variable varid (or NC_GLOBAL) with len values, converted to xtype.
In data mode the new value must not be longer than the old one. Collective. Errors: NC_EPERM NC_ENOTVAR NC_EBADNAME
NC_ENAMEINUSE (netCDF-4: a name that the format keeps for itself) NC_EBADTYPE NC_ESTRICTCDF2 NC_ECHAR NC_EINVAL
NC_ENOTINDEFINE NC_ESTALE NC_ERANGE (values that do not fit become fill
values)])
m4_define([GET_ATT_DOC], [read all its values, converted to T. An empty attribute of any type can be read with any T. Local. Errors:
NC_ENOTVAR NC_EBADNAME NC_ENOTATT NC_ECHAR NC_EINVAL NC_ERANGE])
m4_divert[]m4_dnl
