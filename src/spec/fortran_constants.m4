m4_dnl The constants in Fortran; includes their rows.
m4_dnl
m4_dnl FORTRAN_CONSTANTS expands FORTRAN_CONSTANT(name after nf_, type, value) for each; the type is integer, real,
m4_dnl double precision or OFFSET. Not included: strings, limits of numbers, for which Fortran has huge(), and what
m4_dnl does not begin with NC_.
m4_dnl NETCDF2_CONSTANTS expands FORTRAN_FEATURE(name, type, value) for each constant of the netCDF-2 interface.
m4_dnl FORTRAN_FEATURES expands FORTRAN_FEATURE(name, type, value) for each row of features.m4; the type is integer or
m4_dnl character(len=*).
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
m4_define([NETCDF2_CONSTANTS], [m4_pushdef([NETCDF2], m4_defn([FORTRAN_FEATURE]))m4_dnl
NETCDF2([ncbyte], [integer], [nf_byte])
NETCDF2([ncchar], [integer], [nf_char])
NETCDF2([ncshort], [integer], [nf_short])
NETCDF2([nclong], [integer], [nf_int])
NETCDF2([ncfloat], [integer], [nf_float])
NETCDF2([ncdouble], [integer], [nf_double])
NETCDF2([ncglobal], [integer], [nf_global])
NETCDF2([ncunlim], [integer], [nf_unlimited])
NETCDF2([ncclob], [integer], [nf_clobber])
NETCDF2([ncnoclob], [integer], [nf_noclobber])
NETCDF2([ncnowrit], [integer], [nf_nowrite])
NETCDF2([ncwrite], [integer], [nf_write])
NETCDF2([ncfill], [integer], [nf_fill])
NETCDF2([ncnofill], [integer], [nf_nofill])
NETCDF2([ncrdwr], [integer], [1])
NETCDF2([nccreat], [integer], [2])
NETCDF2([ncexcl], [integer], [4])
NETCDF2([ncindef], [integer], [8])
NETCDF2([ncnsync], [integer], [16])
NETCDF2([nchsync], [integer], [32])
NETCDF2([ncndirty], [integer], [64])
NETCDF2([nchdirty], [integer], [128])
NETCDF2([nclink], [integer], [32768])
NETCDF2([ncnoerr], [integer], [nf_noerr])
NETCDF2([ncebadid], [integer], [nf_ebadid])
NETCDF2([ncenfile], [integer], [(-31)])
NETCDF2([nceexist], [integer], [nf_eexist])
NETCDF2([nceinval], [integer], [nf_einval])
NETCDF2([nceperm], [integer], [nf_eperm])
NETCDF2([ncenotin], [integer], [nf_enotindefine])
NETCDF2([nceindef], [integer], [nf_eindefine])
NETCDF2([ncecoord], [integer], [nf_einvalcoords])
NETCDF2([ncemaxds], [integer], [nf_emaxdims])
NETCDF2([ncename], [integer], [nf_enameinuse])
NETCDF2([ncenoatt], [integer], [nf_enotatt])
NETCDF2([ncemaxat], [integer], [nf_emaxatts])
NETCDF2([ncebadty], [integer], [nf_ebadtype])
NETCDF2([ncebadd], [integer], [nf_ebaddim])
NETCDF2([nceunlim], [integer], [nf_eunlimpos])
NETCDF2([ncemaxvs], [integer], [nf_emaxvars])
NETCDF2([ncenotvr], [integer], [nf_enotvar])
NETCDF2([nceglob], [integer], [nf_eglobal])
NETCDF2([ncenotnc], [integer], [nf_enotnc])
NETCDF2([ncests], [integer], [nf_ests])
NETCDF2([ncentool], [integer], [nf_emaxname])
NETCDF2([ncfoobar], [integer], [32])
NETCDF2([ncsyserr], [integer], [(-31)])
NETCDF2([ncfatal], [integer], [nf_fatal])
NETCDF2([ncverbos], [integer], [nf_verbose])
NETCDF2([nf2_err], [integer], [(-1)])
NETCDF2([maxncop], [integer], [32])
NETCDF2([maxncdim], [integer], [100])
NETCDF2([maxncatt], [integer], [2000])
NETCDF2([maxncvar], [integer], [2000])
NETCDF2([maxncnam], [integer], [128])
NETCDF2([maxvdims], [integer], [maxncdim])
NETCDF2([filchar], [integer], [0])
NETCDF2([filbyte], [integer], [nf_fill_byte])
NETCDF2([filshort], [integer], [nf_fill_short])
NETCDF2([fillong], [integer], [nf_fill_int])
NETCDF2([filfloat], [real], [nf_fill_float])
NETCDF2([fildoub], [double precision], [nf_fill_double])[]m4_popdef([NETCDF2])])

m4_define([FORTRAN_FEATURES], [m4_pushdef([FEATURE], m4_defn([FEATURE_IN_FORTRAN]))m4_dnl
VERSIONS[]FEATURES[]m4_popdef([FEATURE])])
m4_define([FEATURE_IN_FORTRAN], [FORTRAN_FEATURE([$1], m4_dnl
m4_ifelse(m4_index([$2], ["]), 0, [[character(len=*)]], [[integer]]), [$2])])
m4_divert[]m4_dnl
