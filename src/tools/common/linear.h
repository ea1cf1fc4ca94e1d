/* (value * scale + offset) / divisor, rounded correctly to the type of the value: no error of an intermediate result
 * reaches it. */
#ifndef PNC_TOOLS_COMMON_LINEAR_H
#define PNC_TOOLS_COMMON_LINEAR_H

#include <stdbool.h>

/* The offset is the exact sum of its elements; the divisor is not 0. */
typedef struct tool_linear {
    double scale, offset[3], divisor;
} tool_linear;

typedef enum tool_linear_result { TOOL_LINEAR_DONE, TOOL_LINEAR_TOO_LARGE, TOOL_LINEAR_INEXACT } tool_linear_result;

/* type: an external type of numbers; value and result have its memory type, and may be the same. exact: a result that
 * is not an integer does not become one of an integer type (TOOL_LINEAR_INEXACT). NaN and infinities of floating point
 * types stay as they are. */
tool_linear_result tool_linear_compute(const tool_linear *linear, int type, const void *value, bool exact,
                                       void *result);

/* A number of such a type as the exact sum of two. */
void tool_number_load(int type, const void *value, double parts[2]);

#endif
