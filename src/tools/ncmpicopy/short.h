/* Inputs that end before the data that their headers describe. What they lack is neither read nor written: the copy
 * lacks it too. */
#ifndef PNC_TOOLS_NCMPICOPY_SHORT_H
#define PNC_TOOLS_NCMPICOPY_SHORT_H

#include "tools/ncmpicopy/plan.h"

/* These are collective, and return NC_NOERR or, on all ranks, a code after an error message of rank 0. */

/* Sets the sizes of the inputs, and warns of those that are short. NC_EFILE if whole variables or records are missing,
 * unless the options allow it. */
int copy_inputs_inspect(copy_plan *plan);

/* After all data are written: the output counts as many records as the inputs; the last ones may be missing. */
int copy_records_count(const copy_plan *plan, const char *path);

/* Of the selected elements first[d] + k * stride[d], k < count[d], of an array with these lengths: how many are among
 * the first `present` elements of the array. Not collective. */
int64_t copy_selected_count(int ndims, const int64_t *lengths, const int64_t *first, const MPI_Offset *stride,
                            const int64_t *count, int64_t present);

#endif
