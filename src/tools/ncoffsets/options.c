/* The command line of ncoffsets. */
#include "tools/ncoffsets/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tools/common/message.h"
#include "tools/common/size.h"

enum {
    OPTION_VERSION = 1,
    OPTION_ALIGN,
    OPTION_SVG,
    OPTION_HTML,
    OPTION_KERCHUNK,
    OPTION_CHUNK,
    OPTION_URL,
    OPTION_JSON
};

static const char usage[] =
    "usage: ncoffsets [-sgrd] [-v var1,...] [--align=size] [--svg[=picture] | --html[=page]] [-O] file\n"
    "       ncoffsets --json [-r] [-v var1,...] file\n"
    "       ncoffsets -x file\n"
    "       ncoffsets --kerchunk[=references] [--url=folder] [--chunk=size] [-v var1,...] [-O] file...\n";

static const char help[] =
    "Print the offsets of the variables in a netCDF file of a classic format (CDF-1, CDF-2, CDF-5), or the chunks of\n"
    "the variables in a netCDF-4 file, for which -g, -x, -d and --align do not apply.\n"
    "\n"
    "  -v var1,...      these variables only\n"
    "  -s               print the size of each variable; of a record variable, the size of one record\n"
    "  -g               print the gap between each variable and the one before it\n"
    "  -r               print the offsets of all records, not only of the first one; of netCDF-4: of all chunks\n"
    "  -x               print 1 if there are gaps between fixed-size variables, else 0\n"
    "  -d               print the offset of each variable's entry in the header\n"
    "      --align=N    report the alignment to stripes or blocks of N bytes (k, M, G: KiB, MiB, GiB)\n"
    "      --svg[=X]    draw the file in SVG, to the file X or to standard output; with stripes if --align is given\n"
    "      --html[=X]   the same as a page for browsers, with search and zoom\n"
    "      --kerchunk[=X]  write references in JSON, by which xarray and zarr read the data in place; several files\n"
    "                   are joined along the record dimension\n"
    "      --url=U      references to files in the folder U, such as s3://bucket/run; default: their absolute paths\n"
    "      --chunk=N    chunks of at most N bytes where a variable, or a record of it, is larger; default 16M\n"
    "      --json       print offsets, sizes and gaps for each variable as one JSON object\n"
    "  -O, --overwrite  replace X even if it is of another kind\n"
    "  -h, --help\n"
    "      --version\n";

static int parse_size(const char *option, const char *text, int64_t *out)
{
    if (tool_size_parse(text, 1, out))
        return -1;
    tool_error_print("%s=%s: must be a number of bytes, such as 4096, 4k or 1M", option, text);
    return 1;
}

static int choose_form(offsets_form form, options *out)
{
    if (out->form != FORM_LIST && out->form != form) {
        tool_error_print("--svg, --html and --kerchunk exclude each other");
        return 1;
    }
    out->form = form;
    out->output = optarg;
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
    case OPTION_ALIGN: return parse_size("--align", optarg, &out->align);
    case OPTION_CHUNK: return parse_size("--chunk", optarg, &out->chunk);
    case OPTION_URL: out->url = optarg; return -1;
    case OPTION_SVG: return choose_form(FORM_SVG, out);
    case OPTION_HTML: return choose_form(FORM_HTML, out);
    case OPTION_KERCHUNK: return choose_form(FORM_KERCHUNK, out);
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
                                          {"html", optional_argument, NULL, OPTION_HTML},
                                          {"kerchunk", optional_argument, NULL, OPTION_KERCHUNK},
                                          {"chunk", required_argument, NULL, OPTION_CHUNK},
                                          {"url", required_argument, NULL, OPTION_URL},
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
    if (optind == argc || (argc - optind > 1 && out->form != FORM_KERCHUNK)) {
        tool_error_print(optind == argc ? "no file is given"
                                        : "more than one file is given: only --kerchunk joins files");
        fputs(usage, stderr);
        return 1;
    }
    out->paths = argv + optind;
    out->npaths = argc - optind;
    out->path = argv[optind];
    return -1;
}
