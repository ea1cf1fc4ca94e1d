/* Storage is that of the input unless an option says otherwise; chunks are not longer than the dimensions of the
 * output. */
#include "config.h" /* fnmatch */

#include "tools/ncmpicopy/storage.h"
#include "tools/common/blocks.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/path.h"
#include "base/types.h"
#include "tools/common/message.h"

/* Ids of filters as registered with The HDF Group. */
enum {
    FILTER_DEFLATE = 1,
    FILTER_SHUFFLE = 2,
    FILTER_FLETCHER32 = 3,
    FILTER_SZIP = 4,
    FILTER_NBIT = 5,
    FILTER_SCALEOFFSET = 6
};
enum { FILTER_BLOSC = 32001, FILTER_ZSTD = 32015 };
enum { FILTERS_MOST = 32 };

bool copy_format_has_storage(int format)
{
    return format == NC_FORMAT_NETCDF4 || format == NC_FORMAT_NETCDF4_CLASSIC;
}

/* --- options --- */

static int fail_option(const char *what, const char *text)
{
    tool_error_print("%s: %s", what, text);
    return COPY_FAILED;
}

/* A new element of options->storages, with the names before the colon, which is NULL or in the text. NULL after an
 * error message. */
static copy_storage_option *add_option_at(const char *option, const char *text, const char *colon,
                                          copy_options *options)
{
    copy_storage_option *more = pnc_memory_resize(options->storages, options->nstorages + 1, sizeof *more);
    if (more == NULL) {
        tool_error_print("not enough memory for %s: %s", option, text);
        return NULL;
    }
    options->storages = more;
    more += options->nstorages;
    *more = (copy_storage_option){0};
    char *names = colon != NULL ? pnc_string_copy(text) : NULL;
    if (colon != NULL && names == NULL) {
        tool_error_print("not enough memory for %s: %s", option, text);
        return NULL;
    }
    if (colon != NULL)
        names[colon - text] = '\0';
    int err = colon != NULL ? tool_names_parse(option, names, &more->variables) : NC_NOERR;
    pnc_memory_free(names);
    if (err != NC_NOERR)
        return NULL;
    options->nstorages++;
    return more;
}

/* The names are before the last colon of the text; *rest is what follows. */
static copy_storage_option *add_option(const char *option, const char *text, const char **rest, copy_options *options)
{
    const char *colon = strrchr(text, ':');
    *rest = colon != NULL ? colon + 1 : text;
    return add_option_at(option, text, colon, options);
}

static bool parse_number(const char *text, long long least, long long most, long long *number)
{
    char *end;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return end != text && *end == '\0' && errno == 0 && *number >= least && *number <= most;
}

static int parse_level(const char *option, const char *wrong, int filter, int least, int most, const char *text,
                       copy_options *options)
{
    const char *rest;
    long long level;
    copy_storage_option *added = add_option(option, text, &rest, options);
    if (added == NULL)
        return COPY_FAILED;
    if (!parse_number(rest, least, most, &level))
        return fail_option(wrong, text);
    if (filter != FILTER_DEFLATE || level != 0)
        added->filter = (pnc_filter_text){.id = filter, .nparameters = 1, .parameters = {(uint32_t)level}};
    return -1;
}

int copy_deflate_parse(const char *text, copy_options *options)
{
    static const char wrong[] = "--deflate must be [var1,...:]level, with a level from 0 (no compression) to 9";
    return parse_level("--deflate", wrong, FILTER_DEFLATE, 0, 9, text, options);
}

int copy_zstd_parse(const char *text, copy_options *options)
{
    static const char wrong[] = "--zstd must be [var1,...:]level, with a level from -131072 to 22";
    return parse_level("--zstd", wrong, FILTER_ZSTD, -131072, 22, text, options);
}

