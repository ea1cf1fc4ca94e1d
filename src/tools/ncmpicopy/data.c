/* Data: input by input, variable by variable, in blocks that are assigned to the ranks round robin. */
#include <string.h>

#include "base/memory.h"
#include "base/types.h"
#include "tools/common/blocks.h"
#include "tools/common/parallel.h"
#include "tools/common/progress.h"
#include "tools/ncmpicopy/copy.h"

/* Shared by all variables. */
typedef struct work {
    copy_plan *plan;
    copy_way way;
    int from, to;  /* ncids */
    int input;     /* number of the input */
    int64_t begin; /* index of the input's first element along the joined dimension, over all inputs */
    char *read, *converted, *compared;
    tool_progress progress;
    int64_t done; /* bytes */
} work;

/* The extent of a part of a variable: ndims numbers each. */
typedef struct part {
    MPI_Offset *in_start, *stride, *out_start, *count; /* of a block */
    int64_t *first, *place, *shape;                    /* of the whole part: in the input, in the output, its lengths */
    bool strided;
} part;

static int make_part(int ndims, part *p)
{
    int64_t capacity = ndims > 0 ? ndims : 1;
    p->in_start = pnc_memory_alloc(4 * capacity, sizeof *p->in_start);
    p->first = pnc_memory_alloc(3 * capacity, sizeof *p->first);
    if (p->in_start == NULL || p->first == NULL)
        return NC_ENOMEM;
    p->stride = p->in_start + capacity;
    p->out_start = p->stride + capacity;
    p->count = p->out_start + capacity;
    p->place = p->first + capacity;
    p->shape = p->place + capacity;
    return NC_NOERR;
}

static void free_part(part *p)
{
    pnc_memory_free(p->in_start);
    pnc_memory_free(p->first);
}

/* An input has the indices of the joined dimension from begin on; the part's indices are first + k * stride. */
static void locate_joined(const work *w, const copy_dim *dim, part *p)
{
    int64_t end = w->begin + w->plan->lengths[w->input];
    int64_t k = w->begin <= dim->first ? 0 : (w->begin - dim->first - 1) / dim->stride + 1;
    int64_t stop = end <= dim->first ? 0 : (end - dim->first - 1) / dim->stride + 1;
    stop = stop < dim->count ? stop : dim->count;
    p->place[0] = k < stop ? k : 0;
    p->shape[0] = k < stop ? stop - k : 0;
    p->first[0] = k < stop ? dim->first + k * dim->stride - w->begin : 0;
}

static void locate(const work *w, const copy_var *var, part *p)
{
    p->strided = false;
    for (int d = 0; d < var->ndims; d++) {
        const copy_dim *dim = &w->plan->dims[var->dimids[d]];
        p->first[d] = dim->first;
        p->place[d] = 0;
        p->shape[d] = dim->count;
        p->stride[d] = dim->stride;
        p->strided = p->strided || dim->stride > 1;
    }
    if (var->joined)
        locate_joined(w, &w->plan->dims[var->dimids[0]], p);
}

static void place_block(const tool_blocks *blocks, part *p)
{
    for (int d = 0; d < blocks->ndims; d++) {
        p->count[d] = blocks->count[d];
        p->in_start[d] = p->first[d] + blocks->start[d] * p->stride[d];
        p->out_start[d] = p->place[d] + blocks->start[d];
        if (p->count[d] == 0)
            p->in_start[d] = p->out_start[d] = 0;
    }
}

/* --- one block --- */

static int library_failed(const work *w, const char *path, int code)
{
    if (w->plan->rank == 0)
        tool_error_print_last(path, code);
    return code;
}

static int read_block(const work *w, int varid, const copy_var *var, const part *p, int64_t length)
{
    MPI_Datatype type = tool_type_get_mpi(var->type);
    int err = p->strided ? ncmpi_get_vars_all(w->from, varid, p->in_start, p->count, p->stride, w->read, length, type)
                         : ncmpi_get_vara_all(w->from, varid, p->in_start, p->count, w->read, length, type);
    return err == NC_NOERR ? err : library_failed(w, w->plan->options->inputs[w->input], err);
}

/* Index of an element in the variable of the output; misfits are reported by it. */
static int64_t element_of(const copy_var *var, const part *p)
{
    int64_t element = 0;
    for (int d = 0; d < var->ndims; d++)
        element = element * var->shape[d] + p->out_start[d];
    return element;
}

/* The values that belong into the output. A block is one run of elements there too. What does not fit is counted once:
 * a scalar is read by all ranks, and everything again to be verified. */
