/* cdfdiff: compare two files in one process, without MPI. */
#include <string.h>

#include "base/memory.h"
#include "base/types.h"
#include "format/storage.h"
#include "tools/common/file.h"
#include "tools/common/message.h"
#include "tools/diff/checksum.h"
#include "tools/diff/diff.h"

static int load_atts(const pnc_atts *from, diff_atts *atts)
{
    PNC_TRY(diff_atts_alloc(atts, from->n));
    for (int i = 0; i < from->n; i++) {
        const pnc_att *att = from->at[i];
        PNC_TRY(diff_att_alloc(&atts->at[i], att->name, att->type, att->len));
        tool_att_load(att, atts->at[i].values);
        if (att->strings.lengths == NULL)
            continue;
        PNC_TRY(diff_att_alloc_lengths(&atts->at[i], att->strings.n));
        for (int64_t k = 0; k < att->strings.n; k++)
            atts->at[i].lengths[k] = att->strings.lengths[k];
    }
    return NC_NOERR;
}

static int64_t count_present(const tool_file *file, const pnc_var *var)
{
    int64_t size = (int64_t)pnc_type_get_size(var->type), bytes;
    if (file->reader != NULL)
        return INT64_MAX;
    bytes = pnc_format_var_count_present(&file->model, var, file->size);
    return bytes / size + (bytes % size > 0);
}

static int load_storage(const tool_file *file, const pnc_var *from, diff_var *var)
{
    const pnc_storage *s = from->storage;
    if (file->reader == NULL || s == NULL)
        return NC_NOERR;
    const diff_storage storage = {.layout = s->layout,
                                  .ndims = from->ndims,
                                  .endian = s->endian,
                                  .nfilters = s->nfilters,
                                  .chunks = s->layout == NC_CHUNKED ? s->chunks : NULL,
                                  .filters = s->filters};
    var->storage = diff_storage_describe(&storage);
    return var->storage != NULL ? NC_NOERR : NC_ENOMEM;
}

static int load_var(const tool_file *file, const pnc_var *from, diff_var *var)
{
    PNC_TRY(diff_var_alloc(var, from->name, from->type, from->ndims));
    var->present = count_present(file, from);
    PNC_TRY(load_storage(file, from, var));
    if (from->ndims > 0)
        memcpy(var->dimids, from->dimids, (size_t)from->ndims * sizeof *var->dimids);
    return load_atts(&from->atts, &var->atts);
}

static int load_dim(const pnc_model *model, int dimid, diff_dim *dim)
{
    dim->name = pnc_string_copy(model->dims[dimid]->name);
    dim->length = pnc_format_dim_get_length(model, dimid);
    return dim->name != NULL ? NC_NOERR : NC_ENOMEM;
}

static int load(const tool_file *file, diff_source *source)
{
    const pnc_model *model = &file->model;
    source->format = model->format; /* also the number after -k */
    PNC_TRY(diff_source_alloc(source, model->ndims, model->nvars));
    for (int i = 0; i < model->ndims; i++)
        PNC_TRY(load_dim(model, i, &source->dims[i]));
    for (int i = 0; i < model->nvars; i++)
        PNC_TRY(load_var(file, model->vars[i], &source->vars[i]));
    PNC_TRY(load_atts(&model->gatts, &source->atts));
    return diff_source_finish(source);
}

static int read_block(const diff_source *source, int varid, const int64_t *start, const int64_t *count, int64_t length,
                      void *values)
{
    const tool_file *file = source->handle;
    return length == 0 ? NC_NOERR : tool_file_read_block(file, file->model.vars[varid], start, count, true, values);
}

static int read_strings(const diff_source *source, int varid, const int64_t *start, const int64_t *count,
                        int64_t length, pnc_reader_strings *strings)
{
    const tool_file *file = source->handle;
    return length == 0 ? NC_NOERR : tool_file_read_strings(file, file->model.vars[varid], start, count, strings);
}

static int open_file(const char *path, tool_file *file, diff_source *source)
{
    *source = (diff_source){.path = path, .read = read_block, .read_strings = read_strings, .handle = file};
    PNC_TRY(tool_file_open(path, file));
    int err = load(file, source);
    if (err != NC_NOERR)
        tool_error_print("%s: %s", path, pnc_error_get_text(err));
    else
        (void)tool_file_report_short(file, false);
    return err;
}

static int compare(const diff_options *options)
{
    static const diff_world one_process = {.rank = 0, .nprocs = 1};
    tool_file files[2] = {{.fd = -1}, {.fd = -1}};
    diff_source sources[2] = {{0}};
    int status = DIFF_TROUBLE;
    if (options->checksum)
        return diff_checksums_compare(options, &one_process);
    if (open_file(options->paths[0], &files[0], &sources[0]) == NC_NOERR &&
        open_file(options->paths[1], &files[1], &sources[1]) == NC_NOERR)
        status = diff_files_compare(options, &one_process, &sources[0], &sources[1]);
    for (int i = 0; i < 2; i++) {
        diff_source_free(&sources[i]);
        tool_file_close(&files[i]);
    }
    return status;
}

int main(int argc, char **argv)
{
    diff_options options;
    tool_program_start("cdfdiff", argv);
    int status = diff_options_parse("cdfdiff", argc, argv, &options);
    if (status < 0)
        status = compare(&options);
    diff_options_free(&options);
    return tool_program_end(status);
}
