/* The command line of ncmpigen. */
#include "config.h" /* system extensions */

#include "tools/ncmpigen/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "tools/common/kind.h"
#include "tools/common/message.h"

static const char usage[] = "usage: ncmpigen [-b | -c | -f] [-o output] [-O] [-n] [-k kind] [-x] [file.cdl]\n";

static const char help[] =
    "Generate a netCDF file, or a program that creates it, from CDL text.\n"
    "Without -b, -c, -f, -n and -o the text is only checked.\n"
    "\n"
    "  -b            write a netCDF file named after the dataset: name.nc\n"
    "  -n            the same, with the name name.cdf\n"
    "  -o output     write a netCDF file of this name; with -c or -f, write the program to this file\n"
    "  -O            replace an existing file of any kind, not only a netCDF file\n"
    "  -c            write a C program to standard output\n"
    "  -f            write a Fortran 77 program to standard output\n"
    "  -k kind       1, nc3 or classic; 2, nc6 or 64-bit-offset; 3, nc4 or netCDF-4; 4, nc7 or netCDF-4-classic;\n"
    "                5, nc5 or 64-bit-data; the default is the kind that the text names, else the first classic one\n"
    "                that can store the data\n"
    "  -v kind       the same\n"
    "  -x            do not write fill values for elements without values in the text\n"
    "  -O, --overwrite, --help, --version\n";

static int parse_format(const char *text, gen_options *options)
{
    options->format = tool_kind_parse(text);
    if (options->format != 0)
        return -1;
    tool_error_print(
        "-k %s: must be classic (1), 64-bit-offset (2), netCDF-4 (3), netCDF-4-classic (4) or 64-bit-data "
        "(5)",
        text);
    return 1;
}

static int parse_language(const char *text, gen_options *options)
{
    if (strcmp(text, "b") == 0)
        options->binary = true;
    else if (strcmp(text, "c") == 0 || strcmp(text, "C") == 0)
        options->c = true;
    else if (strcmp(text, "f77") == 0 || strcmp(text, "fortran77") == 0 || strcmp(text, "Fortran77") == 0)
        options->fortran = true;
    else {
        tool_error_print("-l %s: must be b, c or f77", text);
        return 1;
    }
    return -1;
}

static int parse_option(int letter, const char *value, gen_options *options)
{
    switch (letter) {
    case 'b': options->binary = true; return -1;
    case 'c': options->c = true; return -1;
    case 'f': options->fortran = true; return -1;
    case 'n': options->binary = options->cdf = true; return -1;
    case 'o': options->output = value; return -1;
    case 'O': options->overwrite = true; return -1;
    case 'x': options->no_fill = true; return -1;
    case 'k': /* as in ncgen */
    case 'v': return parse_format(value, options);
    case 'l': return parse_language(value, options);
    case 1: printf("%s\n%s", usage, help); return 0;
    case 2: tool_version_print(); return 0;
    default: fprintf(stderr, "%sTry `ncmpigen --help'.\n", usage); return 1; /* getopt has printed the error */
    }
}

int gen_options_parse(int argc, char **argv, gen_options *options)
{
    static const struct option longs[] = {
        {"help", no_argument, NULL, 1}, {"version", no_argument, NULL, 2}, {"overwrite", no_argument, NULL, 'O'}, {0}};
    int letter, status;
    *options = (gen_options){0};
    while ((letter = getopt_long(argc, argv, "bcfk:l:no:Ov:x", longs, NULL)) != -1) {
        status = parse_option(letter, optarg, options);
        if (status >= 0)
            return status;
    }
    if (argc - optind > 1) {
        tool_error_print("more than one file is given");
        fputs(usage, stderr);
        return 1;
    }
    if (options->binary + options->c + options->fortran > 1) {
        tool_error_print("-b, -c and -f exclude each other");
        fputs(usage, stderr);
        return 1;
    }
    options->binary |= options->output != NULL && !options->c && !options->fortran;
    options->input = optind < argc && strcmp(argv[optind], "-") != 0 ? argv[optind] : NULL;
    return -1;
}
