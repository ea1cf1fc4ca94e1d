/* Sizes of the reductions by which the ranks agree. */
#ifndef PNC_FILE_REDUCTION_H
#define PNC_FILE_REDUCTION_H

#define PNC_AGREED_VALUES 6                      /* of the caller */
#define PNC_FIRST_VALUES (2 + PNC_AGREED_VALUES) /* in the first reduction of a call, which compares the calls */

#endif
