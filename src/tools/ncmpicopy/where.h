/* --where: parts of dimensions by the values of coordinates. */
#ifndef PNC_TOOLS_NCMPICOPY_WHERE_H
#define PNC_TOOLS_NCMPICOPY_WHERE_H

#include "tools/ncmpicopy/plan.h"

/* Parse name=first:last, name=value, or name~value. Returns -1, or the exit status after an error message. */
int copy_where_parse(const char *text, copy_options *options);

/* Select the indices of dimensions, when the lengths in all inputs are known. Collective; NC_NOERR or, on all ranks, a
 * code after an error message of rank 0. */
int copy_where_apply(copy_plan *plan);

#endif
