/* The command line of ncmpidump. */
#include "tools/ncmpidump/options.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/checksum.h"
#include "tools/common/message.h"
#include "tools/common/output.h"

enum { LINE_LENGTH_DEFAULT = 80, LINE_LENGTH_MIN = 10, DIGITS_MAX = 20 };

static const char usage[] =
    "usage: ncmpidump [-c | -h] [-v var1,...] [-b c|f] [-f c|f] [-l length] [-n name] [-p f[,d]]\n"
    "                 [-t | -i] [-s] [--progress] file...\n"
    "       ncmpidump --json [-c | -h] [-v var1,...] [-n name] [-p f[,d]] [-t | -i] [--progress] file...\n"
    "       ncmpidump --stats [--bits] [--json] [-c] [-v var1,...] [-t | -i] [--progress] file...\n"
    "       ncmpidump --plot var[,dim=index | ,dim~value ...] [-o picture.svg] file\n"
    "       ncmpidump --follow [--from record] [--idle seconds] [-v var1,...] [-b c|f] [-f c|f] [-l length]\n"
    "                 [-p f[,d]] [-t | -i] file\n"
    "       ncmpidump --checksum file...\n"
    "       ncmpidump -k | -V file...\n";

static const char help[] =
    "Print netCDF files (CDF-1, CDF-2, CDF-5, netCDF-4) as CDL text, or what is in them.\n"
    "\n"
    "  -c            print data of coordinate variables only\n"
    "  -h            print the header only, no data\n"
    "  -v var1,...   print data of these variables only\n"
    "  -b c|f        print a comment with indices before each row, in the notation of C or Fortran\n"
    "  -f c|f        print a comment with indices after each value, in the notation of C or Fortran\n"
    "  -l length     largest length of a line of data (80)\n"
    "  -n name       name after the word netcdf (the file's name without folder and extension)\n"
    "  -p f[,d]      significant digits of float and double values (7,15)\n"
    "  -t            print times as dates, if the attribute units has the form <unit> since <date>\n"
    "  -i            the same in ISO 8601, with T between date and time\n"
    "  -s            print the special attributes too, which say how variables are stored\n"
    "      --json    print JSON instead of CDL\n"
    "      --progress  show the progress on stderr even if that is no terminal\n"
    "      --stats   print minimum, maximum, mean and the number of missing values of each variable\n"
    "      --bits    with --stats: how many bits of the mantissas of float and double carry information\n"
    "      --plot var[,dim=index...]  draw a map of two dimensions of a variable, or a line along one, as SVG;\n"
    "                   dim~value: at the nearest value of a coordinate, such as lev~500 or time~2001-03-05\n"
    "  -o file       write the picture to this file\n"
    "      --follow  print records of a file that a program is writing, as they appear\n"
    "      --from record  the first one that is printed (-1, the last one)\n"
    "      --idle seconds  end when the file was not written for this time\n"
    "      --checksum  print the checksums of the values of each variable, a manifest for the option --checksum of\n"
    "                   ncvalidator and ncmpidiff\n"
    "  -k            print the kind of file: classic, 64-bit offset, 64-bit data or netCDF-4\n"
    "  -V            print the file's CDF version\n"
    "      --help, --version\n";

static int reject(const char *text, const char *value)
{
    tool_error_print("%s: %s", text, value);
    return 1;
}

/* Returns the number at *text and moves *text behind it. Returns -1 if there is no number from min to max. */
static int take_number(const char **text, int min, int max)
{
    char *end;
    long number = strtol(*text, &end, 10);
    if (end == *text || number < min || number > max)
        return -1;
    *text = end;
    return (int)number;
}

/* -d is the older spelling of -p, except that, as in ncdump, variables keep their C_format. */
static int parse_digits(int letter, const char *text, dump_options *options)
{
    const char *rest = text;
    int digits = take_number(&rest, 1, DIGITS_MAX);
    if (digits < 0)
        return reject("significant digits must be F or F,D with numbers from 1 to 20", text);
    int double_digits = 0;
    if (*rest == ',') {
        rest++;
        double_digits = take_number(&rest, 1, DIGITS_MAX);
    }
    if (double_digits < 0 || *rest)
        return reject("significant digits must be F or F,D with numbers from 1 to 20", text);
    options->float_digits = digits;
    options->float_digits_given |= letter == 'p';
    if (double_digits > 0) {
        options->double_digits = double_digits;
        options->double_digits_given |= letter == 'p';
    }
    return -1;
}

static int parse_language(int letter, const char *text, dump_options *options)
{
    if (!*text || strchr("cCfF", *text) == NULL) {
        tool_error_print("-%c %s: must be c (indices from 0) or f (Fortran's order, from 1)", letter, text);
        return 1;
    }
    options->fortran = *text == 'f' || *text == 'F';
    if (letter == 'b')
        options->brief = true;
    else
        options->full = true;
    return -1;
}

