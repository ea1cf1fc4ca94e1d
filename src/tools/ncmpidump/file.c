/* Open a file, load the parts of its header, and print errors. */
#include "tools/ncmpidump/dump.h"

#include <stdlib.h>

#include "tools/common/message.h"
#include "tools/common/parallel.h"
#include "tools/common/text.h"

int dump_error_print(const dump_file *file, int code, const char *what)
{
    if (file->team->rank == 0 && code == NC_ENOMEM && what != NULL)
        tool_error_print("%s: %s: %s", file->options->path, what, ncmpi_strerror(code));
    else if (file->team->rank == 0)
        tool_error_print_last(file->options->path, code); /* the library's message names the byte or the index */
    return code;
}

static int open_failed(const dump_file *file, int code)
{
    if (code != NC_ENOTBUILT)
        return dump_error_print(file, code, NULL);
    if (file->team->rank == 0)
        tool_error_print("%s: this is HDF5 (netCDF-4); ncmpidump reads CDF-1, CDF-2 and CDF-5", file->options->path);
    return code;
}

static int load_dimensions(dump_file *file)
{
    file->dimensions = calloc((size_t)file->ndims + 1, sizeof *file->dimensions);
    if (file->dimensions == NULL)
        return NC_ENOMEM;
    for (int i = 0; i < file->ndims; i++) {
        char name[NC_MAX_NAME + 1];
        PNC_TRY(ncmpi_inq_dim(file->ncid, i, name, &file->dimensions[i].length));
        file->dimensions[i].name = tool_cdl_name_escape(name);
        if (file->dimensions[i].name == NULL)
            return NC_ENOMEM;
    }
    return NC_NOERR;
}

/* Ranks other than 0 write to memory. */
static int open_output(dump_file *file)
{
    file->out = file->team->rank == 0 ? stdout : open_memstream(&file->team->text, &file->team->size);
    return file->out != NULL ? NC_NOERR : NC_ENOMEM;
}

static void close_output(dump_file *file)
{
    if (file->out != NULL && file->out != stdout)
        fclose(file->out);
    free(file->team->text);
}

static int load_header(dump_file *file)
{
    PNC_TRY(open_output(file));
    PNC_TRY(ncmpi_inq(file->ncid, &file->ndims, &file->nvars, &file->natts, &file->unlimited));
    PNC_TRY(ncmpi_inq_format(file->ncid, &file->format));
    return load_dimensions(file);
}

int dump_file_open(const dump_options *options, dump_team *team, dump_file *file)
{
    *file = (dump_file){.options = options, .team = team, .ncid = -1};
    int err = ncmpi_open(MPI_COMM_WORLD, options->path, NC_NOWRITE, MPI_INFO_NULL, &file->ncid);
    if (err != NC_NOERR) {
        file->ncid = -1;
        return open_failed(file, err);
    }
    err = ncmpi_begin_indep_data(file->ncid); /* collective: called before a step that can fail on one rank only */
    if (err == NC_NOERR)
        err = load_header(file);
    return err == NC_NOERR ? err : dump_error_print(file, err, NULL);
}

void dump_file_close(dump_file *file)
{
    close_output(file);
    for (int i = 0; file->dimensions != NULL && i < file->ndims; i++)
        free(file->dimensions[i].name);
    free(file->dimensions);
    if (file->ncid >= 0)
        ncmpi_close(file->ncid); /* opened for reading: an error of close loses no data */
}

static int load_variable(const dump_file *file, dump_variable *variable)
{
    nc_type type;
    PNC_TRY(ncmpi_inq_varndims(file->ncid, variable->id, &variable->ndims));
    variable->dimids = malloc(((size_t)variable->ndims + 1) * sizeof *variable->dimids);
    if (variable->dimids == NULL)
        return NC_ENOMEM;
    PNC_TRY(ncmpi_inq_var(file->ncid, variable->id, variable->name, &type, NULL, variable->dimids, &variable->natts));
    variable->type = tool_cdl_type_find(type);
    if (variable->type == NULL)
        return NC_EBADTYPE;
    variable->escaped = tool_cdl_name_escape(variable->name);
    return variable->escaped != NULL ? NC_NOERR : NC_ENOMEM;
}

int dump_variable_load(const dump_file *file, int varid, dump_variable *variable)
{
    *variable = (dump_variable){.id = varid};
    int err = load_variable(file, variable);
    return err == NC_NOERR ? err : dump_error_print(file, err, *variable->name ? variable->name : NULL);
}

void dump_variable_free(dump_variable *variable)
{
    free(variable->escaped);
    free(variable->dimids);
}

int dump_attribute_load(const dump_file *file, int varid, const char *name, const cdl_type **type, size_t *length,
                        void **values)
{
    nc_type code;
    MPI_Offset count = 0;
    void *read = NULL;
    const cdl_type *found = NULL;
    int err = ncmpi_inq_att(file->ncid, varid, name, &code, &count);
    if (err == NC_NOERR) {
        found = tool_cdl_type_find(code);
        err = found != NULL ? NC_NOERR : NC_EBADTYPE;
    }
    if (err == NC_NOERR) {
        read = malloc((size_t)count * found->size + 1);
        err = read != NULL ? NC_NOERR : NC_ENOMEM;
    }
    if (err == NC_NOERR && count > 0)
        err = ncmpi_get_att(file->ncid, varid, name, read);
    if (err != NC_NOERR) {
        free(read);
        return dump_error_print(file, err, name);
    }
    *type = found;
    *length = (size_t)count;
    *values = read;
    return NC_NOERR;
}

void dump_format_choose(const dump_file *file, const cdl_type *type, cdl_format *format)
{
    const dump_options *options = file->options;
    tool_cdl_format_set_default(type, type->code == NC_FLOAT ? options->float_digits : options->double_digits, format);
}
