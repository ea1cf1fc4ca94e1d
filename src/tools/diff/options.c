/* The command line of ncmpidiff and cdfdiff. */
#include "config.h" /* getopt_long */

#include "tools/diff/options.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/checksum.h"
#include "tools/common/message.h"
#include "tools/common/output.h"

static const char usage[] =
    "usage: %s [-b] [-q] [-h] [-v var1,...] [-t diff,ratio] [--unwritten] [--storage] [--json]\n"
    "       [--progress] file1 file2\n"
    "       %s --checksum [-b] [-q] [-v var1,...] file1 file2|manifest\n";

static const char help[] =
    "Compare two netCDF files of any format: CDF-1, CDF-2, CDF-5, netCDF-4.\n"
    "\n"
    "  -b             also report what is equal\n"
    "  -q             no output if nothing differs\n"
    "  -h             compare headers only, no data\n"
    "  -v var1,...    compare these variables only\n"
    "  -t diff,ratio  numbers x and y differ only if |x-y| > diff and |x-y|/max(|x|,|y|) > ratio\n"
    "      --unwritten    fill values in one file that are 0 in the other do not count: what no program has put, of a\n"
    "                     netCDF-4 file and of a classic one in no-fill mode\n"
    "      --storage      compare how netCDF-4 files store the variables (chunks, filters, byte order), and whether\n"
    "                     both are netCDF-4 files\n"
    "      --checksum     compare only checksums of the values: those of the attributes _Checksum, or of a manifest\n"
    "      --json         report the differences as one JSON object\n"
    "      --progress     show the progress on stderr even if that is no terminal\n"
    "      --help, --version\n"
    "\n"
    "Exit status: 0 no differences; 1 differences, or one name twice; 2 an error.\n";

static bool take_bound(const char **text, char end, double *bound)
{
    char *rest;
    *bound = strtod(*text, &rest);
    bool good = rest != *text && *rest == end && *bound >= 0 && !isinf(*bound); /* not NaN either */
    *text = rest + 1;
    return good;
}

static int parse_tolerance(const char *text, diff_options *options)
{
    const char *rest = text;
    diff_tolerance *tolerance = &options->tolerance;
    tolerance->given = true;
    if (take_bound(&rest, ',', &tolerance->absolute) && take_bound(&rest, '\0', &tolerance->ratio))
        return -1;
    tool_error_print("-t %s: must be two numbers of 0 or more, separated by a comma", text);
    return DIFF_TROUBLE;
}

static int finish_output(void)
{
    return tool_output_flush(NULL) == NC_NOERR ? DIFF_SAME : DIFF_TROUBLE;
}

static int parse_option(int letter, diff_options *options)
{
    switch (letter) {
    case 'b': options->verbose = true; return -1;
    case 'q': options->quiet = true; return -1;
    case 'h': options->header_only = true; return -1;
    case 'v': return tool_names_parse("-v", optarg, &options->names) == NC_NOERR ? -1 : DIFF_TROUBLE;
    case 't': return parse_tolerance(optarg, options);
    case 1:
        printf(usage, options->program, options->program);
        fputs(help, stdout);
        return finish_output();
    case 2: tool_version_print(); return finish_output();
    case 4: options->json = true; return -1;
    case 5: options->storage = true; return -1;
    case 7: options->unwritten = true; return -1;
    case 6: options->checksum = true; return tool_checksum_check() == NC_NOERR ? -1 : DIFF_TROUBLE;
    case 3: options->progress = true; return -1;
    default:
        fprintf(stderr, usage, options->program, options->program);
        fprintf(stderr, "Try `%s --help'.\n", options->program);
        return DIFF_TROUBLE; /* getopt has printed the error */
    }
}

int diff_options_parse(const char *program, int argc, char **argv, diff_options *options)
{
    static const struct option longs[] = {{"help", no_argument, NULL, 1},      {"version", no_argument, NULL, 2},
                                          {"progress", no_argument, NULL, 3},  {"json", no_argument, NULL, 4},
                                          {"storage", no_argument, NULL, 5},   {"checksum", no_argument, NULL, 6},
                                          {"unwritten", no_argument, NULL, 7}, {0}};
    *options = (diff_options){.program = program};
    int letter;
    while ((letter = getopt_long(argc, argv, "bqhv:t:", longs, NULL)) != -1) {
        int status = parse_option(letter, options);
        if (status >= 0)
            return status;
    }
    if (argc - optind != 2) {
        tool_error_print("two files are needed, %d are given", argc - optind);
        fprintf(stderr, usage, program, program);
        return DIFF_TROUBLE;
    }
    if (options->checksum && (options->header_only || options->tolerance.given || options->unwritten ||
                              options->storage || options->json || options->progress)) {
        tool_error_print(
            "--checksum compares checksums only: -h, -t, --unwritten, --storage, --json and --progress do "
            "not apply");
        return DIFF_TROUBLE;
    }
    for (int i = 0; i < 2; i++)
        options->paths[i] = argv[optind + i];
    if (tool_input_is_stdout(options->paths[0]) || tool_input_is_stdout(options->paths[1]))
        return DIFF_TROUBLE;
    if (strcmp(options->paths[0], options->paths[1]) != 0)
        return -1;
    tool_error_print("%s: both names are the same; a comparison needs two files", options->paths[0]);
    return DIFF_DIFFERENT;
}

void diff_options_free(diff_options *options)
{
    tool_names_free(&options->names);
}
