/* Tools on several ranks. */
#include "config.h" /* environ */

#include "tools/common/parallel.h"

#include <string.h>
#include <unistd.h>

#include "tools/common/message.h"

MPI_Datatype tool_type_get_mpi(int type)
{
    switch (type) {
    case NC_BYTE: return MPI_SIGNED_CHAR;
    case NC_CHAR: return MPI_CHAR;
    case NC_SHORT: return MPI_SHORT;
    case NC_INT: return MPI_INT;
    case NC_FLOAT: return MPI_FLOAT;
    case NC_DOUBLE: return MPI_DOUBLE;
    case NC_UBYTE: return MPI_UNSIGNED_CHAR;
    case NC_USHORT: return MPI_UNSIGNED_SHORT;
    case NC_UINT: return MPI_UNSIGNED;
    case NC_INT64: return MPI_LONG_LONG;
    case NC_UINT64: return MPI_UNSIGNED_LONG_LONG;
    default: return MPI_DATATYPE_NULL;
    }
}

int tool_format_get_version(int format)
{
    switch (format) {
    case NC_FORMAT_CDF5: return 5;
    case NC_FORMAT_CDF2: return 2;
    default: return 1;
    }
}

int tool_status_agree(int err)
{
    int worst = err;
    MPI_Allreduce(&err, &worst, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return worst;
}

void tool_error_print_last(const char *path, int code)
{
    char message[NC_MAX_MESSAGE + 1] = "";
    int last = NC_NOERR;
    if (ncmpi_inq_last_error(NC_GLOBAL, &last, message) == NC_NOERR && last == code && *message)
        tool_error_print("%s", message); /* names the file */
    else
        tool_error_print("%s: %s", path, ncmpi_strerror(code));
}

/* Rather too many than too few: without MPI, each of several processes would do all the work. */
bool tool_launcher_is_used(void)
{
    static const char *const prefixes[] = {
        "PMI",         "OMPI_COMM_WORLD_", "HYDRA_",      "HYDI_",          "MPI_LOCAL", "MV2_COMM_WORLD_",
        "SLURM_STEP_", "SLURM_PROCID",     "ALPS_",       "PALS_",          "JSM_",      "FLUX_TASK_",
        "PRTE_",       "MPIEXEC_",         "PBS_TASKNUM", "LSB_MCPU_HOSTS", "I_MPI_"};
    for (char **variable = environ; *variable != NULL; variable++)
        for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
            if (strncmp(*variable, prefixes[i], strlen(prefixes[i])) == 0)
                return true;
    return false;
}

int tool_options_parse(int (*parse)(int argc, char **argv, void *options), int argc, char **argv, void *options)
{
    int rank, status = -1, worst = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        status = parse(argc, argv, options);
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank > 0 && status < 0)
        status = parse(argc, argv, options);
    MPI_Allreduce(&status, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return worst;
}
