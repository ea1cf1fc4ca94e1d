/* Data: input by input, variable by variable, in blocks that are assigned to the ranks round robin. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/types.h"
#include "tools/common/blocks.h"
#include "tools/common/parallel.h"
#include "tools/common/progress.h"
#include "tools/ncmpicopy/copy.h"
#include "tools/ncmpicopy/guard.h"
#include "tools/ncmpicopy/longitude.h"
#include "tools/ncmpicopy/salvage.h"
#include "tools/ncmpicopy/short.h"
#include "tools/ncmpicopy/storage.h"
#include "tools/ncmpicopy/strings.h"

enum { RECHUNK_BYTES = 256 << 20 }; /* of values that a rank rechunks at once, so that it has less than 512 MiB */

/* Shared by all variables. */
typedef struct work {
    copy_plan *plan;
    copy_action action;
    int from, to;  /* ncids */
    int input;     /* number of the input */
    int64_t begin; /* index of the input's first element along the joined dimension, over all inputs */
    char *read, *converted, *compared;
    int64_t capacity; /* elements of each */
    tool_progress progress;
    int64_t done; /* bytes */
} work;

/* The part of a variable that one input provides, and the current block of it. The arrays have ndims elements. */
typedef struct part {
    int64_t *in_first, *out_first, *shape;             /* of the part: start in the input, in the output, and lengths */
    int64_t *lengths;                                  /* of the variable in the input */
    MPI_Offset *in_start, *stride, *out_start, *count; /* of the block */
    bool wrapped;                                      /* what goes on at index 0 of a dimension, not what is before */
    int64_t elements;                                  /* of the block */
    int64_t length;                                    /* elements to access: all ranks access a scalar */
    bool strided;
} part;

static int alloc_part(int ndims, part *p)
{
    int64_t capacity = ndims > 0 ? ndims : 1;
    p->in_start = pnc_memory_alloc(4 * capacity, sizeof *p->in_start);
    p->in_first = pnc_memory_alloc(4 * capacity, sizeof *p->in_first);
    if (p->in_start == NULL || p->in_first == NULL)
        return NC_ENOMEM;
    p->stride = p->in_start + capacity;
    p->out_start = p->stride + capacity;
    p->count = p->out_start + capacity;
    p->out_first = p->in_first + capacity;
    p->shape = p->out_first + capacity;
    p->lengths = p->shape + capacity;
    return NC_NOERR;
}

static void free_part(part *p)
{
    pnc_memory_free(p->in_start);
    pnc_memory_free(p->in_first);
}

/* The input has the indices w->begin to end - 1 of the joined dimension; the selected ones are first + k * stride. */
static void locate_joined(const work *w, const copy_dim *dim, part *p)
{
    int64_t end = w->begin + w->plan->lengths[w->input];
    int64_t k = w->begin <= dim->first ? 0 : (w->begin - dim->first - 1) / dim->stride + 1;
    int64_t stop = end <= dim->first ? 0 : (end - dim->first - 1) / dim->stride + 1;
    stop = stop < dim->count ? stop : dim->count;
    p->out_first[0] = k < stop ? k : 0;
    p->shape[0] = k < stop ? stop - k : 0;
    p->in_first[0] = k < stop ? dim->first + k * dim->stride - w->begin : 0;
}

static void locate(const work *w, const copy_var *var, part *p)
{
    p->strided = false;
    for (int d = 0; d < var->ndims; d++) {
        const copy_dim *dim = &w->plan->dims[var->dimids[d]];
        int64_t before = dim->count - dim->wrapped;
        bool second = dim->wrapped > 0 && p->wrapped;
        p->in_first[d] = second ? 0 : dim->first;
        p->out_first[d] = second ? before : 0;
        p->shape[d] = second ? dim->wrapped : before;
        p->lengths[d] = dim->total;
        p->stride[d] = dim->stride;
        p->strided = p->strided || dim->stride > 1;
    }
    if (var->joined) { /* no range goes beyond the end of that dimension */
        p->lengths[0] = w->plan->lengths[w->input];
        locate_joined(w, &w->plan->dims[var->dimids[0]], p);
    }
}

