/* Compare headers: format, counts, dimensions, variables, attributes. Entries are matched by name; their order is
 * ignored. */
#include <string.h>

#include "base/types.h"
#include "tools/diff/diff.h"

static bool is_netcdf4(const diff_source *source)
{
    return source->format == 3 || source->format == 4;
}

/* Those of classic files as in PnetCDF. */
static const char *format_name(const diff_source *source, char out[DIFF_TYPE_SIZE])
{
    snprintf(out, DIFF_TYPE_SIZE, is_netcdf4(source) ? "netCDF-4" : "CDF-%d", source->format);
    return out;
}

/* Whether a file is a classic or a netCDF-4 file is how it is stored. */
static void compare_format(diff_run *run)
{
    const diff_source *a = run->sources[0], *b = run->sources[1];
    char ours[DIFF_TYPE_SIZE], theirs[DIFF_TYPE_SIZE];
    if (is_netcdf4(a) && is_netcdf4(b) ? true : a->format == b->format) {
        diff_sameness_print(run, "SAME: file format (%s)", format_name(a, ours));
    } else if (is_netcdf4(a) != is_netcdf4(b) && !run->options->storage) {
        diff_sameness_print(run, "file formats (%s) and (%s)", format_name(a, ours), format_name(b, theirs));
    } else {
        run->header++;
        diff_difference_print(run, ": file format (%s) != (%s)", format_name(a, ours), format_name(b, theirs));
    }
}

/* indent, before: prefixes of `what` in a line about equality, and about a difference. */
static bool compare_number(diff_run *run, const char *indent, const char *before, const char *what, int64_t a,
                           int64_t b)
{
    if (a == b) {
        diff_sameness_print(run, "%sSAME: %s (%lld)", indent, what, (long long)a);
        return true;
    }
    diff_difference_print(run, ": %s%s (%lld) != (%lld)", before, what, (long long)a, (long long)b);
    return false;
}

static void print_missing(diff_run *run, const char *what, const char *name, int present)
{
    diff_difference_print(run, ": %s \"%s\" defined in %s not found in %s", what, name, run->sources[present]->path,
                          run->sources[!present]->path);
}

/* --- attributes --- */

static bool compare_att_values(diff_run *run, const char *what, const diff_att *a, const diff_att *b)
{
    static const diff_tolerance exact = {.given = false};
    char type[DIFF_TYPE_SIZE], x[DIFF_VALUE_SIZE], y[DIFF_VALUE_SIZE];
    diff_result result;
    diff_result_init(&result);
    const diff_values values = {.type = a->type, .x = a->values, .y = b->values, .n = a->length};
    diff_values_compare(&values, &exact, &result);
    if (result.count == 0) {
        diff_sameness_print(run, "\tSAME: attribute contents");
        return true;
    }
    int64_t at = result.first.at;
    if (a->type == NC_CHAR) {
        diff_string_format(a->values, a->length, at, x);
        diff_string_format(b->values, b->length, at, y);
    } else {
        diff_number_format(a->type, result.first.x, x);
        diff_number_format(a->type, result.first.y, y);
    }
    diff_difference_print(run, ": %s of type \"%s\" at element %lld of value %s vs %s", what,
                          diff_type_get_name(a->type, type), (long long)at, x, y);
    return false;
}

/* Of attributes that are strings, with the same text: where one ends and the next one begins. */
static bool compare_att_strings(diff_run *run, const char *what, const diff_att *a, const diff_att *b)
{
    if (a->nstrings < 0 || b->nstrings < 0)
        return true;
    if (a->nstrings != b->nstrings) {
        diff_difference_print(run, ": %s number of strings (%lld) != (%lld)", what, (long long)a->nstrings,
                              (long long)b->nstrings);
        return false;
    }
    for (int64_t i = 0; i < a->nstrings; i++)
        if (a->lengths[i] != b->lengths[i]) {
            diff_difference_print(run, ": %s length of string %lld (%lld) != (%lld)", what, (long long)i,
                                  (long long)a->lengths[i], (long long)b->lengths[i]);
            return false;
        }
    return true;
}

