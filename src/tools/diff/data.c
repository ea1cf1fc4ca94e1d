/* Data: each variable is divided into blocks, which are assigned to the ranks round robin. */
#include <string.h>

#include "base/memory.h"
#include "base/name.h"
#include "base/types.h"
#include "convert/convert.h"
#include "tools/common/blocks.h"
#include "tools/common/message.h"
#include "tools/common/number.h"
#include "tools/common/progress.h"
#include "tools/diff/diff.h"

/* Shared by all variables: two blocks, and the progress. */
typedef struct walk {
    diff_run *run;
    char *values[2];
    tool_progress progress;
    int64_t done; /* bytes, of both files */
} walk;

/* Bytes of the values of the first file, in both files. Chunks may have many more values than the file has bytes. */
static int64_t bytes_of(const diff_var *var)
{
    int64_t bytes;

    return pnc_size_multiply(2 * (int64_t)pnc_type_get_size(var->type), var->present, &bytes) == 0 ? bytes : INT64_MAX;
}

/* --- one variable --- */

/* The fill value of a variable, in its memory type, with which attributes are. */
static void get_fill_value(const diff_var *var, void *out)
{
    int i = pnc_table_find(&var->atts.names, "_FillValue");
    if (i >= 0 && var->atts.at[i].type == var->type && var->atts.at[i].length == 1)
        memcpy(out, var->atts.at[i].values, pnc_type_get_size(var->type));
    else
        pnc_convert_fill_get_memory(pnc_type_get_mem_type(var->type), out);
}

/* With --unwritten, the fill value of strings; else NULL, and without memory, so that all differences count. */
static char *make_fill_text(const diff_run *run, const diff_var *var)
{
    int i = run->options->unwritten ? pnc_table_find(&var->atts.names, "_FillValue") : -1;
    int64_t n = i >= 0 && var->atts.at[i].type == NC_CHAR ? var->atts.at[i].length : 0;
    char *fill = run->options->unwritten ? pnc_memory_alloc_zeroed(n + 1, 1) : NULL;
    if (fill != NULL && n > 0)
        memcpy(fill, var->atts.at[i].values, (size_t)n);
    return fill;
}

/* Read a block of both files. The strings are to be freed in any case. */
static int read_strings(const diff_run *run, const int varids[2], const tool_blocks *blocks,
                        pnc_reader_strings strings[2])
{
    int err = NC_NOERR;
    for (int i = 0; err == NC_NOERR && i < 2; i++)
        err = run->sources[i]->read_strings(run->sources[i], varids[i], blocks->start, blocks->count, blocks->length,
                                            &strings[i]);
    return err;
}

static int compare_string_blocks(const diff_run *run, const int varids[2], tool_blocks *blocks, diff_result *result)
{
    char *fills[2];
    int err = NC_NOERR;
    for (int i = 0; i < 2; i++)
        fills[i] = make_fill_text(run, &run->sources[i]->vars[varids[i]]);
    for (int64_t round = 0; err == NC_NOERR && round < blocks->total; round += run->world->nprocs) {
        pnc_reader_strings strings[2] = {{0}};
        tool_blocks_seek(blocks, round + run->world->rank);
        err = read_strings(run, varids, blocks, strings);
        const diff_strings both = {.x = strings[0].at,
                                   .y = strings[1].at,
                                   .n = err == NC_NOERR ? blocks->length : 0,
                                   .at = blocks->first,
                                   .fills = {fills[0], fills[1]}};
        diff_strings_compare(&both, result);
        for (int i = 0; i < 2; i++)
            pnc_formats_strings_free(&strings[i]);
    }
    pnc_memory_free(fills[0]);
    pnc_memory_free(fills[1]);
    return err;
}

