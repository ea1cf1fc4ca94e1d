m4_include(`common.m4')m4_include([fortran.m4])m4_include([errors.m4])m4_include([hints.m4])m4_dnl
m4_dnl What src/spec says beside man/functions.m4, as lines for docs/site/make_site.py:
m4_dnl   @f77 C name|Fortran name|arguments    a function of Fortran 77 and the C function that it calls
m4_dnl   @code name|value|text|when            an error code     @alias name|other name of the same code
m4_dnl   @constant name|value|section          a constant
m4_dnl   @hint name                            a hint
m4_divert(-1)
m4_define([ROW], [OUTPUT([m4_dnl
@f77 ncmpi_$2|nfmpi_$1|EACH([DUMMY], [, ], [$3])
])])
FUNCTIONS
VARD
m4_define([FORTRAN_MEMBER], [OUTPUT([m4_dnl
@f77 ncmpi_$1_var$2[]$6[]$5|nfmpi_$1_var$2[]m4_ifelse([$3], [], [], [_$3])$5|EACH([DUMMY], [, ], [MEMBER_PARAMETERS([$1], [$2], m4_ifelse([$6], [], [], [[int]]))])
])])
FAMILIES
m4_define([ERROR], [OUTPUT([m4_dnl
@code $1|$2|$3|$4
])])
m4_define([ALIAS], [OUTPUT([m4_dnl
@alias $1|$2
])])
ERRORS
ERROR_ALIASES
m4_define([SECTION], [m4_define([_section], [$1])])
m4_define([CONSTANT], [OUTPUT([m4_dnl
@constant $1|$2|m4_defn([_section])
])])
CONSTANTS
m4_define([HINT], [OUTPUT([m4_dnl
@hint $1
])])
m4_define([HINT_SIZE], m4_defn([HINT]))
m4_define([HINT_ALIAS], m4_defn([HINT]))
m4_define([HINT_CHOICE], m4_defn([HINT]))
m4_define([HINT_TEXT], m4_defn([HINT]))
m4_define([HINT_FIXED], m4_defn([HINT]))
m4_define([HINT_FREE], m4_defn([HINT]))
m4_define([HINT_OUTPUT], m4_defn([HINT]))
m4_define([HINT_PASSED], m4_defn([HINT]))
m4_define([HINT_PASSED_SIZE], m4_defn([HINT]))
m4_define([HINT_COMMON_SIZE], m4_defn([HINT]))
m4_define([HINT_COMMON_CHOICE], m4_defn([HINT]))
HINT_ROWS
