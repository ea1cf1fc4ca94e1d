/* The command line of ncoffsets. */
#include "tools/ncoffsets/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tools/common/message.h"

enum { OPTION_VERSION = 1, OPTION_ALIGN, OPTION_SVG, OPTION_JSON };

static const char usage[] =
    "usage: ncoffsets [-sgrd] [-v var1,...] [--align=size] [--svg[=picture]] [-O] file\n"
    "       ncoffsets --json [-v var1,...] file\n"
    "       ncoffsets -x file\n";

static const char help[] =
    "Print the offsets of the variables in a netCDF file of a classic format (CDF-1, CDF-2, CDF-5).\n"
    "\n"
    "  -v var1,...      these variables only\n"
    "  -s               print the size of each variable; of a record variable, the size of one record\n"
    "  -g               print the gap between each variable and the one before it\n"
    "  -r               print the offsets of all records, not only of the first one\n"
    "  -x               print 1 if there are gaps between fixed-size variables, else 0\n"
    "  -d               print the offset of each variable's entry in the header\n"
    "      --align=N    report the alignment to stripes or blocks of N bytes; suffixes K, M, G: 1024, 1024^2, 1024^3\n"
    "      --svg[=X]    draw the file in SVG, to the file X or to standard output; with stripes if --align is given\n"
    "      --json       print offsets, sizes and gaps for each variable as one JSON object\n"
    "  -O, --overwrite  replace X even if it is not a picture\n"
    "  -h, --help\n"
    "      --version\n";

static int parse_size(const char *text, int64_t *out)
{
    static const char letters[] = "KMG";
    char *end;
    long long number = strtoll(text, &end, 10);
    const char *letter = *end != '\0' ? strchr(letters, *end) : NULL;
    int64_t unit = letter != NULL ? (int64_t)1 << (10 * (letter - letters + 1)) : 1;

    if (end == text || number <= 0 || end[letter != NULL] != '\0' || pnc_size_multiply(number, unit, out) < 0) {
        tool_error_print("--align=%s: must be a number of bytes such as 4096 or 1M", text);
        return 1;
    }
    return -1;
}

static int parse_option(int letter, options *out)
{
    switch (letter) {
    case 'v': return tool_names_parse("-v", optarg, &out->variables) == NC_NOERR ? -1 : 1;
    case 's': out->sizes = true; return -1;
    case 'g': out->gaps = true; return -1;
    case 'r': out->records = true; return -1;
    case 'x': out->check_gaps = true; return -1;
    case 'd': out->debug = true; return -1;
    case OPTION_ALIGN: return parse_size(optarg, &out->align);
    case OPTION_SVG:
        out->picture = true;
        out->svg = optarg;
        return -1;
    case OPTION_JSON: out->json = true; return -1;
    case 'O': out->overwrite = true; return -1;
    case 'h': printf("%s\n%s", usage, help); return 0;
    case OPTION_VERSION: tool_version_print(); return 0;
    default: fprintf(stderr, "%sTry `ncoffsets --help'.\n", usage); return 1; /* getopt has printed the error */
    }
}

int offsets_options_parse(int argc, char **argv, options *out)
{
    static const struct option longs[] = {{"help", no_argument, NULL, 'h'},
                                          {"version", no_argument, NULL, OPTION_VERSION},
                                          {"align", required_argument, NULL, OPTION_ALIGN},
                                          {"svg", optional_argument, NULL, OPTION_SVG},
                                          {"json", no_argument, NULL, OPTION_JSON},
                                          {"overwrite", no_argument, NULL, 'O'},
                                          {0}};
    int letter, status;

    *out = (options){.path = NULL};
    while ((letter = getopt_long(argc, argv, "v:sgrxdhO", longs, NULL)) != -1) {
        status = parse_option(letter, out);
        if (status >= 0)
            return status;
    }
    if (argc - optind != 1) {
        tool_error_print(optind == argc ? "no file is given" : "more than one file is given");
        fputs(usage, stderr);
        return 1;
    }
    out->path = argv[optind];
    return -1;
}