/* Names of variables may have colons: the filter is the longest end of the text that is one. */
int copy_compression_parse(const char *text, copy_options *options)
{
    static const char wrong[] =
        "--compression must be [var1,...:]filter, such as none, deflate:1, blosc:zstd:1, bitshuffle:lz4, "
        "zfp:accuracy:0.01 or id:parameter:parameter";
    const char *rest = text, *colon = NULL;
    pnc_filter_text filter;
    while (rest != NULL && !pnc_filter_text_parse(rest, &filter)) {
        colon = strchr(rest, ':');
        rest = colon != NULL ? colon + 1 : NULL;
    }
    if (rest == NULL)
        return fail_option(wrong, text);
    if (filter.is_lossy && colon == NULL)
        return fail_option("--compression by a filter that changes values needs names of variables before it", text);
    copy_storage_option *added = add_option_at("--compression", text, colon, options);
    if (added == NULL)
        return COPY_FAILED;
    added->filter = filter;
    return -1;
}

static int parse_chunk(char *word, copy_storage_option *option)
{
    char *slash = strrchr(word, '/');
    long long length;
    copy_chunk *more = pnc_memory_resize(option->chunks, option->nchunks + 1, sizeof *more);
    if (more == NULL)
        return NC_ENOMEM;
    option->chunks = more;
    if (slash == word || !parse_number(slash != NULL ? slash + 1 : word, 1, INT64_MAX, &length))
        return NC_EINVAL;
    if (slash != NULL)
        *slash = '\0';
    more[option->nchunks++] = (copy_chunk){.dim = slash != NULL ? word : NULL, .length = length};
    return NC_NOERR;
}

int copy_chunks_parse(const char *text, copy_options *options)
{
    static const char wrong[] =
        "--chunks must be [var1,...:]dim/length,... or var1,...:length,... or [var1,...:]auto or "
        "[var1,...:]contiguous";
    const char *rest;
    char *more;
    copy_storage_option *added = add_option("--chunks", text, &rest, options);
    if (added == NULL)
        return COPY_FAILED;
    added->is_chunks = true;
    added->is_contiguous = strcmp(rest, "contiguous") == 0 || strcmp(rest, "/") == 0;
    if (added->is_contiguous || strcmp(rest, "auto") == 0)
        return -1;
    added->text = pnc_string_copy(rest);
    int err = added->text != NULL ? NC_NOERR : NC_ENOMEM;
    for (char *word = err == NC_NOERR ? strtok_r(added->text, ",", &more) : NULL; err == NC_NOERR && word != NULL;
         word = strtok_r(NULL, ",", &more))
        err = parse_chunk(word, added);
    bool positional = false, named = false;
    for (int i = 0; i < added->nchunks; i++) {
        positional = positional || added->chunks[i].dim == NULL;
        named = named || added->chunks[i].dim != NULL;
    }
    if (err == NC_ENOMEM)
        return fail_option("not enough memory for --chunks", text);
    bool good = err == NC_NOERR && positional != named && (named || added->variables.n > 0);
    return good ? -1 : fail_option(wrong, text);
}

void copy_storage_options_free(copy_options *options)
{
    for (int i = 0; i < options->nstorages; i++) {
        tool_names_free(&options->storages[i].variables);
        pnc_memory_free(options->storages[i].chunks);
        pnc_memory_free(options->storages[i].text);
    }
    pnc_memory_free(options->storages);
}

/* --- checks --- */

static bool has_pattern(const copy_storage_option *option, const char *name)
{
    for (int i = 0; i < option->variables.n; i++)
        if (fnmatch(option->variables.at[i], name, 0) == 0)
            return true;
    return false;
}

/* The last option for this variable, or NULL. Options with names come before those without. */
static const copy_storage_option *find_storage(const copy_options *options, bool chunks, const char *name)
{
    const copy_storage_option *found = NULL;
    for (int i = 0; i < options->nstorages; i++) {
        const copy_storage_option *o = &options->storages[i];
        bool named = o->variables.n > 0;
        if (o->is_chunks == chunks && (named ? has_pattern(o, name) : found == NULL || found->variables.n == 0))
            found = o;
    }
    return found;
}

