m4_dnl The Fortran view of the rows of functions.m4, families.m4 and types.m4; includes them.
m4_dnl
m4_dnl FUNCTIONS and VARD expand ROW(Fortran name after nfmpi_, C name after ncmpi_, parameters, result, faces) for
m4_dnl   every function with a Fortran interface outside the data families. Result is int, or text for strings.
m4_dnl FAMILIES expands FORTRAN_MEMBER(operation, shape, Fortran suffix, value of the external type, _all or nothing, C
m4_dnl   suffix) for every member of a data family; the flexible ones have no suffixes and NC_NAT.
m4_include([types.m4])m4_include([constants.m4])m4_include([families.m4])m4_include([functions.m4])m4_dnl
m4_divert(-1)

m4_dnl A value of kind MPI_OFFSET_KIND, without mpif.h.
m4_define([OFFSET], [integer(selected_int_kind(18))])

m4_define([FORTRAN_ROW], [m4_ifelse([$5], [c], [], [ROW($@)])])
m4_define([HEADING], [])
m4_define([CDL_FUNCTION], [])

m4_define([FUNCTION], [FORTRAN_ROW([$1], [$1], [P(ncid, ncid)$3], [int], [$2])])
m4_define([PLAIN], [FORTRAN_ROW([$2], [$2], [$4], m4_ifelse([$1], [int], [[int]], [[text]]), [$3])])

m4_dnl put_att_text has no xtype.
m4_define([ATTRIBUTES], [m4_pushdef([MEMTYPE], m4_defn([ATTRIBUTES_OF]))MEMTYPES[]m4_popdef([MEMTYPE])])
m4_define([ATTRIBUTES_OF], [m4_ifelse([$4], [], [], [$4], [text],
[FORTRAN_ROW([put_att_$4], [put_att_$1], [OF_ATTRIBUTE[]P(length, len, length)P(characters, buf)], [int], [f77])
FORTRAN_ROW([get_att_$4], [get_att_$1], [OF_ATTRIBUTE[]P(characters_out, buf)], [int], [f77_by_hand])],
[FORTRAN_ROW([put_att_$4], [put_att_$1],
    [OF_ATTRIBUTE[]P(type, xtype)P(length, len, length)P(values, buf)], [int], [f77])
FORTRAN_ROW([get_att_$4], [get_att_$1], [OF_ATTRIBUTE[]P(values_out, buf)], [int], [f77])])])
m4_define([OF_ATTRIBUTE], [P(ncid, ncid)P(varid, varid)P(name, name)])

m4_dnl The Fortran name of a parameter, for EACH.
m4_define([DUMMY], [$3])

m4_dnl The members of the data families with a Fortran interface. The external type is the one of the same values.
m4_define([SECTION], [])
m4_define([CONSTANT], [m4_define([VALUE_$1], [$2])])
CONSTANTS
m4_define([MEMTYPE_IN_FORTRAN], [m4_define([FORTRAN_$1], [$4])m4_define([XTYPE_$1], m4_defn([VALUE_$3]))])
m4_pushdef([MEMTYPE], m4_defn([MEMTYPE_IN_FORTRAN]))MEMTYPES[]m4_popdef([MEMTYPE])
m4_define([EMIT], [m4_ifelse([$3], [], [FORTRAN_MEMBER([$1], [$2], [], m4_defn([VALUE_NC_NAT]), [$6], [])],
    m4_defn([FORTRAN_$3]), [], [],
    [FORTRAN_MEMBER([$1], [$2], m4_defn([FORTRAN_$3]), m4_defn([XTYPE_$3]), [$6], [_$3])])])
m4_define([EMIT_VARD], [ROW([$1_vard$2], [$1_vard$2], [VARD_MEMBER_PARAMETERS([$1])], [int], [f77])])
m4_divert[]m4_dnl
