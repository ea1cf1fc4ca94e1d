/* Attributes of strings of netCDF-4. The model has them as one text too, with newlines between the strings, which is
 * what programs see that ask for text. Pure. */
#ifndef PNC_FORMAT_STRINGS_H
#define PNC_FORMAT_STRINGS_H

#include "format/model.h"

/* Join n strings, each of which may be NULL. The bytes of the text; lengths and text may be NULL. */
int64_t pnc_format_strings_join(const char *const *strings, int64_t n, int64_t *lengths, char *text);
/* The opposite: at[i] points into text, or is NULL. The text has one byte more than it has characters, and gets a 0
 * behind each string. */
void pnc_format_strings_divide(const pnc_strings *strings, char *text, char **at);
/* Bytes of their text; -1: a length is invalid, or they are too many. */
int64_t pnc_format_strings_get_length(const pnc_strings *strings);
/* In memory of the region; also those of an attribute of another type. NC_ENOMEM. */
int pnc_format_strings_copy(pnc_region *region, const pnc_strings *from, pnc_strings *out);

/* As pnc_format_atts_put, for an attribute of strings with this text; without lengths: a text. */
int pnc_format_atts_put_strings(pnc_model *model, pnc_atts *atts, const char *name, const pnc_strings *strings,
                                const char *text, pnc_error *error);

/* The fill value of a variable of NC_STRING: its attribute _FillValue if that is one string, else "". NULL without
 * memory. */
char *pnc_format_strings_make_fill(const pnc_var *var);
/* n copies of it. False without memory: then some are NULL. */
bool pnc_format_strings_fill(const pnc_var *var, int64_t n, char **out);

#endif
