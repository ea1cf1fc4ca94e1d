/* Open a file, load the parts of its header, and print errors. */
#include "tools/ncmpidump/dump.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/types.h"
#include "tools/common/message.h"
#include "tools/common/text.h"
#include "tools/ncmpidump/team.h"

int dump_memory_report(const dump_file *file, const char *what)
{
    tool_error_print("%s: %s%snot enough memory", file->options->path, what != NULL ? what : "",
                     what != NULL ? ": " : "");
    return NC_ENOMEM;
}

static int load_dimensions(dump_file *file)
{
    file->dimensions = calloc((size_t)file->ndims + 1, sizeof *file->dimensions);
    if (file->dimensions == NULL)
        return NC_ENOMEM;
    for (int i = 0; i < file->ndims; i++) {
        file->dimensions[i].length = pnc_format_dim_get_length(&file->input.model, i);
        file->dimensions[i].unlimited = file->input.model.dims[i]->unlimited;
        file->dimensions[i].name = tool_cdl_name_escape(file->input.model.dims[i]->name);
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
    file->team->text = NULL;
}

static int load_header(dump_file *file)
{
    const pnc_model *model = &file->input.model;
    file->ndims = model->ndims;
    file->nvars = model->nvars;
    file->natts = model->gatts.n;
    file->unlimited = model->recdim;
    file->format = tool_file_has_objects(&file->input) ? DUMP_FORMAT_ZARR : model->format;
    PNC_TRY(open_output(file));
    return load_dimensions(file);
}

static int share_input(dump_file *file, char **header, int64_t *n)
{
    PNC_TRY(dump_team_share(file, header, n, &file->input.size));
    if (file->team->rank == 0)
        return NC_NOERR;
    return tool_file_open_copy(file->options->path, *header, *n, file->input.size, &file->input);
}

/* Rank 0 reads the header for all ranks: another program may extend the file meanwhile. Only rank 0 reports a file that
 * no rank can open. For -k the other ranks need no header: only rank 0 prints. */
static int open_input(dump_file *file)
{
    char *header = NULL;
    int64_t n = 0;
    int err = NC_NOERR;
    if (file->team->rank == 0) {
        err = tool_file_open_bytes(file->options->path, &file->input);
        if (err == NC_NOERR)
            err = tool_file_read_header(&file->input, NULL, &header, &n);
    }
    err = dump_team_agree(file, err);
    if (err == NC_NOERR && !file->options->kind)
        err = share_input(file, &header, &n);
    pnc_memory_free(header);
    return err;
}

/* Missing values are printed as zeros. */
static void warn_short(const dump_file *file)
{
    const dump_options *options = file->options;
    if (file->team->rank == 0 && !options->kind && !options->version)
        (void)tool_file_report_short(&file->input, options->header_only);
}

int dump_file_open(const dump_options *options, dump_team *team, dump_file *file)
{
    *file = (dump_file){.options = options, .team = team, .input = {.fd = -1}};
    int err = open_input(file);
    if (err != NC_NOERR)
        return err;
    if (load_header(file) != NC_NOERR)
        return dump_memory_report(file, NULL);
    warn_short(file);
    return NC_NOERR;
}

void dump_file_close(dump_file *file)
{
    close_output(file);
    for (int i = 0; file->dimensions != NULL && i < file->ndims; i++)
        free(file->dimensions[i].name);
    free(file->dimensions);
    tool_file_close(&file->input);
}

int dump_variable_load(const dump_file *file, int varid, dump_variable *variable)
{
    const pnc_var *var = file->input.model.vars[varid];
    *variable = (dump_variable){.id = varid,
                                .var = var,
                                .name = var->name,
                                .escaped = tool_cdl_name_escape(var->name),
                                .type = tool_cdl_type_find(var->type),
                                .ndims = var->ndims,
                                .natts = var->atts.n,
                                .dimids = var->dimids};
    if (var->type == NC_STRING)
        variable->fill_string = dump_attribute_find(file, varid, "_FillValue");
    return variable->escaped != NULL ? NC_NOERR : dump_memory_report(file, var->name);
}

bool dump_string_is_missing(const dump_variable *variable, const char *text)
{
    const pnc_att *fill = variable->fill_string;
    return text == NULL ||
           (fill != NULL && strlen(text) == (size_t)fill->len && memcmp(text, fill->value, (size_t)fill->len) == 0);
}

void dump_variable_free(dump_variable *variable)
{
    free(variable->escaped);
}

const pnc_att *dump_attribute_find(const dump_file *file, int varid, const char *name)
{
    const pnc_atts *atts = pnc_format_atts_get(&file->input.model, varid);
    int index = pnc_format_atts_find(atts, name);
    return index >= 0 ? atts->at[index] : NULL;
}

int dump_attribute_load(const dump_file *file, const pnc_att *att, void **values)
{
    void *read = malloc((size_t)att->len * pnc_type_get_size(att->type) + 1);
    if (read == NULL)
        return dump_memory_report(file, att->name);
    tool_att_load(att, read);
    *values = read;
    return NC_NOERR;
}

void dump_format_choose(const dump_file *file, const cdl_type *type, cdl_format *format)
{
    const dump_options *options = file->options;
    tool_cdl_format_set_default(type, type->code == NC_FLOAT ? options->float_digits : options->double_digits, format);
}
