m4_dnl Set-up of every template; m4 runs with -P, so that the names of its builtin macros begin with m4_.
m4_dnl
m4_dnl A template is text with macros. Between m4_divert(-1) and m4_divert(0) it writes nothing: there it has
m4_dnl definitions, and lists of rows with line ends between them. What is written for a row is in OUTPUT(text).
m4_changequote([,])m4_dnl
m4_changecom[]m4_dnl
m4_define([m4_UP], [m4_translit([$1], [a-z], [A-Z])])m4_dnl
m4_define([OUTPUT], [m4_divert(0)$1[]m4_divert(-1)])m4_dnl
