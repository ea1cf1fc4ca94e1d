m4_include(`common.m4')m4_include([errors.m4])m4_dnl
/* Generated from src/spec/errors.m4: one row per error code (name, value, text). Define PNC_ERROR_ROW first. */
#ifndef PNC_ERROR_ROW
#define PNC_ERROR_ROW(name, value, text)
#endif
m4_define([ERROR], [PNC_ERROR_ROW($1, $2, "$3")])m4_dnl
ERRORS[]m4_dnl
#undef PNC_ERROR_ROW
