m4_include(`common.m4')m4_include([hints.m4])m4_dnl
/* Generated from src/spec/hints.m4: one row per hint. Define PNC_HINT_ROW first: (name, kind, default as text, text),
 * PNC_HINT_SIZE_ROW for the integers that the library uses: (name, field, default, least, most, below, multiple,
 * reporter, text), PNC_HINT_PASSED_SIZE_ROW for those of MPI-IO: (name, least, most, text), PNC_HINT_CHOICE_ROW
 * for its choices: (name, field, default, words, reporter, text), and PNC_HINT_TEXT_ROW for its texts: (name, reader,
 * text). */
m4_define([ON_ONE_LINE], ["m4_translit([$1], [
], [ ])"])m4_dnl
m4_define([REPORTER], [m4_ifelse([$1], [], [$2], [$1])])m4_dnl
m4_define([WORDS], [PNC_HINT_WORDS("m4_patsubst([$*], [,], [", "])")])m4_dnl
m4_define([HINT_SIZE], [m4_define([SIZE_$1], [$2, [$3], [$4], [$5], PNC_BELOW_$6, $7, REPORTER([$8], [report_number])])m4_dnl
PNC_HINT_SIZE_ROW("$1", m4_indir([SIZE_$1]), ON_ONE_LINE([$9]))])m4_dnl
m4_define([HINT_ALIAS], [PNC_HINT_SIZE_ROW("$1", m4_indir([SIZE_$2]), ON_ONE_LINE([$3]))])m4_dnl
m4_define([HINT_CHOICE], [PNC_HINT_CHOICE_ROW("$1", $2, "$3", $4, REPORTER([$5], [report_word]), ON_ONE_LINE([$6]))])m4_dnl
m4_define([HINT_TEXT], [PNC_HINT_TEXT_ROW("$1", $2, ON_ONE_LINE([$3]))])m4_dnl
m4_define([HINT_COMMON_SIZE],
[PNC_HINT_SIZE_ROW("$1", $2, 0, $3, INT32_MAX, PNC_BELOW_SENSELESS, 1, NULL, ON_ONE_LINE([$4]))])m4_dnl
m4_define([HINT_COMMON_CHOICE], [PNC_HINT_CHOICE_ROW("$1", $2, "", $3, NULL, ON_ONE_LINE([$4]))])m4_dnl
m4_define([HINT_FIXED], [PNC_HINT_ROW("$1", PNC_HINT_FIXED, "$2", ON_ONE_LINE([$3]))])m4_dnl
m4_define([HINT_FREE], [PNC_HINT_ROW("$1", PNC_HINT_FREE, "$2", ON_ONE_LINE([$3]))])m4_dnl
m4_define([HINT_OUTPUT], [PNC_HINT_ROW("$1", PNC_HINT_OUTPUT, "", ON_ONE_LINE([$2]))])m4_dnl
m4_define([HINT_PASSED], [PNC_HINT_ROW("$1", PNC_HINT_PASSED, "", ON_ONE_LINE([$2]))])m4_dnl
m4_define([HINT_PASSED_SIZE], [PNC_HINT_PASSED_SIZE_ROW("$1", $2, INT32_MAX, ON_ONE_LINE([$3]))])m4_dnl
HINT_ROWS[]m4_dnl
#undef PNC_HINT_ROW
#undef PNC_HINT_SIZE_ROW
#undef PNC_HINT_PASSED_SIZE_ROW
#undef PNC_HINT_CHOICE_ROW
#undef PNC_HINT_TEXT_ROW
