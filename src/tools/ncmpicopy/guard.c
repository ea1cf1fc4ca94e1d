/* Rank 0 compares the headers, and sends the result; all ranks compare the values, in blocks that are assigned to them
 * round robin. */
#include "tools/ncmpicopy/guard.h"

#include <string.h>

#include "base/memory.h"
#include "base/types.h"
#include "tools/common/blocks.h"
#include "tools/common/join.h"
#include "tools/common/message.h"
#include "tools/common/parallel.h"

int copy_first_find(int64_t *element)
{
    int rank, from;
    int64_t own = *element;
    MPI_Allreduce(MPI_IN_PLACE, element, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    if (*element == INT64_MAX)
        return -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    from = own == *element ? rank : INT32_MAX;
    MPI_Allreduce(MPI_IN_PLACE, &from, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return from;
}

const tool_adaptation *copy_adaptation_find(const copy_plan *plan, int input, int var)
{
    int begin = 0, end = plan->nadapted; /* in ascending order */
    while (begin < end) {
        int middle = begin + (end - begin) / 2;
        const copy_adapted *at = &plan->adapted[middle];
        if (at->input < input || (at->input == input && at->var < var))
            begin = middle + 1;
        else
            end = middle;
    }
    bool found = begin < plan->nadapted && plan->adapted[begin].input == input && plan->adapted[begin].var == var;
    return found ? &plan->adapted[begin].adaptation : NULL;
}

static int open_file(const char *path, tool_file *file, tool_relations *relations)
{
    PNC_TRY(tool_file_open(path, file));
    int err = tool_relations_init(&file->model, relations);
    if (err != NC_NOERR)
        tool_error_print("%s: not enough memory", path);
    return err;
}

int copy_guard_init(const copy_plan *plan, int ncid, copy_guard *guard)
{
    *guard = (copy_guard){.ncid = ncid, .first = {.fd = -1}};
    guard->compare = pnc_memory_alloc_zeroed(plan->nvars, sizeof *guard->compare);
    guard->a = pnc_memory_alloc(TOOL_BLOCK_ELEMENTS, sizeof(double));
    guard->b = pnc_memory_alloc(TOOL_BLOCK_ELEMENTS, sizeof(double));
    bool complete = guard->compare != NULL && guard->a != NULL && guard->b != NULL;
    int err = tool_status_agree(complete ? NC_NOERR : NC_ENOMEM);
    if (err != NC_NOERR)
        return copy_error_print(plan, err, "not enough memory to compare the inputs");
    if (plan->rank == 0)
        err = open_file(plan->options->inputs[0], &guard->first, &guard->relations);
    return tool_status_agree(err);
}

void copy_guard_free(copy_guard *guard)
{
    tool_file_close(&guard->first);
    tool_relations_free(&guard->relations);
    pnc_memory_free(guard->compare);
    pnc_memory_free(guard->a);
    pnc_memory_free(guard->b);
}

/* --- headers --- */

static int check_joined(copy_plan *plan, const tool_join *join, int input, int id)
{
    int varid = plan->vars[id].id;
    copy_adapted adapted = {.input = input, .var = id};
    PNC_TRY(tool_join_check_variable(join, varid, &adapted.adaptation));
    if (!tool_adaptation_is_needed(&adapted.adaptation))
        return NC_NOERR;
    if (!pnc_memory_grow(&plan->adapted, &plan->capacity, plan->nadapted + 1, sizeof *plan->adapted)) {
        tool_error_print("%s: not enough memory", join->other->path);
        return NC_ENOMEM;
    }
    tool_join_report(join, varid, &adapted.adaptation);
    plan->adapted[plan->nadapted++] = adapted;
    return NC_NOERR;
}

static int check_fixed(const copy_guard *guard, copy_plan *plan, const tool_join *join, int id)
{
    PNC_TRY(tool_join_check_fixed(join, plan->vars[id].id, &guard->compare[id]));
    bool differs = !guard->compare[id] && pnc_format_var_find(&join->other->model, plan->vars[id].name) >= 0;
    plan->left_out = plan->left_out || differs;
    return NC_NOERR;
}

static int check_header(const copy_guard *guard, copy_plan *plan, const tool_join *join, int input)
{
    for (int i = 0; i < plan->nvars; i++) {
        guard->compare[i] = false;
        PNC_TRY(plan->vars[i].joined ? check_joined(plan, join, input, i) : check_fixed(guard, plan, join, i));
    }
    bool selected = plan->options->variables.n > 0; /* then the user knows what is left out */
    bool others = !selected && tool_join_report_others(join);
    plan->left_out = plan->left_out || others;
    if (!others || !plan->options->strict)
        return NC_NOERR;
    tool_error_print("%s: --strict leaves out no variable", join->other->path);
    return NC_EINVAL;
}

/* From rank 0 to all: which values to compare, and the conversions from number `begin` on. */
static int send_result(const copy_guard *guard, copy_plan *plan, int begin)
{
    int n = plan->nadapted - begin;
    MPI_Bcast(guard->compare, plan->nvars * (int)sizeof *guard->compare, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Bcast(&plan->left_out, sizeof plan->left_out, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
    bool fits =
        plan->rank == 0 || pnc_memory_grow(&plan->adapted, &plan->capacity, plan->nadapted + n, sizeof *plan->adapted);
    int err = tool_status_agree(fits ? NC_NOERR : NC_ENOMEM);
    if (err != NC_NOERR)
        return copy_error_print(plan, err, "not enough memory for the conversions of the inputs");
    for (int i = 0; i < n; i++)
        MPI_Bcast(&plan->adapted[begin + i], sizeof *plan->adapted, MPI_BYTE, 0, MPI_COMM_WORLD);
    plan->nadapted = begin + n;
    return NC_NOERR;
}

/* --- values --- */

/* The other ranks send rank 0 the texts of the two values that differ. */
static int report_difference(copy_plan *plan, const tool_join *join, int id, const int64_t *shape, int64_t element,
                             int from, char texts[2][TOOL_MEANING_TEXT])
{
    const copy_var *var = &plan->vars[id];
    char index[256];
    int err = NC_NOERR;
    MPI_Bcast(texts, 2 * TOOL_MEANING_TEXT, MPI_CHAR, from, MPI_COMM_WORLD);
    plan->left_out = true;
    if (plan->rank == 0) {
        tool_index_explain(var->ndims, shape, element, index, sizeof index);
        err = tool_join_report_value(join, var->id, index, texts[0], texts[1]);
    }
    return tool_status_agree(err);
}

/* The first value of a block that differs, or -1. */
static int compare_block(const copy_guard *guard, const copy_var *var, const int ids[2], const tool_blocks *blocks,
                         int64_t *at, char texts[2][TOOL_MEANING_TEXT])
{
    size_t size = pnc_type_get_size(var->type);
    MPI_Datatype type = tool_type_get_mpi(var->type);
    int64_t n = var->ndims == 0 ? 1 : blocks->length; /* all ranks access a scalar */
    const MPI_Offset *start = (MPI_Offset *)blocks->start, *count = (MPI_Offset *)blocks->count;
    int err = ncmpi_get_vara_all(guard->ncid, var->id, start, count, guard->a, n, type);
    if (err == NC_NOERR)
        err = ncmpi_get_vara_all(ids[0], ids[1], start, count, guard->b, n, type);
    *at = err == NC_NOERR ? tool_difference_find(guard->a, guard->b, n, size) : -1;
    if (*at >= 0) {
        tool_value_explain(var->type, guard->a + (size_t)*at * size, texts[0]);
        tool_value_explain(var->type, guard->b + (size_t)*at * size, texts[1]);
    }
    return err;
}

/* The same of strings, in the memory of blocks, which has pointers to them. */
static int compare_strings(const copy_guard *guard, const copy_var *var, const int ids[2], const tool_blocks *blocks,
                           int64_t *at, char texts[2][TOOL_MEANING_TEXT])
{
    char **a = (char **)guard->a, **b = (char **)guard->b;
    int64_t n = var->ndims == 0 ? 1 : blocks->length;
    const MPI_Offset *start = (MPI_Offset *)blocks->start, *count = (MPI_Offset *)blocks->count;
    int err = ncmpi_get_vara_string_all(guard->ncid, var->id, start, count, a);
    if (err != NC_NOERR)
        return err;
    err = ncmpi_get_vara_string_all(ids[0], ids[1], start, count, b);
    *at = err == NC_NOERR ? tool_string_difference_find(a, b, n) : -1;
    if (*at >= 0) {
        tool_string_explain(a[*at], texts[0]);
        tool_string_explain(b[*at], texts[1]);
    }
    ncmpi_free_string(n, a);
    ncmpi_free_string(err == NC_NOERR ? n : 0, b);
    return err;
}

/* The first element that differs, or INT64_MAX, on each rank. */
static int compare_blocks(const copy_guard *guard, const copy_plan *plan, const copy_var *var, const int ids[2],
                          tool_blocks *blocks, int64_t *first, char texts[2][TOOL_MEANING_TEXT])
{
    int err = NC_NOERR;
    for (int64_t round = 0; err == NC_NOERR && round < blocks->total; round += plan->nprocs) {
        tool_blocks_seek(blocks, round + plan->rank);
        char found[2][TOOL_MEANING_TEXT];
        int64_t at = -1;
        err = var->type == NC_STRING ? compare_strings(guard, var, ids, blocks, &at, found)
                                     : compare_block(guard, var, ids, blocks, &at, found);
        if (at < 0 || *first != INT64_MAX)
            continue;
        *first = blocks->first + at;
        memcpy(texts, found, sizeof found);
    }
    return err;
}

static int compare_variable(const copy_guard *guard, copy_plan *plan, const tool_join *join, int ncid, int id)
{
    const copy_var *var = &plan->vars[id];
    const char *path = join->other->path;
    int ids[2] = {ncid, -1};
    int64_t first = INT64_MAX;
    char texts[2][TOOL_MEANING_TEXT] = {""};
    tool_blocks blocks = {0};
    int64_t most = var->type == NC_STRING ? TOOL_BLOCK_STRINGS : TOOL_BLOCK_ELEMENTS;
    int64_t *shape = pnc_memory_alloc(var->ndims, sizeof *shape);
    for (int d = 0; shape != NULL && d < var->ndims; d++)
        shape[d] = plan->dims[var->dimids[d]].total;
    int err = tool_status_agree(shape != NULL ? tool_blocks_init_bounded(var->ndims, shape, most, &blocks) : NC_ENOMEM);
    if (err != NC_NOERR)
        copy_error_print(plan, err, "%s: variable %s: not enough memory", path, var->name);
    if (err == NC_NOERR) {
        err = ncmpi_inq_varid(ncid, var->name, &ids[1]);
        if (err == NC_NOERR)
            err = compare_blocks(guard, plan, var, ids, &blocks, &first, texts);
        if (err != NC_NOERR)
            copy_failure_print(plan, path, err);
    }
    int from = err == NC_NOERR ? copy_first_find(&first) : -1;
    if (from >= 0)
        err = report_difference(plan, join, id, shape, first, from, texts);
    tool_blocks_free(&blocks);
    pnc_memory_free(shape);
    return err;
}

int copy_guard_check(copy_guard *guard, copy_plan *plan, int input, int ncid)
{
    tool_file other = {.path = plan->options->inputs[input], .fd = -1};
    tool_relations relations = {0};
    const tool_join join = {.first = &guard->first,
                            .other = &other,
                            .first_relations = &guard->relations,
                            .other_relations = &relations,
                            .dimid = plan->join,
                            .refusal = plan->options->strict ? "--strict does not convert values" : NULL};
    int begin = plan->nadapted, err = NC_NOERR;
    if (plan->rank == 0) {
        err = open_file(other.path, &other, &relations);
        if (err == NC_NOERR)
            err = check_header(guard, plan, &join, input);
    }
    err = tool_status_agree(err);
    if (err == NC_NOERR)
        err = send_result(guard, plan, begin);
    for (int i = 0; err == NC_NOERR && i < plan->nvars; i++)
        if (guard->compare[i])
            err = compare_variable(guard, plan, &join, ncid, i);
    tool_file_close(&other);
    tool_relations_free(&relations);
    return err;
}
