/* Which variables a selected variable cannot be understood without. */
#ifndef PNC_TOOLS_NCMPICOPY_COORDINATES_H
#define PNC_TOOLS_NCMPICOPY_COORDINATES_H

#include "tools/ncmpicopy/plan.h"

/* wanted: for each of the nvars variables of a file whether it is selected. Select their coordinate variables, bounds
 * and grid mappings too. Local. NC_NOERR, NC_ENOMEM, or a code of the library. */
int copy_coordinates_add(int ncid, int nvars, bool *wanted);

/* Mark those of all variables. */
int copy_coordinates_find(int ncid, int nvars, bool *found);

#endif