static void set_block(const tool_blocks *blocks, int ndims, part *p)
{
    for (int d = 0; d < ndims; d++) {
        p->count[d] = blocks->count[d];
        p->in_start[d] = p->in_first[d] + blocks->start[d] * p->stride[d];
        p->out_start[d] = p->out_first[d] + blocks->start[d];
        if (p->count[d] == 0)
            p->in_start[d] = p->out_start[d] = 0;
    }
    p->elements = blocks->length;
    p->length = ndims == 0 ? 1 : blocks->length;
}

/* --- one block --- */

/* What a rank could not read is reported and counted once, although all ranks read a scalar. */
static bool counts_losses(const work *w, const copy_var *var)
{
    return w->action == COPY_WRITE && (var->ndims > 0 || w->plan->rank == 0);
}

static copy_block make_block(const work *w, int varid, const copy_var *var, const part *p)
{
    return (copy_block){.plan = w->plan,
                        .path = w->plan->options->inputs[w->input],
                        .ncid = w->from,
                        .varid = varid,
                        .var = var,
                        .lengths = p->lengths,
                        .start = p->in_start,
                        .count = p->count,
                        .stride = p->stride,
                        .n = p->length,
                        .is_reported = counts_losses(w, var)};
}

static int salvage_block(const work *w, int varid, copy_var *var, const part *p)
{
    copy_block wreck = make_block(w, varid, var, p);
    int err = copy_wreck_read(&wreck, w->read);
    var->lost += wreck.is_reported ? wreck.lost : 0;
    return err;
}

static int read_block(const work *w, int varid, copy_var *var, const part *p)
{
    MPI_Datatype type = tool_type_get_mpi(var->type);
    int err;
    if (p->strided)
        err = ncmpi_get_vars_all(w->from, varid, p->in_start, p->count, p->stride, w->read, p->length, type);
    else
        err = ncmpi_get_vara_all(w->from, varid, p->in_start, p->count, w->read, p->length, type);
    if (w->plan->options->salvage) {
        err = tool_status_agree(err);
        if (copy_wreck_is_damage(err))
            return salvage_block(w, varid, var, p);
    }
    return err == NC_NOERR ? err : copy_failure_print(w->plan, w->plan->options->inputs[w->input], err);
}

/* The number, in the variable of the output, of an element of the block. */
static int64_t number_element(const copy_var *var, const part *p, int64_t element)
{
    int64_t number = 0, inner = 1;
    for (int d = var->ndims - 1; d >= 0 && element >= 0; d--) {
        number += (p->out_start[d] + element % p->count[d]) * inner;
        element /= p->count[d];
        inner *= var->shape[d];
    }
    return number;
}

/* A value that does not fit is counted once, although all ranks read a scalar, and verification reads all values a
 * second time. */
static void count_misfits(const work *w, copy_var *var, const part *p, const copy_conversion *found)
{
    copy_conversion *all = &var->conversion;
    if (found->misfits == 0 || w->action != COPY_WRITE || (var->ndims == 0 && w->plan->rank > 0))
        return;
    int64_t first = number_element(var, p, found->first);
    all->misfits += found->misfits;
    all->first = all->first < 0 || first < all->first ? first : all->first;
}

/* The values for the output. */
static const char *convert_block(work *w, copy_var *var, const part *p)
{
    copy_conversion conversion = var->conversion;
    char *values = var->type == var->to ? w->read : w->converted;
    conversion.misfits = 0;
    conversion.first = -1;
    if (var->type != var->to) {
        copy_values_convert(&conversion, w->read, p->length, 0, w->converted);
        count_misfits(w, var, p, &conversion);
    }
    if (var->quantizer.mode != 0)
        pnc_convert_values_quantize(&var->quantizer, values, p->length);
    return values;
}