static int check_patterns(const copy_plan *plan, const copy_storage_option *option)
{
    for (int i = 0; i < option->variables.n; i++) {
        bool matches = false;
        for (int v = 0; v < plan->nvars && !matches; v++)
            matches = fnmatch(option->variables.at[i], plan->vars[v].name, 0) == 0;
        if (!matches)
            return copy_error_print(plan, NC_ENOTVAR, "%s: no variable that is copied has the name %s of %s",
                                    plan->options->inputs[0], option->variables.at[i],
                                    option->is_chunks ? "--chunks" : "--deflate, --zstd or --compression");
    }
    return NC_NOERR;
}

static int check_chunk_dims(const copy_plan *plan, const copy_storage_option *option)
{
    for (int i = 0; i < option->nchunks; i++) {
        bool found = option->chunks[i].dim == NULL;
        for (int d = 0; d < plan->ndims && !found; d++)
            found = strcmp(plan->dims[d].name, option->chunks[i].dim) == 0;
        if (!found)
            return copy_error_print(plan, NC_EBADDIM, "%s: --chunks: no dimension %s in this file",
                                    plan->options->inputs[0], option->chunks[i].dim);
    }
    for (int v = 0; option->nchunks > 0 && option->chunks[0].dim == NULL && v < plan->nvars; v++)
        if (has_pattern(option, plan->vars[v].name) && plan->vars[v].ndims != option->nchunks)
            return copy_error_print(plan, NC_EBADCHUNK, "%s: --chunks: variable %s has %d dimensions, not %d",
                                    plan->options->inputs[0], plan->vars[v].name, plan->vars[v].ndims, option->nchunks);
    return NC_NOERR;
}

int copy_storage_check(const copy_plan *plan)
{
    const copy_options *options = plan->options;
    bool given = options->nstorages > 0 || options->shuffle != 0;
    if (given && !copy_format_has_storage(plan->format))
        return copy_error_print(
            plan, NC_ENOTNC4,
            "--deflate, --zstd, --compression, --shuffle and --chunks need a netCDF-4 output: -k netcdf4");
    for (int i = 0; i < options->nstorages; i++) {
        PNC_TRY(check_patterns(plan, &options->storages[i]));
        PNC_TRY(check_chunk_dims(plan, &options->storages[i]));
    }
    return NC_NOERR;
}

/* --- the output --- */

/* The length along a dimension of the output that a chunk cannot exceed. */
static MPI_Offset limit_chunk(const copy_plan *plan, const copy_var *var, int d, MPI_Offset length)
{
    const copy_dim *dim = &plan->dims[var->dimids[d]];
    return !dim->unlimited && length > dim->count ? (MPI_Offset)dim->count : length;
}

static bool has_unlimited(const copy_plan *plan, const copy_var *var)
{
    for (int d = 0; d < var->ndims; d++)
        if (plan->dims[var->dimids[d]].unlimited)
            return true;
    return false;
}

/* Lengths from the input are replaced by those of the option. Whether there is any. */
static bool take_chunks(const copy_storage_option *option, const copy_plan *plan, const copy_var *var,
                        MPI_Offset *lengths)
{
    bool any = false;
    for (int i = 0; i < option->nchunks; i++)
        for (int d = 0; d < var->ndims; d++) {
            const char *dim = option->chunks[i].dim;
            if (dim != NULL ? strcmp(plan->dims[var->dimids[d]].name, dim) != 0 : i != d)
                continue;
            any = true;
            lengths[d] = limit_chunk(plan, var, d, option->chunks[i].length);
        }
    return any;
}

static int define_layout(const copy_plan *plan, int from, const copy_var *var, int to, int varid, MPI_Offset *lengths)
{
    const copy_storage_option *option = find_storage(plan->options, true, var->name);
    int layout;
    PNC_TRY(ncmpi_inq_var_chunking(from, var->id, &layout, lengths));
    bool chunked = layout == NC_CHUNKED;
    for (int d = 0; d < var->ndims; d++)
        lengths[d] = chunked ? limit_chunk(plan, var, d, lengths[d]) : 0;
    if (option != NULL && option->is_contiguous)
        return has_unlimited(plan, var) ? NC_NOERR : ncmpi_def_var_chunking(to, varid, NC_CONTIGUOUS, NULL);
    if (option != NULL && option->nchunks == 0)
        return ncmpi_def_var_chunking(to, varid, NC_CHUNKED, NULL);
    chunked = (option != NULL && take_chunks(option, plan, var, lengths)) || chunked;
    /* A compact variable becomes contiguous: filters of the options may follow, which it cannot have. */
    return chunked ? ncmpi_def_var_chunking(to, varid, NC_CHUNKED, lengths) : NC_NOERR;
}

