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

/* Warnings of one format: how many, and the last one. */
typedef struct warning_kind {
    const char *format;
    int64_t n;
    char last[2048];
} warning_kind;
enum { WARNING_KINDS = 16 };
static warning_kind warnings[WARNING_KINDS];
static int nwarnings;

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

static void print_line(char *text)
{
    pnc_text_make_plain(text);
    tool_progress_wipe();
    fflush(stdout);
    fprintf(stderr, "%s: %s\n", tool, text);
}

void tool_error_print(const char *format, ...)
{
    char text[2048];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    print_line(text);
}

/* The kind of this format, which may be a new one. */
static warning_kind *find_kind(const char *format)
{
    for (int i = 0; i < nwarnings; i++)
        if (strcmp(warnings[i].format, format) == 0)
            return &warnings[i];
    if (nwarnings == WARNING_KINDS)
        tool_warnings_finish();
    warnings[nwarnings] = (warning_kind){.format = format};
    return &warnings[nwarnings++];
}

void tool_warning_print(const char *format, ...)
{
    warning_kind *kind = find_kind(format);
    va_list args;

    va_start(args, format);
    vsnprintf(kind->last, sizeof kind->last, format, args);
    va_end(args);
    if (kind->n++ < TOOL_WARNINGS_SHOWN)
        print_line(kind->last);
}

/* The reader knows which warnings "like it" are if there is one kind; else the last of each kind says so. */
void tool_warnings_finish(void)
{
    int n = nwarnings;

    nwarnings = 0;
    for (int i = 0; i < n; i++) {
        long long left = warnings[i].n - TOOL_WARNINGS_SHOWN;

        if (left > 0 && n == 1)
            tool_error_print("warning: and %lld more like it", left);
        else if (left > 0)
            tool_error_print("warning: and %lld more like it, the last: %s", left, warnings[i].last);
    }
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
