m4_dnl Checks of the rows in this folder: an invalid row stops the build.
m4_dnl
m4_dnl REFUSE(file, row, what is wrong) prints a message and ends m4.
m4_dnl CHECK_COUNT(file, row, number of arguments, least, most); CHECK_NAME(file, row, identifier); CHECK_VALUE(file,
m4_dnl   row, value, what it is) refuses an empty one.
m4_dnl CHECK_ROWS(file, list of rows) expands the list. Before, a file defines the words of its rows as checks, which
m4_dnl   expand to nothing: text that remains is not a row.
m4_divert(-1)
m4_define([REFUSE], [m4_errprint([src/spec/$1: row $2: $3
])m4_m4exit(1)])
m4_define([CHECK_COUNT], [m4_ifelse(m4_eval([$3 < $4 || $3 > $5]), 1,
    [REFUSE([$1], [$2], [it has $3 arguments instead of $4]m4_ifelse([$4], [$5], [], [[ to $5]]))])])
m4_define([CHECK_NAME], [m4_ifelse(m4_regexp([$3], [^[A-Za-z_][A-Za-z0-9_]*$]), -1,
    [REFUSE([$1], [$2], ["$3" is not an identifier])])])
m4_define([CHECK_VALUE], [m4_ifelse([$3], [], [REFUSE([$1], [$2], [its $4 is empty])])])
m4_define([CHECK_REST], [m4_ifelse([$3], [], [], [REFUSE([$1], [$2], ["$3" is not part of any row])])])
m4_define([CHECK_ROWS], [CHECK_REST([$1], [$2], WITHOUT_BLANKS(m4_indir([$2])))])
m4_define([WITHOUT_BLANKS], [AS_ONE(m4_translit(AS_ONE($@), [
 ]))])
m4_define([AS_ONE], [[$*]])
m4_divert[]m4_dnl
