/* Convert the numbers of a variable from the meaning that they have in one file to the meaning of the variable in
 * another: time units, scale_factor and add_offset, missing values. */
#ifndef PNC_TOOLS_COMMON_ADAPTATION_H
#define PNC_TOOLS_COMMON_ADAPTATION_H

#include "tools/common/meaning.h"

/* All that is false is the same in both files. */
typedef struct tool_adaptation {
    bool missing, packing, time, valid;
    tool_linear linear; /* if packing or time */
    tool_meaning from, to;
} tool_adaptation;

typedef enum tool_fault_cause {
    TOOL_FAULT_NONE,
    TOOL_FAULT_RANGE,     /* does not fit the type */
    TOOL_FAULT_INEXACT,   /* a time that is not an integer */
    TOOL_FAULT_MISSING,   /* a missing value, but the type has none to replace it */
    TOOL_FAULT_COLLISION, /* would be a missing value */
    TOOL_FAULT_VALID      /* valid in one file only */
} tool_fault_cause;

/* The first value that cannot be converted. */
typedef struct tool_fault {
    tool_fault_cause cause;
    int64_t at; /* number of the element */
    unsigned char value[8], result[8];
} tool_fault;

/* Set all but `linear` from the meanings, which are of the same type. */
void tool_adaptation_init(const tool_meaning *from, const tool_meaning *to, tool_adaptation *adaptation);

/* Whether values must be read at all. */
bool tool_adaptation_is_needed(const tool_adaptation *adaptation);

/* Convert n values in their memory type in place. Stops at the first that cannot be converted, and returns false. */
bool tool_adaptation_convert(const tool_adaptation *adaptation, void *values, int64_t n, tool_fault *fault);

/* A sentence of the cause: "value -999 ...: ...". */
void tool_fault_explain(const tool_fault *fault, const tool_adaptation *adaptation, char *text, size_t capacity);

#endif