/* Chunks of this library are not compressed by szip, whose licence and speed few users want; and not by nbit and
 * scaleoffset, which it does not encode. NULL: others. */
static const char *find_replaced(unsigned id)
{
    switch (id) {
    case FILTER_SZIP: return "szip";
    case FILTER_NBIT: return "nbit";
    case FILTER_SCALEOFFSET: return "scaleoffset";
    default: return NULL;
    }
}

static int replace_filter(copy_plan *plan, const copy_var *var, const char *name, int to, int varid)
{
    if (plan->rank == 0)
        tool_warning_print("warning: %s: variable %s: is compressed by deflate, not by %s, which is only read",
                           plan->options->output, var->name, name);
    return ncmpi_def_var_deflate(to, varid, 1, 1, 1);
}

static int define_same_filter(int to, int varid, unsigned id, int n, const unsigned *parameters)
{
    const unsigned *given = pnc_filter_text_find_given((int)id, parameters, &n);
    return ncmpi_def_var_filter(to, varid, id, n, given);
}

/* All readers of Zarr have zstd and blosc; of netCDF-4 deflate. */
static bool leaves_zarr(const copy_plan *plan, unsigned id)
{
    struct stat found;
    const char *path = pnc_path_strip(plan->options->inputs[0]);
    return (id == FILTER_ZSTD || id == FILTER_BLOSC) && !plan->options->is_store && stat(path, &found) == 0 &&
           S_ISDIR(found.st_mode);
}

static int keep_filter(copy_plan *plan, int from, const copy_var *var, unsigned id, int to, int varid)
{
    MPI_Offset n = 0;
    if (find_replaced(id) != NULL)
        return replace_filter(plan, var, find_replaced(id), to, varid);
    if (leaves_zarr(plan, id))
        return ncmpi_def_var_deflate(to, varid, pnc_type_get_size(var->to) > 1 && plan->options->shuffle >= 0, 1, 1);
    if (id == FILTER_SHUFFLE && plan->options->shuffle < 0)
        return NC_NOERR;
    PNC_TRY(ncmpi_inq_var_filter_info(from, var->id, id, &n, NULL));
    unsigned *parameters = pnc_memory_alloc((int64_t)n, sizeof *parameters);
    int err = parameters != NULL ? ncmpi_inq_var_filter_info(from, var->id, id, &n, parameters) : NC_ENOMEM;
    if (err == NC_NOERR && id == FILTER_SHUFFLE)
        err = ncmpi_def_var_deflate(to, varid, 1, 0, 0); /* its parameter is the size of the type */
    else if (err == NC_NOERR && id == FILTER_FLETCHER32)
        err = ncmpi_def_var_fletcher32(to, varid, NC_FLETCHER32);
    else if (err == NC_NOERR)
        err = define_same_filter(to, varid, id, (int)n, parameters);
    pnc_memory_free(parameters);
    return err;
}

static int compress(const copy_plan *plan, pnc_filter_text filter, const copy_var *var, int to, int varid)
{
    bool shuffles = plan->options->shuffle >= 0 && pnc_type_get_size(var->to) > 1;
    if (filter.id == 0)
        return NC_NOERR;
    if (filter.shuffling == PNC_SHUFFLED_WITHIN && !shuffles)
        pnc_filter_text_shuffle_remove(&filter);
    if (filter.shuffling == PNC_SHUFFLED_BEFORE && shuffles)
        PNC_TRY(ncmpi_def_var_deflate(to, varid, 1, 0, 0));
    return ncmpi_def_var_filter(to, varid, (unsigned)filter.id, filter.nparameters, filter.parameters);
}

