/* Files that people take for netCDF files, by their first bytes. */
#ifndef PNC_FORMAT_FOREIGN_H
#define PNC_FORMAT_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>

/* What a file is, and what to do, as the end of "this is not a netCDF file: "; NULL: not known. */
const char *pnc_format_foreign_explain(const void *bytes, size_t n);

/* Whether these bytes of a classic header, in which the first list begins at `tag`, have become longer by a conversion
 * of line ends: the tag of a list of dimensions is a newline (10). */
bool pnc_format_foreign_is_converted(const void *bytes, size_t n, size_t tag);

#endif
