/* Messages of the tools. */
#include "tools/common/message.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <pnetcdf.h>

#include "tools/common/progress.h"

static const char *tool = "pnetcdf";

void tool_program_start(const char *program, char **argv)
{
    static char buffer[1 << 16];
    static char name[64];

    tool = program;
    snprintf(name, sizeof name, "%s", program);
    argv[0] = name;                                 /* getopt prefixes its messages with it */
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer); /* MPICH's MPI_Init removes the buffer of stdout */
    signal(SIGPIPE, SIG_IGN);
}

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

void tool_text_print(const char *text)
{
    for (; *text != '\0'; text++)
        putchar(is_control(*text) ? '?' : *text);
}

void tool_error_print(const char *format, ...)
{
    char text[2048];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (char *c = text; *c != '\0'; c++)
        if (is_control(*c))
            *c = '?';
    tool_progress_wipe();
    fflush(stdout);
    fprintf(stderr, "%s: %s\n", tool, text);
}

int tool_output_flush(const char *path)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return NC_NOERR;
    tool_error_print("%s%scannot write the output: %s", path != NULL ? path : "", path != NULL ? ": " : "",
                     errno != 0 ? strerror(errno) : "write error");
    return NC_EWRITE;
}

void tool_version_print(void)
{
    printf("%s of PnetCDF %s (%s)\n", tool, PNETCDF_VERSION, PNETCDF_RELEASE_DATE);
}