/* The index, in the input, of an element of the block. */
static void explain_position(int ndims, const part *p, int64_t element, char *out, size_t capacity)
{
    size_t used = 0;
    int64_t inner = p->elements;
    for (int d = 0; d < ndims && used < capacity; d++) {
        inner /= p->count[d];
        used +=
            (size_t)snprintf(out + used, capacity - used, "%s%lld%s", d > 0 ? ", " : "[",
                             (long long)(p->in_start[d] + element / inner * p->stride[d]), d + 1 < ndims ? "" : "]");
        element %= inner;
    }
}

static int write_block(const work *w, int id, const copy_var *var, const part *p, const char *values)
{
    int err = ncmpi_put_vara_all(w->to, id, p->out_start, p->count, values, p->length, tool_type_get_mpi(var->to));
    return err == NC_NOERR ? err : copy_failure_print(w->plan, w->plan->options->output, err);
}

/* Whether all ranks have read back what they have written. */
static int check_sameness(const work *w, const copy_var *var, bool same)
{
    int err = tool_status_agree(same ? NC_NOERR : NC_EFILE);
    if (err == NC_NOERR)
        return NC_NOERR;
    return copy_error_print(w->plan, err,
                            "%s: variable %s: the data read back differ from the data "
                            "written: a fault of the file system or of a disk",
                            w->plan->options->output, var->name);
}

static int verify_block(const work *w, int id, const copy_var *var, const part *p, const char *values)
{
    MPI_Datatype type = tool_type_get_mpi(var->to);
    int err = ncmpi_get_vara_all(w->to, id, p->out_start, p->count, w->compared, p->length, type);
    if (err != NC_NOERR)
        return copy_failure_print(w->plan, w->plan->options->output, err);
    return check_sameness(w, var, memcmp(values, w->compared, (size_t)p->elements * pnc_type_get_size(var->to)) == 0);
}

/* Convert values to what they mean in the first input. A value that cannot be converted is an error on all ranks. */
static int adapt_block(const work *w, const copy_var *var, const tool_adaptation *adaptation, const part *p)
{
    tool_fault fault;
    char index[256] = "", why[512] = "";
    int64_t first = INT64_MAX;
    if (!tool_adaptation_convert(adaptation, w->read, p->elements, &fault)) {
        first = number_element(var, p, fault.at);
        explain_position(var->ndims, p, fault.at, index, sizeof index);
        tool_fault_explain(&fault, adaptation, why, sizeof why);
    }
    int from = copy_first_find(&first);
    if (from < 0)
        return NC_NOERR;
    MPI_Bcast(index, sizeof index, MPI_CHAR, from, MPI_COMM_WORLD);
    MPI_Bcast(why, sizeof why, MPI_CHAR, from, MPI_COMM_WORLD);
    return copy_error_print(w->plan, NC_ERANGE, "%s: variable %s at %s: %s", w->plan->options->inputs[w->input],
                            var->name, index, why);
}

static int move_values(work *w, int varid, int id, const part *p)
{
    copy_var *var = &w->plan->vars[id];
    const tool_adaptation *adaptation = copy_adaptation_find(w->plan, w->input, id);
    PNC_TRY(read_block(w, varid, var, p));
    if (adaptation != NULL)
        PNC_TRY(adapt_block(w, var, adaptation, p));
    if (var->nturns > 0)
        copy_longitudes_convert(var, p->in_start[0] + (var->joined ? w->begin : 0), p->count[0], p->elements, w->read);
    const char *values = convert_block(w, var, p);
    return w->action == COPY_WRITE ? write_block(w, id, var, p, values) : verify_block(w, id, var, p, values);
}

static int move_strings(const work *w, int varid, int id, const part *p)
{
    copy_var *var = &w->plan->vars[id];
    bool same = true;
    pnc_reader_strings strings;
    copy_block block = make_block(w, varid, var, p);
    int err = copy_strings_read(&block, &strings);
    var->lost += block.is_reported ? block.lost : 0;
    if (err == NC_NOERR && w->action == COPY_WRITE) {
        err = copy_strings_put(&block, &strings, w->to, id, p->out_start);
    } else if (err == NC_NOERR) {
        err = copy_strings_compare(&block, &strings, w->to, id, p->out_start, &same);
        err = err == NC_NOERR ? check_sameness(w, var, same) : err;
    }
    pnc_formats_strings_free(&strings);
    return err;
}

