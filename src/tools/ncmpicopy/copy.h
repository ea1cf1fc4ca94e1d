/* Carrying a plan out. */
#ifndef PNC_TOOLS_NCMPICOPY_COPY_H
#define PNC_TOOLS_NCMPICOPY_COPY_H

#include "tools/ncmpicopy/plan.h"

/* These are collective, and return NC_NOERR or, on all ranks, a code after a complaint of rank 0. */

/* Defines in ncid, a new file, what the plan says; path is its final name, for messages. */
int copy_header_define(const copy_plan *plan, int ncid, const char *path);

typedef enum copy_way { COPY_WRITE, COPY_VERIFY } copy_way;

/* Writes all data, or compares it with what is in ncid. Conversions count what does not fit, on each rank its own. */
int copy_data_move(copy_plan *plan, int ncid, copy_way way);

#endif
