/* Sizes of the reductions by which the ranks agree. */
#ifndef PNC_FILE_REDUCTION_H
#define PNC_FILE_REDUCTION_H

#include <stdbool.h>
#include <stdint.h>

#define PNC_AGREED_VALUES 8                      /* of the caller, at most */
#define PNC_RESULT_VALUES 7                      /* of a collective call that does not defer its values */
#define PNC_FIRST_VALUES (2 + PNC_AGREED_VALUES) /* in the first reduction of a call, which compares the calls */

/* Whether the ranks reduce so many values as one element; why: see pnc_file_maxima_init. */
static inline bool pnc_file_maxima_is_one(int64_t nvalues, int64_t nprocs)
{
    return nprocs <= PNC_FIRST_VALUES && nvalues <= PNC_FIRST_VALUES && nvalues >= nprocs;
}

#endif