/* --- one variable --- */

static int move_part(work *w, int varid, int id, part *p, tool_blocks *blocks)
{
    const copy_var *var = &w->plan->vars[id];
    int64_t size = (int64_t)pnc_type_get_size(var->to); /* 0 of strings */
    int err = NC_NOERR;
    for (int64_t round = 0; err == NC_NOERR && round < blocks->total; round += w->plan->nprocs) {
        tool_blocks_seek(blocks, round + w->plan->rank);
        set_block(blocks, var->ndims, p);
        err = var->type == NC_STRING ? move_strings(w, varid, id, p) : move_values(w, varid, id, p);
        w->done += p->elements * size * w->plan->nprocs;
        tool_progress_update(&w->progress, w->done);
    }
    return err;
}

static void free_values(work *w)
{
    pnc_memory_free(w->read);
    pnc_memory_free(w->converted);
    if (w->action == COPY_VERIFY)
        pnc_memory_free(w->compared);
    w->read = w->converted = w->compared = NULL;
}

static int alloc_values(work *w, int64_t n)
{
    free_values(w);
    w->capacity = n;
    w->read = pnc_memory_alloc(n, sizeof(double));
    w->converted = pnc_memory_alloc(n, sizeof(double));
    w->compared = w->action == COPY_VERIFY ? pnc_memory_alloc(n, sizeof(double)) : w->read;
    return w->read != NULL && w->converted != NULL && w->compared != NULL ? NC_NOERR : NC_ENOMEM;
}

/* Blocks of whole chunks, of the output or else of the input. */
static int init_chunked(work *w, int varid, int id, const copy_var *var, const part *p, tool_blocks *blocks, bool *done)
{
    int64_t *unit = pnc_memory_alloc(var->ndims, sizeof *unit);
    int64_t most, large = RECHUNK_BYTES / (w->action == COPY_VERIFY ? 2 : 1);
    if (unit == NULL)
        return NC_ENOMEM;
    large /= (int64_t)pnc_type_get_size(var->to) * (var->type != var->to ? 2 : 1);
    *done = var->ndims > 0 && copy_unit_find(w->from, varid, w->to, id, var->ndims, large, unit, &most);
    int err = *done ? tool_blocks_init_chunked(var->ndims, p->shape, unit, most, blocks) : NC_NOERR;
    pnc_memory_free(unit);
    if (err == NC_NOERR && *done && blocks->largest > w->capacity)
        err = alloc_values(w, blocks->largest);
    return err;
}

/* Leave out what is beyond the end of the input: whole indices of the first dimension, and then whole blocks. Into a
 * netCDF-4 file all is written: what is not would read as fill values. */
static int init_blocks(work *w, int varid, int id, const copy_var *var, part *p, tool_blocks *blocks)
{
    int64_t present, selected, inner = 1;
    bool done;
    if (var->type == NC_STRING)
        return tool_blocks_init_bounded(var->ndims, p->shape, TOOL_BLOCK_STRINGS, blocks);
    PNC_TRY(init_chunked(w, varid, id, var, p, blocks, &done));
    if (done)
        return NC_NOERR;
    if (copy_format_has_storage(w->plan->format))
        return tool_blocks_init(var->ndims, p->shape, blocks);
    PNC_TRY(tool_var_count_present(w->from, varid, w->plan->sizes[w->input], &present));
    selected = copy_selected_count(var->ndims, p->lengths, p->in_first, p->stride, p->shape, present);
    for (int d = 1; d < var->ndims; d++)
        inner *= p->shape[d];
    if (var->ndims > 0 && inner > 0 && selected / inner < p->shape[0])
        p->shape[0] = selected / inner + (selected % inner > 0);
    PNC_TRY(tool_blocks_init(var->ndims, p->shape, blocks));
    tool_blocks_truncate(blocks, selected);
    return NC_NOERR;
}

