/* Messages of the tools. */
#include "tools/common/message.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <pnetcdf.h>

#include "base/text.h"
#include "tools/common/progress.h"

static const char *tool = "pnetcdf";
static struct {
    const char *format;
    int64_t n;
} warnings; /* the last ones, which have the same format */
void tool_program_start(const char *program, char **argv)
{
    static char buffer[1 << 16];
    static char name[64];

    tool = program;
    snprintf(name, sizeof name, "%s", program);
    argv[0] = name;                                 /* getopt prefixes its messages with it */
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer); /* MPICH's MPI_Init removes the buffer of stdout */
    signal(SIGPIPE, SIG_IGN);                       /* the write fails, and the tool ends in an orderly way */
}

void tool_text_write(FILE *out, const char *text)
{
    while (*text != '\0') {
        size_t n = pnc_text_count_plain(text);

        if (n == 0)
            putc('?', out);
        else
            fwrite(text, 1, n, out);
        text += n > 0 ? n : 1;
    }
}

void tool_text_print(const char *text)
{
    tool_text_write(stdout, text);
}

static void print_line(const char *format, va_list args)
{
    char text[2048];

    vsnprintf(text, sizeof text, format, args);
    pnc_text_make_plain(text);
    tool_progress_wipe();
    fflush(stdout);
    fprintf(stderr, "%s: %s\n", tool, text);
}

void tool_error_print(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print_line(format, args);
    va_end(args);
}

void tool_warning_print(const char *format, ...)
{
    va_list args;

    if (warnings.format != NULL && strcmp(warnings.format, format) != 0)
        tool_warnings_finish();
    warnings.format = format;
    if (warnings.n++ >= TOOL_WARNINGS_SHOWN)
        return;
    va_start(args, format);
    print_line(format, args);
    va_end(args);
}

void tool_warnings_finish(void)
{
    if (warnings.n > TOOL_WARNINGS_SHOWN)
        tool_error_print("warning: and %lld more like it", (long long)(warnings.n - TOOL_WARNINGS_SHOWN));
    warnings.format = NULL;
    warnings.n = 0;
}

int tool_output_flush(const char *path)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return NC_NOERR;
    if (!tool_pipe_is_closed())
        tool_error_print("%s%scannot write the output: %s", path != NULL ? path : "", path != NULL ? ": " : "",
                         errno != 0 ? strerror(errno) : "write error");
    return NC_EWRITE;
}

bool tool_pipe_is_closed(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

    return ferror(stdout) && poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

int tool_program_end(int status)
{
    if (status != 0 && tool_pipe_is_closed()) {
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    return status;
}

void tool_version_print(void)
{
    printf("%s of PnetCDF %s (%s)\n", tool, PNETCDF_VERSION, PNETCDF_RELEASE_DATE);
}
