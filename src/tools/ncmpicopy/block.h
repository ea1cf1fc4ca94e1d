/* A block of an input, which is read at once. */
#ifndef PNC_TOOLS_NCMPICOPY_BLOCK_H
#define PNC_TOOLS_NCMPICOPY_BLOCK_H

#include "tools/ncmpicopy/plan.h"

/* The arrays have as many elements as the variable dimensions. */
typedef struct copy_block {
    const copy_plan *plan;
    const char *path; /* of the input */
    int ncid, varid;
    const copy_var *var;
    const int64_t *lengths; /* of the variable in the input */
    const MPI_Offset *start, *count, *stride;
    int64_t n;        /* of values: all ranks read a scalar */
    bool is_reported; /* print a line for what cannot be read */
    int64_t lost;     /* set: values of this rank that could not be read */
} copy_block;

#endif
