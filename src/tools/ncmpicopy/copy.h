/* Execute a plan. */
#ifndef PNC_TOOLS_NCMPICOPY_COPY_H
#define PNC_TOOLS_NCMPICOPY_COPY_H

#include "tools/ncmpicopy/plan.h"

/* These are collective, and return NC_NOERR or, on all ranks, a code after an error message of rank 0. */

/* Defines the plan in ncid, a new file; path is its final name, for messages. What a new file cannot have is changed,
 * after a warning: names with invalid characters, and a _FillValue of another type than its variable. */
int copy_header_define(copy_plan *plan, int ncid, const char *path);

/* Puts the command, with date and time, before the global attribute history of the new file, which is that of the input
 * unless an option has edited it. */
int copy_history_append(const copy_plan *plan, int ncid);

typedef enum copy_action { COPY_WRITE, COPY_VERIFY } copy_action;

/* Writes all data, or compares them with the data in ncid. Conversions count, on each rank, values that do not fit. */
int copy_data_move(copy_plan *plan, int ncid, copy_action action);

#endif
