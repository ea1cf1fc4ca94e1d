/* ncmpidump: print a netCDF file as CDL text, on any number of ranks, which share the work on large variables. */
#include <stdlib.h>

#include "tools/common/message.h"
#include "tools/common/parallel.h"
#include "tools/ncmpidump/dump.h"
#include "tools/ncmpidump/team.h"

/* Print an error that there is no variable of this name, with the most similar name as a suggestion. */
static int report_missing_variable(const dump_file *file, const char *name)
{
    char(*names)[NC_MAX_NAME + 1] = calloc((size_t)file->nvars + 1, sizeof *names);
    const char **known = calloc((size_t)file->nvars + 1, sizeof *known);
    int n = names != NULL && known != NULL ? file->nvars : 0;
    for (int i = 0; i < n; i++)
        if (ncmpi_inq_varname(file->ncid, i, names[i]) == NC_NOERR)
            known[i] = names[i];
    int err = tool_names_report_missing(file->options->path, name, n, known);
    free(known);
    free(names);
    return err;
}

/* The variables of -v must exist, even if no data are printed. */
static int check_variables(const dump_file *file)
{
    const tool_names *wanted = &file->options->variables;
    int varid;
    for (int i = 0; i < wanted->n; i++)
        if (ncmpi_inq_varid(file->ncid, wanted->at[i], &varid) != NC_NOERR)
            return file->team->rank == 0 ? report_missing_variable(file, wanted->at[i]) : NC_ENOTVAR;
    return NC_NOERR;
}

static int write_cdl(const dump_file *file)
{
    PNC_TRY(check_variables(file));
    if (file->options->json)
        return dump_json_print(file);
    PNC_TRY(dump_header_print(file));
    if (!file->options->header_only)
        PNC_TRY(dump_data_print(file));
    fputs("}\n", file->out);
    return NC_NOERR;
}

static int dump(const dump_options *options, dump_team *team)
{
    dump_file file;
    int err = dump_file_open(options, team, &file);
    err = dump_team_agree(&file, err);
    if (err == NC_NOERR && options->kind)
        fprintf(file.out, "%s\n", dump_kind_get_name(file.format));
    else if (err == NC_NOERR && options->version)
        err = dump_version_print(&file);
    else if (err == NC_NOERR)
        err = write_cdl(&file);
    if (err == NC_NOERR)
        err = tool_output_flush(options->path);
    err = dump_team_agree(&file, err);
    dump_file_close(&file);
    return err;
}

static int parse(int argc, char **argv, void *options)
{
    return dump_options_parse(argc, argv, options);
}

int main(int argc, char **argv)
{
    dump_options options = {0};
    dump_team team = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &team.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &team.nprocs);
    tool_program_start("ncmpidump", argv);
    int status = tool_options_parse(parse, argc, argv, &options);
    if (status < 0)
        status = dump(&options, &team) == NC_NOERR ? 0 : 1;
    else if (team.rank == 0 && tool_output_flush(NULL) != NC_NOERR)
        status = 1;
    dump_options_free(&options);
    MPI_Finalize();
    return tool_program_end(status);
}