static int define_filters(copy_plan *plan, int from, const copy_var *var, int to, int varid)
{
    const copy_storage_option *option = find_storage(plan->options, false, var->name);
    MPI_Offset n = 0;
    unsigned ids[FILTERS_MOST];
    int err = ncmpi_inq_var_filter_ids(from, var->id, &n, ids);
    if (option != NULL && option->filter.takes_reals && var->to != NC_FLOAT && var->to != NC_DOUBLE)
        option = NULL;
    if (err == NC_NOERR && option != NULL)
        err = compress(plan, option->filter, var, to, varid);
    for (MPI_Offset i = 0; err == NC_NOERR && i < n; i++)
        if (option == NULL || ids[i] == FILTER_FLETCHER32)
            err = keep_filter(plan, from, var, ids[i], to, varid);
    return err;
}

static int define_endian(int from, const copy_var *var, int to, int varid)
{
    int format, endian;
    PNC_TRY(ncmpi_inq_format(from, &format));
    if (!copy_format_has_storage(format) || var->type == NC_CHAR || var->to == NC_CHAR || var->type == NC_STRING)
        return NC_NOERR;
    PNC_TRY(ncmpi_inq_var_endian(from, var->id, &endian));
    return ncmpi_def_var_endian(to, varid, endian);
}

int copy_storage_define(copy_plan *plan, int from, const copy_var *var, int to, int varid)
{
    if (!copy_format_has_storage(plan->format))
        return NC_NOERR;
    PNC_TRY(define_endian(from, var, to, varid));
    if (var->ndims == 0)
        return NC_NOERR;
    MPI_Offset *lengths = pnc_memory_alloc_zeroed(var->ndims, sizeof *lengths);
    int err = lengths != NULL ? define_layout(plan, from, var, to, varid, lengths) : NC_ENOMEM;
    pnc_memory_free(lengths);
    /* Filters would not change strings, which are beside their chunks: the library refuses them. */
    return err == NC_NOERR && var->to != NC_STRING ? define_filters(plan, from, var, to, varid) : err;
}

/* --- the order of the copy --- */

bool copy_chunks_find(int ncid, int varid, MPI_Offset *lengths)
{
    int layout = NC_CONTIGUOUS;
    return ncmpi_inq_var_chunking(ncid, varid, &layout, lengths) == NC_NOERR && layout == NC_CHUNKED;
}

/* Where chunks of the input are longer than those of the output, as many of the latter as cover one of the former: both
 * are then read and written once, if such a piece fits into memory. Else those of the output: a chunk that is put in
 * parts is read and written anew for each of them, one of the input is only read. */
bool copy_unit_find(int from, int varid, int to, int id, int ndims, int64_t large, int64_t *unit, int64_t *most)
{
    MPI_Offset *in = pnc_memory_alloc(2 * (int64_t)ndims, sizeof *in), *out = in + ndims;
    if (in == NULL)
        return false;
    bool from_chunks = copy_chunks_find(from, varid, in), to_chunks = copy_chunks_find(to, id, out);
    int64_t n = 1;
    for (int d = 0; d < ndims && (from_chunks || to_chunks); d++) {
        int64_t a = from_chunks && in[d] > 0 ? (int64_t)in[d] : 1;
        int64_t b = to_chunks && out[d] > 0 ? (int64_t)out[d] : 1;
        int64_t times = a / b + (a % b > 0);
        unit[d] = times * b;
        n = n <= large / unit[d] ? n * unit[d] : large + 1;
    }
    *most = TOOL_CHUNKED_BLOCK_ELEMENTS;
    if (to_chunks && n > *most)
        *most = n <= large ? n : large;
    for (int d = 0; d < ndims && to_chunks && n > large; d++)
        unit[d] = out[d] > 0 ? (int64_t)out[d] : 1;
    pnc_memory_free(in);
    return from_chunks || to_chunks;
}
