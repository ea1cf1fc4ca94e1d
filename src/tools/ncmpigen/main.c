/* ncmpigen: CDL text to a netCDF file, or to a program that creates it. It encodes the file with src/format and runs
 * without MPI. */
#include "config.h" /* system extensions */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/common/message.h"
#include "tools/common/progress.h"
#include "tools/ncmpigen/gen.h"

typedef struct text_input {
    int file;
    const char *name;
    int64_t done;
    tool_progress progress;
} text_input;

static int64_t read_text(void *with, void *bytes, int64_t capacity, pnc_error *error)
{
    text_input *input = with;
    ssize_t n;
    do
        n = read(input->file, bytes, (size_t)capacity);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return pnc_error_set(error, NC_EREAD, "%s: cannot be read: %s", input->name, strerror(errno));
    input->done += n;
    tool_progress_update(&input->progress, input->done);
    return n;
}

static int open_text(const char *path, text_input *input, pnc_error *error)
{
    struct stat there;
    *input = (text_input){.file = STDIN_FILENO, .name = path != NULL ? path : "standard input"};
    if (path != NULL) {
        input->file = open(path, O_RDONLY);
        if (input->file < 0)
            return pnc_error_set(error, errno == ENOENT ? NC_ENOENT : NC_EREAD, "%s: cannot be opened: %s", path,
                                 strerror(errno));
    }
    if (fstat(input->file, &there) == 0 && S_ISREG(there.st_mode)) /* the size of other inputs is unknown */
        tool_progress_begin(stderr, input->name, there.st_size, &input->progress);
    return NC_NOERR;
}

static const gen_kind *choose_kind(const gen_options *options)
{
    if (options->binary)
        return &gen_binary;
    if (options->c)
        return &gen_c;
    return options->fortran ? &gen_fortran : &gen_check;
}

/* Read the text into the sink, and complete the output. */
static int convert(const pnc_cdl_source *source, const pnc_cdl_sink *sink, const gen_kind *kind, pnc_error *error)
{
    pnc_model model;
    int err = pnc_format_cdl_read(source, sink, &model, error);
    tool_progress_wipe();
    PNC_TRY(err);
    err = kind->finish(sink->with, &model, error);
    pnc_format_model_free(&model);
    return err;
}

static int generate(const gen_options *options, pnc_error *error)
{
    const gen_kind *kind = choose_kind(options);
    text_input input;
    pnc_cdl_sink sink;
    if (options->output != NULL && !tool_path_is_stdout(options->output))
        PNC_TRY(gen_output_check(options, error));
    PNC_TRY(open_text(options->input, &input, error));
    const pnc_cdl_source source = {.name = input.name, .format = options->format, .read = read_text, .with = &input};
    int err = kind->begin(options, &sink, error);
    if (err == NC_NOERR) {
        err = convert(&source, &sink, kind, error);
        if (err != NC_NOERR)
            kind->discard(sink.with);
    }
    if (options->input != NULL)
        close(input.file);
    return err;
}

int main(int argc, char **argv)
{
    gen_options options;
    pnc_error error = {0};
    tool_program_start("ncmpigen", argv);
    int status = gen_options_parse(argc, argv, &options);
    if (status >= 0)
        return tool_program_end(tool_output_flush(NULL) == NC_NOERR ? status : 1);
    if (generate(&options, &error) == NC_NOERR)
        return 0;
    if (!tool_pipe_is_closed())
        tool_error_print("%s", error.text);
    return tool_program_end(1);
}
