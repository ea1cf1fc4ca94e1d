/* The attributes and coordinates of all files must mean the same, as references cannot convert values. Chunks of
 * netCDF-4 files must be alike, too: in Zarr all chunks of a variable have one shape and the same filters. */
#include "tools/ncoffsets/join.h"

#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "references/references.h"
#include "tools/common/blocks.h"
#include "tools/common/join.h"
#include "tools/common/message.h"

enum { INDEX_SIZE = 256 };

/* The end of a message about values that would have to be converted. */
static const char refusal[] = "references cannot convert values; ncmpicopy joins such files in one";

/* The variable of that name; NULL: the file has none. */
static const pnc_var *find_in(const tool_file *file, const pnc_var *var)
{
    int id = pnc_format_var_find(&file->model, var->name);

    return id >= 0 ? file->model.vars[id] : NULL;
}

/* --- coordinates --- */

static int compare_block(const tool_join *join, int varid, const tool_blocks *blocks, const char *a, const char *b)
{
    const pnc_var *var = join->first->model.vars[varid];
    size_t size = pnc_type_get_size(var->type);
    char index[INDEX_SIZE], texts[2][TOOL_MEANING_TEXT];
    int64_t i = tool_difference_find(a, b, blocks->length, size);

    if (i < 0)
        return NC_NOERR;
    tool_index_explain(var->ndims, blocks->shape, blocks->first + i, index, sizeof index);
    tool_value_explain(var->type, a + (size_t)i * size, texts[0]);
    tool_value_explain(var->type, b + (size_t)i * size, texts[1]);
    return tool_join_report_value(join, varid, index, texts[0], texts[1]);
}

/* Of a coordinate variable, which has the same type and shape in both files. The joined variables have the coordinates
 * of the first file. */