static int compare_blocks(walk *w, const int varids[2], tool_blocks *blocks, diff_result *result)
{
    const diff_run *run = w->run;
    const diff_var *var = &run->sources[0]->vars[varids[0]];
    int64_t size = (int64_t)pnc_type_get_size(var->type);
    unsigned char fills[2][8];
    bool leaves_out = run->options->unwritten;
    for (int i = 0; i < 2; i++)
        get_fill_value(&run->sources[i]->vars[varids[i]], fills[i]);
    for (int64_t round = 0; round < blocks->total; round += run->world->nprocs) {
        tool_blocks_seek(blocks, round + run->world->rank);
        for (int i = 0; i < 2; i++) {
            const diff_source *source = run->sources[i];
            int err = source->read(source, varids[i], blocks->start, blocks->count, blocks->length, w->values[i]);
            if (err != NC_NOERR)
                return err;
        }
        const diff_values values = {.type = var->type,
                                    .x = w->values[0],
                                    .y = w->values[1],
                                    .n = blocks->length,
                                    .at = blocks->first,
                                    .fills = {leaves_out ? fills[0] : NULL, leaves_out ? fills[1] : NULL}};
        diff_values_compare(&values, &run->options->tolerance, result);
        w->done += 2 * blocks->length * size * run->world->nprocs; /* estimated from the block of this rank */
        tool_progress_update(&w->progress, w->done);
    }
    return NC_NOERR;
}

/* texts: of strings, else NULLs. */
static void write_element(const diff_run *run, const diff_var *var, const diff_element *element,
                          const char *const texts[2])
{
    char x[DIFF_VALUE_SIZE], y[DIFF_VALUE_SIZE];
    int64_t rest = element->at, inner = 1;
    for (int i = 1; i < var->ndims; i++)
        inner *= var->shape[i];
    fputs("at element [", run->out);
    for (int i = 0; i < var->ndims; i++) {
        fprintf(run->out, "%s%lld", i > 0 ? ", " : "", (long long)(rest / inner));
        rest %= inner;
        inner /= i + 1 < var->ndims ? var->shape[i + 1] : 1;
    }
    if (var->type == NC_STRING) {
        diff_strings_format(texts, x, y);
    } else {
        diff_number_format(var->type, element->x, x);
        diff_number_format(var->type, element->y, y);
    }
    fprintf(run->out, "] of value %s vs %s", x, y);
}

static void write_size(const diff_run *run, const diff_var *var, const diff_element *element)
{
    if (var->type == NC_FLOAT || var->type == NC_DOUBLE)
        fprintf(run->out, "%e", element->absolute);
    else
        fprintf(run->out, "%llu", (unsigned long long)element->whole);
}

static void write_largest(const diff_run *run, const diff_var *var, const diff_result *result)
{
    if (result->absolute.at < 0)
        return;
    fputs("\tlargest absolute difference ", run->out);
    write_size(run, var, &result->absolute);
    fputc(' ', run->out);
    write_element(run, var, &result->absolute, result->texts);
    fprintf(run->out, "\n\tlargest relative difference %e ", result->relative.relative);
    write_element(run, var, &result->relative, result->texts);
    fputc('\n', run->out);
}

static void write_result(diff_run *run, const diff_var *var, const diff_result *result, int64_t elements)
{
    char type[DIFF_TYPE_SIZE];
    if (run->out == NULL)
        return;
    if (run->options->json) {
        diff_json_result_print(run, var, result, elements);
        return;
    }
    fprintf(run->out, "DIFF%s: variable \"", run->options->tolerance.given ? " (tolerance)" : "");
    tool_text_write(run->out, var->name);
    fprintf(run->out, "\" of type \"%s\" ", diff_type_get_name(var->type, type));
    write_element(run, var, &result->first, result->texts);
    if (diff_type_is_number(var->type)) {
        fprintf(run->out, " (difference = %s", result->first.less ? "-" : "");
        write_size(run, var, &result->first);
        fputc(')', run->out);
    }
    fprintf(run->out, "\n\t%lld of %lld elements differ", (long long)result->count, (long long)elements);
    if (result->nans > 0)
        fprintf(run->out, ", %lld of them NaN in one file only", (long long)result->nans);
    if (result->unwritten > 0)
        fprintf(run->out, ", %lld may be unwritten in one file", (long long)result->unwritten);
    fputc('\n', run->out);
    write_largest(run, var, result);
}

static int64_t elements_of(const diff_var *var)
{
    int64_t elements = 1;
    for (int i = 0; i < var->ndims; i++)
        elements *= var->shape[i]; /* no overflow: open checks the size of the data */
    return elements;
}

