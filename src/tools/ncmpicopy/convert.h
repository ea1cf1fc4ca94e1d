/* Convert values of one external type to another, as the library does, and count those that do not fit. No file
 * access. */
#ifndef PNC_TOOLS_NCMPICOPY_CONVERT_H
#define PNC_TOOLS_NCMPICOPY_CONVERT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct copy_conversion {
    int from, to; /* external types; values are in the memory types that belong to them */
    bool has_fill;
    unsigned char fill_from[8], fill_to[8]; /* missing values stay missing */
    unsigned char external_fill[8];         /* fill_to in external form */
    int64_t misfits;                        /* values that did not fit, and became the fill value */
    int64_t first;                          /* element number of the first one, -1: none */
} copy_conversion;

/* own_fill: the variable's _FillValue, or NULL. Returns NC_NOERR, or NC_ECHAR where one type is char. */
int copy_conversion_init(int from, int to, const void *own_fill, copy_conversion *conversion);

/* n values; the first one is element `at`. in and out do not overlap. */
void copy_values_convert(copy_conversion *conversion, const void *in, int64_t n, int64_t at, void *out);

#endif
