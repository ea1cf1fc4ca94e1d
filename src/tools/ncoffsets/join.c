/* The attributes and coordinates of all files must mean the same, as references cannot convert values. Chunks of
 * netCDF-4 files must be alike, too: in Zarr all chunks of a variable have one shape and the same filters. */
#include "tools/ncoffsets/join.h"

#include <string.h>

#include "base/memory.h"
#include "tools/common/blocks.h"
#include "tools/common/join.h"
#include "tools/common/message.h"

enum { INDEX_SIZE = 256 };

/* The end of a message about values that would have to be converted. */
static const char of_classic[] = "references cannot convert values; ncmpicopy joins such files in one";
static const char of_chunks[] =
    "references cannot convert values, and kerchunk.combine gives wrong ones without an "
    "error; ncmpicopy joins such files in one";

static const pnc_var *find_there(const tool_join *join, const pnc_var *var)
{
    int id = pnc_format_var_find(&join->other->model, var->name);

    return id >= 0 ? join->other->model.vars[id] : NULL;
}

/* --- coordinates --- */

static int compare_block(const tool_join *join, int varid, const tool_blocks *blocks, const char *a, const char *b)
{
    const pnc_var *var = join->first->model.vars[varid];
    size_t size = pnc_type_get_size(var->type);
    char index[INDEX_SIZE];
    int64_t i = tool_difference_find(a, b, blocks->length, size);

    if (i < 0)
        return NC_NOERR;
    tool_index_explain(var->ndims, blocks->shape, blocks->first + i, index, sizeof index);
    return tool_join_report_value(join, varid, index, a + (size_t)i * size, b + (size_t)i * size);
}

/* Of a coordinate variable, which has the same type and shape in both files. The joined variables have the coordinates
 * of the first file. */
static int compare_blocks(const tool_join *join, int varid, tool_blocks *blocks, char *a, char *b)
{
    const pnc_var *var = join->first->model.vars[varid];

    while (tool_blocks_next(blocks)) {
        PNC_TRY(tool_file_read_block(join->first, var, blocks->start, blocks->count, true, a));
        PNC_TRY(tool_file_read_block(join->other, find_there(join, var), blocks->start, blocks->count, true, b));
        PNC_TRY(compare_block(join, varid, blocks, a, b));
    }
    return NC_NOERR;
}

static int compare_values(const tool_join *join, int varid)
{
    const pnc_var *var = join->first->model.vars[varid];
    size_t size = pnc_type_get_size(var->type);
    int64_t *shape = pnc_memory_alloc(var->ndims, sizeof *shape);
    tool_blocks blocks = {0};
    char *values = NULL;
    int err = NC_ENOMEM;

    if (shape != NULL) {
        tool_file_get_shape(join->first, var, shape);
        err = tool_blocks_init(var->ndims, shape, &blocks);
    }
    if (err == NC_NOERR)
        values = pnc_memory_alloc(2 * blocks.largest, size);
    if (values != NULL)
        err = compare_blocks(join, varid, &blocks, values, values + (size_t)blocks.largest * size);
    else
        tool_error_print("%s: not enough memory", join->other->path);
    pnc_memory_free(values);
    tool_blocks_free(&blocks);
    pnc_memory_free(shape);
    return values != NULL ? err : NC_ENOMEM;
}

static int check_coordinate(const tool_join *join, int varid)
{
    bool compare;

    PNC_TRY(tool_join_check_fixed(join, varid, &compare));
    return compare ? compare_values(join, varid) : NC_NOERR;
}

/* --- variables --- */

static bool is_joined(const tool_join *join, const pnc_var *var)
{
    return var->ndims > 0 && var->dimids[0] == join->dimid;
}

static int check_variables(const tool_join *join, const options *o)
{
    const pnc_model *model = &join->first->model;

    for (int i = 0; i < model->nvars; i++) {
        const pnc_var *var = model->vars[i];
        tool_adaptation adaptation;

        if (!tool_names_contain(&o->variables, var->name) || var->type > NC_UINT64)
            continue;
        if (is_joined(join, var))
            PNC_TRY(tool_join_check_variable(join, i, &adaptation));
        else if (join->first_relations->coordinate[i])
            PNC_TRY(check_coordinate(join, i));
    }
    return NC_NOERR;
}

int offsets_join_check(const tool_file *first, const tool_relations *first_relations, const tool_file *other,
                       const options *o)
{
    tool_relations relations;
    const tool_join join = {.first = first,
                            .other = other,
                            .first_relations = first_relations,
                            .other_relations = &relations,
                            .dimid = first->model.recdim,
                            .refusal = first->reader != NULL ? of_chunks : of_classic};
    int err;

    if (first->model.recdim < 0 || first->model.nrecvars == 0) {
        tool_error_print("%s: has no record variables: several files are joined along the record dimension",
                         first->path);
        return NC_EINVAL;
    }
    err = tool_relations_init(&other->model, &relations);
    if (err != NC_NOERR)
        tool_error_print("%s: not enough memory", other->path);
    else
        err = check_variables(&join, o);
    if (err == NC_NOERR)
        tool_join_report_others(&join);
    tool_relations_free(&relations);
    return err;
}

