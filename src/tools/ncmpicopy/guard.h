/* What several inputs must have in common, and how the values of later inputs are converted. */
#ifndef PNC_TOOLS_NCMPICOPY_GUARD_H
#define PNC_TOOLS_NCMPICOPY_GUARD_H

#include "tools/common/file.h"
#include "tools/common/meaning.h"
#include "tools/ncmpicopy/plan.h"

typedef struct copy_guard {
    tool_file first; /* on rank 0, which compares headers */
    tool_relations relations;
    int ncid;      /* of the first input */
    bool *compare; /* for each variable of the plan: whether its values must be the same */
    char *a, *b;   /* blocks of values */
} copy_guard;

/* These are collective, and return NC_NOERR or, on all ranks, a code after an error message of rank 0. The guard may be
 * freed in any case. */

int copy_guard_init(const copy_plan *plan, int ncid, copy_guard *guard);
/* Compare an input, which is open as ncid, with the first one; add what must be converted to the plan. */
int copy_guard_check(copy_guard *guard, copy_plan *plan, int input, int ncid);
void copy_guard_free(copy_guard *guard);

/* The conversion of a variable of the plan in an input, or NULL. */
const tool_adaptation *copy_adaptation_find(const copy_plan *plan, int input, int var);

/* The lowest number of an element that any rank has found, INT64_MAX for none. Returns the first rank that has it, or
 * -1. Collective. */
int copy_first_find(int64_t *element);

#endif