static const char *convert_block(work *w, copy_var *var, const part *p, int64_t length)
{
    copy_conversion uncounted = var->conversion;
    bool counts = w->way == COPY_WRITE && (var->ndims > 0 || w->plan->rank == 0);
    if (var->type == var->to)
        return w->read;
    copy_values_convert(counts ? &var->conversion : &uncounted, w->read, length, element_of(var, p), w->converted);
    return w->converted;
}

static int write_block(const work *w, int id, const copy_var *var, const part *p, int64_t length, const char *values)
{
    int err = ncmpi_put_vara_all(w->to, id, p->out_start, p->count, values, length, tool_type_get_mpi(var->to));
    return err == NC_NOERR ? err : library_failed(w, w->plan->options->output, err);
}

static int verify_block(const work *w, int id, const copy_var *var, const part *p, int64_t length, const char *values,
                        int64_t elements)
{
    int err = ncmpi_get_vara_all(w->to, id, p->out_start, p->count, w->compared, length, tool_type_get_mpi(var->to));
    if (err != NC_NOERR)
        return library_failed(w, w->plan->options->output, err);
    bool same = memcmp(values, w->compared, (size_t)elements * pnc_type_get_size(var->to)) == 0;
    if (tool_status_agree(same ? NC_NOERR : NC_EFILE) == NC_NOERR)
        return NC_NOERR;
    return copy_error_print(w->plan, NC_EFILE,
                            "%s: variable %s: the data read back differ from the data "
                            "written: a fault of the file system or of a disk",
                            w->plan->options->output, var->name);
}

/* --- one variable --- */

static int move_part(work *w, int varid, int id, part *p, tool_blocks *blocks)
{
    copy_var *var = &w->plan->vars[id];
    int64_t size = (int64_t)pnc_type_get_size(var->to);
    int err = NC_NOERR;
    for (int64_t round = 0; err == NC_NOERR && round < blocks->total; round += w->plan->nprocs) {
        tool_blocks_seek(blocks, round + w->plan->rank);
        place_block(blocks, p);
        int64_t elements = blocks->length, length = var->ndims == 0 ? 1 : elements; /* all ranks move a scalar */
        err = read_block(w, varid, var, p, length);
        if (err != NC_NOERR)
            break;
        const char *values = convert_block(w, var, p, length);
        err = w->way == COPY_WRITE ? write_block(w, id, var, p, length, values)
                                   : verify_block(w, id, var, p, length, values, elements);
        w->done += elements * size * w->plan->nprocs;
        tool_progress_update(&w->progress, w->done);
    }
    return err;
}

static int move_variable(work *w, int id)
{
    const copy_var *var = &w->plan->vars[id];
    part p = {0};
    tool_blocks blocks = {0};
    int varid = var->id, err = make_part(var->ndims, &p);
    if (err == NC_NOERR) {
        locate(w, var, &p);
        err = tool_blocks_init(var->ndims, p.shape, &blocks);
    }
    err = tool_status_agree(err);
    if (err != NC_NOERR)
        copy_error_print(w->plan, err, "%s: variable %s: no memory", w->plan->options->output, var->name);
    else if (w->input > 0 && (err = ncmpi_inq_varid(w->from, var->name, &varid)) != NC_NOERR)
        library_failed(w, w->plan->options->inputs[w->input], err);
    else
        err = move_part(w, varid, id, &p, &blocks);
    tool_blocks_free(&blocks);
    free_part(&p);
    return err;
}

/* --- all of them --- */

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

int copy_data_move(copy_plan *plan, int ncid, copy_way way)
{
    work w = {.plan = plan, .way = way, .to = ncid};
    w.read = pnc_memory_alloc(TOOL_BLOCK_ELEMENTS, sizeof(double));
    w.converted = pnc_memory_alloc(TOOL_BLOCK_ELEMENTS, sizeof(double));
    w.compared = way == COPY_VERIFY ? pnc_memory_alloc(TOOL_BLOCK_ELEMENTS, sizeof(double)) : w.read;
    int err = tool_status_agree(w.read && w.converted && w.compared ? NC_NOERR : NC_ENOMEM);
    if (err != NC_NOERR)
        copy_error_print(plan, err, "no memory for data");
    tool_progress_begin(stderr, way == COPY_WRITE ? "ncmpicopy" : "ncmpicopy: verify", bytes_of(plan), &w.progress);
    if (plan->rank > 0)
        w.progress.out = NULL; /* only one rank shows progress */
    for (w.input = 0; err == NC_NOERR && w.input < plan->options->ninputs; w.input++) {
        err = move_input(&w);
        w.begin += plan->lengths[w.input];
    }
    tool_progress_wipe();
    pnc_memory_free(w.read);
    pnc_memory_free(w.converted);
    if (way == COPY_VERIFY)
        pnc_memory_free(w.compared);
    return err;
}
