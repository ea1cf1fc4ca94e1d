/* The command line of ncmpicopy. */
#include "config.h" /* getopt_long */

#include "tools/ncmpicopy/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/types.h"
#include "tools/common/checksum.h"
#include "tools/common/kind.h"
#include "tools/common/message.h"
#include "tools/common/size.h"
#include "tools/ncmpicopy/edit.h"
#include "tools/ncmpicopy/quantize.h"
#include "tools/ncmpicopy/storage.h"
#include "tools/ncmpicopy/where.h"

static const char usage[] =
    "usage: ncmpicopy [-k kind] [-v | -V var1,...] [-d dim,first[,last[,stride]]] [-u | -r dim] [-t var:type]\n"
    "                 [--where coordinate=first:last | --where coordinate~value]\n"
    "                 [--set-att [var]:att=value] [--del-att [var]:att] [--rename old=new]\n"
    "                 [--quantize [var1,...:]bits=n | --quantize [var1,...:]digits=n]\n"
    "                 [--error [var1,...:]abs=x | --error [var1,...:]rel=x]\n"
    "                 [--deflate [var1,...:]level | --zstd [var1,...:]level] [--compression [var1,...:]filter]\n"
    "                 [--shuffle | --no-shuffle]\n"
    "                 [--chunks [var1,...:]dim/length,...]\n"
    "                 [--align bytes] [--record-align bytes] [--reserve bytes] [--no-history] [--verify]\n"
    "                 [--checksum[=manifest]]\n"
    "                 [--allow-short] [--salvage] [--strict] [--progress] [-O] in... out\n";

static const char help[] =
    "Copy netCDF files in parallel; several inputs are joined along the record dimension.\n"
    "\n"
    "  -k kind                          format of the output: classic (or nc3), 64-bit offset (nc6), cdf5 (nc5),\n"
    "                                   netcdf4 (nc4), netcdf4_classic (nc7), zarr; the default is zarr for a name\n"
    "                                   that ends so, else the format of the first input. Also -3, -6, -5, -4, -7\n"
    "  -v var1,...                      copy these variables only, and their coordinate variables\n"
    "  -V var1,...                      the same without their coordinate variables\n"
    "  -d dim,first[,last[,stride]]     part of a dimension, from index first to index last, counted from 0, or from\n"
    "                                   the end if negative; can be repeated\n"
    "      --where name=first:last      part of a dimension by values of its coordinate, or by dates: 2001-03;\n"
    "                                   name~value: the nearest one; can be repeated\n"
    "  -u                               convert the record dimension to a fixed one\n"
    "  -r dim                           make this dimension the record dimension\n"
    "  -t var:type                      convert a variable to another type; can be repeated\n"
    "      --quantize [var1,...:]bits=n, [var1,...:]digits=n\n"
    "                                   round float and double to n significant bits or decimal digits: the rest\n"
    "                                   becomes zeros, and the file can be compressed; without names, all variables\n"
    "                                   but coordinates; can be repeated\n"
    "      --error [var1,...:]abs=x, [var1,...:]rel=x\n"
    "                                   the same to the fewest bits, value by value, with which no value changes by\n"
    "                                   more than x, or x times its magnitude\n"
    "      --deflate, --zstd level      compress by deflate, level 1 to 9, or 0 for none; by zstd, level 1 to 22.\n"
    "                                   var1,...: before the level: these variables only. Also -d level\n"
    "      --compression filter         the same by another filter: blosc:zstd:1, bitshuffle:lz4, zfp:accuracy:0.01,\n"
    "                                   32013:1:0 (a number, and parameters); var1,...: before it\n"
    "  -s, --shuffle, --no-shuffle      order bytes for compression, which is the default for --deflate and --zstd\n"
    "  -c, --chunks dim/length,...      lengths of chunks; auto, contiguous; var1,...: before: these variables\n"
    "      --set-att [var]:att=value    set an attribute of variables or of the file: text, or numbers with commas\n"
    "      --del-att [var]:att          leave an attribute out\n"
    "      --rename old=new             rename a variable, and the dimension of its name\n"
    "      --align, --record-align n    align data, and records, to multiples of n bytes (k, M, G: KiB ...)\n"
    "      --reserve n                  free space in which the header can grow\n"
    "      --no-history                 do not add the command to the attribute history\n"
    "      --strict                     join files only if all means the same: nothing is converted or left out\n"
    "      --checksum[=manifest]        give each variable the checksum of its values, or write them to a manifest,\n"
    "                                   and check that of the input\n"
    "      --verify                     read the output back and compare it with the inputs\n"
    "      --allow-short                copy an input that ends before whole variables or records: the copy ends\n"
    "                                   there too\n"
    "      --salvage                    values that cannot be read become fill values, and are listed\n"
    "      --progress                   show the progress on stderr even if that is no terminal\n"
    "  -O, --overwrite                  replace an existing output\n"
    "      --help, --version\n"
    "\n"
    "Exit status: 0 copied; 1 error, and no output; 2 copied, but values did not fit their new type or could not\n"
    "be read, or an input ends before its data.\n";

