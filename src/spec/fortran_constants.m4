m4_dnl The constants in Fortran; includes their rows.
m4_dnl
m4_dnl FORTRAN_CONSTANTS expands FORTRAN_CONSTANT(name after nf_, type, value) for each; the type is integer, real,
m4_dnl double precision or OFFSET. Not included: strings, limits of numbers, for which Fortran has huge(), and what
m4_dnl does not begin with NC_.
m4_dnl NETCDF2_CONSTANTS expands FORTRAN_FEATURE(name, type, value) for each constant of the netCDF-2 interface.
m4_dnl FORTRAN_FEATURES expands FORTRAN_FEATURE(name, type, value) for each row of features.m4 that Fortran has; type is
m4_dnl integer or character(*).
m4_include([constants.m4])m4_include([features.m4])m4_include([errors.m4])m4_dnl
m4_divert(-1)
m4_define([LOWER_NAME], [m4_translit(m4_substr([$1], 3), [A-Z], [a-z])])
m4_define([NUMBER], [m4_patsubst(m4_translit(m4_patsubst([[$1]],
    [(\(unsigned \|signed \)?\(char\|short\|long long\))]), [()]), [\(U\|LL\|f\)+$])])
m4_define([IN_FORTRAN], [m4_ifelse(m4_regexp([$1], [^NC_]), -1, [], m4_regexp([$2], ["]), 0, [],
    m4_regexp([$1], [^NC_M\(AX\|IN\)_\(U?\(BYTE\|SHORT\|INT\|INT64\)\|CHAR\|FLOAT\|DOUBLE\)$]), 0, [], [$3])])
m4_define([CONSTANT_IN_FORTRAN], [IN_FORTRAN([$1], [$2], [FORTRAN_CONSTANT(LOWER_NAME([$1]), m4_ifelse(
    [$1], [NC_FILL_FLOAT],  [[real], NUMBER([$2])],
    [$1], [NC_FILL_DOUBLE], [[double precision], m4_patsubst(NUMBER([$2]), [e], [d])],
    [$1], [NC_FILL_UINT],   [[OFFSET], NUMBER([$2])_OFFSET_KIND],
    [$1], [NC_FILL_INT64],  [[OFFSET], NUMBER([$2])_OFFSET_KIND],
    [$1], [NC_FILL_UINT64], [[double precision], NUMBER([$2])d0],
    [$1], [NC_GLOBAL],      [[integer], [0]],
    [[integer], NUMBER([$2])]))])])
m4_define([ALIAS_IN_FORTRAN], [FORTRAN_CONSTANT(LOWER_NAME([$1]), [integer], nf_[]LOWER_NAME([$2]))])

m4_dnl Names of the Fortran interface only.
m4_define([FORTRAN_ONLY], [FORTRAN_CONSTANT([int1], [integer], [nf_byte])
FORTRAN_CONSTANT([int2], [integer], [nf_short])
FORTRAN_CONSTANT([int4], [integer], [nf_int])
FORTRAN_CONSTANT([real], [integer], [nf_float])
FORTRAN_CONSTANT([real4], [integer], [nf_float])
FORTRAN_CONSTANT([real8], [integer], [nf_double])
FORTRAN_CONSTANT([fill_int1], [integer], [nf_fill_byte])
FORTRAN_CONSTANT([fill_int2], [integer], [nf_fill_short])
FORTRAN_CONSTANT([fill_real], [real], [nf_fill_float])
FORTRAN_CONSTANT([fill_real4], [real], [nf_fill_float])
FORTRAN_CONSTANT([fill_real8], [double precision], [nf_fill_double])
FORTRAN_CONSTANT([cdf2], [integer], [nf_64bit_offset])
FORTRAN_CONSTANT([fatal], [integer], [1])
FORTRAN_CONSTANT([verbose], [integer], [2])])

m4_define([FORTRAN_CONSTANTS], [m4_pushdef([SECTION], [])m4_pushdef([CONSTANT], m4_defn([CONSTANT_IN_FORTRAN]))m4_dnl
m4_pushdef([ERROR], m4_defn([CONSTANT_IN_FORTRAN]))m4_pushdef([ALIAS], m4_defn([ALIAS_IN_FORTRAN]))m4_dnl
CONSTANTS[]FORTRAN_ONLY[]ERRORS[]ERROR_ALIASES[]m4_dnl
m4_popdef([SECTION])m4_popdef([CONSTANT])m4_popdef([ERROR])m4_popdef([ALIAS])])

m4_dnl Programs that began with netCDF-2 still use its names; without `implicit none' a missing one would be a variable.
m4_define([NETCDF2_CONSTANTS], [FORTRAN_FEATURE([ncbyte], [integer], [nf_byte])
FORTRAN_FEATURE([ncchar], [integer], [nf_char])
FORTRAN_FEATURE([ncshort], [integer], [nf_short])
FORTRAN_FEATURE([nclong], [integer], [nf_int])
FORTRAN_FEATURE([ncfloat], [integer], [nf_float])
FORTRAN_FEATURE([ncdouble], [integer], [nf_double])
FORTRAN_FEATURE([ncglobal], [integer], [nf_global])
FORTRAN_FEATURE([ncunlim], [integer], [nf_unlimited])
FORTRAN_FEATURE([ncclob], [integer], [nf_clobber])
FORTRAN_FEATURE([ncnoclob], [integer], [nf_noclobber])
FORTRAN_FEATURE([ncnowrit], [integer], [nf_nowrite])
FORTRAN_FEATURE([ncwrite], [integer], [nf_write])
FORTRAN_FEATURE([ncfill], [integer], [nf_fill])
FORTRAN_FEATURE([ncnofill], [integer], [nf_nofill])
FORTRAN_FEATURE([ncrdwr], [integer], [1])
FORTRAN_FEATURE([nccreat], [integer], [2])
FORTRAN_FEATURE([ncexcl], [integer], [4])
FORTRAN_FEATURE([ncindef], [integer], [8])
FORTRAN_FEATURE([ncnsync], [integer], [16])
FORTRAN_FEATURE([nchsync], [integer], [32])
FORTRAN_FEATURE([ncndirty], [integer], [64])
FORTRAN_FEATURE([nchdirty], [integer], [128])
FORTRAN_FEATURE([nclink], [integer], [32768])
FORTRAN_FEATURE([ncnoerr], [integer], [nf_noerr])
FORTRAN_FEATURE([ncebadid], [integer], [nf_ebadid])
FORTRAN_FEATURE([ncenfile], [integer], [(-31)])
FORTRAN_FEATURE([nceexist], [integer], [nf_eexist])
FORTRAN_FEATURE([nceinval], [integer], [nf_einval])
FORTRAN_FEATURE([nceperm], [integer], [nf_eperm])
FORTRAN_FEATURE([ncenotin], [integer], [nf_enotindefine])
FORTRAN_FEATURE([nceindef], [integer], [nf_eindefine])
FORTRAN_FEATURE([ncecoord], [integer], [nf_einvalcoords])
FORTRAN_FEATURE([ncemaxds], [integer], [nf_emaxdims])
FORTRAN_FEATURE([ncename], [integer], [nf_enameinuse])
FORTRAN_FEATURE([ncenoatt], [integer], [nf_enotatt])
FORTRAN_FEATURE([ncemaxat], [integer], [nf_emaxatts])
FORTRAN_FEATURE([ncebadty], [integer], [nf_ebadtype])
FORTRAN_FEATURE([ncebadd], [integer], [nf_ebaddim])
FORTRAN_FEATURE([nceunlim], [integer], [nf_eunlimpos])
FORTRAN_FEATURE([ncemaxvs], [integer], [nf_emaxvars])
FORTRAN_FEATURE([ncenotvr], [integer], [nf_enotvar])
FORTRAN_FEATURE([nceglob], [integer], [nf_eglobal])
FORTRAN_FEATURE([ncenotnc], [integer], [nf_enotnc])
FORTRAN_FEATURE([ncests], [integer], [nf_ests])
FORTRAN_FEATURE([ncentool], [integer], [nf_emaxname])
FORTRAN_FEATURE([ncfoobar], [integer], [32])
FORTRAN_FEATURE([ncsyserr], [integer], [(-31)])
FORTRAN_FEATURE([ncfatal], [integer], [nf_fatal])
FORTRAN_FEATURE([ncverbos], [integer], [nf_verbose])
FORTRAN_FEATURE([nf2_err], [integer], [(-1)])
FORTRAN_FEATURE([maxncop], [integer], [32])
FORTRAN_FEATURE([maxncdim], [integer], [100])
FORTRAN_FEATURE([maxncatt], [integer], [2000])
FORTRAN_FEATURE([maxncvar], [integer], [2000])
FORTRAN_FEATURE([maxncnam], [integer], [128])
FORTRAN_FEATURE([maxvdims], [integer], [maxncdim])
FORTRAN_FEATURE([filchar], [integer], [0])
FORTRAN_FEATURE([filbyte], [integer], [nf_fill_byte])
FORTRAN_FEATURE([filshort], [integer], [nf_fill_short])
FORTRAN_FEATURE([fillong], [integer], [nf_fill_int])
FORTRAN_FEATURE([filfloat], [real], [nf_fill_float])
FORTRAN_FEATURE([fildoub], [double precision], [nf_fill_double])])

m4_define([FORTRAN_FEATURES], [m4_pushdef([FEATURE], m4_defn([FEATURE_IN_FORTRAN]))m4_dnl
VERSIONS[]FEATURES[]m4_popdef([FEATURE])])
m4_define([FEATURE_IN_FORTRAN], [m4_ifelse([$3], [c], [], [FORTRAN_FEATURE([$1], m4_dnl
m4_ifelse(m4_index([$2], ["]), 0, [[character(*)]], [[integer]]), [$2])])])
m4_divert[]m4_dnl
