/* The command line of ncmpilog. */
#include "tools/ncmpilog/options.h"

#include <getopt.h>
#include <stdio.h>

#include "tools/common/message.h"

enum { OPTION_VERSION = 1, OPTION_REPLAY, OPTION_PARTIAL, OPTION_DEAD, OPTION_SAME, OPTION_ANY };

static const char usage[] =
    "usage: ncmpilog file...\n"
    "       ncmpilog --replay=folder [--partial] [--assume-dead] [--assume-same] [--any-owner] file\n";

static const char help[] =
    "What the logs of a burst buffer (hint nc_burst_buf) have after a program has died, and writing it to the file.\n"
    "Without options each file is a netCDF file, the mark of one (FILE.burst), or a log.\n"
    "Exit status: 0 nothing waits in logs, or all was written; 1 an error; 2 values wait in logs, or some are missing\n"
    "\n"
    "      --replay=folder  write what the logs in this folder have to the file, then delete them and the mark; under\n"
    "                       mpiexec, each process uses the logs that the folder has on its node\n"
    "      --partial        also if logs are missing or damaged: the values of their ranks are lost\n"
    "      --assume-dead    the program has ended, where its locks do not show whether it has\n"
    "      --assume-same    the file is that of the logs, though it is another one, or its header or time differs\n"
    "      --any-owner      also logs of other users\n"
    "  -h, --help\n"
    "      --version\n";

static int reject_usage(const char *text)
{
    tool_error_print("%s", text);
    fputs(usage, stderr);
    return LOG_FAILED;
}

static int parse_option(int letter, log_options *out)
{
    switch (letter) {
    case OPTION_REPLAY: out->folder = optarg; return -1;
    case OPTION_PARTIAL: out->partial = true; return -1;
    case OPTION_DEAD: out->assumes_dead = true; return -1;
    case OPTION_SAME: out->assumes_same = true; return -1;
    case OPTION_ANY: out->takes_any = true; return -1;
    case 'h': printf("%s%s", usage, help); return LOG_DONE;
    case OPTION_VERSION: tool_version_print(); return LOG_DONE;
    default: fprintf(stderr, "%sTry `ncmpilog --help'.\n", usage); return LOG_FAILED; /* getopt has printed the error */
    }
}

int log_options_parse(int argc, char **argv, void *options)
{
    static const struct option longs[] = {{"help", no_argument, NULL, 'h'},
                                          {"assume-dead", no_argument, NULL, OPTION_DEAD},
                                          {"assume-same", no_argument, NULL, OPTION_SAME},
                                          {"any-owner", no_argument, NULL, OPTION_ANY},
                                          {"version", no_argument, NULL, OPTION_VERSION},
                                          {"replay", required_argument, NULL, OPTION_REPLAY},
                                          {"partial", no_argument, NULL, OPTION_PARTIAL},
                                          {0}};
    log_options *out = options;
    int letter, status;

    *out = (log_options){.folder = NULL};
    while ((letter = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
        status = parse_option(letter, out);
        if (status >= 0)
            return status;
    }
    if (optind == argc)
        return reject_usage("no file is given");
    if (out->folder == NULL && (out->partial || out->assumes_dead || out->assumes_same || out->takes_any))
        return reject_usage("--partial, --assume-dead, --assume-same and --any-owner need --replay");
    if (out->folder != NULL && argc - optind > 1)
        return reject_usage("--replay needs a single file");
    out->paths = argv + optind;
    out->npaths = argc - optind;
    return -1;
}
