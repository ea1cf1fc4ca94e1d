/* Values of a variable in the log of a burst buffer: of a netCDF-4 file, whose chunks get their places, and pass their
 * filters, when the values are put into the file. Behind the record there are
 *
 *   | numbers of a dimension: 2 or 3 | start .. | count .. | stride .., if 3 | values |
 *
 * of 8 bytes each but for the values, which are as in the file before filters: in the byte order of the variable. Pure;
 * what is decoded may be damaged. */
#ifndef PNC_LOG_VALUES_H
#define PNC_LOG_VALUES_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes behind one record, at most: the hyperslab of a put is divided. A guess: a few accesses of a disk. */
#define PNC_LOG_VALUES_MOST (INT64_C(4) << 20)

typedef struct pnc_log_values {
    const int64_t *start, *count, *stride; /* stride: NULL without strides */
    int64_t n;                             /* of the values */
    const char *bytes;                     /* of the values */
} pnc_log_values;

/* Bytes before the values. */
static inline int64_t pnc_log_values_get_head(int ndims, bool strided)
{
    return (1 + (int64_t)ndims * (strided ? 3 : 2)) * (int64_t)sizeof(int64_t);
}
/* Write what comes before the values. stride: NULL, or as many numbers. Returns its bytes. */
int64_t pnc_log_values_encode(int ndims, const int64_t *start, const int64_t *count, const int64_t *stride,
                              int64_t *numbers);
/* The n bytes behind a record, at an address for numbers, of a variable with so many dimensions. False: they make no
 * sense. The lengths of the dimensions are the caller's business. */
bool pnc_log_values_decode(const int64_t *numbers, int64_t n, int ndims, int elem_size, pnc_log_values *out);
/* Whether they are in a variable with these lengths; -1: one that grows. */
bool pnc_log_values_is_inside(const pnc_log_values *values, int ndims, const int64_t *lengths);

#endif
