/* Sequence of a comparison: headers, data, totals, exit status. */
#include "tools/common/message.h"
#include "tools/diff/diff.h"

static void introduce(const diff_run *run)
{
    const diff_tolerance *tolerance = &run->options->tolerance;
    if (tolerance->given) {
        diff_sameness_print(run, "Tolerance absolute difference = %e", tolerance->absolute);
        diff_sameness_print(run, "Tolerance ratio    difference = %e", tolerance->ratio);
    }
    diff_sameness_print(run, "First  file: %s", run->sources[0]->path);
    diff_sameness_print(run, "Second file: %s", run->sources[1]->path);
}

static void sum_up(const diff_run *run)
{
    const diff_options *options = run->options;
    bool print_same = run->out != NULL && !options->quiet;
    if (options->names.n == 0 || options->header_only) {
        if (run->out != NULL && run->header > 0)
            fprintf(run->out, "Number of differences in header %lld\n", (long long)run->header);
        else if (print_same)
            fputs("Headers of two files are the same\n", run->out);
    }
    if (options->header_only || run->out == NULL)
        return;
    const char *variables = options->names.n > 0 ? "compared variables" : "variables";
    if (run->variables > 0)
        fprintf(run->out, "Number of differences in %s %lld\n", variables, (long long)run->variables);
    else if (print_same)
        fprintf(run->out, "%s are the same\n",
                options->names.n > 0 ? "Compared variable(s)" : "All variables of two files");
}

int diff_files_compare(const diff_options *options, const diff_world *world, const diff_source *first,
                       const diff_source *second)
{
    diff_run run = {
        .options = options, .world = world, .sources = {first, second}, .out = world->rank == 0 ? stdout : NULL};
    diff_result agreed;
    diff_result_init(&agreed);
    int status = diff_names_check(&run);
    if (status == DIFF_SAME) {
        introduce(&run);
        if (options->json)
            diff_json_begin(&run);
        diff_header_compare(&run);
        if (!options->header_only)
            status = diff_data_compare(&run);
        if (options->json)
            diff_json_end(&run, status == DIFF_SAME);
    }
    if (status == DIFF_SAME && !options->json)
        sum_up(&run);
    agreed.status = run.out != NULL ? tool_output_flush(NULL) : NC_NOERR;
    if (world->merge != NULL)
        world->merge(&agreed);
    if (status == DIFF_TROUBLE || agreed.status != NC_NOERR)
        return DIFF_TROUBLE;
    return run.header > 0 || run.variables > 0 ? DIFF_DIFFERENT : DIFF_SAME;
}
