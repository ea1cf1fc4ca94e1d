/* ncmpidump: print a netCDF file as CDL text. One process does it; others that mpiexec may have started stand by. */
#include <stdlib.h>

#include "tools/common/message.h"
#include "tools/ncmpidump/dump.h"

/* Complains that there is no variable of this name, and tells of one that may be meant. */
static int no_variable(const dump_file *file, const char *name)
{
    char(*names)[NC_MAX_NAME + 1] = calloc((size_t)file->nvars + 1, sizeof *names);
    const char **known = calloc((size_t)file->nvars + 1, sizeof *known);
    int n = names && known ? file->nvars : 0;
    for (int i = 0; i < n; i++)
        if (ncmpi_inq_varname(file->ncid, i, names[i]) == NC_NOERR)
            known[i] = names[i];
    int err = tool_names_missing(file->options->path, name, n, known);
    free(known);
    free(names);
    return err;
}

/* The variables of -v must exist, even where no data is printed. */
static int check_variables(const dump_file *file)
{
    const tool_names *wanted = &file->options->variables;
    int varid;
    for (int i = 0; i < wanted->n; i++)
        if (ncmpi_inq_varid(file->ncid, wanted->at[i], &varid) != NC_NOERR)
            return no_variable(file, wanted->at[i]);
    return NC_NOERR;
}

static int write_cdl(const dump_file *file)
{
    int err = check_variables(file);
    if (err == NC_NOERR && file->options->json)
        return dump_json(file);
    if (err == NC_NOERR)
        err = dump_header(file);
    if (err == NC_NOERR && !file->options->header_only)
        err = dump_data(file);
    if (err == NC_NOERR)
        fputs("}\n", file->out);
    return err;
}

static int dump(const dump_options *options)
{
    dump_file file;
    int err = dump_file_open(options, &file);
    if (err != NC_NOERR)
        return err;
    if (options->kind)
        fprintf(file.out, "%s\n", dump_kind_name(file.format));
    else if (options->version)
        err = dump_version(&file);
    else
        err = write_cdl(&file);
    if (err == NC_NOERR)
        err = tool_flush(options->path);
    dump_file_close(&file);
    return err;
}

static int run(int argc, char **argv)
{
    dump_options options;
    tool_start("ncmpidump", argv);
    int status = dump_options_parse(argc, argv, &options);
    if (status < 0)
        status = dump(&options) == NC_NOERR ? 0 : 1;
    else if (tool_flush(NULL) != NC_NOERR)
        status = 1;
    dump_options_free(&options);
    return status;
}

int main(int argc, char **argv)
{
    int rank, status = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        status = run(argc, argv);
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return status;
}
