/* ncmpidiff: compare two files on several ranks, with the public interface of the library. */
#include <string.h>

#include "base/memory.h"
#include "format/storage.h"
#include "tools/common/message.h"
#include "tools/common/parallel.h"
#include "tools/diff/checksum.h"
#include "tools/diff/diff.h"

/* --- a file --- */

typedef struct api_file {
    int ncid, rank;
    MPI_Offset *start, *count; /* of a block: capacity for the variable with most dimensions */
} api_file;

static int load_lengths(int ncid, int varid, const char *name, MPI_Offset n, diff_att *att)
{
    PNC_TRY(diff_att_alloc_lengths(att, n));
    char **strings = pnc_memory_alloc_zeroed(n, sizeof *strings);
    int err = strings != NULL ? ncmpi_get_att_string(ncid, varid, name, strings) : NC_ENOMEM;
    for (MPI_Offset i = 0; err == NC_NOERR && i < n; i++)
        att->lengths[i] = strings[i] != NULL ? (int64_t)strlen(strings[i]) : -1;
    if (strings != NULL)
        ncmpi_free_string(n, strings);
    pnc_memory_free(strings);
    return err;
}

static int load_att(int ncid, int varid, int index, diff_att *att)
{
    char name[NC_MAX_NAME + 1];
    nc_type type;
    MPI_Offset length;
    PNC_TRY(ncmpi_inq_attname(ncid, varid, index, name));
    PNC_TRY(ncmpi_inq_att(ncid, varid, name, &type, &length));
    PNC_TRY(diff_att_alloc(att, name, type, length));
    if (length > 0)
        PNC_TRY(ncmpi_get_att(ncid, varid, name, att->values));
    PNC_TRY(ncmpi_inq_att_string(ncid, varid, name, &length));
    return length >= 0 ? load_lengths(ncid, varid, name, length, att) : NC_NOERR;
}

static int load_atts(int ncid, int varid, int n, diff_atts *atts)
{
    PNC_TRY(diff_atts_alloc(atts, n));
    for (int i = 0; i < n; i++)
        PNC_TRY(load_att(ncid, varid, i, &atts->at[i]));
    return NC_NOERR;
}

static int load_dim(int ncid, int dimid, diff_dim *dim)
{
    char name[NC_MAX_NAME + 1];
    MPI_Offset length;
    PNC_TRY(ncmpi_inq_dim(ncid, dimid, name, &length));
    dim->name = pnc_string_copy(name);
    dim->length = length;
    return dim->name != NULL ? NC_NOERR : NC_ENOMEM;
}

enum { PARAMETERS_MOST = 64 }; /* of a filter that this library reads */

static int load_filters(int ncid, int varid, int n, pnc_filter *filters, unsigned (*parameters)[PARAMETERS_MOST])
{
    unsigned ids[PNC_FILTER_MOST];
    MPI_Offset count = 0;
    PNC_TRY(ncmpi_inq_var_filter_ids(ncid, varid, &count, ids));
    for (int i = 0; i < n; i++) {
        PNC_TRY(ncmpi_inq_var_filter_info(ncid, varid, ids[i], &count, NULL));
        if (count > PARAMETERS_MOST)
            return NC_EFILTER;
        PNC_TRY(ncmpi_inq_var_filter_info(ncid, varid, ids[i], &count, parameters[i]));
        filters[i] = (pnc_filter){.id = (int)ids[i], .nparameters = (int)count, .parameters = parameters[i]};
    }
    return NC_NOERR;
}

static int load_storage(int ncid, int varid, diff_var *var)
{
    unsigned parameters[PNC_FILTER_MOST][PARAMETERS_MOST];
    pnc_filter filters[PNC_FILTER_MOST];
    MPI_Offset sizes[PNC_STORAGE_DIMS_MOST];
    int64_t chunks[PNC_STORAGE_DIMS_MOST];
    diff_storage storage = {.ndims = var->ndims, .filters = filters};
    MPI_Offset n = 0;
    if (ncmpi_inq_var_chunking(ncid, varid, &storage.layout, sizes) != NC_NOERR)
        return NC_NOERR;
    PNC_TRY(ncmpi_inq_var_endian(ncid, varid, &storage.endian));
    PNC_TRY(ncmpi_inq_var_filter_ids(ncid, varid, &n, NULL));
    storage.nfilters = (int)n;
    PNC_TRY(load_filters(ncid, varid, storage.nfilters, filters, parameters));
    for (int d = 0; d < var->ndims; d++)
        chunks[d] = sizes[d];
    storage.chunks = storage.layout == NC_CHUNKED ? chunks : NULL;
    var->storage = diff_storage_describe(&storage);
    return var->storage != NULL ? NC_NOERR : NC_ENOMEM;
}

static int load_var(int ncid, int varid, int64_t file_size, bool is_netcdf4, diff_var *var)
{
    char name[NC_MAX_NAME + 1];
    nc_type type;
    int ndims, natts;
    PNC_TRY(ncmpi_inq_var(ncid, varid, name, &type, &ndims, NULL, &natts));
    PNC_TRY(diff_var_alloc(var, name, type, ndims));
    PNC_TRY(ncmpi_inq_vardimid(ncid, varid, var->dimids));
    PNC_TRY(tool_var_count_present(ncid, varid, file_size, &var->present));
    if (is_netcdf4)
        PNC_TRY(load_storage(ncid, varid, var));
    return load_atts(ncid, varid, natts, &var->atts);
}