/* Elements after these are missing in both files: they are equal without being read. */
static int64_t present_in_either(const diff_run *run, const int varids[2])
{
    int64_t a = run->sources[0]->vars[varids[0]].present, b = run->sources[1]->vars[varids[1]].present;
    return a > b ? a : b;
}

static void merge(const diff_run *run, diff_result *result)
{
    if (run->world->merge != NULL)
        run->world->merge(result);
}

/* Rank 0 reads the strings of the first difference again: they may be too long to be sent with the result. */
static int report_strings(diff_run *run, const int varids[2], diff_result *result)
{
    const diff_var *var = &run->sources[0]->vars[varids[0]];
    pnc_reader_strings strings[2] = {{0}};
    tool_blocks blocks;
    diff_result agreed;
    diff_result_init(&agreed);
    agreed.status = tool_blocks_init_bounded(var->ndims, var->shape, 1, &blocks);
    merge(run, &agreed);
    if (agreed.status == NC_NOERR) {
        tool_blocks_seek(&blocks, run->world->rank == 0 ? result->first.at : blocks.total);
        agreed.status = read_strings(run, varids, &blocks, strings);
        merge(run, &agreed);
    }
    if (agreed.status == NC_NOERR && run->out != NULL) {
        for (int i = 0; i < 2; i++)
            result->texts[i] = strings[i].at[0];
        write_result(run, var, result, elements_of(var));
    }
    for (int i = 0; i < 2; i++)
        pnc_formats_strings_free(&strings[i]);
    tool_blocks_free(&blocks);
    return agreed.status;
}

static int init_blocks(const diff_run *run, const int varids[2], tool_blocks *blocks)
{
    const diff_var *var = &run->sources[0]->vars[varids[0]];
    if (var->type == NC_STRING)
        return tool_blocks_init_bounded(var->ndims, var->shape, TOOL_BLOCK_STRINGS, blocks);
    return tool_blocks_init(var->ndims, var->shape, blocks);
}

static int compare_variable(walk *w, const int varids[2])
{
    diff_run *run = w->run;
    const diff_var *var = &run->sources[0]->vars[varids[0]];
    tool_blocks blocks;
    diff_result result;
    diff_result_init(&result);
    int status = init_blocks(run, varids, &blocks);
    result.status = status;
    merge(run, &result); /* continue only if all ranks have memory */
    if (result.status != NC_NOERR && status != NC_NOERR)
        tool_error_print("%s: variable %s: not enough memory", run->sources[0]->path, var->name);
    if (result.status == NC_NOERR) {
        tool_blocks_truncate(&blocks, present_in_either(run, varids));
        result.status = var->type == NC_STRING ? compare_string_blocks(run, varids, &blocks, &result)
                                               : compare_blocks(w, varids, &blocks, &result);
        merge(run, &result);
    }
    tool_blocks_free(&blocks);
    if (result.status != NC_NOERR)
        return DIFF_TROUBLE;
    if (result.count > 0) {
        tool_progress_wipe();
        run->variables++;
        if (var->type == NC_STRING)
            return report_strings(run, varids, &result) == NC_NOERR ? DIFF_SAME : DIFF_TROUBLE;
        write_result(run, var, &result, elements_of(var));
    } else if (result.unwritten > 0) {
        diff_sameness_print(run, "\tSAME: variable \"%s\" contents, but for %lld that may be unwritten in one file",
                            var->name, (long long)result.unwritten);
    } else {
        diff_sameness_print(run, "\tSAME: variable \"%s\" contents", var->name);
    }
    return DIFF_SAME;
}

/* --- all of them --- */

/* Compare the variable of this name in both files; id -1: missing. Values of different shape or type are not compared,
 * and count as different. */
