/* The command line of ncvalidator. */
#include "tools/ncvalidator/options.h"

#include <getopt.h>
#include <stdio.h>

#include "tools/common/checksum.h"
#include "tools/common/message.h"

enum {
    OPTION_VERSION = 1,
    OPTION_JSON,
    OPTION_LENIENT,
    OPTION_STRICT,
    OPTION_CHECKSUM,
    OPTION_REPAIR,
    OPTION_IN_PLACE,
    OPTION_OUTPUT,
    OPTION_RAISE,
    OPTION_UNDO,
    OPTION_ASSUME_DEAD
};

static const char usage[] =
    "usage: ncvalidator [-q | -t] [--json] [--lenient] [--strict] [--checksum[=manifest]]\n"
    "                   [-x | --repair [repairs]] file...\n"
    "       ncvalidator [-q | -t] [--json] [--lenient] [--strict] --checksum=manifest\n"
    "repairs: [--in-place | --output=file] [--raise-records] [--undo-growth] [--assume-dead]\n";

static const char help[] =
    "Check netCDF files of the classic formats (CDF-1, CDF-2, CDF-5) against the rules of their format, and the\n"
    "metadata and chunks of netCDF-4 files.\n"
    "Exit status: 0 the file is valid, perhaps with warnings; 1 the file is not valid, its padding is not null, or it\n"
    "cannot be read; 2 it was repaired, but something is uncertain. Of several files: 1 if one has it, else 2, else 0\n"
    "\n"
    "  -q              print nothing\n"
    "  -t              print each field of the header with its offset in the file\n"
    "  -x              make padding bytes in the header null, in place\n"
    "      --json      print the report as JSON\n"
    "      --lenient   exit status 0 also where padding in the header is not null, which readers accept\n"
    "      --strict    exit status 1 also where data that the header describes are beyond the end of the file\n"
    "      --checksum[=manifest]  also compare values with the checksums of ncmpicopy --checksum; without files:\n"
    "                  of all files of the manifest\n"
    "      --repair    write a repaired copy, file.repaired, and report each change and whether it is certain\n"
    "      --output=X  the name of that copy\n"
    "      --in-place  repair the file itself instead\n"
    "      --raise-records  also count records that the file has after the counted ones\n"
    "      --undo-growth    also move data back that a writer seems to have moved before it was interrupted\n"
    "      --assume-dead    also if it is not known whether the program that changes the file still runs\n"
    "  -h, --help\n"
    "      --version\n";

static int reject_usage(const char *text)
{
    tool_error_print("%s", text);
    fputs(usage, stderr);
    return 1;
}

static int parse_option(int letter, options *out)
{
    switch (letter) {
    case 'q': out->quiet = true; return -1;
    case 't': out->trace = true; return -1;
    case 'x': out->padding = true; return -1;
    case OPTION_JSON: out->json = true; return -1;
    case OPTION_LENIENT: out->lenient = true; return -1;
    case OPTION_STRICT: out->strict = true; return -1;
    case OPTION_CHECKSUM:
        out->checksum = true;
        out->manifest = optarg;
        return tool_checksum_check() == NC_NOERR ? -1 : VALIDATOR_INVALID;
    case OPTION_REPAIR: out->repair = true; return -1;
    case OPTION_IN_PLACE: out->in_place = true; return -1;
    case OPTION_OUTPUT: out->output = optarg; return -1;
    case OPTION_RAISE: out->choice.raise_records = true; return -1;
    case OPTION_UNDO: out->choice.undo_growth = true; return -1;
    case OPTION_ASSUME_DEAD: out->choice.assumes_dead = true; return -1;
    case 'h': printf("%s%s", usage, help); return 0;
    case OPTION_VERSION: tool_version_print(); return 0;
    default: fprintf(stderr, "%sTry `ncvalidator --help'.\n", usage); return 1; /* getopt has printed the error */
    }
}

int validator_options_parse(int argc, char **argv, options *out)
{
    static const struct option longs[] = {{"help", no_argument, NULL, 'h'},
                                          {"version", no_argument, NULL, OPTION_VERSION},
                                          {"json", no_argument, NULL, OPTION_JSON},
                                          {"lenient", no_argument, NULL, OPTION_LENIENT},
                                          {"strict", no_argument, NULL, OPTION_STRICT},
                                          {"checksum", optional_argument, NULL, OPTION_CHECKSUM},
                                          {"repair", no_argument, NULL, OPTION_REPAIR},
                                          {"in-place", no_argument, NULL, OPTION_IN_PLACE},
                                          {"output", required_argument, NULL, OPTION_OUTPUT},
                                          {"raise-records", no_argument, NULL, OPTION_RAISE},
                                          {"undo-growth", no_argument, NULL, OPTION_UNDO},
                                          {"assume-dead", no_argument, NULL, OPTION_ASSUME_DEAD},
                                          {0}};
    int letter, status;

    *out = (options){.path = NULL};
    while ((letter = getopt_long(argc, argv, "qtxh", longs, NULL)) != -1) {
        status = parse_option(letter, out);
        if (status >= 0)
            return status;
    }
    if (optind == argc && (out->manifest == NULL || out->padding || out->repair))
        return reject_usage("no file is given");
    if (argc - optind > 1 && out->output != NULL)
        return reject_usage("--output needs a single file");
    if (out->padding && out->repair)
        return reject_usage("-x and --repair exclude each other: --repair includes -x");
    if ((out->in_place || out->output != NULL || out->choice.raise_records || out->choice.undo_growth ||
         out->choice.assumes_dead) &&
        !out->repair)
        return reject_usage("--in-place, --output, --raise-records, --undo-growth and --assume-dead need --repair");
    if (out->in_place && out->output != NULL)
        return reject_usage("--in-place and --output exclude each other");
    out->paths = argv + optind;
    out->npaths = argc - optind;
    return -1;
}