/* Options of --plot and --follow. Returns -2 for another one. */
static int parse_task(int letter, dump_options *options)
{
    char *end;
    switch (letter) {
    case 5: options->stats = true; return -1;
    case 11: options->bits = true; return -1;
    case 6: options->plot = optarg; return -1;
    case 'o': options->output = optarg; return -1;
    case 10: options->checksum = true; return tool_checksum_check() == NC_NOERR ? -1 : 1;
    case 7: options->follow = true; return -1;
    case 8:
        options->from = strtoll(optarg, &end, 10);
        return end != optarg && *end == '\0' ? -1 : reject("--from must be the number of a record", optarg);
    case 9:
        options->idle = strtod(optarg, &end);
        if (end != optarg && *end == '\0' && options->idle > 0 && options->idle < 1e9)
            return -1;
        return reject("--idle must be a number of seconds", optarg);
    default: return -2;
    }
}

static int parse_option(int letter, dump_options *options)
{
    const char *rest = optarg;
    int task = parse_task(letter, options);
    if (task != -2)
        return task;
    switch (letter) {
    case 'c': options->coordinates_only = true; return -1;
    case 'h': options->header_only = true; return -1;
    case 'k': options->kind = true; return -1;
    case 'V': options->version = true; return -1;
    case 'n': options->name = optarg; return -1;
    case 's': options->special = true; return -1;
    case 't': options->dates = ' '; return -1;
    case 'i': options->dates = 'T'; return -1;
    case 3: options->json = true; return -1;
    case 4: options->progress = true; return -1;
    case 'v': return tool_names_parse("-v", optarg, &options->variables) == NC_NOERR ? -1 : 1;
    case 'b':
    case 'f': return parse_language(letter, optarg, options);
    case 'p':
    case 'd': return parse_digits(letter, optarg, options);
    case 'l':
        options->line_length = take_number(&rest, LINE_LENGTH_MIN, INT_MAX / 2);
        if (options->line_length < 0 || *rest)
            return reject("the length of a line must be a number from 10", optarg);
        return -1;
    case 1: printf("%s\n%s", usage, help); return 0;
    case 2: tool_version_print(); return 0;
    default: fprintf(stderr, "%sTry `ncmpidump --help'.\n", usage); return 1; /* getopt has printed the error */
    }
}

static bool is_svg_name(const char *path)
{
    const char *extension = strrchr(path, '.');
    return extension == NULL || strcmp(extension, ".svg") == 0 || strncmp(path, "/dev/", 5) == 0;
}

/* What is wrong with options that each are right; NULL: nothing. */
static const char *find_conflict(const dump_options *options, int npaths)
{
    bool header = options->header_only || options->special || options->name != NULL;
    if (npaths == 0)
        return "no file is given";
    if (npaths > 1 && options->name != NULL)
        return "-n names a single file";
    if (options->stats + (options->plot != NULL) + options->follow + options->checksum + options->kind +
            options->version >
        1)
        return "--stats, --plot, --follow, --checksum, -k and -V exclude each other";
    if (options->bits && !options->stats)
        return "--bits is of --stats";
    bool single = options->plot != NULL || options->follow || options->checksum;
    if (header && (options->stats || single))
        return "-h, -n and -s are of CDL and JSON: --stats, --plot, --follow and --checksum print no header";
    if (options->json && single)
        return "--json does not apply to --plot, --follow and --checksum";
    if (npaths > 1 && single && !options->checksum)
        return "--plot and --follow take a single file";
    if (options->output != NULL && options->plot == NULL)
        return "-o is the file of --plot";
    if (options->output != NULL && !is_svg_name(options->output))
        return "-o: pictures are SVG: rsvg-convert, inkscape and others make a PNG of one";
    if (!options->follow && (options->idle > 0 || options->from != -1))
        return "--from and --idle are of --follow";
    return NULL;
}

int dump_options_parse(int argc, char **argv, dump_options *options)
{
    static const struct option longs[] = {{"help", no_argument, NULL, 1},       {"version", no_argument, NULL, 2},
                                          {"json", no_argument, NULL, 3},       {"progress", no_argument, NULL, 4},
                                          {"stats", no_argument, NULL, 5},      {"bits", no_argument, NULL, 11},
                                          {"plot", required_argument, NULL, 6}, {"follow", no_argument, NULL, 7},
                                          {"from", required_argument, NULL, 8}, {"checksum", no_argument, NULL, 10},
                                          {"idle", required_argument, NULL, 9}, {0}};
    *options = (dump_options){.line_length = LINE_LENGTH_DEFAULT, .float_digits = 7, .double_digits = 15, .from = -1};
    int letter, status;
    while ((letter = getopt_long(argc, argv, "chistv:b:f:l:n:o:p:d:kV", longs, NULL)) != -1) {
        status = parse_option(letter, options);
        if (status >= 0)
            return status;
    }
    const char *conflict = find_conflict(options, argc - optind);
    if (conflict != NULL) {
        tool_error_print("%s", conflict);
        fputs(usage, stderr);
        return 1;
    }
    options->paths = argv + optind;
    options->npaths = argc - optind;
    for (int i = 0; i < options->npaths; i++)
        if (tool_input_is_stdout(options->paths[i]))
            return 1;
    return -1;
}

void dump_options_free(dump_options *options)
{
    tool_names_free(&options->variables);
}
