m4_include(`common.m4')m4_include([hints.m4])m4_dnl
/* Generated from src/spec/hints.m4: one row per hint. Define PNC_HINT_ROW first: (name, kind, default as text, text),
 * PNC_HINT_SIZE_ROW for the integers that the library obeys: (name, field, default, least, most, below, multiple,
 * text), and PNC_HINT_CHOICE_ROW for its choices: (name, field, names, default, text). */
m4_define([ON_ONE_LINE], ["m4_translit([$1], [
], [ ])"])m4_dnl
m4_define([HINT_SIZE], [PNC_HINT_SIZE_ROW("$1", $2, [$3], [$4], [$5], PNC_BELOW_$6, $7, ON_ONE_LINE([$8]))])m4_dnl
m4_define([HINT_CHOICE], [PNC_HINT_CHOICE_ROW("$1", $2, $3, "$4", ON_ONE_LINE([$5]))])m4_dnl
m4_define([HINT_FIXED], [PNC_HINT_ROW("$1", PNC_HINT_FIXED, "$2", ON_ONE_LINE([$3]))])m4_dnl
m4_define([HINT_FREE], [PNC_HINT_ROW("$1", PNC_HINT_FREE, "$2", ON_ONE_LINE([$3]))])m4_dnl
m4_define([HINT_OUTPUT], [PNC_HINT_ROW("$1", PNC_HINT_OUTPUT, "", ON_ONE_LINE([$2]))])m4_dnl
m4_define([HINT_PASSED], [PNC_HINT_ROW("$1", PNC_HINT_PASSED, "", ON_ONE_LINE([$2]))])m4_dnl
HINT_ROWS[]m4_dnl
#undef PNC_HINT_ROW
#undef PNC_HINT_SIZE_ROW
#undef PNC_HINT_CHOICE_ROW