enum {
    LONG_HELP = 1,
    LONG_VERSION,
    LONG_ALIGN,
    LONG_RECORD_ALIGN,
    LONG_RESERVE,
    LONG_VERIFY,
    LONG_STRICT,
    LONG_PROGRESS,
    LONG_QUANTIZE,
    LONG_ERROR,
    LONG_CHECKSUM,
    LONG_WHERE,
    LONG_SET_ATT,
    LONG_DEL_ATT,
    LONG_RENAME,
    LONG_DEFLATE,
    LONG_ZSTD,
    LONG_COMPRESSION,
    LONG_NO_SHUFFLE,
    LONG_NO_HISTORY,
    LONG_ALLOW_SHORT,
    LONG_SALVAGE
};

static int reject(const char *what, const char *value)
{
    tool_error_print("%s: %s", what, value);
    return COPY_FAILED;
}

static int parse_kind(const char *text, copy_options *options)
{
    options->is_store = strcmp(text, "zarr") == 0;
    options->format = options->is_store ? NC_FORMAT_NETCDF4 : tool_kind_parse(text);
    return options->format != 0
               ? -1
               : reject("-k must be classic, \"64-bit offset\", cdf5, netcdf4, netcdf4_classic or zarr", text);
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), length = strlen(end);

    return n >= length && strcmp(text + n - length, end) == 0;
}

static int parse_bytes(const char *option, const char *text, int64_t least, int64_t *bytes)
{
    if (tool_size_parse(text, least, bytes))
        return -1;
    tool_error_print("%s must be a number of bytes, such as 512, 4k or 1M: %s", option, text);
    return COPY_FAILED;
}

/* Parse an index and the comma after it. An empty index leaves *index unchanged. */
static bool take_index(const char **text, int64_t *index)
{
    char *end;
    errno = 0;
    long long number = strtoll(*text, &end, 10);
    if (end != *text)
        *index = number;
    bool good = errno == 0 && (*end == ',' || *end == '\0');
    *text = *end == ',' ? end + 1 : end;
    return good;
}

static int parse_slab(const char *text, copy_options *options)
{
    static const char wrong[] = "-d must be dim,first[,last[,stride]], with a stride of 1 or more";
    const char *comma = strchr(text, ',');
    copy_slab slab = {.first = 0, .last = -1, .stride = 1};
    if (strspn(text, "0123456789") == strlen(text) && *text != '\0') /* as of nccopy */
        return copy_deflate_parse(text, options);
    if (comma == NULL || comma == text)
        return reject(wrong, text);
    const char *rest = comma + 1;
    bool good = take_index(&rest, &slab.first);
    if (good && rest[-1] != ',')
        slab.last = slab.first;
    good = good && take_index(&rest, &slab.last) && take_index(&rest, &slab.stride);
    if (!good || *rest || slab.stride < 1)
        return reject(wrong, text);
    copy_slab *more = pnc_memory_resize(options->slabs, options->nslabs + 1, sizeof *more);
    if (more == NULL)
        return reject("not enough memory for -d", text);
    options->slabs = more;
    slab.name = pnc_string_copy(text);
    if (slab.name == NULL)
        return reject("not enough memory for -d", text);
    slab.name[comma - text] = '\0';
    options->slabs[options->nslabs++] = slab;
    return -1;
}

