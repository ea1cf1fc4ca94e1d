m4_dnl How the rows of functions.m4, families.m4 and types.m4 read in Fortran; includes them.
m4_dnl
m4_dnl FUNCTIONS and VARD expand ROW(Fortran name after nfmpi_, C name after ncmpi_, parameters, result) for every
m4_dnl   function that is no member of a data family. Parameters are P(C type, C name) each; result is [int], or [text] for
m4_dnl   strings.
m4_dnl FAMILIES expands FORTRAN_MEMBER(operation, shape, Fortran suffix, value of the external type, _all or nothing, C
m4_dnl   suffix) for every member of a data family; the flexible ones have no suffixes and NC_NAT.
m4_include([types.m4])m4_include([constants.m4])m4_include([families.m4])m4_include([functions.m4])m4_dnl
m4_divert(-1)

m4_dnl A value of kind MPI_OFFSET_KIND, without mpif.h.
m4_define([OFFSET], [integer(selected_int_kind(18))])

m4_dnl What C has and Fortran never had.
m4_define([FORTRAN_ROW], [m4_ifelse([$1], [inq_version], [], [ROW($@)])])
m4_define([HEADING], [])
m4_define([CDL_FUNCTION], [])

m4_define([FUNCTION], [FORTRAN_ROW([$1], [$1], [P([int], [ncid])$2], [int])])
m4_define([PLAIN], [FORTRAN_ROW([$2], [$2], [SPLIT($3)], m4_ifelse([$1], [int], [[int]], [[text]]))])
m4_dnl A list of parameters in C as P(type, name) each.
m4_define([SPLIT], [m4_ifelse([$1], [void], [], [$1], [], [],
    [P(m4_patsubst([$1], [ ?\w+$]), m4_patsubst([$1], [^.*\W]))[]SPLIT(m4_shift($@))])])

m4_dnl put_att_text has no xtype. Its buffer, and that of get_att_text, are characters; chars is no type of C.
m4_define([ATTRIBUTES], [m4_pushdef([MEMTYPE], m4_defn([ATTRIBUTES_OF]))MEMTYPES[]m4_popdef([MEMTYPE])])
m4_define([ATTRIBUTES_OF], [m4_ifelse([$4], [], [], [$4], [text],
[FORTRAN_ROW([put_att_$4], [put_att_$1], [OF_ATTRIBUTE[]P([MPI_Offset], [len])P([const chars *], [buf])], [int])
FORTRAN_ROW([get_att_$4], [get_att_$1], [OF_ATTRIBUTE[]P([chars *], [buf])], [int])],
[FORTRAN_ROW([put_att_$4], [put_att_$1],
    [OF_ATTRIBUTE[]P([nc_type], [xtype])P([MPI_Offset], [len])P([const void *], [buf])], [int])
FORTRAN_ROW([get_att_$4], [get_att_$1], [OF_ATTRIBUTE[]P([void *], [buf])], [int])])])
m4_define([OF_ATTRIBUTE], [P([int], [ncid])P([int], [varid])P([const char *], [name])])

m4_dnl What a parameter is for, which decides how it is declared and what becomes of it on its way to C and back.
m4_define([ROLE], [m4_ifelse(
    [$1], [const char *],  [text_in],
    [$1], [char *],        [text_out],
    [$1], [const chars *], [chars_in],
    [$1], [chars *],       [chars_out],
    [$1], [const void *],  [buffer_in],
    [$1], [void *],        [buffer_out],
    [$1], [MPI_Comm],      [comm_in],
    [$1], [MPI_Info],      [info_in],
    [$1], [MPI_Datatype],  [type_in],
    [$1], [MPI_Info *],    [info_out],
    [$1], [const int *],   [list_in],
    [$2], [recno],         [index_in],
    [$1], [MPI_Offset],    [offset_in],
    [$1], [MPI_Offset *],  [offset_out],
    [$2], [varid],     [id_in], [$2], [varid_in], [id_in], [$2], [varid_out], [id_in],
    [$2], [dimid],     [id_in], [$2], [attnum],   [id_in],
    [$2], [varidp],    [id_out], [$2], [idp], [id_out], [$2], [unlimdimidp], [id_out],
    [$2], [dimidsp],   [list], [$2], [ncids], [list],
    [$2], [reqs],      [list], [$2], [array_of_requests], [list],
    [$2], [statuses],  [list], [$2], [array_of_statuses], [list],
    [$1], [int],       [int_in],
    [$1], [nc_type],   [int_in],
    [int_out])])

m4_dnl Names in Fortran: what is a pointer in C has no p; len is an intrinsic function; the lists of wait fit a line.
m4_define([DUMMY], [m4_patsubst(m4_patsubst(m4_patsubst([$2],
    m4_ifelse(m4_index([$1], [*]), [-1], [[^$]], [[p$]])), [^array_of_]), [^len$], [length])])

m4_dnl EACH(macro, separator, parameters): macro(C type, C name) for each parameter, with the separator between them.
m4_define([P_OF_EACH], [m4_ifelse(_first, [yes], [m4_define([_first], [no])], [m4_defn([_separator])])m4_dnl
m4_indir(m4_defn([_each]), [$1], [$2])[]])
m4_define([EACH], [m4_define([_each], [$1])m4_define([_separator], [$2])m4_define([_first], [yes])m4_dnl
m4_pushdef([P], m4_defn([P_OF_EACH]))$3[]m4_popdef([P])])

m4_dnl The members of the data families that Fortran has. The external type is the one of the same values.
m4_define([SECTION], [])
m4_define([CONSTANT], [m4_define([VALUE_$1], [$2])])
CONSTANTS
m4_define([MEMTYPE_IN_FORTRAN], [m4_define([FORTRAN_$1], [$4])m4_define([XTYPE_$1], m4_defn([VALUE_$3]))])
m4_pushdef([MEMTYPE], m4_defn([MEMTYPE_IN_FORTRAN]))MEMTYPES[]m4_popdef([MEMTYPE])
m4_define([EMIT], [m4_ifelse([$3], [], [FORTRAN_MEMBER([$1], [$2], [], m4_defn([VALUE_NC_NAT]), [$6], [])],
    m4_defn([FORTRAN_$3]), [], [],
    [FORTRAN_MEMBER([$1], [$2], m4_defn([FORTRAN_$3]), m4_defn([XTYPE_$3]), [$6], [_$3])])])
m4_define([EMIT_VARD], [ROW([$1_vard$2], [$1_vard$2], [P([int], [ncid])P([int], [varid])P([MPI_Datatype], [ftype])m4_dnl
P(IS_PUT([$1])[void *], [buf])P([MPI_Offset], [bufcount])P([MPI_Datatype], [buftype])], [int])])
m4_divert[]m4_dnl
