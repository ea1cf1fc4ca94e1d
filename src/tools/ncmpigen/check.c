/* Only check the text; and functions shared by all kinds of output. */
#include "config.h" /* system extensions */

#include <string.h>

#include "base/memory.h"
#include "base/types.h"
#include "tools/ncmpigen/gen.h"

int64_t gen_var_count_elements(const pnc_var *var)
{
    return var->size / (int64_t)pnc_type_get_size(var->type);
}

/* The name of a dataset must not contain a folder. */
char *gen_path_make(const gen_options *options, const char *name, const char *extension, pnc_error *error)
{
    const char *base = options->output != NULL ? options->output : name;
    size_t length = strlen(base);
    if (options->output == NULL) {
        while (length > 0 && strchr(" \t\r\n", base[length - 1]) != NULL)
            length--;
        size_t blank = strspn(base, " \t\r\n");
        base += blank < length ? blank : length;
        length -= blank < length ? blank : length;
        if (length == 0 || memchr(base, '/', length) != NULL) {
            pnc_error_set(error, NC_EBADNAME,
                          "the dataset's name \"%.*s\" cannot be the name of a file: choose a name by -o", (int)length,
                          base);
            return NULL;
        }
    } else {
        extension = "";
    }
    char *path = pnc_memory_alloc((int64_t)(length + strlen(extension)) + 1, 1);
    if (path == NULL) {
        pnc_error_set(error, NC_ENOMEM, "not enough memory");
        return NULL;
    }
    memcpy(path, base, length);
    strcpy(path + length, extension);
    return path;
}

/* The input, standard input too, is refused as output. Programs replace no file without -O. */
static tool_output_request make_request(const gen_options *options, const char *path, const char **input)
{
    *input = options->input != NULL ? options->input : "/dev/stdin";
    return (tool_output_request){.path = path,
                                 .inputs = input,
                                 .ninputs = 1,
                                 .overwrite = options->overwrite,
                                 .streams = !options->binary,
                                 .is_kind = options->binary ? tool_netcdf_is_head : NULL,
                                 .kind = "a netCDF file",
                                 .option = "-O"};
}

int gen_output_check(const gen_options *options, pnc_error *error)
{
    const char *input;
    const tool_output_request request = make_request(options, options->output, &input);
    return tool_output_check(&request, error);
}

int gen_output_begin(const gen_options *options, const char *path, tool_output *output, pnc_error *error)
{
    const char *input;
    const tool_output_request request = make_request(options, path, &input);
    return tool_output_begin(&request, output, error);
}

static int begin(const gen_options *options, pnc_cdl_sink *sink, pnc_error *error)
{
    (void)options, (void)error;
    *sink = (pnc_cdl_sink){0};
    return NC_NOERR;
}

static int finish(void *with, const pnc_model *model, pnc_error *error)
{
    (void)with, (void)model, (void)error;
    return NC_NOERR;
}

static void discard(void *with)
{
    (void)with;
}

const gen_kind gen_check = {begin, finish, discard};
