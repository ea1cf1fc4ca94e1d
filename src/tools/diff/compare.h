/* Two blocks of values of one type: how many differ, by how much, and where. Pure: knows nothing of files and ranks. */
#ifndef PNC_TOOLS_DIFF_COMPARE_H
#define PNC_TOOLS_DIFF_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers x and y differ when |x-y| > absolute and |x-y| / max(|x|,|y|) > ratio; without a tolerance when they are not
 * equal. Integers are compared exactly, whatever their size; characters know no tolerance. NaN equals NaN, and differs
 * from every number; an infinity differs from all but itself, whatever the tolerance. */
typedef struct diff_tolerance {
    bool given;
    double absolute, ratio;
} diff_tolerance;

/* An element, its values in both files as they are in memory, and how far apart they are. */
typedef struct diff_element {
    int64_t at; /* counted in the whole variable; -1: there is none */
    unsigned char x[8], y[8];
    bool less; /* x < y */
    double absolute, relative; /* NaN where one value is */
    uint64_t whole;            /* the absolute difference of integers, where a double would round */
} diff_element;

typedef struct diff_result {
    int64_t count; /* of the elements that differ */
    int64_t nans;  /* those of them that are NaN in one file; they have no size */
    diff_element first;
    diff_element absolute, relative; /* the largest differences of both kinds; of numbers only */
    int status; /* NC_NOERR, or why the comparison is not complete */
} diff_result;

void diff_result_init(diff_result *result);
/* n values of an external type, in the memory type that belongs to it; the first is element `at` of the variable. */
void diff_values_compare(int type, const void *x, const void *y, int64_t n, int64_t at, const diff_tolerance *tolerance,
                         diff_result *result);
/* Adds what was found in other elements; the order does not matter. */
void diff_result_merge(diff_result *result, const diff_result *other);

#endif