static int move_indices(work *w, int varid, int id, part *p)
{
    const copy_var *var = &w->plan->vars[id];
    tool_blocks blocks = {0};
    locate(w, var, p);
    int err = tool_status_agree(init_blocks(w, varid, id, var, p, &blocks));
    if (err == NC_ENOMEM)
        copy_error_print(w->plan, err, "%s: variable %s: not enough memory", w->plan->options->output, var->name);
    else if (err != NC_NOERR)
        copy_failure_print(w->plan, w->plan->options->inputs[w->input], err);
    else
        err = move_part(w, varid, id, p, &blocks);
    tool_blocks_free(&blocks);
    return err;
}

static bool has_wrapped(const copy_plan *plan, const copy_var *var)
{
    bool any = false;
    for (int d = 0; d < var->ndims; d++)
        any = any || plan->dims[var->dimids[d]].wrapped > 0;
    return any;
}

static int move_variable(work *w, int id)
{
    const copy_var *var = &w->plan->vars[id];
    part p = {0};
    int varid = var->id, err = tool_status_agree(alloc_part(var->ndims, &p));
    if (err != NC_NOERR)
        copy_error_print(w->plan, err, "%s: variable %s: not enough memory", w->plan->options->output, var->name);
    if (err == NC_NOERR && w->input > 0) {
        err = ncmpi_inq_varid(w->from, var->name, &varid);
        if (err != NC_NOERR)
            copy_failure_print(w->plan, w->plan->options->inputs[w->input], err);
    }
    if (err == NC_NOERR)
        err = move_indices(w, varid, id, &p);
    if (err == NC_NOERR && has_wrapped(w->plan, var)) {
        p.wrapped = true;
        err = move_indices(w, varid, id, &p);
    }
    free_part(&p);
    return err;
}

/* --- all variables of all inputs --- */

static int move_input(work *w)
{
    int err = copy_input_open(w->plan, w->plan->options->inputs[w->input], &w->from);
    if (err != NC_NOERR)
        return err;
    for (int i = 0; err == NC_NOERR && i < w->plan->nvars; i++)
        if (w->input == 0 || w->plan->vars[i].joined)
            err = move_variable(w, i);
    ncmpi_close(w->from);
    return err;
}

static int64_t bytes_of(const copy_plan *plan)
{
    int64_t total = 0;
    for (int i = 0; i < plan->nvars; i++) {
        int64_t bytes = (int64_t)pnc_type_get_size(plan->vars[i].to);
        for (int d = 0; d < plan->vars[i].ndims; d++)
            if (pnc_size_multiply(bytes, plan->vars[i].shape[d], &bytes) != 0)
                bytes = INT64_MAX;
        if (pnc_size_add(total, bytes, &total) != 0)
            total = INT64_MAX;
    }
    return total;
}

int copy_data_move(copy_plan *plan, int ncid, copy_action action)
{
    work w = {.plan = plan, .action = action, .to = ncid};
    int err = tool_status_agree(alloc_values(&w, TOOL_CHUNKED_BLOCK_ELEMENTS));
    if (err != NC_NOERR)
        copy_error_print(plan, err, "not enough memory for data");
    tool_progress_begin(stderr, action == COPY_WRITE ? "ncmpicopy" : "ncmpicopy: verify", bytes_of(plan), &w.progress);
    if (plan->options->progress)
        tool_progress_keep_lines(stderr, &w.progress);
    if (plan->rank > 0)
        w.progress.out = NULL; /* only one rank shows progress */
    for (w.input = 0; err == NC_NOERR && w.input < plan->options->ninputs; w.input++) {
        err = move_input(&w);
        w.begin += plan->lengths[w.input];
    }
    tool_progress_wipe();
    if (err == NC_NOERR)
        tool_progress_finish(&w.progress);
    free_values(&w);
    return err;
}
