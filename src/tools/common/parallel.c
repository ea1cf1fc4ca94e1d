/* Tools on several ranks. */
#include "config.h" /* environ */

#include "tools/common/parallel.h"

#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/path.h"
#include "base/types.h"
#include "tools/common/file.h"
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
    case NC_FORMAT_NETCDF4: return 3;
    case NC_FORMAT_NETCDF4_CLASSIC: return 4;
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

/* Others have no header that says where the file should end. */
static bool is_classic(const char *path)
{
    int format;
    return ncmpi_inq_file_format(path, &format) == NC_NOERR &&
           (format == NC_FORMAT_CLASSIC || format == NC_FORMAT_CDF2 || format == NC_FORMAT_CDF5);
}

int64_t tool_input_inspect(const char *path, pnc_shortage_kind *kind)
{
    int64_t found[] = {INT64_MAX, PNC_SHORTAGE_NONE};
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && access(pnc_path_strip(path), R_OK) == 0 && is_classic(path)) {
        tool_file file;
        if (tool_file_open(path, &file) == NC_NOERR) {
            found[0] = file.size;
            found[1] = tool_file_report_short(&file, false);
        }
        tool_file_close(&file);
    }
    MPI_Bcast(found, 2, MPI_INT64_T, 0, MPI_COMM_WORLD);
    *kind = (pnc_shortage_kind)found[1];
    return found[0];
}

/* Bytes of the whole variable, or of one record, and the number of records; 1 without. */
static int get_size(int ncid, int varid, nc_type *type, int64_t *size, int64_t *records, bool *is_record)
{
    int ndims, unlimited, err;
    PNC_TRY(ncmpi_inq_var(ncid, varid, NULL, type, &ndims, NULL, NULL));
    PNC_TRY(ncmpi_inq_unlimdim(ncid, &unlimited));
    int *dimids = pnc_memory_alloc(ndims, sizeof *dimids);
    if (dimids == NULL)
        return NC_ENOMEM;
    err = ncmpi_inq_vardimid(ncid, varid, dimids);
    *is_record = err == NC_NOERR && ndims > 0 && unlimited >= 0 && dimids[0] == unlimited;
    *size = (int64_t)pnc_type_get_size(*type);
    *records = 1;
    for (int d = 0; d < ndims && err == NC_NOERR; d++) {
        MPI_Offset length = 0;
        err = ncmpi_inq_dimlen(ncid, dimids[d], &length);
        if (d == 0 && *is_record)
            *records = length;
        else
            *size *= length; /* no overflow: open checks the size of each variable */
    }
    pnc_memory_free(dimids);
    return err;
}

/* With this hint a get of values beyond the end of the file is an error. */
static bool is_short_file_an_error(int ncid)
{
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int has_value = 0;
    MPI_Info info;
    if (ncmpi_inq_file_info(ncid, &info) != NC_NOERR)
        return false;
    MPI_Info_get(info, "nc_short_file", MPI_MAX_INFO_VAL, value, &has_value);
    MPI_Info_free(&info);
    return has_value && strcmp(value, "error") == 0;
}

int tool_var_count_present(int ncid, int varid, int64_t file_size, int64_t *elements)
{
    MPI_Offset begin, step;
    int64_t size, records, bytes, type_size;
    nc_type type;
    bool is_record;
    PNC_TRY(get_size(ncid, varid, &type, &size, &records, &is_record));
    type_size = (int64_t)pnc_type_get_size(type); /* 0 of strings, and of types whose values are not read */
    if (file_size == INT64_MAX || is_short_file_an_error(ncid)) {
        *elements = type_size > 0 ? size / type_size * records : INT64_MAX;
        return NC_NOERR;
    }
    PNC_TRY(ncmpi_inq_varoffset(ncid, varid, &begin));
    PNC_TRY(ncmpi_inq_recsize(ncid, &step));
    bytes = pnc_format_data_count_present(begin, size, records, is_record ? step : 0, file_size);
    *elements = bytes / (int64_t)pnc_type_get_size(type) + (bytes % (int64_t)pnc_type_get_size(type) > 0);
    return NC_NOERR;
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
