/* ncmpicopy: copy netCDF files in parallel. The output is written under a temporary name, verified on request, and
 * renamed at the end. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/types.h"
#include "tools/common/message.h"
#include "tools/common/output.h"
#include "tools/common/parallel.h"
#include "tools/ncmpicopy/copy.h"

/* --- the file that is written --- */

static int end_output(const copy_plan *plan, int err, tool_output *output)
{
    pnc_error error = {0};
    if (plan->rank == 0 && err != NC_NOERR) {
        tool_output_discard(output);
    } else if (plan->rank == 0) {
        err = tool_output_commit(output, &error);
        if (err != NC_NOERR)
            tool_error_print("%s", error.text);
    }
    err = tool_status_agree(err); /* the other ranks watch the output until rank 0 is done */
    if (plan->rank > 0) {
        tool_output_watch(NULL);
        pnc_memory_free(output->temporary);
    }
    return err;
}

/* Rank 0 makes the file; the others learn its temporary name, and keep it to the end: a signal may end any of them.
 * Called, as all up to the file's opening, while signals are held. */
static int begin_output(const copy_plan *plan, tool_output *output)
{
    pnc_error error = {0};
    int length = 0, err = NC_NOERR;
    *output = (tool_output){0};
    if (plan->rank == 0) {
        err = tool_output_begin(plan->options->output, plan->options->overwrite, output, &error);
        if (err == NC_EEXIST)
            tool_error_print("%s (-O replaces it)", error.text);
        else if (err != NC_NOERR)
            tool_error_print("%s", error.text);
        length = err == NC_NOERR ? (int)strlen(output->temporary) + 1 : 0;
    }
    MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (length == 0)
        return err != NC_NOERR ? err : NC_EFILE;
    if (plan->rank > 0)
        output->temporary = pnc_memory_alloc(length, 1);
    err = tool_status_agree(output->temporary ? NC_NOERR : NC_ENOMEM);
    if (err != NC_NOERR) {
        copy_error_print(plan, err, "%s: no memory", plan->options->output);
        return end_output(plan, err, output);
    }
    MPI_Bcast(output->temporary, length, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (plan->rank > 0)
        tool_output_watch(output->temporary);
    return NC_NOERR;
}

static int create_mode(int format)
{
    return NC_CLOBBER | (format == 5 ? NC_64BIT_DATA : format == 2 ? NC_64BIT_OFFSET : 0);
}

/* On failure there is no output. */
static int open_output(const copy_plan *plan, tool_output *output, int *ncid)
{
    tool_signals_hold();
    MPI_Barrier(MPI_COMM_WORLD);
    int err = begin_output(plan, output);
    if (err == NC_NOERR) {
        err = ncmpi_create(MPI_COMM_WORLD, output->temporary, create_mode(plan->format), MPI_INFO_NULL, ncid);
        if (err != NC_NOERR && plan->rank == 0)
            tool_error_print_last(plan->options->output, err);
        if (err != NC_NOERR)
            err = end_output(plan, err, output);
    }
    tool_signals_release();
    return err;
}

static int write_file(copy_plan *plan, int ncid)
{
    int err = copy_header_define(plan, ncid, plan->options->output);
    if (err == NC_NOERR)
        err = copy_data_move(plan, ncid, COPY_WRITE);
    if (err != NC_NOERR) {
        ncmpi_abort(ncid); /* the file is removed in any case */
        return err;
    }
    err = ncmpi_close(ncid);
    if (err != NC_NOERR && plan->rank == 0)
        tool_error_print_last(plan->options->output, err);
    return err;
}

static int verify_file(copy_plan *plan, const char *path)
{
    int ncid, err = copy_input_open(plan, path, &ncid);
    if (err != NC_NOERR)
        return err;
    err = copy_data_move(plan, ncid, COPY_VERIFY);
    ncmpi_close(ncid);
    return err;
}

/* --- what did not fit --- */

static void print_misfits(const copy_plan *plan, const copy_var *var, int64_t misfits, int64_t first)
{
    char place[256] = "";
    size_t used = 0;
    int64_t inner = 1;
    for (int d = 1; d < var->ndims; d++)
        inner *= var->shape[d];
    for (int d = 0; d < var->ndims && used < sizeof place; d++) {
        int length =
            snprintf(place + used, sizeof place - used, "%s%lld", d > 0 ? ", " : "", (long long)(first / inner));
        used += length > 0 ? (size_t)length : 0;
        first %= inner;
        inner /= d + 1 < var->ndims ? var->shape[d + 1] : 1;
    }
    tool_error_print("%s: variable %s: %lld values do not fit %s and became the fill value, the first at [%s]",
                     plan->options->output, var->name, (long long)misfits, pnc_type_get_name(var->to), place);
}

/* The same answer on all ranks. */
static bool report_misfits(const copy_plan *plan)
{
    bool any = false;
    for (int i = 0; i < plan->nvars; i++) {
        const copy_var *var = &plan->vars[i];
        long long mine[2] = {var->conversion.misfits, var->conversion.misfits > 0 ? var->conversion.first : INT64_MAX},
                  all[2];
        if (var->type == var->to)
            continue;
        MPI_Allreduce(&mine[0], &all[0], 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(&mine[1], &all[1], 1, MPI_LONG_LONG, MPI_MIN, MPI_COMM_WORLD);
        if (all[0] > 0 && plan->rank == 0)
            print_misfits(plan, var, all[0], all[1]);
        any = any || all[0] > 0;
    }
    return any;
}

/* --- all together --- */

static int copy(const copy_options *options)
{
    copy_plan plan;
    tool_output output;
    bool lossy = false;
    int ncid, err = copy_plan_init(options, &plan);
    if (err == NC_NOERR)
        err = open_output(&plan, &output, &ncid);
    if (err == NC_NOERR) {
        err = write_file(&plan, ncid);
        if (err == NC_NOERR && options->verify)
            err = verify_file(&plan, output.temporary);
        err = end_output(&plan, tool_status_agree(err), &output);
    }
    if (err == NC_NOERR)
        lossy = report_misfits(&plan);
    copy_plan_free(&plan);
    return err != NC_NOERR ? COPY_FAILED : lossy ? COPY_LOSSY : COPY_DONE;
}

int main(int argc, char **argv)
{
    copy_options options = {0};
    MPI_Init(&argc, &argv);
    tool_program_start("ncmpicopy", argv);
    int status = tool_options_parse(copy_options_parse, argc, argv, &options);
    if (status < 0)
        status = copy(&options);
    copy_options_free(&options);
    MPI_Finalize();
    return status;
}