static int compare_pair(walk *w, const char *name, int a, int b)
{
    diff_run *run = w->run;
    if (a < 0 || b < 0) {
        const char *present = run->sources[a < 0]->path, *missing = run->sources[a >= 0]->path;
        run->variables++;
        if (run->options->names.n > 0)
            diff_difference_print(run, ": variable \"%s\" defined in %s not found in %s", name, present, missing);
        return DIFF_SAME;
    }
    const diff_var *first = &run->sources[0]->vars[a], *second = &run->sources[1]->vars[b];
    int64_t differences = 0;
    if (run->options->names.n > 0)
        diff_var_compare(run, first, second, &differences);
    if (!diff_var_is_comparable(first, second)) {
        run->variables++;
        return DIFF_SAME;
    }
    run->variables += differences > 0; /* names of dimensions */
    if (pnc_type_get_size(first->type) == 0 && first->type != NC_STRING) {
        if (run->out != NULL)
            tool_warning_print("warning: variable %s: values of type %s are not compared", first->name,
                               tool_cdl_type_find(first->type)->name);
        return DIFF_SAME;
    }
    return compare_variable(w, (const int[]){a, b});
}

static int compare_all(walk *w)
{
    const diff_source *a = w->run->sources[0], *b = w->run->sources[1];
    int status = DIFF_SAME;
    for (int i = 0; status == DIFF_SAME && i < a->nvars; i++)
        status = compare_pair(w, a->vars[i].name, i, pnc_table_find(&b->var_names, a->vars[i].name));
    for (int i = 0; status == DIFF_SAME && i < b->nvars; i++)
        if (pnc_table_find(&a->var_names, b->vars[i].name) < 0)
            status = compare_pair(w, b->vars[i].name, -1, i);
    return status;
}

static int compare_named(walk *w)
{
    const tool_names *names = &w->run->options->names;
    int status = DIFF_SAME;
    for (int i = 0; status == DIFF_SAME && i < names->n; i++)
        status = compare_pair(w, names->at[i], pnc_name_find(&w->run->sources[0]->var_names, names->at[i]),
                              pnc_name_find(&w->run->sources[1]->var_names, names->at[i]));
    return status;
}

static void report_missing_variable(const diff_run *run, const char *name)
{
    const diff_source *source = run->sources[0];
    const char **known = pnc_memory_alloc(source->nvars, sizeof *known);
    for (int i = 0; known != NULL && i < source->nvars; i++)
        known[i] = source->vars[i].name;
    tool_names_report_missing(source->path, name, known != NULL ? source->nvars : 0, known);
    pnc_memory_free(known);
}

int diff_names_check(const diff_run *run)
{
    const tool_names *names = &run->options->names;
    for (int i = 0; i < names->n; i++) {
        if (pnc_name_find(&run->sources[0]->var_names, names->at[i]) >= 0 ||
            pnc_name_find(&run->sources[1]->var_names, names->at[i]) >= 0)
            continue;
        if (run->out != NULL)
            report_missing_variable(run, names->at[i]);
        return DIFF_TROUBLE;
    }
    return DIFF_SAME;
}

int diff_data_compare(diff_run *run)
{
    walk w = {.run = run};
    diff_result agreed;
    int64_t total = 0;
    for (int i = 0; i < run->sources[0]->nvars; i++)
        if (pnc_size_add(total, bytes_of(&run->sources[0]->vars[i]), &total) != 0)
            total = INT64_MAX;
    diff_result_init(&agreed);
    for (int i = 0; i < 2; i++) {
        w.values[i] = pnc_memory_alloc(TOOL_BLOCK_ELEMENTS, sizeof(double));
        if (w.values[i] == NULL)
            agreed.status = NC_ENOMEM;
    }
    if (agreed.status != NC_NOERR)
        tool_error_print("not enough memory for data");
    merge(run, &agreed);
    int status = DIFF_TROUBLE;
    if (agreed.status == NC_NOERR) {
        tool_progress_begin(stderr, run->options->program, total, &w.progress);
        if (run->options->progress)
            tool_progress_keep_lines(stderr, &w.progress);
        if (run->out == NULL)
            w.progress.out = NULL; /* only one rank shows progress */
        status = run->options->names.n > 0 ? compare_named(&w) : compare_all(&w);
        tool_progress_wipe();
        if (status != DIFF_TROUBLE)
            tool_progress_finish(&w.progress);
    }
    pnc_memory_free(w.values[0]);
    pnc_memory_free(w.values[1]);
    return status;
}
