/* ncmpidump: print a netCDF file as CDL text. One process does it; others that mpiexec may have started stand by. */
#include <signal.h>
#include <string.h>

#include "tools/ncmpidump/dump.h"

static const char *kind_name(int format)
{
    switch (format) {
    case NC_FORMAT_CDF2: return "64-bit offset";
    case NC_FORMAT_CDF5: return "64-bit data";
    default: return "classic";
    }
}

/* The variables of -v must exist, even where no data is printed. */
static int check_variables(const dump_file *file)
{
    const char *name = file->options->variables;
    for (int i = 0; i < file->options->nvariables; i++, name += strlen(name) + 1) {
        int varid;
        if (ncmpi_inq_varid(file->ncid, name, &varid) != NC_NOERR) {
            fprintf(stderr, "ncmpidump: %s: no variable %s in this file (ncmpidump -h lists them)\n",
                    file->options->path, name);
            return NC_ENOTVAR;
        }
    }
    return NC_NOERR;
}

static int write_cdl(const dump_file *file)
{
    int err = check_variables(file);
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
        fprintf(file.out, "%s\n", kind_name(file.format));
    else if (options->version)
        err = dump_version(&file);
    else
        err = write_cdl(&file);
    if (err == NC_NOERR)
        err = dump_flush(&file);
    dump_file_close(&file);
    return err;
}

static int run(int argc, char **argv)
{
    static char buffer[1 << 16];
    dump_options options;
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer); /* MPICH's MPI_Init takes stdout's buffer away */
    signal(SIGPIPE, SIG_IGN); /* a reader that has seen enough is a write error like others: message and status */
    int status = dump_options_parse(argc, argv, &options);
    if (status < 0)
        status = dump(&options) == NC_NOERR ? 0 : 1;
    else if (fflush(stdout) != 0)
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
