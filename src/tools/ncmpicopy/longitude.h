/* Longitudes are cyclic: a range of them may go beyond the end of a dimension, and continues at its start. */
#ifndef PNC_TOOLS_NCMPICOPY_LONGITUDE_H
#define PNC_TOOLS_NCMPICOPY_LONGITUDE_H

#include "tools/ncmpicopy/plan.h"

/* Values at consecutive indices that are in a range after the same number of full turns. */
typedef struct copy_run {
    int64_t first, last;
    int turns;
    double first_value, previous_value, last_value; /* previous: that before the last one */
} copy_run;

typedef struct copy_runs {
    int64_t found; /* values */
    int n;
    bool too_many;
    copy_run at[COPY_RUNS];
} copy_runs;

/* Indices of a dimension: from first on, and the last `wrapped` of them from index 0 on. */
typedef struct copy_selection {
    int64_t first, count, wrapped;
} copy_selection;

/* Values are added in the order of their indices. */
void copy_runs_add(copy_runs *runs, int64_t index, double value, int turns);

/* How a coordinate goes on at its end. */
typedef struct copy_cycle {
    int64_t length;
    bool is_cyclic, is_closed; /* closed: the last longitude is the first one */
    bool ascends;
} copy_cycle;

/* The runs in the order in which they become one: the first one begins the selection. A longitude that a dimension has
 * at both ends is selected once. False: they are not next to each other, or there are none. */
bool copy_runs_join(copy_runs *runs, const copy_cycle *cycle, copy_selection *out);

/* Turn the longitudes at `count` indices of the first dimension of a variable, from index `first` on, with `elements`
 * values in all. */
void copy_longitudes_convert(const copy_var *var, int64_t first, int64_t count, int64_t elements, void *values);

#endif
