/* CDL, the text form of a header as ncmpidump -h and ncdump -h print it, to a model. */
#ifndef PNC_FORMAT_CDL_H
#define PNC_FORMAT_CDL_H

#include "format/model.h"

/* Read size bytes of text. The format is the one that a comment "// file format: CDF-n" before the first definition
 * names, else the smallest that can hold what is defined. Reading ends at "data:" or at the last brace.
 *
 * On failure the model is empty and the message begins with "line l, column c: " (columns count characters). NC_ENOTNC:
 * the text is not CDL; NC_ECHAR: text and numbers are mixed in an attribute; NC_ERANGE: a number does not fit its type;
 * NC_ENOTVAR, NC_EBADDIM, NC_EBADTYPE: a name that stands for nothing; else the codes of the model's functions. */
int pnc_cdl_parse(const char *text, int64_t size, pnc_model *model, pnc_error *error);

#endif
