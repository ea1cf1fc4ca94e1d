/* Compare two blocks of values of one type: number, size and position of differences. No access to files or ranks. */
#ifndef PNC_TOOLS_DIFF_COMPARE_H
#define PNC_TOOLS_DIFF_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers x and y differ when |x-y| > absolute and |x-y| / max(|x|,|y|) > ratio; without a tolerance, when they are not
 * equal. Integers are compared exactly, whatever their size; the tolerance does not apply to characters. NaN equals
 * NaN, and differs from every number; an infinity equals only itself, whatever the tolerance. */
typedef struct diff_tolerance {
    bool given;
    double absolute, ratio;
} diff_tolerance;

/* An element, its values in both files, in memory types, and their difference. */
typedef struct diff_element {
    int64_t at; /* index in the variable, row-major; -1: none */
    unsigned char x[8], y[8];
    bool less;                 /* x < y */
    double absolute, relative; /* NaN where one value is */
    uint64_t whole;            /* the absolute difference of integers, where a double would round */
} diff_element;

typedef struct diff_result {
    int64_t count; /* of the elements that differ */
    int64_t nans;  /* elements that are NaN in one file only; they have no difference */
    /* elements that do not count, as no program may have put them: the fill value in one file, 0 in the other */
    int64_t unwritten;
    diff_element first;
    const char *texts[2];            /* of the first element, where values are strings: set by who prints it */
    diff_element absolute, relative; /* the largest differences of both kinds; of numbers only */
    int status;                      /* NC_NOERR, or why the comparison is not complete */
} diff_result;

void diff_result_init(diff_result *result);
/* Values of one external type in both files, in its memory type. */
typedef struct diff_values {
    int type;
    const void *x, *y;
    int64_t n;
    int64_t at; /* index of the first one in the variable */
    /* the fill value of each file, in its memory type: elements that may be unwritten do not count. NULL: they do */
    const void *fills[2];
} diff_values;

void diff_values_compare(const diff_values *values, const diff_tolerance *tolerance, diff_result *result);

/* Texts of a variable of strings in both files, each of which may be NULL. */
typedef struct diff_strings {
    char *const *x, *const *y;
    int64_t n, at;        /* as above */
    const char *fills[2]; /* as above */
} diff_strings;

void diff_strings_compare(const diff_strings *strings, diff_result *result);
/* Merge the result for other elements; the order does not matter. */
void diff_result_merge(diff_result *result, const diff_result *other);

#endif