/* The number of elements to read: the count of a scalar cannot be 0. All ranks read it, and one of them compares it. */
static int64_t set_block(const api_file *file, int ndims, const int64_t *start, const int64_t *count, int64_t length)
{
    for (int i = 0; i < ndims; i++) {
        file->start[i] = start[i];
        file->count[i] = count[i];
    }
    return ndims > 0 ? length : 1;
}

static int read_block(const diff_source *source, int varid, const int64_t *start, const int64_t *count, int64_t length,
                      void *values)
{
    const api_file *file = source->handle;
    const diff_var *var = &source->vars[varid];
    length = set_block(file, var->ndims, start, count, length);
    int err =
        ncmpi_get_vara_all(file->ncid, varid, file->start, file->count, values, length, tool_type_get_mpi(var->type));
    if (err != NC_NOERR && file->rank == 0)
        tool_error_print_last(source->path, err);
    return err;
}

/* Without memory, the call fails on all ranks. */
static int read_strings(const diff_source *source, int varid, const int64_t *start, const int64_t *count,
                        int64_t length, pnc_reader_strings *strings)
{
    const api_file *file = source->handle;
    length = set_block(file, source->vars[varid].ndims, start, count, length);
    strings->at = pnc_memory_alloc_zeroed(length, sizeof *strings->at);
    strings->n = strings->at != NULL ? length : 0;
    int err = ncmpi_get_vara_string_all(file->ncid, varid, file->start, file->count, strings->at);
    if (err != NC_NOERR && file->rank == 0)
        tool_error_print_last(source->path, err);
    return err;
}

static int alloc_block_arguments(const diff_source *source, api_file *file)
{
    int most = 1;
    for (int i = 0; i < source->nvars; i++)
        most = source->vars[i].ndims > most ? source->vars[i].ndims : most;
    file->start = pnc_memory_alloc(2 * (int64_t)most, sizeof *file->start);
    file->count = file->start != NULL ? file->start + most : NULL;
    return file->start != NULL ? NC_NOERR : NC_ENOMEM;
}

static int load(api_file *file, int64_t file_size, diff_source *source)
{
    int ndims, nvars, natts, format, ncid = file->ncid;
    PNC_TRY(ncmpi_inq(ncid, &ndims, &nvars, &natts, NULL));
    PNC_TRY(ncmpi_inq_format(ncid, &format));
    source->format = tool_format_get_version(format);
    source->read = read_block;
    source->read_strings = read_strings;
    source->handle = file;
    PNC_TRY(diff_source_alloc(source, ndims, nvars));
    for (int i = 0; i < ndims; i++)
        PNC_TRY(load_dim(ncid, i, &source->dims[i]));
    for (int i = 0; i < nvars; i++)
        PNC_TRY(load_var(ncid, i, file_size, source->format == 3 || source->format == 4, &source->vars[i]));
    PNC_TRY(load_atts(ncid, NC_GLOBAL, natts, &source->atts));
    PNC_TRY(alloc_block_arguments(source, file));
    return diff_source_finish(source);
}

/* Returns the same on all ranks. */
static int open_file(const char *path, int rank, api_file *file, diff_source *source)
{
    pnc_shortage_kind kind;
    *source = (diff_source){.path = path};
    *file = (api_file){.ncid = -1, .rank = rank};
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_groups", "all");
    int err = ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, info, &file->ncid);
    MPI_Info_free(&info);
    if (err != NC_NOERR) {
        file->ncid = -1;
        if (rank == 0)
            tool_error_print_last(path, err);
        return err;
    }
    err = load(file, tool_input_inspect(path, &kind), source);
    err = tool_status_agree(err);
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

static void combine(void *bytes, int n)
{
    MPI_Allreduce(MPI_IN_PLACE, bytes, n, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
}

static int compare_files(const diff_options *options, diff_world *world)
{
    diff_source sources[2] = {{0}};
    api_file files[2] = {{.ncid = -1}, {.ncid = -1}};
    int err = open_file(options->paths[0], world->rank, &files[0], &sources[0]);
    if (err == NC_NOERR)
        err = open_file(options->paths[1], world->rank, &files[1], &sources[1]);
    int status = DIFF_TROUBLE;
    if (err == NC_NOERR)
        status = diff_files_compare(options, world, &sources[0], &sources[1]);
    for (int i = 0; i < 2; i++)
        close_file(&files[i], &sources[i]);
    return status;
}

static int compare(const diff_options *options)
{
    diff_world world = {.merge = merge, .combine = combine};
    MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world.nprocs);
    MPI_Type_contiguous((int)sizeof(diff_result), MPI_BYTE, &result_type);
    MPI_Type_commit(&result_type);
    MPI_Op_create(merge_results, 1, &result_op);
    int status = options->checksum ? diff_checksums_compare(options, &world) : compare_files(options, &world);
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
    return tool_program_end(status);
}
