/* Blocks of variables of strings. */
#ifndef PNC_TOOLS_NCMPICOPY_STRINGS_H
#define PNC_TOOLS_NCMPICOPY_STRINGS_H

#include "formats/reader.h"
#include "tools/ncmpicopy/plan.h"

/* A block of an input. The arrays have as many elements as the variable dimensions. */
typedef struct copy_strings {
    const copy_plan *plan;
    const char *path; /* of the input */
    int ncid, varid;
    const copy_var *var;
    const int64_t *lengths; /* of the variable in the input */
    const MPI_Offset *start, *count, *stride;
    int64_t n;        /* of strings: all ranks read a scalar */
    bool is_reported; /* print a line about strings that cannot be read */
    int64_t lost;     /* set: strings of this rank that could not be read */
} copy_strings;

/* Collective. The strings of the block, which are to be freed in any case; with --salvage, the fill value for those
 * that cannot be read. NC_NOERR or, on all ranks, a code after an error message of rank 0. */
int copy_strings_read(copy_strings *block, pnc_reader_strings *strings);

/* Collective. Put them at `start` of a variable of the output, or compare them with it; as above. */
int copy_strings_put(const copy_strings *block, const pnc_reader_strings *strings, int to, int id,
                     const MPI_Offset *start);
int copy_strings_compare(const copy_strings *block, const pnc_reader_strings *strings, int to, int id,
                         const MPI_Offset *start, bool *same);

#endif
