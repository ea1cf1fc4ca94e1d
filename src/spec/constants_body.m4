m4_dnl Every constant as a #define; shared by pnetcdf.h and the internal constants.h. The guards allow
m4_dnl pnetcdf.h to be included after netcdf.h, which has other limits (NC_MAX_DIMS), the spelling before it.
m4_define([SECTION], [
/* $1 */])m4_dnl
m4_define([DEFINE], [#ifndef $1
#define $1 $2[]m4_ifelse([$3], [], [], [ /* $3 */])
#endif])m4_dnl
m4_define([SPELT], [m4_ifelse([$2], [], [[$1]], [[$2]])])m4_dnl
m4_define([CONSTANT], [DEFINE([$1], SPELT([$2], [$4]), [$3])])m4_dnl
m4_define([ERROR], [DEFINE([$1], m4_ifelse([$2], 0, 0, [($2)]), [$4])])m4_dnl
m4_define([ALIAS], [DEFINE([$1], SPELT([$2], [$3]))])m4_dnl
CONSTANTS
/* Error codes */
ERRORS
/* Older names of the same codes */
ERROR_ALIASES[]m4_dnl
