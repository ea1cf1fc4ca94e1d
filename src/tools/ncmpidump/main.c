/* ncmpidump: print a netCDF file as CDL text, on any number of ranks, which share the work on large variables. */
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/types.h"
#include "tools/common/message.h"
#include "tools/common/parallel.h"
#include "tools/ncmpidump/checksum.h"
#include "tools/ncmpidump/dump.h"
#include "tools/ncmpidump/follow.h"
#include "tools/ncmpidump/plot.h"
#include "tools/ncmpidump/stats.h"
#include "tools/ncmpidump/team.h"

/* The variables of -v must exist, even if no data are printed. Rank 0 reports one that does not. */
static int check_variables(const dump_file *file)
{
    const tool_names *wanted = &file->options->variables;
    int err = NC_NOERR;
    if (file->team->rank == 0)
        return tool_names_check(wanted, file->options->path, &file->input.model);
    for (int i = 0; err == NC_NOERR && i < wanted->n; i++)
        err = pnc_format_var_find(&file->input.model, wanted->at[i]) >= 0 ? NC_NOERR : NC_ENOTVAR;
    return err;
}

/* Bytes of the data that the options select; of a file with a wrong number of records possibly INT64_MAX. */
static int64_t count_bytes(const dump_file *file)
{
    const pnc_model *model = &file->input.model;
    int64_t total = 0;
    for (int i = 0; i < model->nvars; i++) {
        const pnc_var *var = model->vars[i];
        int64_t bytes = (int64_t)pnc_type_get_size(var->type);
        for (int d = 0; d < var->ndims; d++)
            if (pnc_size_multiply(bytes, pnc_format_dim_get_length(model, var->dimids[d]), &bytes) != 0)
                bytes = INT64_MAX;
        dump_variable variable = {.name = var->name, .ndims = var->ndims, .type = tool_cdl_type_find(var->type)};
        if (dump_variable_is_wanted(file, &variable) && pnc_size_add(total, bytes, &total) != 0)
            total = INT64_MAX;
    }
    return total;
}

/* A terminal that shows the text shows no progress. */
static void begin_progress(const dump_file *file)
{
    tool_progress *progress = &file->team->progress;
    if (file->team->rank > 0 || file->options->header_only || (isatty(STDOUT_FILENO) && !file->options->progress))
        return;
    tool_progress_begin(stderr, "ncmpidump", count_bytes(file), progress);
    if (file->options->progress)
        tool_progress_keep_lines(stderr, progress);
}

static int write_text(const dump_file *file)
{
    PNC_TRY(check_variables(file));
    if (file->options->plot != NULL)
        return file->team->rank == 0 ? dump_plot_write(file) : NC_NOERR;
    if (file->options->checksum)
        return dump_checksums_print(file);
    begin_progress(file);
    if (file->options->stats)
        return dump_stats_print(file);
    if (file->options->json)
        return dump_json_print(file);
    PNC_TRY(dump_header_print(file));
    if (!file->options->header_only)
        PNC_TRY(dump_data_print(file));
    fputs("}\n", file->out);
    return NC_NOERR;
}

static void print_kind(const dump_file *file)
{
    if (file->options->npaths > 1) {
        tool_text_write(file->out, file->options->path);
        fputs(": ", file->out);
    }
    fprintf(file->out, "%s\n", dump_kind_get_name(file->format));
}

static int dump(const dump_options *options, dump_team *team)
{
    dump_file file;
    int err = dump_file_open(options, team, &file);
    err = dump_team_agree(&file, err);
    if (err == NC_NOERR && options->kind)
        print_kind(&file);
    else if (err == NC_NOERR && options->version)
        err = dump_version_print(&file);
    else if (err == NC_NOERR)
        err = write_text(&file);
    /* A launcher may end this process when another one has failed. NC_EWRITE: this has failed before. */
    if (err != NC_EWRITE)
        err = pnc_error_keep_first(err, tool_output_flush(options->path));
    tool_progress_wipe();
    if (err == NC_NOERR)
        tool_progress_finish(&team->progress);
    err = dump_team_agree(&file, err);
    dump_file_close(&file);
    return err;
}

/* A file that cannot be printed does not keep the others from being printed. */
static int dump_all(dump_options *options, dump_team *team)
{
    int status = 0, err = NC_NOERR;
    for (int i = 0; i < options->npaths && err != NC_EWRITE; i++) {
        options->path = options->paths[i];
        team->ended = false;
        team->done = 0;
        err = dump(options, team);
        if (team->nprocs > 1)
            err = tool_status_agree(err);
        if (err != NC_NOERR)
            status = 1;
        tool_warnings_finish();
    }
    return status;
}

static int parse(int argc, char **argv, void *options)
{
    return dump_options_parse(argc, argv, options);
}

int main(int argc, char **argv)
{
    dump_options options = {0};
    dump_team team = {.rank = 0, .nprocs = 1};
    bool launched = tool_launcher_is_used(); /* else MPI_Init would take most of the time */
    if (launched) {
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &team.rank);
        MPI_Comm_size(MPI_COMM_WORLD, &team.nprocs);
    }
    tool_program_start("ncmpidump", argv);
    int status = launched ? tool_options_parse(parse, argc, argv, &options) : parse(argc, argv, &options);
    if (status < 0)
        options.path = options.paths[0];
    if (status < 0 && options.follow)
        status = team.rank == 0 ? dump_records_watch(&options) : 0;
    else if (status < 0)
        status = dump_all(&options, &team);
    else if (team.rank == 0 && tool_output_flush(NULL) != NC_NOERR)
        status = 1;
    dump_options_free(&options);
    if (launched)
        MPI_Finalize();
    return tool_program_end(status);
}
