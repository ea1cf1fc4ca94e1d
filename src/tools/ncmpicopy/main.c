/* ncmpicopy: copy netCDF files in parallel. The output is written under a temporary name, verified on request, and
 * renamed at the end. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/types.h"
#include "tools/common/file.h"
#include "tools/common/join.h"
#include "tools/common/message.h"
#include "tools/common/output.h"
#include "tools/common/parallel.h"
#include "tools/ncmpicopy/checksum.h"
#include "tools/ncmpicopy/copy.h"
#include "tools/ncmpicopy/short.h"

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

/* Rank 0 creates the file and sends its temporary name to the other ranks, which keep it to the end: a signal may end
 * any rank. Signals are held until the file is open. */
static int begin_output(const copy_plan *plan, tool_output *output)
{
    const copy_options *options = plan->options;
    const tool_output_request request = {.path = options->output,
                                         .inputs = (const char *const *)options->inputs,
                                         .ninputs = options->overwrite ? 0 : options->ninputs,
                                         .overwrite = options->overwrite,
                                         .is_folder = options->is_store,
                                         .option = "-O"};
    pnc_error error = {0};
    int length = 0, err = NC_NOERR;
    *output = (tool_output){0};
    if (plan->rank == 0) {
        err = tool_output_begin(&request, output, &error);
        if (err != NC_NOERR)
            tool_error_print("%s", error.text);
        length = err == NC_NOERR ? (int)strlen(output->temporary) + 1 : 0;
    }
    MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (length == 0)
        return err != NC_NOERR ? err : NC_EFILE;
    if (plan->rank > 0)
        output->temporary = pnc_memory_alloc(length, 1);
    err = tool_status_agree(output->temporary != NULL ? NC_NOERR : NC_ENOMEM);
    if (err != NC_NOERR) {
        copy_error_print(plan, err, "%s: not enough memory", plan->options->output);
        return end_output(plan, err, output);
    }
    MPI_Bcast(output->temporary, length, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (plan->rank > 0)
        tool_output_watch(output->temporary);
    return NC_NOERR;
}

static int get_create_mode(int format)
{
    switch (format) {
    case NC_FORMAT_CDF5: return NC_CLOBBER | NC_64BIT_DATA;
    case NC_FORMAT_CDF2: return NC_CLOBBER | NC_64BIT_OFFSET;
    case NC_FORMAT_NETCDF4: return NC_CLOBBER | NC_NETCDF4;
    case NC_FORMAT_NETCDF4_CLASSIC: return NC_CLOBBER | NC_NETCDF4 | NC_CLASSIC_MODEL;
    default: return NC_CLOBBER;
    }
}

static int create_output(const copy_plan *plan, const char *path, int *ncid)
{
    MPI_Info info = MPI_INFO_NULL;
    int err;
    if (plan->options->is_store) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "nc_format", "zarr");
    }
    err = ncmpi_create(MPI_COMM_WORLD, path, get_create_mode(plan->format), info, ncid);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    return err;
}

/* On failure there is no output. */
static int open_output(const copy_plan *plan, tool_output *output, int *ncid)
{
    tool_signals_hold();
    MPI_Barrier(MPI_COMM_WORLD);
    int err = begin_output(plan, output);
    if (err == NC_NOERR) {
        err = create_output(plan, output->temporary, ncid);
        if (err != NC_NOERR && plan->rank == 0)
            tool_error_print_last(plan->options->output, err);
        if (err != NC_NOERR)
            err = end_output(plan, err, output);
    }
    tool_signals_release();
    return err;
}

static int write_file(copy_plan *plan, int ncid, tool_manifest *manifest)
{
    int err = copy_header_define(plan, ncid, plan->options->output);
    if (err == NC_NOERR)
        err = copy_data_move(plan, ncid, COPY_WRITE);
    if (err == NC_NOERR && plan->options->checksum)
        err = copy_checksums_put(plan, ncid, manifest);
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
    int ncid;
    int err = copy_input_open(plan, path, &ncid);
    if (err != NC_NOERR)
        return err;
    err = copy_data_move(plan, ncid, COPY_VERIFY);
    ncmpi_close(ncid);
    return err;
}

