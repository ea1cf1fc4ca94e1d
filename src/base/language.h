/* The languages that a program calls the library from. A message has the names, ids and indices of the program. */
#ifndef PNC_BASE_LANGUAGE_H
#define PNC_BASE_LANGUAGE_H

#include <stddef.h>

#if defined(__GNUC__)
#define PNC_FORMAT_ARGUMENT(n) __attribute__((format_arg(n)))
#else
#define PNC_FORMAT_ARGUMENT(n)
#endif

/* C counts ids and indices from 0 and writes the slowest dimension first; Fortran counts from 1 and writes the fastest
 * dimension first. */
typedef enum pnc_language { PNC_LANGUAGE_C, PNC_LANGUAGE_F77, PNC_LANGUAGE_F90 } pnc_language;

/* The format of a message, or the name of a code, in a language: NC_ENOTVAR is NF_ENOTVAR, ncmpi_redef is nfmpi_redef,
 * and start[%d] is start(%d). Returns `out`, or the text itself for C and if the translation is longer than `out`. */
const char *pnc_language_translate(pnc_language language, const char *text, char *out, size_t capacity)
    PNC_FORMAT_ARGUMENT(2);

#endif
