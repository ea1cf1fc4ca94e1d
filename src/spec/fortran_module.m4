m4_dnl The Fortran 90 module's view of the rows of functions.m4, types.m4 and families.m4.
m4_dnl
m4_dnl F90_FUNCTIONS expands F90(name, parameters) for each nf90mpi_<name> that passes all its arguments to
m4_dnl   ncmpi_<name>, and F90_HANDLES for those with MPI handles, which the module declares both as integers and with
m4_dnl   the types of mpi_f08.
m4_include([functions.m4])m4_dnl
m4_divert(-1)
m4_define([F90_FUNCTIONS], [m4_pushdef([HEADING], [])m4_pushdef([CDL_FUNCTION], [])m4_pushdef([ATTRIBUTES], [])m4_dnl
m4_pushdef([FUNCTION], m4_defn([F90_OF_FUNCTION]))m4_pushdef([PLAIN], m4_defn([F90_OF_PLAIN]))m4_dnl
FUNCTIONS[]m4_popdef([PLAIN], [FUNCTION], [ATTRIBUTES], [CDL_FUNCTION], [HEADING])])
m4_define([F90_OF_FUNCTION], [F90_ROW([$1], [$2], [P(ncid, ncid)$3])])
m4_define([F90_OF_PLAIN], [F90_ROW([$2], [$3], [$4])])
m4_define([F90_ROW], [m4_ifelse([$2], [all],
    [m4_ifelse(EACH([IF_HANDLE], [], [$3]), [], [F90([$1], [$3])], [F90_HANDLES([$1], [$3])])])])
m4_define([IF_HANDLE], [m4_ifelse(m4_regexp(PASSING([$1]), [^\(comm\|info\|type\)_]), -1, [], [yes])])

m4_dnl The types of values: KIND(C name, C type, Fortran declaration, external type of the same values).
m4_define([KINDS], [m4_pushdef([MEMTYPE], m4_defn([KIND_OF]))MEMTYPES[]m4_popdef([MEMTYPE])])
m4_define([KIND_OF], [m4_ifelse([$4], [], [], [m4_ifdef([DECLARED_$1], [],
    [REFUSE([types.m4], [$1], [fortran_module.m4 has no DECLARED_$1])])KIND([$1], [$2], m4_defn([DECLARED_$1]), [$3])])])
m4_define([DECLARED_text],     [character(len=*)])
m4_define([DECLARED_schar],    [integer(c_int8_t)])
m4_define([DECLARED_short],    [integer(c_int16_t)])
m4_define([DECLARED_int],      [integer(c_int)])
m4_define([DECLARED_longlong], [integer(c_int64_t)])
m4_define([DECLARED_float],    [real(c_float)])
m4_define([DECLARED_double],   [real(c_double)])

m4_dnl The kinds of the default fill values, most of which are default integers in pnetcdf.inc.
m4_define([FILL_KIND], [m4_ifelse(
    [$1], [fill_char],  [integer(c_int8_t)],
    [$1], [fill_byte],  [integer(c_int8_t)],
    [$1], [fill_int1],  [integer(c_int8_t)],
    [$1], [fill_short], [integer(c_int16_t)],
    [$1], [fill_int2],  [integer(c_int16_t)],
    [$1], [fill_ubyte], [integer(c_int16_t)],
    [$2], [OFFSET],     [integer(c_int64_t)],
    [$2])])

m4_dnl The generics that put and get values: ACCESS(operation, _all or nothing).
m4_define([ACCESSES], [m4_pushdef([OPERATION], m4_defn([ACCESS_OF]))OPERATIONS[]m4_popdef([OPERATION])])
m4_define([ACCESS_OF], [ACCESS([$1], [])m4_ifelse([$4], [collective], [ACCESS([$1], [_all])])])
m4_divert[]m4_dnl