/* --- values that the copy lost --- */

static void print_misfits(const copy_plan *plan, const copy_var *var, int64_t misfits, int64_t first)
{
    char index[256];
    tool_index_explain(var->ndims, var->shape, first, index, sizeof index);
    tool_warning_print("%s: variable %s: %lld values do not fit %s and became the fill value, the first at %s",
                       plan->options->output, var->name, (long long)misfits, pnc_type_get_name(var->to), index);
}

/* Returns true on all ranks if any rank found values that do not fit. */
static bool report_misfits(const copy_plan *plan)
{
    bool any = false;
    for (int i = 0; i < plan->nvars; i++) {
        const copy_var *var = &plan->vars[i];
        int64_t misfits = var->conversion.misfits, first = misfits > 0 ? var->conversion.first : INT64_MAX;
        if (var->type == var->to)
            continue;
        MPI_Allreduce(MPI_IN_PLACE, &misfits, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
        if (misfits > 0 && plan->rank == 0)
            print_misfits(plan, var, misfits, first);
        any = any || misfits > 0;
    }
    return any;
}

/* --- the copy --- */

/* Whether the copy has less than its inputs, after a message. The same on all ranks. */
static bool report_losses(const copy_plan *plan)
{
    bool misfits = report_misfits(plan);
    int64_t lost = 0;
    for (int i = 0; i < plan->nvars; i++)
        lost += plan->vars[i].lost;
    MPI_Allreduce(MPI_IN_PLACE, &lost, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (lost > 0)
        copy_error_print(plan, NC_EREAD, "%s: %lld values could not be read, and are fill values",
                         plan->options->output, (long long)lost);
    if (plan->rank == 0)
        tool_warnings_finish();
    return misfits || lost > 0 || plan->is_short || plan->changed;
}

/* An input is replaced only by a copy that has everything. */
static int protect_input(const copy_plan *plan)
{
    const copy_options *options = plan->options;
    int err = NC_NOERR;
    if (plan->rank == 0 && tool_path_is_among(options->output, (const char *const *)options->inputs, options->ninputs))
        err = copy_error_print(plan, NC_EINVAL, "%s: is an input, and the copy does not have all of it: not replaced",
                               options->output);
    return tool_status_agree(err);
}

static int write_output(copy_plan *plan, tool_manifest *manifest, bool *lossy)
{
    tool_output output;
    int ncid;
    int err = open_output(plan, &output, &ncid);
    if (err != NC_NOERR)
        return err;
    err = write_file(plan, ncid, manifest);
    if (err == NC_NOERR)
        err = copy_records_count(plan, output.temporary);
    if (err == NC_NOERR && plan->options->verify)
        err = verify_file(plan, output.temporary);
    err = tool_status_agree(err);
    if (err == NC_NOERR) {
        *lossy = report_losses(plan);
        if (*lossy || plan->left_out)
            err = protect_input(plan);
    }
    return end_output(plan, err, &output);
}

static int copy(const copy_options *options)
{
    copy_plan plan;
    tool_manifest manifest = {0};
    bool lossy = false;
    int err = copy_plan_init(options, &plan);
    if (err == NC_NOERR)
        err = copy_inputs_inspect(&plan);
    if (err == NC_NOERR)
        err = copy_manifest_check(&plan);
    if (err == NC_NOERR)
        err = write_output(&plan, &manifest, &lossy);
    if (err == NC_NOERR)
        err = copy_manifest_write(&plan, &manifest);
    tool_manifest_free(&manifest);
    copy_plan_free(&plan);
    if (err != NC_NOERR)
        return COPY_FAILED;
    return lossy ? COPY_LOSSY : COPY_DONE;
}

int main(int argc, char **argv)
{
    copy_options options = {.reserve = -1};
    MPI_Init(&argc, &argv);
    tool_program_start("ncmpicopy", argv);
    int status = tool_options_parse(copy_options_parse, argc, argv, &options);
    if (status < 0)
        status = copy(&options);
    copy_options_free(&options);
    MPI_Finalize();
    return tool_program_end(status);
}
