/* ncmpidiff: compare two files on several ranks, with the public interface of the library. */
#include "base/memory.h"
#include "tools/common/message.h"
#include "tools/common/parallel.h"
#include "tools/diff/diff.h"

/* --- a file --- */

typedef struct api_file {
    int ncid, rank;
    MPI_Offset *start, *count; /* of a block: capacity for the variable with most dimensions */
} api_file;

static int load_att(int ncid, int varid, int index, diff_att *att)
{
    char name[NC_MAX_NAME + 1];
    nc_type type;
    MPI_Offset length;
    int err = ncmpi_inq_attname(ncid, varid, index, name);
    if (err == NC_NOERR)
        err = ncmpi_inq_att(ncid, varid, name, &type, &length);
    if (err == NC_NOERR)
        err = diff_att_alloc(att, name, type, length);
    if (err == NC_NOERR && length > 0)
        err = ncmpi_get_att(ncid, varid, name, att->values);
    return err;
}

static int load_atts(int ncid, int varid, int n, diff_atts *atts)
{
    int err = diff_atts_alloc(atts, n);
    for (int i = 0; err == NC_NOERR && i < n; i++)
        err = load_att(ncid, varid, i, &atts->at[i]);
    return err;
}

static int load_dim(int ncid, int dimid, diff_dim *dim)
{
    char name[NC_MAX_NAME + 1];
    MPI_Offset length;
    int err = ncmpi_inq_dim(ncid, dimid, name, &length);
    if (err != NC_NOERR)
        return err;
    dim->name = pnc_string_copy(name);
    dim->length = length;
    return dim->name ? NC_NOERR : NC_ENOMEM;
}

static int load_var(int ncid, int varid, diff_var *var)
{
    char name[NC_MAX_NAME + 1];
    nc_type type;
    int ndims, natts, err = ncmpi_inq_var(ncid, varid, name, &type, &ndims, NULL, &natts);
    if (err == NC_NOERR)
        err = diff_var_alloc(var, name, type, ndims);
    if (err == NC_NOERR)
        err = ncmpi_inq_vardimid(ncid, varid, var->dimids);
    if (err == NC_NOERR)
        err = load_atts(ncid, varid, natts, &var->atts);
    return err;
}

static int read_block(const diff_source *source, int varid, const int64_t *start, const int64_t *count, int64_t length,
                      void *values)
{
    const api_file *file = source->handle;
    const diff_var *var = &source->vars[varid];
    for (int i = 0; i < var->ndims; i++) {
        file->start[i] = start[i];
        file->count[i] = count[i];
    }
    if (var->ndims == 0)
        length = 1; /* a scalar has no count that could be 0: all ranks read it, and one of them compares */
    int err =
        ncmpi_get_vara_all(file->ncid, varid, file->start, file->count, values, length, tool_type_get_mpi(var->type));
    if (err != NC_NOERR && file->rank == 0)
        tool_error_print_last(source->path, err);
    return err;
}

static int make_place(const diff_source *source, api_file *file)
{
    int most = 1;
    for (int i = 0; i < source->nvars; i++)
        most = source->vars[i].ndims > most ? source->vars[i].ndims : most;
    file->start = pnc_memory_alloc(2 * (int64_t)most, sizeof *file->start);
    file->count = file->start ? file->start + most : NULL;
    return file->start ? NC_NOERR : NC_ENOMEM;
}

static int load(api_file *file, diff_source *source)
{
    int ndims, nvars, natts, format, ncid = file->ncid;
    int err = ncmpi_inq(ncid, &ndims, &nvars, &natts, NULL);
    if (err == NC_NOERR)
        err = ncmpi_inq_format(ncid, &format);
    if (err != NC_NOERR)
        return err;
    source->format = format == NC_FORMAT_CDF5 ? 5 : format == NC_FORMAT_CDF2 ? 2 : 1;
    source->read = read_block;
    source->handle = file;
    err = diff_source_alloc(source, ndims, nvars);
    for (int i = 0; err == NC_NOERR && i < ndims; i++)
        err = load_dim(ncid, i, &source->dims[i]);
    for (int i = 0; err == NC_NOERR && i < nvars; i++)
        err = load_var(ncid, i, &source->vars[i]);
    if (err == NC_NOERR)
        err = load_atts(ncid, NC_GLOBAL, natts, &source->atts);
    if (err == NC_NOERR)
        err = make_place(source, file);
    return err == NC_NOERR ? diff_source_finish(source) : err;
}

/* Returns the same on all ranks. */
static int open_file(const char *path, int rank, api_file *file, diff_source *source)
{
    *source = (diff_source){.path = path};
    *file = (api_file){.ncid = -1, .rank = rank};
    int err = ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file->ncid);
    if (err != NC_NOERR) {
        file->ncid = -1;
        if (rank == 0)
            tool_error_print_last(path, err);
        return err;
    }
    err = tool_status_agree(load(file, source));
    if (err != NC_NOERR && rank == 0)
        tool_error_print_last(path, err);
    return err;
}

static void close_file(api_file *file, diff_source *source)
{
    diff_source_free(source);
    pnc_memory_free(file->start);
    if (file->ncid >= 0)
        ncmpi_close(file->ncid); /* opened for reading: an error of close loses no data */
}

/* --- all ranks together --- */

static MPI_Datatype result_type;
static MPI_Op result_op;

static void merge_results(void *in, void *inout, int *n, MPI_Datatype *type)
{
    diff_result *results = inout;
    const diff_result *others = in;
    (void)type;
    for (int i = 0; i < *n; i++)
        diff_result_merge(&results[i], &others[i]);
}

static void merge(diff_result *result)
{
    MPI_Allreduce(MPI_IN_PLACE, result, 1, result_type, result_op, MPI_COMM_WORLD);
}

static int compare(const diff_options *options)
{
    diff_world world = {.merge = merge};
    diff_source sources[2] = {{0}};
    api_file files[2] = {{.ncid = -1}, {.ncid = -1}};
    int status = DIFF_TROUBLE;
    MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world.nprocs);
    MPI_Type_contiguous((int)sizeof(diff_result), MPI_BYTE, &result_type);
    MPI_Type_commit(&result_type);
    MPI_Op_create(merge_results, 1, &result_op);
    if (open_file(options->paths[0], world.rank, &files[0], &sources[0]) == NC_NOERR &&
        open_file(options->paths[1], world.rank, &files[1], &sources[1]) == NC_NOERR)
        status = diff_files_compare(options, &world, &sources[0], &sources[1]);
    for (int i = 0; i < 2; i++)
        close_file(&files[i], &sources[i]);
    MPI_Op_free(&result_op);
    MPI_Type_free(&result_type);
    return status;
}

static int parse(int argc, char **argv, void *options)
{
    return diff_options_parse("ncmpidiff", argc, argv, options);
}

int main(int argc, char **argv)
{
    diff_options options = {0};
    MPI_Init(&argc, &argv);
    tool_program_start("ncmpidiff", argv);
    int status = tool_options_parse(parse, argc, argv, &options);
    if (status < 0)
        status = compare(&options);
    diff_options_free(&options);
    MPI_Finalize();
    return status;
}
