m4_dnl Set-up of every template in this folder; m4 runs with -P, so that only words beginning with m4_ are macros of its
m4_dnl own.
m4_changequote([,])m4_dnl
m4_changecom[]m4_dnl
m4_define([m4_UP], [m4_translit([$1], [a-z], [A-Z])])m4_dnl