static int parse_retype(const char *text, copy_options *options)
{
    const char *colon = strrchr(text, ':');
    int type = NC_UINT64;
    while (type > 0 && (colon == NULL || strcmp(colon + 1, pnc_type_get_name(type)) != 0))
        type--;
    if (type == 0 || type == NC_CHAR || colon == text)
        return reject("-t must be var:type, with type byte short int float double ubyte ushort uint int64 or uint64",
                      text);
    copy_retype *more = pnc_memory_resize(options->retypes, options->nretypes + 1, sizeof *more);
    if (more == NULL)
        return reject("not enough memory for -t", text);
    options->retypes = more;
    char *name = pnc_string_copy(text);
    if (name == NULL)
        return reject("not enough memory for -t", text);
    name[colon - text] = '\0';
    options->retypes[options->nretypes++] = (copy_retype){.name = name, .type = type};
    return -1;
}

static int finish_output(void)
{
    return tool_output_flush(NULL) == NC_NOERR ? COPY_DONE : COPY_FAILED;
}

static int parse_option(int letter, copy_options *options)
{
    switch (letter) {
    case 'k': return parse_kind(optarg, options);
    case '3': options->format = 1; return -1;
    case '6': options->format = 2; return -1;
    case '5': options->format = 5; return -1;
    case '4': options->format = NC_FORMAT_NETCDF4; return -1;
    case '7': options->format = NC_FORMAT_NETCDF4_CLASSIC; return -1;
    case 'v':
    case 'V':
        options->no_coordinates = letter == 'V';
        return tool_names_parse(letter == 'v' ? "-v" : "-V", optarg, &options->variables) == NC_NOERR ? -1
                                                                                                      : COPY_FAILED;
    case 'd': return parse_slab(optarg, options);
    case 't': return parse_retype(optarg, options);
    case 'u': options->fixed = true; return -1;
    case 'r': options->record = optarg; return -1;
    case 'O': options->overwrite = true; return -1;
    case 's': options->shuffle = 1; return -1;
    case 'c': return copy_chunks_parse(optarg, options);
    case LONG_CHECKSUM:
        options->checksum = true;
        options->manifest = optarg;
        return tool_checksum_check() == NC_NOERR ? -1 : COPY_FAILED;
    case LONG_WHERE: return copy_where_parse(optarg, options);
    case LONG_SET_ATT: return copy_att_set_parse(optarg, options);
    case LONG_DEL_ATT: return copy_att_delete_parse(optarg, options);
    case LONG_RENAME: return copy_rename_parse(optarg, options);
    case LONG_DEFLATE: return copy_deflate_parse(optarg, options);
    case LONG_ZSTD: return copy_zstd_parse(optarg, options);
    case LONG_COMPRESSION: return copy_compression_parse(optarg, options);
    case LONG_NO_SHUFFLE: options->shuffle = -1; return -1;
    case LONG_ALIGN: return parse_bytes("--align", optarg, 1, &options->align);
    case LONG_RECORD_ALIGN: return parse_bytes("--record-align", optarg, 1, &options->record_align);
    case LONG_RESERVE: return parse_bytes("--reserve", optarg, 0, &options->reserve);
    case LONG_NO_HISTORY: options->no_history = true; return -1;
    case LONG_ALLOW_SHORT: options->allow_short = true; return -1;
    case LONG_SALVAGE: options->salvage = true; return -1;
    case LONG_VERIFY: options->verify = true; return -1;
    case LONG_STRICT: options->strict = true; return -1;
    case LONG_PROGRESS: options->progress = true; return -1;
    case LONG_QUANTIZE: return copy_quantize_parse(optarg, options);
    case LONG_ERROR: return copy_error_parse(optarg, options);
    case LONG_HELP: printf("%s%s", usage, help); return finish_output();
    case LONG_VERSION: tool_version_print(); return finish_output();
    default: /* getopt has printed the error */
        fprintf(stderr, "%sTry `ncmpicopy --help'.\n", usage);
        return COPY_FAILED;
    }
}

