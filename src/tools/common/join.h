/* Whether variables of several files can be joined along a dimension: the numbers of each file must mean the same, or
 * be converted. Functions that return a code print a message, which names files, variable and both values. */
#ifndef PNC_TOOLS_COMMON_JOIN_H
#define PNC_TOOLS_COMMON_JOIN_H

#include "tools/common/adaptation.h"
#include "tools/common/file.h"

/* A later file of a join, beside the first one. */
typedef struct tool_join {
    const tool_file *first, *other;
    const tool_relations *first_relations, *other_relations;
    int dimid;           /* of the joined dimension, in the first file */
    const char *refusal; /* why values are not converted: the end of a message; NULL: they are */
} tool_join;

/* A variable of the first file that has the joined dimension. Ids of variables are those of the first file. */
int tool_join_check_variable(const tool_join *join, int varid, tool_adaptation *adaptation);

/* A variable without the joined dimension. The result has only the values of the first file: those of the other may
 * differ only if it is not a coordinate. Sets *compare: the values must be compared. */
int tool_join_check_fixed(const tool_join *join, int varid, bool *compare);

/* Texts of a value of such a variable, at an element number or as [i, j], differ: an error for a coordinate; else a
 * note, and an error only with a refusal. */
int tool_join_report_value(const tool_join *join, int varid, const char *index, const char *first, const char *other);

/* The first of n values of `size` bytes that differ, or -1. */
int64_t tool_difference_find(const char *a, const char *b, int64_t n, size_t size);
/* The same of strings, each of which may be NULL. */
int64_t tool_string_difference_find(char *const *a, char *const *b, int64_t n);
/* The index of an element in an array: [i, j]. */
void tool_index_explain(int ndims, const int64_t *shape, int64_t element, char *out, size_t capacity);

/* Print lines that say what is converted. */
void tool_join_report(const tool_join *join, int varid, const tool_adaptation *adaptation);

/* Print a warning for each variable with the joined dimension that only the other file has. Whether there is one. */
bool tool_join_report_others(const tool_join *join);

#endif
