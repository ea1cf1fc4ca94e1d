m4_dnl Set-up of every template in this folder; m4 runs with -P, so that the names of its builtin macros begin with
m4_dnl m4_.
m4_changequote([,])m4_dnl
m4_changecom[]m4_dnl
m4_define([m4_UP], [m4_translit([$1], [a-z], [A-Z])])m4_dnl
