/* --salvage: values that cannot be read, as those of a damaged chunk, become fill values. */
#ifndef PNC_TOOLS_NCMPICOPY_SALVAGE_H
#define PNC_TOOLS_NCMPICOPY_SALVAGE_H

#include "tools/ncmpicopy/plan.h"

/* A block of an input. The arrays have as many elements as the variable dimensions. */
typedef struct copy_wreck {
    const copy_plan *plan;
    const char *path; /* of the input */
    int ncid, varid;
    const copy_var *var;
    const MPI_Offset *start, *count, *stride;
    bool is_reported; /* print a line for each part that cannot be read */
    int64_t lost;     /* set: values of this rank that could not be read */
} copy_wreck;

/* Whether a code says that values are damaged. */
bool copy_wreck_is_damage(int code);

/* Collective, after a get of this block has failed on a rank: each rank reads its block chunk by chunk, and puts fill
 * values where that fails. NC_NOERR or, on all ranks, a code after an error message of rank 0. */
int copy_wreck_read(copy_wreck *wreck, void *values);

#endif
