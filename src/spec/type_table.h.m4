m4_include(`common.m4')m4_include([types.m4])m4_dnl
/* Generated from src/spec/types.m4. PNC_XTYPE_ROW(constant, bytes, CDL name, C type, default fill value), in the order
 * of the constants' values from 1; PNC_MEM_ROW(enumerator, C type, suffix, external type of the same values).
 * Define one of them first. */
#ifndef PNC_XTYPE_ROW
#define PNC_XTYPE_ROW(constant, bytes, name, ctype, fill)
#endif
#ifndef PNC_MEM_ROW
#define PNC_MEM_ROW(mem, ctype, suffix, exact)
#endif
m4_define([XTYPE], [PNC_XTYPE_ROW([$1], [$2], "$3", [$4], [$5])])m4_dnl
XTYPES
m4_define([MEMTYPE], [PNC_MEM_ROW(PNC_[]m4_UP([$1]), [$2], "$1", [$3])
])m4_dnl
MEMTYPES[]m4_dnl
#undef PNC_XTYPE_ROW
#undef PNC_MEM_ROW
