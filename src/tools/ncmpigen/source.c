/* The output of generated programs. */
#include "config.h" /* system extensions */

#include "tools/ncmpigen/source.h"

#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "base/types.h"

int gen_source_open(gen_source *source, const pnc_model *model, const char *name, pnc_error *error)
{
    const gen_options *options = source->options;
    const gen_options unnamed = {.output = NULL};
    if (model->format == NC_FORMAT_NETCDF4 || model->format == NC_FORMAT_NETCDF4_CLASSIC)
        return pnc_error_set(error, NC_ENOTSUPPORT,
                             "the text is of a netCDF-4 file: -c and -f write programs for the classic formats: choose "
                             "one of them by -k");
    source->model = model;
    source->path = gen_path_make(&unnamed, name, options->cdf ? ".cdf" : ".nc", error);
    if (source->path == NULL)
        return error->code;
    source->counts = pnc_memory_alloc_zeroed((int64_t)model->nvars + 1, sizeof *source->counts);
    if (source->counts == NULL)
        return pnc_error_set(error, NC_ENOMEM, "not enough memory");
    source->out = stdout;
    if (options->output == NULL || tool_path_is_stdout(options->output))
        return NC_NOERR;
    PNC_TRY(gen_output_begin(options, options->output, &source->output, error));
    source->out = fopen(source->output.temporary, "w");
    if (source->out == NULL)
        return pnc_error_set(error, NC_EFILE, "%s: cannot be written: %s", options->output, strerror(errno));
    return NC_NOERR;
}

int gen_source_check(const gen_source *source, pnc_error *error)
{
    errno = 0;
    if (fflush(source->out) == 0 && !ferror(source->out))
        return NC_NOERR;
    return pnc_error_set(error, NC_EWRITE, "%s: cannot be written: %s",
                         source->out == stdout ? "standard output" : source->options->output,
                         errno ? strerror(errno) : "write error");
}

static void free_all(gen_source *source)
{
    if (source->out != NULL && source->out != stdout)
        fclose(source->out);
    pnc_memory_free(source->counts);
    pnc_memory_free(source->path);
}

int gen_source_commit(gen_source *source, pnc_error *error)
{
    PNC_TRY(gen_source_check(source, error));
    if (source->output.temporary != NULL)
        PNC_TRY(tool_output_commit(&source->output, error));
    free_all(source);
    return NC_NOERR;
}

void gen_source_discard(gen_source *source)
{
    tool_output_discard(&source->output);
    free_all(source);
}

gen_value gen_value_load(int type, const void *bytes)
{
    const unsigned char *from = bytes;
    size_t size = pnc_type_get_size(type);
    gen_value value = {0};
    float single;
    for (size_t i = 0; i < size; i++)
        value.bits = value.bits << 8 | from[i];
    value.i = (int64_t)value.bits;
    if (type == NC_FLOAT) {
        uint32_t bits = (uint32_t)value.bits;
        memcpy(&single, &bits, sizeof single);
        value.r = (double)single;
    } else if (type == NC_DOUBLE) {
        memcpy(&value.r, &value.bits, sizeof value.r);
    } else if (type <= NC_INT && size < 8 && value.bits >> (8 * size - 1)) {
        value.i -= (int64_t)1 << 8 * size; /* extend the sign of byte, char, short and int */
    }
    return value;
}
