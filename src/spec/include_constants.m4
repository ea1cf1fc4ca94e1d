m4_dnl The constants in the files that Fortran programs include; each is declared and has its value as a literal.
m4_dnl Lines are never continued, because no continuation is valid in free form and in fixed form of both 72 and 132
m4_dnl columns.
m4_dnl
m4_dnl NAMED(declaration, name) joins successive names with the same declaration, on lines of at most 72 columns;
m4_dnl NAMES_END writes the last of these lines.
m4_include([fortran_constants.m4])m4_divert(-1)
m4_define([_line], [])
m4_define([_declaration], [])
m4_define([NAMED], [m4_ifelse([$1]m4_eval(m4_len(m4_defn([_line])) + m4_len([, $2]) > 72), m4_defn([_declaration])0,
    [m4_define([_line], m4_defn([_line])[, $2])],
    [NAMES_END()m4_define([_declaration], [$1])m4_define([_line], [      $1 $2])])])
m4_define([NAMES_END], [m4_ifelse(m4_defn([_line]), [], [], [OUTPUT([m4_defn([_line])
])])m4_define([_line], [])m4_define([_declaration], [])])

m4_dnl A value that is the name of another constant becomes the value of that one.
m4_define([LITERAL], [m4_ifdef([LITERAL_$1], [m4_indir([LITERAL_$1])],
    [m4_patsubst(m4_patsubst([$1], [OFFSET_KIND], KIND_OF_8_BYTES), [^(\(.*\))$], [\1])])])
m4_define([TYPE_OF_8_BYTES], [integer(KIND_OF_8_BYTES)])
m4_dnl EACH_CONSTANT(macro) expands macro(name, type, value) for each.
m4_define([EACH_CONSTANT], [m4_pushdef([FORTRAN_FEATURE], m4_defn([$1]))m4_dnl
m4_pushdef([FORTRAN_CONSTANT], [FORTRAN_FEATURE(nf_$][1, $][2, $][3)])m4_dnl
m4_pushdef([OFFSET], m4_defn([TYPE_OF_8_BYTES]))m4_dnl
FORTRAN_FEATURE([nfmpi_unlimited], OFFSET, [0])FORTRAN_FEATURES[]FORTRAN_CONSTANTS[]NETCDF2_CONSTANTS[]m4_dnl
m4_popdef([OFFSET], [FORTRAN_CONSTANT], [FORTRAN_FEATURE])])
m4_define([DECLARATION], [NAMED([$2], [$1])])
m4_define([VALUE], [m4_define([LITERAL_$1], LITERAL([$3]))OUTPUT([m4_dnl
      parameter ($1=m4_indir([LITERAL_$1]))
])])
EACH_CONSTANT([DECLARATION])
NAMES_END()
EACH_CONSTANT([VALUE])
m4_divert(0)m4_dnl