static int compare_blocks(const tool_join *join, int varid, tool_blocks *blocks, char *a, char *b)
{
    const pnc_var *var = join->first->model.vars[varid];

    while (tool_blocks_next(blocks)) {
        PNC_TRY(tool_file_read_block(join->first, var, blocks->start, blocks->count, true, a));
        PNC_TRY(tool_file_read_block(join->other, find_in(join->other, var), blocks->start, blocks->count, true, b));
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

/* From references to its file, too. */
static bool is_left_out(const tool_file *file, int varid)
{
    return file->reader != NULL &&
           pnc_references_obstacle_find(file->model.vars[varid], pnc_formats_reader_get_stored(file->reader, varid)) !=
               NULL;
}

static int check_variables(const tool_join *join, const options *o)
{
    const pnc_model *model = &join->first->model;

    for (int i = 0; i < model->nvars; i++) {
        const pnc_var *var = model->vars[i];
        tool_adaptation adaptation;

        if (!tool_names_contain(&o->variables, var->name) || var->type > NC_UINT64 || is_left_out(join->first, i))
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
                            .refusal = refusal};
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

/* Small variables that are stored otherwise are within the references: the time coordinate of a file, which has one
 * chunk of more records than there are. A guess. */
#define WITHIN_MOST (INT64_C(4) << 20)

/* Of a joined variable in all files. */
typedef struct joined_var {
    bool is_joined, has_other_order;
    int64_t bytes;
    int unlike;      /* the number of a file in which it is stored in another way; 0: none */
    int partial;     /* one with a part of a chunk of records; -1: none */
    int64_t records; /* of that one */
} joined_var;

static bool are_stored_alike(const tool_file *first, const tool_file *other, const pnc_var *var)
{
    const pnc_stored *a = get_storage(first, var), *b = get_storage(other, var);

    return a->layout == b->layout && memcmp(a->fill, b->fill, pnc_type_get_size(var->type)) == 0 &&
           have_same_filters(&a->array.filters, &b->array.filters) &&
           (a->layout != NC_CHUNKED ||
            memcmp(a->array.chunk, b->array.chunk, (size_t)var->ndims * sizeof *a->array.chunk) == 0);
}

/* The next file begins a chunk, unless it is the last one. */
static void look_at_var(const tool_file *first, const tool_file *file, int number, bool is_last, const pnc_var *var,
                        joined_var *joined)
{
    const pnc_stored *s = get_storage(file, var);
    const pnc_var *there = find_in(file, var);
    int64_t bytes = pnc_type_get_size(var->type);

    for (int d = 0; d < there->ndims; d++)
        if (pnc_size_multiply(bytes, there->shape[d], &bytes) < 0)
            bytes = WITHIN_MOST + 1;
    joined->bytes = pnc_min64(joined->bytes + bytes, WITHIN_MOST + 1);
    joined->has_other_order |= var->little != there->little;
    if (joined->unlike == 0 && (joined->has_other_order || !are_stored_alike(first, file, var)))
        joined->unlike = number;
    if (joined->partial < 0 && !is_last && s->layout == NC_CHUNKED && there->shape[0] % s->array.chunk[0] != 0) {
        joined->partial = number;
        joined->records = there->shape[0];
    }
}

/* Records are joined along the first dimension. */
static int check_dimensions(const tool_file *first, const options *o)
{
    const pnc_model *model = &first->model;

    for (int i = 0; i < model->nvars; i++) {
        const pnc_var *var = model->vars[i];

        if (!tool_names_contain(&o->variables, var->name) || is_left_out(first, i))
            continue;
        for (int d = 1; d < var->ndims; d++)
            if (var->dimids[d] == model->recdim) {
                tool_error_print(
                    "%s: variable %s has the record dimension %s, but not as its first: references to "
                    "several such files cannot be joined",
                    first->path, var->name, model->dims[model->recdim]->name);
                return NC_EINVAL;
            }
    }
    return NC_NOERR;
}

static void look_at_file(const tool_file *first, const tool_file *file, int number, bool is_last, joined_var *joined)
{
    for (int i = 0; i < first->model.nvars; i++)
        if (joined[i].is_joined)
            look_at_var(first, file, number, is_last, first->model.vars[i], &joined[i]);
}

static int refuse_var(const tool_file *first, const options *o, const pnc_var *var, const joined_var *joined)
{
    static const char unlike[] = "references to such files cannot be joined; ncmpicopy joins the files in one";

    if (joined->unlike > 0)
        tool_error_print("%s: variable %s has other chunks, filters, fill value or byte order than in %s: %s",
                         o->paths[joined->unlike], var->name, first->path, unlike);
    else
        tool_error_print("%s: the %lld records of variable %s are not whole chunks of %lld: %s",
                         o->paths[joined->partial], (long long)joined->records, var->name,
                         (long long)get_storage(first, var)->array.chunk[0], unlike);
    return NC_EINVAL;
}

static int choose_within(const tool_file *first, const options *o, const joined_var *joined, bool *within)
{
    for (int i = 0; i < first->model.nvars; i++) {
        within[i] = joined[i].is_joined && (joined[i].unlike > 0 || joined[i].partial >= 0);
        if (within[i] && (joined[i].has_other_order || joined[i].bytes > WITHIN_MOST))
            return refuse_var(first, o, first->model.vars[i], &joined[i]);
    }
    return NC_NOERR;
}

static int check_other(const tool_file *first, const tool_relations *relations, const options *o, int number,
                       joined_var *joined)
{
    tool_file other;
    int err = tool_file_open(o->paths[number], &other);

    if (err == NC_NOERR && (other.reader == NULL || other.reader->ops != first->reader->ops)) {
        tool_error_print("%s is a %s file, but %s a %s file: ncmpicopy joins such files in one", other.path,
                         other.reader == NULL ? "classic" : other.reader->ops->name, first->path,
                         first->reader->ops->name);
        err = NC_EINVAL;
    }
    if (err == NC_NOERR)
        err = offsets_join_check(first, relations, &other, o);
    if (err == NC_NOERR)
        look_at_file(first, &other, number, number == o->npaths - 1, joined);
    tool_file_close(&other);
    return err;
}

int offsets_join_check_stored(const tool_file *first, const tool_relations *first_relations, const options *o,
                              bool *within)
{
    joined_var *joined = pnc_memory_alloc_zeroed(first->model.nvars + 1, sizeof *joined);
    int err = joined == NULL ? NC_ENOMEM : check_dimensions(first, o);

    for (int i = 0; joined != NULL && i < first->model.nvars; i++) {
        const pnc_var *var = first->model.vars[i];

        joined[i].is_joined = tool_names_contain(&o->variables, var->name) && var->type <= NC_UINT64 &&
                              var->ndims > 0 && var->dimids[0] == first->model.recdim && !is_left_out(first, i);
        joined[i].partial = -1;
    }
    if (joined == NULL)
        tool_error_print("%s: not enough memory", first->path);
    if (err == NC_NOERR)
        look_at_file(first, first, 0, false, joined);
    for (int i = 1; i < o->npaths && err == NC_NOERR; i++)
        err = check_other(first, first_relations, o, i, joined);
    if (err == NC_NOERR)
        err = choose_within(first, o, joined, within);
    pnc_memory_free(joined);
    return err;
}
