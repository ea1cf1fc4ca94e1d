/* Comparison of two files, shared by ncmpidiff and cdfdiff. */
#ifndef PNC_TOOLS_DIFF_DIFF_H
#define PNC_TOOLS_DIFF_DIFF_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "tools/diff/options.h"
#include "tools/diff/source.h"

/* The processes that compare. merge combines the results of all of them; NULL for a single process. */
typedef struct diff_world {
    int rank, nprocs;
    void (*merge)(diff_result *result);
    /* Combine bytes that all but one of the processes have as zeros; NULL for a single process. */
    void (*combine)(void *bytes, int n);
} diff_world;

typedef struct diff_run {
    const diff_options *options;
    const diff_world *world;
    const diff_source *sources[2];
    FILE *out;                 /* NULL but on rank 0 */
    int64_t header, variables; /* differences */
    int64_t entries;           /* of the list in JSON so far */
} diff_run;

/* Compares both files and prints what differs. Returns the exit status, the same on all ranks. */
int diff_files_compare(const diff_options *options, const diff_world *world, const diff_source *first,
                       const diff_source *second);

/* --- within the comparison --- */

enum { DIFF_VALUE_SIZE = 80, DIFF_TYPE_SIZE = 16 };

void diff_sameness_print(const diff_run *run, const char *format, ...) PNC_PRINTF(2, 3); /* printed by -b */
void diff_difference_print(diff_run *run, const char *format, ...) PNC_PRINTF(2, 3);
/* Output as JSON: begin and end, and two kinds of entries between them, which only rank 0 writes. */
void diff_json_begin(diff_run *run);
void diff_json_text_print(diff_run *run, const char *format, va_list args) PNC_PRINTF(2, 0);
void diff_json_result_print(diff_run *run, const diff_var *var, const diff_result *result, int64_t elements);
void diff_json_end(const diff_run *run, bool complete);
const char *diff_type_get_name(int type, char out[DIFF_TYPE_SIZE]); /* "NC_FLOAT" */
bool diff_type_is_number(int type);
/* A number with enough digits to be unique, or an excerpt of a text in quotes. */
const char *diff_number_format(int type, const void *value, char out[DIFF_VALUE_SIZE]);
const char *diff_string_format(const char *text, int64_t length, int64_t at, char out[DIFF_VALUE_SIZE]);
/* Two strings, which may be NULL, around the first character in which they differ. */
void diff_strings_format(const char *const texts[2], char x[DIFF_VALUE_SIZE], char y[DIFF_VALUE_SIZE]);

void diff_header_compare(diff_run *run);
/* Compare type and dimensions of a variable; returns true if its values can be compared. */
bool diff_var_compare(diff_run *run, const diff_var *a, const diff_var *b, int64_t *counter);
bool diff_var_is_comparable(const diff_var *a, const diff_var *b);
/* These return DIFF_SAME, or DIFF_TROUBLE after an error message. */
int diff_names_check(const diff_run *run);
int diff_data_compare(diff_run *run);

#endif