/* --- netCDF-4 files --- */

/* Levels of compression are only of interest to writers. */
static bool is_same_filter(const pnc_filter *a, const pnc_filter *b)
{
    bool compresses = a->id == PNC_FILTER_DEFLATE || a->id == PNC_FILTER_ZSTD;

    return a->id == b->id &&
           (compresses || (a->nparameters == b->nparameters &&
                           (a->nparameters == 0 || memcmp(a->parameters, b->parameters,
                                                          (size_t)a->nparameters * sizeof *a->parameters) == 0)));
}

static bool have_same_filters(const pnc_filter_chain *a, const pnc_filter_chain *b)
{
    bool same = a->nfilters == b->nfilters;

    for (int i = 0; same && i < a->nfilters; i++)
        same = is_same_filter(&a->filters[i], &b->filters[i]);
    return same;
}

static const pnc_stored *get_storage(const tool_file *file, const pnc_var *var)
{
    return pnc_formats_reader_get_stored(file->reader, pnc_format_var_find(&file->model, var->name));
}

static bool are_stored_alike(const tool_file *first, const tool_file *other, const pnc_var *var)
{
    const pnc_stored *a = get_storage(first, var), *b = get_storage(other, var);
    const pnc_var *there = other->model.vars[pnc_format_var_find(&other->model, var->name)];

    return a->layout == b->layout && var->little == there->little &&
           have_same_filters(&a->array.filters, &b->array.filters) &&
           (a->layout != NC_CHUNKED ||
            memcmp(a->array.chunk, b->array.chunk, (size_t)var->ndims * sizeof *a->array.chunk) == 0);
}

/* The next file begins a chunk. */
static int check_whole_chunks(const tool_file *file, const pnc_var *var)
{
    const pnc_stored *s = get_storage(file, var);

    if (s->layout != NC_CHUNKED || file->model.numrecs % s->array.chunk[0] == 0)
        return NC_NOERR;
    tool_error_print(
        "%s: the %lld records of variable %s are not whole chunks of %lld: references to several such files "
        "cannot be joined; ncmpicopy joins the files in one",
        file->path, (long long)file->model.numrecs, var->name, (long long)s->array.chunk[0]);
    return NC_EINVAL;
}

static int check_chunks(const tool_file *first, const tool_file *other, bool is_last, const options *o)
{
    for (int i = 0; i < first->model.nvars; i++) {
        const pnc_var *var = first->model.vars[i];

        if (!tool_names_contain(&o->variables, var->name) || var->type > NC_UINT64 || var->ndims == 0 ||
            var->dimids[0] != first->model.recdim)
            continue;
        if (!are_stored_alike(first, other, var)) {
            tool_error_print(
                "%s: variable %s has other chunks, filters or byte order than in %s: references to such "
                "files cannot be joined; ncmpicopy joins the files in one",
                other->path, var->name, first->path);
            return NC_EINVAL;
        }
        PNC_TRY(check_whole_chunks(first, var));
        if (!is_last)
            PNC_TRY(check_whole_chunks(other, var));
    }
    return NC_NOERR;
}

static int check_stored(const tool_file *first, const tool_relations *relations, const char *path, bool is_last,
                        const options *o)
{
    tool_file other;
    int err = tool_file_open(path, &other);

    if (err == NC_NOERR && other.reader == NULL) {
        tool_error_print("%s is a classic file, but %s a %s file: ncmpicopy joins such files in one", path, first->path,
                         first->reader->ops->name);
        err = NC_EINVAL;
    }
    if (err == NC_NOERR)
        err = offsets_join_check(first, relations, &other, o);
    if (err == NC_NOERR)
        err = check_chunks(first, &other, is_last, o);
    tool_file_close(&other);
    return err;
}

int offsets_join_refuse(const tool_file *first, const options *o)
{
    tool_relations relations;
    int err = tool_relations_init(&first->model, &relations);

    if (err != NC_NOERR)
        tool_error_print("%s: not enough memory", first->path);
    for (int i = 1; err == NC_NOERR && i < o->npaths; i++)
        err = check_stored(first, &relations, o->paths[i], i == o->npaths - 1, o);
    tool_relations_free(&relations);
    if (err != NC_NOERR)
        return err;
    tool_error_print(
        "%s is a netCDF-4 file: references to several of them are not joined here. The packing, fill values, "
        "coordinates and chunks of these are the same: write references to each, and join those along %s "
        "by kerchunk.combine",
        first->path, first->model.dims[first->model.recdim]->name);
    return NC_ENOTSUPPORT;
}