static bool compare_att(diff_run *run, const char *kind, const diff_att *a, const diff_att *b)
{
    char what[2 * NC_MAX_NAME + 64], ours[DIFF_TYPE_SIZE], theirs[DIFF_TYPE_SIZE];
    snprintf(what, sizeof what, "%s \"%s\"", kind, a->name);
    diff_sameness_print(run, "%s:", what);
    if (a->type != b->type) {
        diff_difference_print(run, ": %s data type (%s) != (%s)", what, diff_type_get_name(a->type, ours),
                              diff_type_get_name(b->type, theirs));
        return false;
    }
    diff_sameness_print(run, "\tSAME: data type (%s)", diff_type_get_name(a->type, ours));
    if (a->length != b->length) {
        diff_difference_print(run, ": %s length (%lld) != (%lld)", what, (long long)a->length, (long long)b->length);
        return false;
    }
    diff_sameness_print(run, "\tSAME: length (%lld)", (long long)a->length);
    return compare_att_values(run, what, a, b) && compare_att_strings(run, what, a, b);
}

/* kind: "global attribute" or "variable NAME attribute". */
static void compare_atts(diff_run *run, const char *kind, const diff_atts *a, const diff_atts *b)
{
    for (int i = 0; i < a->n; i++) {
        int other = pnc_table_find(&b->names, a->at[i].name);
        if (other < 0)
            print_missing(run, kind, a->at[i].name, 0);
        if (other < 0 || !compare_att(run, kind, &a->at[i], &b->at[other]))
            run->header++;
    }
    for (int i = 0; i < b->n; i++) {
        if (pnc_table_find(&a->names, b->at[i].name) < 0) {
            print_missing(run, kind, b->at[i].name, 1);
            run->header++;
        }
    }
}

/* --- dimensions --- */

static void compare_dims(diff_run *run)
{
    const diff_source *a = run->sources[0], *b = run->sources[1];
    for (int i = 0; i < a->ndims; i++) {
        int other = pnc_table_find(&b->dim_names, a->dims[i].name);
        char what[NC_MAX_NAME + 32];
        snprintf(what, sizeof what, "dimension \"%s\" length", a->dims[i].name);
        if (other < 0)
            print_missing(run, "dimension", a->dims[i].name, 0);
        if (other < 0 || !compare_number(run, "\t", "", what, a->dims[i].length, b->dims[other].length))
            run->header++;
    }
    for (int i = 0; i < b->ndims; i++) {
        if (pnc_table_find(&a->dim_names, b->dims[i].name) < 0) {
            print_missing(run, "dimension", b->dims[i].name, 1);
            run->header++;
        }
    }
}

/* --- variables --- */

bool diff_var_is_comparable(const diff_var *a, const diff_var *b)
{
    return a->type == b->type && a->ndims == b->ndims &&
           memcmp(a->shape, b->shape, (size_t)a->ndims * sizeof *a->shape) == 0;
}

static bool compare_var_dim(diff_run *run, const diff_var *a, const diff_var *b, int i)
{
    char type[DIFF_TYPE_SIZE];
    const char *ours = run->sources[0]->dims[a->dimids[i]].name, *theirs = run->sources[1]->dims[b->dimids[i]].name;
    bool same_name = strcmp(ours, theirs) == 0, same_length = a->shape[i] == b->shape[i];
    diff_type_get_name(a->type, type);
    if (!same_name)
        diff_difference_print(run, ": variable \"%s\" of type \"%s\" dimension %d's name (%s) != (%s)", a->name, type,
                              i, ours, theirs);
    if (!same_length)
        diff_difference_print(run, ": variable \"%s\" of type \"%s\" dimension %d's length (%lld) != (%lld)", a->name,
                              type, i, (long long)a->shape[i], (long long)b->shape[i]);
    if (same_name && same_length)
        diff_sameness_print(run, "\tSAME: dimension %d (%s = %lld)", i, ours, (long long)a->shape[i]);
    return same_name && same_length;
}