/* The words of the command line, with blanks between them. */
static char *join_words(int argc, char **argv)
{
    int64_t n = 1;
    for (int i = 0; i < argc; i++)
        n += (int64_t)strlen(argv[i]) + 1;
    char *text = pnc_memory_alloc_zeroed(n, 1), *end = text;
    for (int i = 0; text != NULL && i < argc; i++)
        end += sprintf(end, "%s%s", i > 0 ? " " : "", argv[i]);
    return text;
}

int copy_options_parse(int argc, char **argv, void *result)
{
    static const struct option longs[] = {{"help", no_argument, NULL, LONG_HELP},
                                          {"version", no_argument, NULL, LONG_VERSION},
                                          {"align", required_argument, NULL, LONG_ALIGN},
                                          {"record-align", required_argument, NULL, LONG_RECORD_ALIGN},
                                          {"reserve", required_argument, NULL, LONG_RESERVE},
                                          {"no-history", no_argument, NULL, LONG_NO_HISTORY},
                                          {"allow-short", no_argument, NULL, LONG_ALLOW_SHORT},
                                          {"salvage", no_argument, NULL, LONG_SALVAGE},
                                          {"verify", no_argument, NULL, LONG_VERIFY},
                                          {"strict", no_argument, NULL, LONG_STRICT},
                                          {"progress", no_argument, NULL, LONG_PROGRESS},
                                          {"quantize", required_argument, NULL, LONG_QUANTIZE},
                                          {"error", required_argument, NULL, LONG_ERROR},
                                          {"checksum", optional_argument, NULL, LONG_CHECKSUM},
                                          {"where", required_argument, NULL, LONG_WHERE},
                                          {"set-att", required_argument, NULL, LONG_SET_ATT},
                                          {"del-att", required_argument, NULL, LONG_DEL_ATT},
                                          {"rename", required_argument, NULL, LONG_RENAME},
                                          {"deflate", required_argument, NULL, LONG_DEFLATE},
                                          {"zstd", required_argument, NULL, LONG_ZSTD},
                                          {"compression", required_argument, NULL, LONG_COMPRESSION},
                                          {"shuffle", no_argument, NULL, 's'},
                                          {"no-shuffle", no_argument, NULL, LONG_NO_SHUFFLE},
                                          {"chunks", required_argument, NULL, 'c'},
                                          {"overwrite", no_argument, NULL, 'O'},
                                          {0}};
    copy_options *options = result;
    int letter;
    options->command = join_words(argc, argv); /* before getopt changes their order */
    if (options->command == NULL)
        return reject("not enough memory for the command", argv[0]);
    while ((letter = getopt_long(argc, argv, "k:35647v:V:d:t:ur:Osc:", longs, NULL)) != -1) {
        int status = parse_option(letter, options);
        if (status >= 0)
            return status;
    }
    if (options->fixed && options->record != NULL)
        return reject("-u and -r exclude each other", options->record);
    if (argc - optind < 2) {
        tool_error_print("an input and an output are needed");
        fputs(usage, stderr);
        return COPY_FAILED;
    }
    options->inputs = argv + optind;
    options->ninputs = argc - optind - 1;
    options->output = argv[argc - 1];
    if (options->format == 0 && ends_with(options->output, ".zarr")) {
        options->is_store = true;
        options->format = NC_FORMAT_NETCDF4;
    }
    return -1;
}

void copy_options_free(copy_options *options)
{
    tool_names_free(&options->variables);
    pnc_memory_free(options->command);
    for (int i = 0; i < options->nslabs; i++)
        pnc_memory_free(options->slabs[i].name);
    for (int i = 0; i < options->nretypes; i++)
        pnc_memory_free(options->retypes[i].name);
    for (int i = 0; i < options->nquantizes; i++)
        tool_names_free(&options->quantizes[i].variables);
    pnc_memory_free(options->quantizes);
    for (int i = 0; i < options->nwheres; i++)
        pnc_memory_free(options->wheres[i].name);
    for (int i = 0; i < options->nedits; i++)
        pnc_memory_free(options->edits[i].text);
    for (int i = 0; i < options->nrenames; i++)
        pnc_memory_free(options->renames[i].from);
    pnc_memory_free(options->wheres);
    pnc_memory_free(options->edits);
    pnc_memory_free(options->renames);
    copy_storage_options_free(options);
    pnc_memory_free(options->slabs);
    pnc_memory_free(options->retypes);
}