bool diff_var_compare(diff_run *run, const diff_var *a, const diff_var *b, int64_t *counter)
{
    char ours[DIFF_TYPE_SIZE], theirs[DIFF_TYPE_SIZE], before[NC_MAX_NAME + 32];
    int64_t differences = 0;
    diff_sameness_print(run, "Variable \"%s\":", a->name);
    snprintf(before, sizeof before, "variable \"%s\" ", a->name);
    if (a->type == b->type) {
        diff_sameness_print(run, "\tSAME: data type (%s)", diff_type_get_name(a->type, ours));
    } else {
        differences++;
        diff_difference_print(run, ": %sdata type (%s) != (%s)", before, diff_type_get_name(a->type, ours),
                              diff_type_get_name(b->type, theirs));
    }
    differences += !compare_number(run, "\t", before, "number of dimensions", a->ndims, b->ndims);
    for (int i = 0; a->ndims == b->ndims && i < a->ndims; i++)
        differences += !compare_var_dim(run, a, b, i);
    *counter += differences;
    return diff_var_is_comparable(a, b);
}

static void compare_storage(diff_run *run, const char *before, const diff_var *a, const diff_var *b)
{
    if (!run->options->storage || a->storage == NULL || b->storage == NULL)
        return;
    if (strcmp(a->storage, b->storage) == 0) {
        diff_sameness_print(run, "\tSAME: storage (%s)", a->storage);
        return;
    }
    run->header++;
    diff_difference_print(run, ": %sstorage (%s) != (%s)", before, a->storage, b->storage);
}

static void compare_var(diff_run *run, const diff_var *a, const diff_var *b)
{
    char before[NC_MAX_NAME + 32], kind[NC_MAX_NAME + 32];
    snprintf(before, sizeof before, "variable \"%s\" ", a->name);
    snprintf(kind, sizeof kind, "variable \"%s\" attribute", a->name);
    diff_var_compare(run, a, b, &run->header);
    compare_storage(run, before, a, b);
    if (!compare_number(run, "\t", before, "number of attributes", a->atts.n, b->atts.n))
        run->header++;
    compare_atts(run, kind, &a->atts, &b->atts);
}

static void compare_vars(diff_run *run)
{
    const diff_source *a = run->sources[0], *b = run->sources[1];
    for (int i = 0; i < a->nvars; i++) {
        int other = pnc_table_find(&b->var_names, a->vars[i].name);
        if (other >= 0) {
            compare_var(run, &a->vars[i], &b->vars[other]);
        } else {
            print_missing(run, "variable", a->vars[i].name, 0);
            run->header++;
        }
    }
    for (int i = 0; i < b->nvars; i++) {
        if (pnc_table_find(&a->var_names, b->vars[i].name) < 0) {
            print_missing(run, "variable", b->vars[i].name, 1);
            run->header++;
        }
    }
}

void diff_header_compare(diff_run *run)
{
    const diff_source *a = run->sources[0], *b = run->sources[1];
    compare_format(run);
    if (run->options->names.n > 0 && !run->options->header_only)
        return; /* differences of the listed variables are reported with their data */
    run->header += !compare_number(run, "", "", "number of dimensions", a->ndims, b->ndims);
    run->header += !compare_number(run, "", "", "number of variables", a->nvars, b->nvars);
    run->header += !compare_number(run, "", "", "number of global attributes", a->atts.n, b->atts.n);
    compare_atts(run, "global attribute", &a->atts, &b->atts);
    diff_sameness_print(run, "Dimension:");
    compare_dims(run);
    diff_sameness_print(run, "Variables:");
    compare_vars(run);
}
